//! One line of a text form as a sequence of words.

use crate::error::IsaError;

/// The lines of a text that hold words, with their 1-based numbers.
pub(crate) struct Lines<'a> {
    rest: Option<&'a str>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            rest: Some(text),
            number: 0,
        }
    }

    /// The number of the line that was read last.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The next line as it stands, without its line feed.
    pub(crate) fn raw(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        self.number += 1;
        let bytes = rest.as_bytes();
        match bytes.iter().position(|&b| b == b'\n') {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                Some(&rest[..end])
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }

    /// The next line that holds a word.
    pub(crate) fn next_line(&mut self) -> Option<Line<'a>> {
        loop {
            let mut line = Line::new(self.raw()?, self.number);
            if line.peek().is_some() {
                return Some(line);
            }
        }
    }
}

/// A line, read word by word.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Line<'a> {
    pub(crate) fn new(rest: &'a str, number: usize) -> Self {
        Self { rest, number }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn fail<T>(&self, why: impl Into<String>) -> Result<T, IsaError> {
        Err(IsaError::Parse {
            line: self.number,
            why: why.into(),
        })
    }

    fn skip(&mut self) {
        let bytes = self.rest.as_bytes();
        let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b',');
        let start = bytes.iter().position(|b| !blank(b)).unwrap_or(bytes.len());
        self.rest = match bytes.get(start) {
            None | Some(b';') => "",
            Some(_) => &self.rest[start..],
        };
    }

    fn word_len(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let end = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b',' | b';');
        bytes.iter().position(end).unwrap_or(bytes.len())
    }

    /// The next word, which stays.
    pub(crate) fn peek(&mut self) -> Option<&'a str> {
        self.skip();
        let word = &self.rest[..self.word_len()];
        (!word.is_empty()).then_some(word)
    }

    /// The first byte of the next word.
    pub(crate) fn first_byte(&mut self) -> Option<u8> {
        self.skip();
        self.rest.bytes().next()
    }

    /// Takes the next word.
    pub(crate) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    /// Takes the next word if it is this one.
    pub(crate) fn accept(&mut self, expected: &str) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.rest = &self.rest[expected.len()..];
        }
        found
    }

    /// The next word must be this one.
    pub(crate) fn expect(&mut self, expected: &str) -> Result<(), IsaError> {
        if self.accept(expected) {
            return Ok(());
        }
        let found = self.found();
        self.fail(format!("expected `{expected}`, found {found}"))
    }

    /// What comes next, for a message.
    pub(crate) fn found(&mut self) -> String {
        self.peek().map_or_else(
            || "the end of the line".to_owned(),
            |word| format!("`{}`", word.chars().take(40).collect::<String>()),
        )
    }

    /// A decimal number that the type holds.
    pub(crate) fn number_of<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, IsaError> {
        self.prefixed("", what)
    }

    /// A word and a number, as in `limb 3`.
    pub(crate) fn field<T: TryFrom<u64>>(&mut self, name: &str) -> Result<T, IsaError> {
        self.expect(name)?;
        self.number_of(name)
    }

    /// A number after a prefix, as in `m3` or `%17`.
    pub(crate) fn prefixed<T: TryFrom<u64>>(
        &mut self,
        prefix: &str,
        what: &str,
    ) -> Result<T, IsaError> {
        let value = self
            .peek()
            .and_then(|word| word.strip_prefix(prefix))
            .and_then(decimal)
            .and_then(|value| T::try_from(value).ok());
        match value {
            Some(value) => {
                self.word();
                Ok(value)
            }
            None => {
                let found = self.found();
                self.fail(format!(
                    "expected {what} as `{prefix}NUMBER`, found {found}"
                ))
            }
        }
    }

    /// As [`Self::prefixed`], if the next word starts with the prefix.
    pub(crate) fn accept_prefixed<T: TryFrom<u64>>(
        &mut self,
        prefix: &str,
        what: &str,
    ) -> Result<Option<T>, IsaError> {
        match self.peek() {
            Some(word) if word.starts_with(prefix) => self.prefixed(prefix, what).map(Some),
            _ => Ok(None),
        }
    }

    /// A number that must be the next one of a table.
    pub(crate) fn index(
        &mut self,
        prefix: &str,
        what: &str,
        expected: usize,
    ) -> Result<(), IsaError> {
        let found: u64 = self.prefixed(prefix, what)?;
        if found == expected as u64 {
            return Ok(());
        }
        self.fail(format!(
            "{what} `{prefix}{found}` is out of order, expected `{prefix}{expected}`"
        ))
    }

    /// A name in double quotes.
    pub(crate) fn quoted(&mut self) -> Result<String, IsaError> {
        self.skip();
        let Some(body) = self.rest.strip_prefix('"') else {
            let found = self.found();
            return self.fail(format!("expected a name in double quotes, found {found}"));
        };
        let mut name = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &body[at + 1..];
                    return Ok(name);
                }
                '\\' => match escape(&mut chars) {
                    Some(c) => name.push(c),
                    None => return self.fail("unknown escape in a name: use \\\" \\\\ \\u{HEX}"),
                },
                c => name.push(c),
            }
        }
        self.fail("the name lacks its closing quote")
    }

    /// Nothing more may come.
    pub(crate) fn end(&mut self) -> Result<(), IsaError> {
        if self.peek().is_none() {
            return Ok(());
        }
        let found = self.found();
        self.fail(format!("expected the end of the line, found {found}"))
    }
}

fn decimal(word: &str) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.bytes().try_fold(0u64, |value, b| {
        let digit = b.checked_sub(b'0').filter(|&d| d < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    match chars.next()?.1 {
        c @ ('"' | '\\') => Some(c),
        'u' => {
            if chars.next()?.1 != '{' {
                return None;
            }
            let mut code = 0u32;
            loop {
                match chars.next()?.1 {
                    '}' => return char::from_u32(code),
                    c => code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?,
                }
            }
        }
        _ => None,
    }
}

/// The name in double quotes, control characters and quotes escaped.
pub(crate) fn quote(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

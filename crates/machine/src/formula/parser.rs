//! Recursive descent over the text of a formula.

use std::ops::Range;

use super::{Expr, ExprKind, FUNCTIONS, FormulaError, Function, Operator, Ratio};
use crate::suggest::did_you_mean;

const MAX_BYTES: usize = 1000;
const MAX_DEPTH: usize = 32;

/// Reads a whole formula.
pub(super) fn parse(text: &str) -> Result<Expr, FormulaError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
    };
    if text.len() > MAX_BYTES {
        return Err(error(
            0..text.len(),
            format!("a formula has at most {MAX_BYTES} bytes"),
        ));
    }
    if text.trim().is_empty() {
        return Err(error(0..text.len(), "the formula is empty"));
    }
    let root = parser.sum()?;
    match parser.peek() {
        None => Ok(root),
        Some(found) => {
            let why = format!("expected an operator, found `{}`", found.escape_debug());
            Err(error(parser.at..parser.at + found.len_utf8(), why))
        }
    }
}

fn error(span: Range<usize>, why: impl Into<String>) -> FormulaError {
    FormulaError {
        span,
        why: why.into(),
        help: None,
        malformed: true,
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), FormulaError> {
        if self.eat(wanted) {
            Ok(())
        } else {
            Err(error(self.here(), format!("expected `{wanted}`")))
        }
    }

    fn here(&mut self) -> Range<usize> {
        let width = self.peek().map_or(0, char::len_utf8);
        self.at..self.at + width
    }

    fn sum(&mut self) -> Result<Expr, FormulaError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            left = binary(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expr, FormulaError> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Mul,
                Some('/') => Operator::Div,
                _ => return Ok(left),
            };
            self.at += 1;
            left = binary(operator, left, self.factor()?);
        }
    }

    fn factor(&mut self) -> Result<Expr, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error(
                self.here(),
                format!("nested deeper than {MAX_DEPTH}"),
            ));
        }
        let result = self.atom();
        self.depth -= 1;
        result
    }

    fn atom(&mut self) -> Result<Expr, FormulaError> {
        let next = self.peek();
        let start = self.at;
        let kind = match next {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.expect(')')?;
                inner.kind
            }
            Some('-') => {
                self.at += 1;
                ExprKind::Negative(Box::new(self.factor()?))
            }
            Some(digit) if digit.is_ascii_digit() => self.number()?,
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.name()?,
            _ => return Err(error(self.here(), "expected a number, a name or `(`")),
        };
        Ok(Expr {
            kind,
            span: start..self.at,
        })
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> (Range<usize>, String) {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let span = self.at..self.at + length;
        self.at = span.end;
        (span.clone(), self.text[span].to_owned())
    }

    fn number(&mut self) -> Result<ExprKind, FormulaError> {
        let (span, digits) = self.take_while(|c| c.is_ascii_digit() || c == '.');
        match Ratio::from_decimal(&digits) {
            Some(number) => Ok(ExprKind::Number(number)),
            None => Err(error(span, format!("`{digits}` is not a number that fits"))),
        }
    }

    fn name(&mut self) -> Result<ExprKind, FormulaError> {
        let (span, name) = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if !self.eat('(') {
            return Ok(ExprKind::Name(name));
        }
        let Some(function) = Function::named(&name) else {
            return Err(FormulaError {
                help: did_you_mean(&name, FUNCTIONS)
                    .or_else(|| Some(format!("functions: {}", FUNCTIONS.join(", ")))),
                ..error(span, format!("unknown function `{name}`"))
            });
        };
        let mut arguments = vec![self.sum()?];
        while self.eat(',') {
            arguments.push(self.sum()?);
        }
        self.expect(')')?;
        let one_only = matches!(function, Function::Ceil | Function::Floor);
        if one_only && arguments.len() > 1 {
            return Err(error(
                span.start..self.at,
                format!("`{name}` takes one argument"),
            ));
        }
        Ok(ExprKind::Call(function, arguments))
    }
}

fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
    Expr {
        span: left.span.start..right.span.end,
        kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
    }
}

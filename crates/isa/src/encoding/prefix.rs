//! Prefix codes for the numbers of a field.
//!
//! A code lists the numbers that occur often; of the others it names the number of
//! bits, which then follow. Words are canonical: the lengths say all.
//!
//! ```text
//! code:    listed(number) (value(number, less the one before) length(4))* sizes(number) (bits(6) length(4))*
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::encoding::EncodingError;
use crate::encoding::bits::{BitReader, BitWriter, number_width, value_width};

/// Bits of the longest word.
const LONGEST: usize = 15;
/// Numbers that a code lists at most.
const LISTED: usize = 4096;
/// Orders of the codes of the header's numbers.
const COUNT_ORDER: u32 = 2;
const VALUE_ORDER: u32 = 3;

/// How often each number occurs.
pub(super) type Histogram = BTreeMap<u32, u64>;

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Symbol {
    /// A number.
    Listed(u32),
    /// A number of so many bits, of which all but the first follow.
    Sized(u32),
}

/// A prefix code.
#[derive(Debug)]
pub(super) struct Code {
    /// In the order of the header, with the lengths of their words.
    symbols: Vec<(Symbol, u8)>,
    /// In the order of their words.
    ordered: Vec<Symbol>,
    /// By length: how many words have it.
    lengths: [u32; LONGEST + 1],
    /// Words by symbol; empty where the code only reads.
    words: HashMap<Symbol, (u32, u8)>,
}

impl Code {
    /// A short code for these numbers, and its bits: of the header and of all numbers.
    pub(super) fn of(histogram: &Histogram) -> (Self, u64) {
        let thresholds = [1, 2, 3, 5, 9, 17, u64::MAX];
        let codes = thresholds.into_iter().filter_map(|threshold| {
            let listed = histogram.values().filter(|&&n| n >= threshold).count();
            (listed <= LISTED).then(|| Self::listing(histogram, threshold))
        });
        let (symbols, bits) = codes
            .min_by_key(|&(_, bits)| bits)
            .expect("the last threshold lists nothing");
        let mut code = Self::ordered(symbols);
        code.assign();
        (code, bits)
    }

    /// Lists the numbers that occur so often.
    fn listing(histogram: &Histogram, threshold: u64) -> (Vec<(Symbol, u8)>, u64) {
        let mut symbols = Vec::new();
        let mut sized = [0u64; 33];
        for (&value, &count) in histogram {
            if count >= threshold {
                symbols.push((Symbol::Listed(value), count));
            } else {
                sized[value_width(value) as usize] += count;
            }
        }
        let sizes = (0..).zip(sized).filter(|&(_, count)| count > 0);
        symbols.extend(sizes.map(|(size, count)| (Symbol::Sized(size), count)));
        let counts: Vec<u64> = symbols.iter().map(|&(_, count)| count).collect();
        let lengths = word_lengths(&counts);
        let mut bits = 0;
        let mut next = 0;
        for (&(symbol, count), &length) in symbols.iter().zip(&lengths) {
            let (header, rest) = match symbol {
                Symbol::Listed(value) => {
                    let width = number_width(value - next, VALUE_ORDER);
                    next = value.saturating_add(1);
                    (width, 0)
                }
                Symbol::Sized(size) => (6, size.saturating_sub(1)),
            };
            bits += u64::from(header) + 4 + count * (u64::from(length) + u64::from(rest));
        }
        let symbols = symbols.iter().map(|&(symbol, _)| symbol).zip(lengths);
        (symbols.collect(), bits)
    }

    fn ordered(symbols: Vec<(Symbol, u8)>) -> Self {
        let mut lengths = [0; LONGEST + 1];
        for &(_, length) in &symbols {
            lengths[usize::from(length)] += 1;
        }
        let mut ordered = symbols.clone();
        ordered.sort_by_key(|&(_, length)| length);
        Code {
            symbols,
            ordered: ordered.into_iter().map(|(symbol, _)| symbol).collect(),
            lengths,
            words: HashMap::new(),
        }
    }

    fn assign(&mut self) {
        let mut symbols = self.ordered.iter();
        let mut word = 0;
        for (length, &count) in (0..).zip(&self.lengths) {
            word <<= 1;
            for &symbol in symbols.by_ref().take(count as usize) {
                self.words.insert(symbol, (word, length));
                word += 1;
            }
        }
    }

    /// Writes the code itself.
    pub(super) fn write(&self, out: &mut BitWriter) {
        let is_listed = |&&(symbol, _): &&(Symbol, u8)| matches!(symbol, Symbol::Listed(_));
        let listed = self.symbols.iter().filter(is_listed).count();
        out.number(listed as u32, COUNT_ORDER);
        let mut next = 0;
        for (place, &(symbol, length)) in self.symbols.iter().enumerate() {
            if place == listed {
                out.number((self.symbols.len() - listed) as u32, COUNT_ORDER);
            }
            match symbol {
                Symbol::Listed(value) => {
                    out.number(value - next, VALUE_ORDER);
                    next = value.saturating_add(1);
                }
                Symbol::Sized(size) => out.put(size.into(), 6),
            }
            out.put(length.into(), 4);
        }
        if self.symbols.len() == listed {
            out.number(0, COUNT_ORDER);
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, EncodingError> {
        let mut symbols = Vec::new();
        let listed = reader.number(COUNT_ORDER, "number of listed numbers")?;
        reader.at_most("listed numbers", listed.into(), LISTED as u64)?;
        let mut next = 0;
        for _ in 0..listed {
            let skipped = reader.number(VALUE_ORDER, "listed number")?;
            let value = u64::from(skipped) + next;
            let number =
                u32::try_from(value).map_err(|_| reader.unknown("listed number", value))?;
            next = value + 1;
            let length = reader.get(4, "length of a word")? as u8;
            symbols.push((Symbol::Listed(number), length));
        }
        let sizes = reader.number(COUNT_ORDER, "number of sizes")?;
        reader.at_most("sizes of numbers", sizes.into(), 33)?;
        for _ in 0..sizes {
            let size = reader.get(6, "size of a number")?;
            if size > 32 {
                return Err(reader.unknown("size of a number", size));
            }
            let length = reader.get(4, "length of a word")? as u8;
            symbols.push((Symbol::Sized(size as u32), length));
        }
        // Every sequence of bits must begin with one word.
        let taken: u32 = symbols
            .iter()
            .map(|&(_, length)| 1u32 << (LONGEST - usize::from(length)))
            .sum();
        if taken != 1 << LONGEST {
            let stream = reader.stream;
            return Err(EncodingError::NoPrefixCode { stream });
        }
        Ok(Self::ordered(symbols))
    }

    /// Appends a number that the histogram had.
    pub(super) fn put(&self, value: u32, out: &mut BitWriter) {
        if let Some(&(word, length)) = self.words.get(&Symbol::Listed(value)) {
            out.put(word.into(), length.into());
            return;
        }
        let size = value_width(value);
        let (word, length) = self.words[&Symbol::Sized(size)];
        out.put(word.into(), length.into());
        let rest = size.saturating_sub(1);
        out.put(u64::from(value) & ((1 << rest) - 1), rest);
    }

    /// The next number.
    pub(super) fn get(&self, reader: &mut BitReader<'_>) -> Result<u32, EncodingError> {
        let (mut word, mut first, mut before) = (0, 0, 0);
        for (length, &count) in self.lengths.iter().enumerate() {
            if length > 0 {
                word = word << 1 | reader.get(1, "word")? as u32;
                first <<= 1;
            }
            if word < first + count {
                let symbol = self.ordered[(before + word - first) as usize];
                return match symbol {
                    Symbol::Listed(value) => Ok(value),
                    Symbol::Sized(0) => Ok(0),
                    Symbol::Sized(size) => {
                        let rest = reader.get(size - 1, "number")? as u32;
                        Ok(1 << (size - 1) | rest)
                    }
                };
            }
            first += count;
            before += count;
        }
        Err(reader.unknown("word", word.into()))
    }
}

/// Huffman's lengths, at most [`LONGEST`]; 0 where there is one symbol only.
fn word_lengths(counts: &[u64]) -> Vec<u8> {
    let mut weights = counts.to_vec();
    loop {
        let lengths = huffman(&weights);
        if lengths.iter().all(|&length| length <= LONGEST) {
            return lengths.into_iter().map(|length| length as u8).collect();
        }
        // Flatter weights give shorter words.
        for weight in &mut weights {
            *weight = *weight / 2 + 1;
        }
    }
}

fn huffman(weights: &[u64]) -> Vec<usize> {
    // Nodes: the symbols, then the inner nodes in the order of their making.
    let mut parents = vec![0; weights.len()];
    let nodes = weights.iter().copied().zip(0..);
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = nodes.map(Reverse).collect();
    while heap.len() > 1 {
        let mut weight = 0;
        for _ in 0..2 {
            let Reverse((least, node)) = heap.pop().expect("two are left");
            weight += least;
            parents[node] = parents.len();
        }
        heap.push(Reverse((weight, parents.len())));
        parents.push(0);
    }
    let mut depths = vec![0; parents.len()];
    for node in (0..parents.len().saturating_sub(1)).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    depths.truncate(weights.len());
    depths
}

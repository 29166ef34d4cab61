//! Encoded streams read back, and what is no encoding is refused.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{
    Component, EncodingError, Entry, Link, NO_SLOT, Op, Stream, StreamOp, decode_streams,
    encode_streams,
};

/// More entries than any of these streams have.
const ENOUGH: u64 = 1 << 10;

/// Any number of at most `bits` bits, small ones as likely as large ones.
fn number(rng: &mut TestRng, bits: u64) -> u32 {
    let width = rng.below(bits + 1);
    (rng.next_u64() & ((1 << width) - 1)) as u32
}

fn link(rng: &mut TestRng) -> Link {
    let index = number(rng, 16) as u16;
    if rng.chance(50) {
        Link::Xbar(index)
    } else {
        Link::Channel(index)
    }
}

/// Any entry, sensible or not.
fn op(rng: &mut TestRng) -> StreamOp {
    let slot = number(rng, 16) as u16;
    match rng.index(6) {
        0 => StreamOp::Compute {
            op: rng.pick(&Op::ALL),
            modulus: number(rng, 16) as u16,
            dst: slot,
            src: [0; 3].map(|_: u16| {
                if rng.chance(40) {
                    NO_SLOT
                } else {
                    number(rng, 16) as u16
                }
            }),
            imm: number(rng, 32),
        },
        1 => StreamOp::Read {
            slot,
            to: link(rng),
        },
        2 => StreamOp::Write {
            slot,
            from: link(rng),
        },
        3 => StreamOp::Route { from: slot },
        4 => StreamOp::Load {
            address: number(rng, 32),
            bank: slot,
        },
        _ => StreamOp::Store {
            address: number(rng, 32),
            bank: slot,
        },
    }
}

fn streams(seed: u64) -> Vec<Stream> {
    let mut rng = TestRng::new(seed);
    let (a, b) = (number(&mut rng, 16) as u16, number(&mut rng, 16) as u16);
    let components = [
        Component::Unit {
            cluster: a,
            unit: b,
        },
        Component::RegFile { cluster: a },
        Component::XbarPort { xbar: a, port: b },
        Component::Bank { bank: b },
        Component::Channel { channel: a },
    ];
    let made = components.into_iter().map(|component| {
        let entries = (0..rng.index(40)).map(|_| Entry {
            wait: number(&mut rng, 32),
            op: op(&mut rng),
        });
        let entries = entries.collect();
        Stream { component, entries }
    });
    made.collect()
}

#[test]
fn every_stream_reads_back() {
    for seed in 0..200 {
        let streams = streams(seed);
        let bytes = encode_streams(&streams);
        assert_eq!(decode_streams(&bytes, ENOUGH), Ok(streams), "seed {seed}");
    }
    assert_eq!(decode_streams(&encode_streams(&[]), 0), Ok(Vec::new()));
}

#[test]
fn truncated_bytes_are_refused() {
    for seed in 0..20 {
        let bytes = encode_streams(&streams(seed));
        for length in 0..bytes.len() {
            let found = decode_streams(&bytes[..length], ENOUGH);
            let cut = matches!(found, Err(EncodingError::Truncated { .. }));
            assert!(cut, "seed {seed}, {length} bytes: {found:?}");
        }
        let longer = [&bytes[..], &[0]].concat();
        let found = decode_streams(&longer, ENOUGH);
        assert_eq!(found, Err(EncodingError::Trailing { count: 1 }));
    }
}

/// Errors or other streams, but no panic, and no memory beyond what is allowed.
#[test]
fn no_bytes_are_trusted() {
    let (mut decoded, mut refused, mut too_many) = (0, 0, 0);
    let encoded: Vec<_> = (0..50).map(|seed| encode_streams(&streams(seed))).collect();
    for seed in 0..10_000 {
        let mut rng = TestRng::new(seed);
        let streams = streams(seed % 50);
        let mut bytes = encoded[seed as usize % 50].clone();
        let entries: usize = streams.iter().map(|stream| stream.entries.len()).sum();
        let limit = entries as u64 + rng.below(3);
        for _ in 0..=rng.index(4) {
            // Counts and widths stand at the beginning of a stream.
            let range = if rng.chance(30) {
                bytes.len().min(24)
            } else {
                bytes.len()
            };
            let at = rng.index(range);
            match rng.below(3) {
                0 => bytes[at] ^= 1 << rng.index(8),
                1 => bytes[at] = rng.next_u64() as u8,
                _ => bytes[at] = if rng.chance(50) { 0 } else { 255 },
            }
        }
        if rng.chance(20) {
            bytes.truncate(rng.index(bytes.len()));
        }
        match decode_streams(&bytes, limit) {
            Ok(streams) => {
                let room: usize = streams.iter().map(|s| s.entries.len()).sum();
                assert!(room as u64 <= limit, "seed {seed}");
                decoded += 1;
            }
            Err(EncodingError::TooMany { .. }) => too_many += 1,
            Err(_) => refused += 1,
        }
    }
    let counts = [decoded, refused, too_many];
    assert!(counts.iter().all(|&count| count > 250), "{counts:?}");
}

/// Entries without bits are memory that nothing but the limit pays for.
#[test]
fn entries_without_bits_are_paid_for_by_the_limit() {
    let count: u64 = 1 << 16;
    let entry = Entry {
        wait: 0,
        op: StreamOp::Route { from: 0 },
    };
    let stream = Stream {
        component: Component::XbarPort { xbar: 0, port: 0 },
        entries: vec![entry; count as usize].into(),
    };
    let bytes = encode_streams(&[stream.clone(), stream.clone()]);
    assert!(bytes.len() < 32, "{} bytes", bytes.len());
    let decoded = decode_streams(&bytes, 2 * count).expect("allowed");
    assert!(decoded == [stream.clone(), stream]);
    let found = decode_streams(&bytes, 2 * count - 1);
    let refused = EncodingError::TooMany {
        stream: 1,
        what: "entries",
        count,
        limit: count - 1,
    };
    assert_eq!(found, Err(refused));
}

/// Numbers as the encoding writes them, and bits as they are.
#[derive(Default)]
struct Bits(Vec<u8>);

impl Bits {
    fn put(mut self, value: u64, width: u32) -> Self {
        self.0
            .extend((0..width).rev().map(|k| (value >> k & 1) as u8));
        self
    }

    fn number(self, value: u64, order: u32) -> Self {
        let high = (value >> order) + 1;
        let length = u64::BITS - high.leading_zeros();
        let rest = value & ((1 << order) - 1);
        self.put(0, length - 1).put(high, length).put(rest, order)
    }

    fn bytes(self) -> Vec<u8> {
        let value = |byte: &[u8]| byte.iter().zip((0..8).rev()).map(|(bit, k)| bit << k).sum();
        self.0.chunks(8).map(value).collect()
    }

    /// One stream of unit 0 0 with two entries, no links, one form: a route over
    /// crossbar 0; then the code of the forms' numbers, shared by all contexts.
    fn two_routes() -> Self {
        let stream = Bits::default()
            .number(1, 4)
            .put(0, 3)
            .number(0, 3)
            .number(0, 3);
        stream
            .number(2, 6)
            .number(0, 2)
            .number(1, 2)
            .put(3, 3)
            .number(0, 3)
            .put(0, 1)
    }
}

#[test]
fn words_that_are_no_prefix_code_are_refused() {
    // Two numbers with words of one bit, and a third; or one word of one bit alone.
    for (listed, length, refused) in [(3, 1, true), (1, 1, true), (1, 0, false), (2, 1, false)] {
        let mut bits = Bits::two_routes().number(listed, 2);
        for _ in 0..listed {
            bits = bits.number(0, 3).put(length, 4);
        }
        let found = decode_streams(&bits.number(0, 2).bytes(), 2);
        let expected = EncodingError::NoPrefixCode { stream: 1 };
        assert_eq!(found == Err(expected), refused, "{listed} words: {found:?}");
    }
    let none = Bits::two_routes().number(0, 2).number(0, 2);
    let found = decode_streams(&none.bytes(), 2);
    assert_eq!(found, Err(EncodingError::NoPrefixCode { stream: 1 }));
}

#[test]
fn entries_that_no_transfer_brings_are_missed() {
    // Register file 0 has an entry that is not its own; no links, no forms.
    let bits = Bits::default().number(1, 4).put(1, 3).number(0, 3);
    let bits = bits.number(1, 6).number(0, 2).number(0, 2).number(0, 2);
    let missing = EncodingError::Missing {
        stream: 0,
        count: 1,
    };
    assert_eq!(decode_streams(&bits.bytes(), 1), Err(missing));
}

/// A read in a bank, its route and its write in a register file, many times.
fn transfers(count: u32) -> Vec<Stream> {
    let (bank, xbar) = (Component::Bank { bank: 5 }, 1);
    let every = |first: u32, op: &dyn Fn(u32) -> StreamOp| -> Vec<Entry> {
        let entry = |k| Entry {
            wait: if k == 0 { first } else { 128 + k * k % 100 },
            op: op(k),
        };
        (0..count).map(entry).collect()
    };
    let link = Link::Xbar(xbar);
    let stream = |component, entries: Vec<Entry>| Stream {
        component,
        entries: entries.into(),
    };
    let slot = |k: u32| (k * 7 % 8) as u16;
    vec![
        stream(
            Component::RegFile { cluster: 2 },
            every(25, &|k| StreamOp::Write {
                slot: slot(k),
                from: link,
            }),
        ),
        stream(
            Component::XbarPort { xbar, port: 2 },
            every(22, &|_| StreamOp::Route { from: 5 }),
        ),
        stream(
            bank,
            every(20, &|k| StreamOp::Read {
                slot: slot(k + 3),
                to: link,
            }),
        ),
    ]
}

#[test]
fn a_transfer_is_written_once() {
    let whole = transfers(1000);
    let bytes = encode_streams(&whole);
    assert_eq!(decode_streams(&bytes, 3000), Ok(whole.clone()));
    let alone = encode_streams(&whole[1..2]);
    // Two slots of three bits come on top.
    let limit = alone.len() + 1000 * 6 / 8 + 40;
    assert!(bytes.len() < limit, "{} of {limit} bytes", bytes.len());
}

/// What does not belong to a transfer, whatever the reason, is kept where it stands.
#[test]
fn what_is_no_transfer_reads_back() {
    let mut rng = TestRng::new(3);
    for case in 0..300 {
        let mut streams = transfers(20);
        for _ in 0..=rng.index(6) {
            let stream = rng.index(streams.len());
            let mut entries: Vec<Entry> = streams[stream].entries.iter().collect();
            let place = rng.index(entries.len());
            match rng.index(6) {
                0 => entries[place].wait = rng.index(3) as u32,
                1 => entries[place].wait = u32::MAX,
                2 => entries[place].op = op(&mut rng),
                3 => drop(entries.remove(place)),
                4 => {
                    let twice = entries[place];
                    entries.insert(place + 1, Entry { wait: 0, ..twice });
                }
                _ => {
                    let twin = streams[stream].clone();
                    streams.push(twin);
                }
            }
            streams[stream].entries = entries.into();
        }
        let bytes = encode_streams(&streams);
        assert_eq!(decode_streams(&bytes, ENOUGH), Ok(streams), "case {case}");
    }
}

#[test]
fn a_regular_stream_takes_ten_bits_an_entry() {
    let entries = (0..1000).map(|i| Entry {
        wait: 120 + i % 16,
        op: StreamOp::Write {
            slot: (i % 8) as u16,
            from: Link::Xbar((i % 3) as u16),
        },
    });
    let stream = Stream {
        component: Component::RegFile { cluster: 3 },
        entries: entries.collect(),
    };
    let bytes = encode_streams(&[stream]);
    assert!(bytes.len() < 1280, "{} bytes", bytes.len());
}

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
    for seed in 0..500 {
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
    for seed in 0..10_000 {
        let mut rng = TestRng::new(seed);
        let streams = streams(seed % 50);
        let mut bytes = encode_streams(&streams);
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
                let room: usize = streams.iter().map(|s| s.entries.capacity()).sum();
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

/// A stream of equal entries in one cycle takes a bit for each.
#[test]
fn a_bit_for_an_entry_is_paid_for_by_the_limit() {
    let count: u64 = 1 << 16;
    let entry = Entry {
        wait: 0,
        op: StreamOp::Route { from: 0 },
    };
    let stream = Stream {
        component: Component::XbarPort { xbar: 0, port: 0 },
        entries: vec![entry; count as usize],
    };
    let bytes = encode_streams(&[stream.clone(), stream.clone()]);
    assert!((bytes.len() as u64) < count / 3);
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

/// Immediates without a bit each would be memory that nothing pays for.
#[test]
fn immediates_that_cannot_differ_are_refused() {
    // One stream: unit 0 0, 1000 entries, no order, no widths; one form, which is an
    // operation without sources and has 1000 immediates of no bits.
    let numbers = [(1, 32), (0, 35), (1000, 32), (0, 5 + 42), (1, 16)];
    let form = [(0, 3 + 4 + 3), (1000, 32), (0, 6)];
    let bits: Vec<u8> = numbers
        .iter()
        .chain(&form)
        .flat_map(|&(value, width): &(u64, u32)| {
            (0..width).rev().map(move |k| (value >> k & 1) as u8)
        })
        .collect();
    let mut bytes: Vec<u8> = bits
        .chunks(8)
        .map(|byte| byte.iter().enumerate().map(|(k, bit)| bit << (7 - k)).sum())
        .collect();
    bytes.extend([255; 1000]);
    let refused = EncodingError::TooMany {
        stream: 0,
        what: "immediates",
        count: 1000,
        limit: 1,
    };
    assert_eq!(decode_streams(&bytes, 1000), Err(refused));
}

#[test]
fn a_regular_stream_takes_two_bytes_an_entry() {
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
    assert!(bytes.len() < 2050, "{} bytes", bytes.len());
}

//! A dropped secret key leaves nothing in memory.

use std::fs::{File, read_to_string};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::*;
use crate::{Parameters, ParametersLiteral};

/// Bytes to look for, stored inverted so that the search does not find itself.
struct Needle(Vec<u8>);

impl Needle {
    fn new(bytes: impl Iterator<Item = u8>) -> Self {
        Self(bytes.take(64).map(|byte| !byte).collect())
    }

    fn is_at(&self, window: &[u8]) -> bool {
        window.iter().zip(&self.0).all(|(a, b)| *a == !*b)
    }
}

/// How often each needle occurs in this process's writable memory.
fn occurrences(needles: &[Needle]) -> Vec<usize> {
    let memory = File::open("/proc/self/mem").unwrap();
    let mut buffer = vec![0; 1 << 20];
    let mut counts = vec![0; needles.len()];
    for line in read_to_string("/proc/self/maps").unwrap().lines() {
        let mut fields = line.split_whitespace();
        let (range, access) = (fields.next().unwrap(), fields.next().unwrap());
        if !access.starts_with("rw") {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap();
        let mut at = u64::from_str_radix(start, 16).unwrap();
        let end = u64::from_str_radix(end, 16).unwrap();
        while at < end {
            let wanted = buffer.len().min((end - at) as usize);
            let Ok(got) = memory.read_at(&mut buffer[..wanted], at) else {
                break;
            };
            if got < 64 {
                break;
            }
            for (needle, count) in needles.iter().zip(&mut counts) {
                *count += buffer[..got]
                    .windows(64)
                    .filter(|window| needle.is_at(window))
                    .count();
            }
            // The end of this piece may begin an occurrence.
            at += if at + got as u64 == end {
                got as u64
            } else {
                got as u64 - 63
            };
        }
        buffer.fill(0);
    }
    counts
}

#[test]
fn dropped_keys_are_wiped() {
    let literal = ParametersLiteral {
        log_q: Some(vec![45, 45]),
        plaintext_modulus: Some(257),
        ..ParametersLiteral::new(crate::Scheme::Bgv, 12)
    };
    let params = Arc::new(Parameters::from_literal(&literal).unwrap());
    let context = Context::new(params).unwrap();
    let secret = SecretKey::random(&context).unwrap();
    let limb = secret.limb::<u64>(1).unwrap();
    let needles = [
        Needle::new(secret.coefficients[1000..].iter().map(|&c| c as u8)),
        Needle::new(limb[1000..].iter().flat_map(|word| word.to_ne_bytes())),
    ];
    assert!(
        occurrences(&needles).iter().all(|&count| count > 0),
        "the search works"
    );
    drop(secret);
    assert_eq!(occurrences(&needles), [0, 0]);
}

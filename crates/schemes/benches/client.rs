//! Milliseconds per client operation, one thread unless `RAYON_NUM_THREADS` says otherwise.
//!
//! `cargo bench -p cyclotron-schemes --bench client [-- FILTER]`: rows whose
//! name contains the filter. Best of several samples.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Simd, sampler};
use cyclotron_schemes::{
    Ciphertext, Context, KeySpec, KeyTarget, KeyVariant, Parameters, ParametersLiteral, Plaintext,
    PublicKey, Scheme, SecretKey, SwitchKey, decrypt_integers, decrypt_real, encrypt_public,
    encrypt_secret,
};

const SAMPLES: u32 = 7;
const BUDGET: Duration = Duration::from_millis(300);

/// Prints the rows that the command line asks for.
struct Report {
    filter: String,
}

impl Report {
    fn row<T>(&self, name: &str, mut call: impl FnMut() -> T) {
        if !name.contains(&self.filter) {
            return;
        }
        black_box(call());
        let begun = Instant::now();
        let mut best = f64::INFINITY;
        let mut samples = 0;
        while samples < SAMPLES || begun.elapsed() < BUDGET {
            let start = Instant::now();
            black_box(call());
            best = best.min(start.elapsed().as_secs_f64());
            samples += 1;
        }
        println!("{name:<40} {:>9.3} ms", best * 1e3);
    }
}

fn samplers(report: &Report, log_n: u32) {
    let n = 1 << log_n;
    let seed = Seed::for_test(1);
    let name = |what: &str| format!("n{log_n} sampler {what}");
    let mut bytes = vec![0; 8 * n];
    report.row(&name("8 N bytes"), || {
        stream(&seed, "bytes", &[]).fill(&mut bytes);
    });
    let mut limb = LimbBuf::<u64>::zeroed(n);
    report.row(&name("uniform 50-bit"), || {
        sampler::uniform(
            &mut stream(&seed, "a", &[]),
            (1 << 50) - (1 << 20) + 1,
            &mut limb,
        );
    });
    let mut narrow = LimbBuf::<u32>::zeroed(n);
    report.row(&name("uniform 30-bit"), || {
        sampler::uniform(
            &mut stream(&seed, "a", &[]),
            (1 << 30) - (1 << 18) + 1,
            &mut narrow,
        );
    });
    report.row(&name("gaussian"), || {
        sampler::gaussian(&mut stream(&seed, "e", &[]), n, sampler::Gaussian::SIGMA)
    });
    report.row(&name("ternary"), || {
        sampler::ternary(&mut stream(&seed, "s", &[]), n)
    });
    report.row(&name("ternary sparse 192"), || {
        sampler::ternary_sparse(&mut stream(&seed, "s", &[]), n, 192)
    });
}

fn context(scheme: Scheme, log_n: u32) -> Context {
    let (data, special) = match log_n {
        16 => (vec![50; 24], vec![50; 8]),
        _ => (vec![49; 8], vec![49]),
    };
    let literal = ParametersLiteral {
        log_q: Some(data),
        log_p: Some(special),
        scale_bits: (scheme == Scheme::Ckks).then_some(45.0),
        plaintext_modulus: (scheme == Scheme::Bgv).then_some(786_433),
        allow_insecure: Some("a benchmark".to_owned()),
        ..ParametersLiteral::new(scheme, log_n)
    };
    let params = Parameters::from_literal(&literal).expect("valid parameters");
    Context::with_simd(Arc::new(params), Simd::detect().expect("a path")).expect("valid")
}

fn keys(report: &Report, context: &Context, prefix: &str) {
    let seed = Seed::for_test(2);
    report.row(&format!("{prefix} secret key"), || {
        SecretKey::from_seed(context, &seed).expect("a key")
    });
    let secret = SecretKey::from_seed(context, &seed).expect("a key");
    report.row(&format!("{prefix} public key"), || {
        PublicKey::new(context, &secret).expect("a key")
    });
    let spec = KeySpec {
        target: KeyTarget::Relin,
        variant: KeyVariant::Hybrid,
    };
    report.row(&format!("{prefix} switch key"), || {
        SwitchKey::new(context, &secret, spec).expect("a key")
    });
    report.row(&format!("{prefix} expand switch key"), || {
        let key = SwitchKey::new(context, &secret, spec).expect("a key");
        let start = Instant::now();
        for digit in 0..spec.digits(context.params()) {
            for limb in 0..spec.limbs(context.params()) {
                black_box(key.limb(context, digit, 1, limb).expect("a limb"));
            }
        }
        start.elapsed()
    });
}

fn ckks(report: &Report, log_n: u32) {
    let context = context(Scheme::Ckks, log_n);
    let level = context.params().levels();
    let values: Vec<f64> = (0..1 << (log_n - 1))
        .map(|i| f64::from((i * 7) % 41 - 20) / 20.0)
        .collect();
    let prefix = format!("n{log_n} ckks");
    let encode =
        |bits: f64| Plaintext::encode_real(&context, &values, level, bits.exp2()).expect("fits");
    for bits in [45.0, 100.0] {
        let plain = encode(bits);
        report.row(&format!("{prefix} encode 2^{bits}"), || encode(bits));
        report.row(&format!("{prefix} encode 2^{bits} to limbs"), || {
            let plain = encode(bits);
            (0..level)
                .map(|m| plain.limb(&context, m).expect("a limb"))
                .collect::<Vec<_>>()
        });
        report.row(&format!("{prefix} limbs of 2^{bits}"), || {
            (0..level)
                .map(|m| plain.limb(&context, m).expect("a limb"))
                .collect::<Vec<_>>()
        });
    }
    let plain = encode(45.0);
    let (secret, encrypted) = encryption(report, &context, &prefix, &plain);
    report.row(&format!("{prefix} decrypt and decode"), || {
        decrypt_real(&context, &secret, &encrypted).expect("decrypts")
    });
    let embedding = context.embedding().expect("ckks");
    let coefficients = plain.coefficients_f64();
    report.row(&format!("{prefix} embedding to slots"), || {
        embedding.slots_of(&coefficients, 1.0)
    });
    let slots = embedding.slots_of(&coefficients, 1.0);
    report.row(&format!("{prefix} embedding to coefficients"), || {
        embedding.coefficients(&slots, 1.0)
    });
    keys(report, &context, &prefix);
}

/// Rows of both encryptions; the key and a ciphertext for what follows.
fn encryption(
    report: &Report,
    context: &Context,
    prefix: &str,
    plain: &Plaintext,
) -> (SecretKey, Ciphertext) {
    let secret = SecretKey::from_seed(context, &Seed::for_test(2)).expect("a key");
    let public = PublicKey::new(context, &secret).expect("a key");
    let seed = Seed::for_test(3);
    let encrypt = || encrypt_secret(context, &secret, plain, &seed).expect("encrypts");
    report.row(&format!("{prefix} encrypt secret"), encrypt);
    report.row(&format!("{prefix} encrypt public"), || {
        encrypt_public(context, &public, plain, &seed).expect("encrypts")
    });
    let encrypted = encrypt();
    (secret, encrypted)
}

fn bgv(report: &Report, log_n: u32) {
    let context = context(Scheme::Bgv, log_n);
    let level = context.params().levels();
    let values: Vec<i64> = (0..1i64 << log_n).map(|i| i * 7 % 41).collect();
    let prefix = format!("n{log_n} bgv");
    let factor = context.factor_at(level);
    let encode = || Plaintext::encode_integers(&context, &values, level, factor).expect("fits");
    report.row(&format!("{prefix} encode"), encode);
    let plain = encode();
    let (secret, encrypted) = encryption(report, &context, &prefix, &plain);
    report.row(&format!("{prefix} decrypt and decode"), || {
        decrypt_integers(&context, &secret, &encrypted).expect("decrypts")
    });
}

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let report = Report {
        filter: filter.unwrap_or_default(),
    };
    for log_n in [14, 16] {
        samplers(&report, log_n);
        ckks(&report, log_n);
        bgv(&report, log_n);
    }
}

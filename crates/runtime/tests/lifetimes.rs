//! What a run holds, when it lets go, and how it stops.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use cyclotron_isa::testing::HashInputs;
use cyclotron_isa::{
    InputProvider, LimbProgram, LimbType, ProgramBuilder, ProviderError, Source, interpret,
};
use cyclotron_ring::{LimbBuf, Ring, Simd, primes};
use cyclotron_runtime::{Engine, RuntimeError};

const LOG_N: u32 = 5;
const N: usize = 1 << LOG_N;
const LIMB_BYTES: u64 = 4 * N as u64;

fn moduli() -> Vec<u64> {
    primes::ntt_primes(1 << 30, 2 << LOG_N, 1)
}

fn ring() -> Ring<u32> {
    Ring::new(LOG_N, &moduli(), Simd::Scalar).unwrap()
}

/// `x <- x * w_i + x` for `steps` different plaintext limbs `w_i`.
fn chain(steps: u32) -> LimbProgram {
    let mut builder = ProgramBuilder::new("chain", LOG_N, 32, &moduli());
    let ty = LimbType::eval(0);
    let input = builder.ciphertext("x");
    let step = builder.procedure("step", |p| {
        let (x, w) = (p.param(ty), p.param(ty));
        let product = p.mul(0, x, w);
        vec![p.add(product, x)]
    });
    let (poly, limb) = (0, 0);
    let source = Source::Ciphertext { input, poly, limb };
    let mut x = builder.input(source, ty);
    for node in 0..steps {
        let operand = builder.plain(&format!("w{node}"));
        let w = builder.input(Source::Plain { operand, limb }, ty);
        x = builder.call(step, &[x, w], node)[0];
    }
    let output = builder.output_named("y");
    builder.output(output, poly, limb, x);
    builder.finish()
}

/// Remembers the limbs that it gave without keeping them.
struct Watched {
    inner: HashInputs,
    given: Mutex<Vec<Weak<LimbBuf<u32>>>>,
    most_alive: AtomicU64,
}

impl InputProvider<u32> for Watched {
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<u32>>, ProviderError> {
        let limb = self.inner.limb(source, ty)?;
        let mut given = self.given.lock().unwrap();
        given.push(Arc::downgrade(&limb));
        let alive = given.iter().filter(|limb| limb.strong_count() > 0).count();
        self.most_alive.fetch_max(alive as u64, Ordering::Relaxed);
        Ok(limb)
    }
}

#[test]
fn inputs_are_fetched_late_and_dropped_early() {
    let program = chain(300);
    for threads in [1, 2] {
        let inputs = Watched {
            inner: HashInputs::new(1, &program),
            given: Mutex::default(),
            most_alive: AtomicU64::new(0),
        };
        let engine = Engine::new(threads).unwrap();
        engine.run(&program, &ring(), &inputs).unwrap();
        assert_eq!(inputs.given.lock().unwrap().len(), 301);
        let most = inputs.most_alive.into_inner();
        let window = if threads == 1 { 3 } else { 64 };
        assert!(most <= window, "{threads} threads held {most} inputs");
    }
}

#[test]
fn a_long_chain_needs_few_buffers() {
    let program = chain(500);
    let inputs = HashInputs::new(1, &program);
    let (_, stats) = Engine::new(1)
        .unwrap()
        .run(&program, &ring(), &inputs)
        .unwrap();
    assert!(
        stats.peak_bytes <= 8 * LIMB_BYTES,
        "{} bytes",
        stats.peak_bytes
    );
    assert_eq!(stats.calls, 500);
}

#[test]
fn arguments_inputs_and_repeated_values_pass_through() {
    let mut builder = ProgramBuilder::new("pass", LOG_N, 32, &moduli());
    let ty = LimbType::eval(0);
    let input = builder.ciphertext("x");
    let swap = builder.procedure("swap", |p| {
        let (a, b) = (p.param(ty), p.param(ty));
        vec![b, a, b]
    });
    let limb = |poly| Source::Ciphertext {
        input,
        poly,
        limb: 0,
    };
    let (a, b) = (builder.input(limb(0), ty), builder.input(limb(1), ty));
    let first = builder.call(swap, &[a, b], 0);
    let second = builder.call(swap, &[first[0], first[0]], 1);
    let output = builder.output_named("y");
    let values = [first[0], first[1], second[2], second[2], a];
    for (k, value) in (0..).zip(values) {
        builder.output(output, 0, k, value);
    }
    let program = builder.finish();
    let inputs = HashInputs::new(3, &program);
    let expected = interpret(&program, &ring(), &inputs).unwrap();
    for threads in [1, 2] {
        let engine = Engine::new(threads).unwrap();
        let (outputs, _) = engine.run(&program, &ring(), &inputs).unwrap();
        assert_eq!(outputs, expected);
    }
}

/// Fails, or panics, at the fiftieth plaintext limb.
struct Faulty {
    inner: HashInputs,
    panics: bool,
}

impl InputProvider<u32> for Faulty {
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<u32>>, ProviderError> {
        if matches!(source, Source::Plain { operand: 50, .. }) {
            assert!(!self.panics, "a bug in the provider");
            return Err(ProviderError::new("w50 was never given"));
        }
        self.inner.limb(source, ty)
    }
}

#[test]
fn a_missing_input_is_named() {
    let program = chain(100);
    let inputs = Faulty {
        inner: HashInputs::new(1, &program),
        panics: false,
    };
    for threads in [1, 3] {
        let engine = Engine::new(threads).unwrap();
        let error = engine.run(&program, &ring(), &inputs).unwrap_err();
        assert!(error.to_string().contains("w50 was never given"), "{error}");
    }
}

#[test]
fn a_panic_stops_every_worker() {
    let program = chain(100);
    let inputs = Faulty {
        inner: HashInputs::new(1, &program),
        panics: true,
    };
    for threads in [1, 3] {
        let engine = Engine::new(threads).unwrap();
        let ring = ring();
        let run = || drop(engine.run(&program, &ring, &inputs));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}

#[test]
fn the_callback_sees_progress_and_can_cancel() {
    let program = chain(400);
    let inputs = HashInputs::new(1, &program);
    for threads in [1, 2] {
        let engine = Engine::new(threads).unwrap();
        let prepared = engine.prepare(&program).unwrap();
        let seen = Mutex::new(Vec::new());
        let watch = |done, total| {
            assert_eq!(total, 800);
            seen.lock().unwrap().push(done);
            ControlFlow::Continue(())
        };
        let run = |progress| engine.run_prepared(&program, &prepared, &ring(), &inputs, progress);
        run(Some(&watch)).unwrap();
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.len(), 100);
        assert!(seen.contains(&800));
        let error = run(Some(&|_, _| ControlFlow::Break(()))).unwrap_err();
        assert!(
            matches!(error, RuntimeError::Cancelled { total: 800, .. }),
            "{error}"
        );
    }
}

#[test]
fn another_ring_is_refused() {
    let program = chain(1);
    let inputs = HashInputs::new(1, &program);
    let other = Ring::<u32>::new(
        LOG_N + 1,
        &primes::ntt_primes(1 << 30, 4 << LOG_N, 1),
        Simd::Scalar,
    );
    let error = Engine::new(1)
        .unwrap()
        .run(&program, &other.unwrap(), &inputs)
        .unwrap_err();
    assert!(error.to_string().contains("ring"), "{error}");
}

//! The reference interpreters: against schoolbook arithmetic, against each
//! other, and on faulty plans.

use std::collections::HashMap;
use std::sync::Arc;

use cyclotron_isa::testing::{HashInputs, ProgramShape, random_program};
use cyclotron_isa::{
    ExecuteError, FlatProgram, InputProvider, IsaError, LimbProgram, LimbType, MovementPlan,
    ProgramBuilder, ProviderError, Source, Step, Traffic, interpret, interpret_plan,
};
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes};

const LOG_N: u32 = 5;

fn primes32() -> Vec<u64> {
    primes::ntt_primes(1 << 32, 1 << 16, 3)
}

fn primes64() -> Vec<u64> {
    let mut moduli = primes::ntt_primes(1 << 61, 1 << 17, 2);
    moduli.extend(primes::ntt_primes(1 << 50, 1 << 17, 1));
    moduli
}

fn coeff(program: &mut ProgramBuilder, x: u32, limb: u16) -> u32 {
    let source = Source::Ciphertext {
        input: x,
        poly: 0,
        limb,
    };
    program.input(source, LimbType::coeff(limb))
}

/// y = the negacyclic product of two limbs in coefficient domain, the second
/// read from another prime.
#[test]
fn product_matches_schoolbook() {
    let moduli = primes32();
    let mut b = ProgramBuilder::new("product", LOG_N, 32, &moduli);
    let x = b.ciphertext("x");
    let (f, g) = (coeff(&mut b, x, 0), coeff(&mut b, x, 1));
    let procedure = b.procedure("product", |p| {
        let f = p.param(LimbType::coeff(0));
        let g = p.param(LimbType::coeff(1));
        let (f, g) = (p.ntt(0, f), p.ntt(0, g));
        let product = p.mul(0, f, g);
        vec![p.intt(product)]
    });
    let results = b.call(procedure, &[f, g], 0);
    let y = b.output_named("y");
    b.output(y, 0, 0, results[0]);
    let program = b.finish();

    let inputs = HashInputs::new(1, &program);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let out = interpret(&program, &ring, &inputs).expect("runs");
    let [f, g] = [0, 1].map(|i| {
        let input = program.inputs[i];
        InputProvider::<u32>::limb(&inputs, input.source, input.ty).expect("given")
    });
    let (n, q) = (program.n(), u128::from(moduli[0]));
    let mut expected = vec![0u128; n];
    for i in 0..n {
        for j in 0..n {
            let product = u128::from(f[i]) * (u128::from(g[j]) % q) % q;
            let at = (i + j) % n;
            expected[at] = (expected[at] + if i + j < n { product } else { q - product }) % q;
        }
    }
    let found: Vec<u128> = out[0].iter().map(|&w| u128::from(w)).collect();
    assert_eq!(found, expected);
}

/// Every compound instruction equals its expansion.
#[test]
fn compound_instructions_equal_their_expansion() {
    fn run<W: Word>(moduli: &[u64]) {
        let mut b = ProgramBuilder::new("compound", LOG_N, W::BITS, moduli);
        let x = b.ciphertext("x");
        let args: Vec<u32> = (0..3).map(|limb| coeff(&mut b, x, limb)).collect();
        let procedure = b.procedure("both", |p| {
            let v: Vec<u32> = (0..3).map(|m| p.param(LimbType::coeff(m))).collect();
            let c = moduli[0] - 2;
            let mac = p.mac(v[0], v[1], v[2]);
            let product = p.mul(0, v[1], v[2]);
            let mac2 = p.add(v[0], product);
            let smc = p.sub_mul_c(mac, v[0], c);
            let difference = p.sub(mac, v[0]);
            let smc2 = p.mul_c(0, difference, c);
            let dot = p.dot(1, &[(v[0], v[1]), (v[2], v[2]), (v[0], v[0])]);
            let parts = [(0, 1), (2, 2), (0, 0)].map(|(i, j)| p.mul(1, v[i], v[j]));
            let sum = p.add(parts[0], parts[1]);
            let dot2 = p.add(sum, parts[2]);
            let matrix = [5, moduli[2] - 1, moduli[1] - 1, 7];
            let conv = p.bconv(&[1, 2], &[v[0], v[2]], &matrix);
            let [a, b, c, d] = [(1, 0, 0), (2, 0, 1), (1, 2, 2), (2, 2, 3)]
                .map(|(m, i, k): (u16, usize, usize)| p.mul_c(m, v[i], matrix[k]));
            let conv2 = [p.add(a, c), p.add(b, d)];
            vec![
                mac, mac2, smc, smc2, dot, dot2, conv[0], conv2[0], conv[1], conv2[1],
            ]
        });
        let results = b.call(procedure, &args, 0);
        let y = b.output_named("y");
        for (limb, &value) in (0..).zip(&results) {
            b.output(y, 0, limb, value);
        }
        let program = b.finish();
        let ring = Ring::<W>::new(LOG_N, moduli, Simd::Scalar).expect("a ring");
        let out = interpret(&program, &ring, &HashInputs::new(3, &program)).expect("runs");
        for (k, pair) in out.chunks(2).enumerate() {
            assert_eq!(pair[0], pair[1], "pair {k}");
        }
    }
    run::<u32>(&primes32());
    run::<u64>(&primes64());
}

/// Loads every value before its use and keeps all.
fn naive_plan(flat: &FlatProgram) -> MovementPlan {
    let mut plan = MovementPlan::default();
    let mut present = vec![false; flat.value_count()];
    let mut load = |plan: &mut MovementPlan, value: u32| {
        if !std::mem::replace(&mut present[value as usize], true) {
            plan.steps.push(Step::Load(value));
            plan.capacity += 1;
            match flat.inputs[value as usize].source {
                Source::Hint { .. } => plan.traffic.hints_compulsory += 1,
                _ => plan.traffic.inputs_compulsory += 1,
            }
        }
    };
    for inst in 0..flat.len() {
        for value in flat.sources(inst) {
            if flat.definition(value).is_none() {
                load(&mut plan, value);
            }
        }
        plan.steps.push(Step::Compute(inst as u32));
        plan.capacity += 1;
    }
    for &value in &flat.outputs {
        if flat.definition(value).is_none() {
            load(&mut plan, value);
        }
        plan.steps.push(Step::Store(value));
        plan.traffic.outputs += 1;
    }
    plan
}

fn random_flat(seed: u64, moduli: &[u64], word_bits: u32) -> LimbProgram {
    let mut shape = ProgramShape::small(LOG_N, word_bits, moduli);
    shape.compound = false;
    random_program(seed, &shape)
}

#[test]
fn plans_and_programs_give_the_same_limbs() {
    fn run<W: Word>(moduli: &[u64]) {
        let ring = Ring::<W>::new(LOG_N, moduli, Simd::Scalar).expect("a ring");
        for seed in 0..40 {
            let program = random_flat(seed, moduli, W::BITS);
            let inputs = HashInputs::new(seed, &program);
            let direct = interpret(&program, &ring, &inputs).expect("runs");
            let flat = FlatProgram::new(&program).expect("flat");
            let planned = interpret_plan(&flat, &naive_plan(&flat), &ring, &inputs);
            assert_eq!(planned.expect("runs"), direct, "seed {seed}");
        }
    }
    run::<u32>(&primes32());
    run::<u64>(&primes64());
}

#[test]
fn every_simd_path_gives_the_same_limbs() {
    fn run<W: Word>(moduli: &[u64]) {
        let rings: Vec<_> = Simd::available()
            .into_iter()
            .map(|simd| Ring::<W>::new(8, moduli, simd).expect("a ring"))
            .collect();
        for seed in 0..20 {
            let program = random_program(seed, &ProgramShape::small(8, W::BITS, moduli));
            let inputs = HashInputs::new(seed, &program);
            let expected = interpret(&program, &rings[0], &inputs).expect("runs");
            for ring in &rings[1..] {
                let found = interpret(&program, ring, &inputs).expect("runs");
                assert_eq!(found, expected, "seed {seed}, {}", ring.simd());
            }
        }
    }
    run::<u32>(&primes32());
    run::<u64>(&primes64());
}

#[test]
fn faulty_plans_are_refused() {
    let moduli = primes32();
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let program = random_flat(4, &moduli, 32);
    let flat = FlatProgram::new(&program).expect("flat");
    let inputs = HashInputs::new(4, &program);
    let good = naive_plan(&flat);
    let fails = |change: &dyn Fn(&mut MovementPlan)| {
        let mut plan = good.clone();
        change(&mut plan);
        match interpret_plan::<u32>(&flat, &plan, &ring, &inputs) {
            Err(ExecuteError::Program(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(
        fails(&|p| p.capacity -= 1),
        IsaError::OverCapacity { .. }
    ));
    let compute = good
        .steps
        .iter()
        .position(|s| matches!(s, Step::Compute(_)));
    let compute = compute.expect("there is one");
    assert!(matches!(
        fails(&|p| p.steps[compute] = Step::Evict(flat.result(0))),
        IsaError::NotPresent { .. }
    ));
    assert!(matches!(
        fails(&|p| p.steps[compute] = Step::Compute(u32::MAX)),
        IsaError::OutOfRange { .. }
    ));
    assert!(matches!(
        fails(&|p| {
            p.steps.push(Step::Load(flat.result(0)));
            p.traffic.intermediate_loads = 1;
        }),
        IsaError::NotPresent { .. }
    ));
    assert!(matches!(
        fails(&|p| p.traffic = Traffic::default()),
        IsaError::Invalid { .. }
    ));
    assert!(matches!(
        fails(&|p| p.steps.insert(0, p.steps[compute])),
        IsaError::NotPresent { .. } | IsaError::Invalid { .. }
    ));
    assert!(matches!(
        fails(&|p| {
            let last = p.steps.len() - 1;
            p.steps.remove(last);
            p.traffic.outputs -= 1;
        }),
        IsaError::NotPresent { .. }
    ));
}

struct Fixed(HashMap<Source, Arc<LimbBuf<u32>>>);

impl InputProvider<u32> for Fixed {
    fn limb(&self, source: Source, _: LimbType) -> Result<Arc<LimbBuf<u32>>, ProviderError> {
        let limb = self.0.get(&source).cloned();
        limb.ok_or_else(|| ProviderError::new("no such limb"))
    }
}

#[test]
fn inputs_and_rings_are_checked() {
    let moduli = primes32();
    let program = random_flat(9, &moduli, 32);
    let ring = Ring::<u32>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let none = interpret(&program, &ring, &Fixed(HashMap::new()));
    assert!(matches!(none, Err(ExecuteError::Input { .. })));
    for bad in [LimbBuf::zeroed(7), LimbBuf::from_slice(&[u32::MAX; 32])] {
        let bad = Arc::new(bad);
        let all = program.inputs.iter().map(|i| (i.source, Arc::clone(&bad)));
        let result = interpret(&program, &ring, &Fixed(all.collect()));
        assert!(matches!(result, Err(ExecuteError::BadInput { .. })));
    }
    let inputs = HashInputs::new(9, &program);
    for (log_n, moduli) in [
        (LOG_N + 1, &moduli[..]),
        (LOG_N, &moduli[..1]),
        (LOG_N, &[97]),
    ] {
        let Ok(other) = Ring::<u32>::new(log_n, moduli, Simd::Scalar) else {
            continue;
        };
        let result = interpret(&program, &other, &inputs);
        assert!(matches!(result, Err(ExecuteError::WrongRing { .. })));
    }
    let wide = Ring::<u64>::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let result = interpret(&program, &wide, &inputs);
    assert!(matches!(result, Err(ExecuteError::WrongRing { .. })));
}

//! Neighbouring calls that read the same, joined into one.
//!
//! Rotations of one ciphertext each read its digits, products with several
//! plaintexts its limbs: more than the caches hold, so every call fetches them
//! from memory again. Of calls whose procedures are alike but for exponents and
//! constants, one procedure is made in which every instruction of the first is
//! followed by the same one of the others. What they share is then a parameter
//! once, and what treats every index alike reads it once; see [`super::strips`].

use std::collections::HashMap;

use cyclotron_isa::{Call, Inst, InstView, LimbProgram, Op, Procedure};

/// The calls of a program as a run executes them.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Of joined calls, [`Call::procedure`] counts on from the program's procedures.
    pub calls: Vec<Call>,
    /// The arguments of all calls in order: global values.
    args: Vec<u32>,
    /// Procedures of joined calls.
    pub joined: Vec<Procedure>,
}

/// Calls that are joined, at most.
const JOINED: usize = 2;

/// Bytes that calls must share to be joined: what a second-level cache holds.
const SHARED_BYTES: usize = 2 << 20;

impl Calls {
    pub(crate) fn new(program: &LimbProgram) -> Self {
        let mut calls = Calls {
            calls: Vec::with_capacity(program.calls.len()),
            args: Vec::with_capacity(program.args.len()),
            joined: Vec::new(),
        };
        let mut known = HashMap::new();
        let mut rest = &program.calls[..];
        while !rest.is_empty() {
            let (group, later) = rest.split_at(alike(program, rest));
            match group {
                [call] => calls.push(*call, program.call_args(call).iter().copied()),
                _ => calls.join(program, group, &mut known),
            }
            rest = later;
        }
        calls
    }

    pub(crate) fn args(&self, call: u32) -> &[u32] {
        let (call, later) = (call as usize, call as usize + 1);
        let end = self.calls.get(later).map(|next| next.args as usize);
        &self.args[self.calls[call].args as usize..end.unwrap_or(self.args.len())]
    }

    fn push(&mut self, call: Call, args: impl IntoIterator<Item = u32>) {
        self.calls.push(Call {
            args: self.args.len() as u32,
            ..call
        });
        self.args.extend(args);
    }

    /// Appends one call for a group; equal groups have one procedure.
    fn join(&mut self, program: &LimbProgram, group: &[Call], known: &mut HashMap<Vec<u32>, u32>) {
        let (args, places) = parameters(program, group);
        let procedures = group.iter().map(|call| call.procedure);
        let key: Vec<u32> = procedures.chain(places.iter().copied()).collect();
        let joined = &mut self.joined;
        let procedure = *known.entry(key).or_insert_with(|| {
            joined.push(interleave(program, group, args.len() as u32, &places));
            (program.procedures.len() + joined.len() - 1) as u32
        });
        self.push(
            Call {
                procedure,
                ..group[0]
            },
            args,
        );
    }
}

/// How many of the first calls are joined: 1 if none.
fn alike(program: &LimbProgram, calls: &[Call]) -> usize {
    let first = &program.procedures[calls[0].procedure as usize];
    let args = program.call_args(&calls[0]);
    let limb_bytes = program.n() * program.word_bits as usize / 8;
    let fits = |call: &&Call| {
        let procedure = &program.procedures[call.procedure as usize];
        let others = program.call_args(call);
        let shared = args.iter().zip(others).filter(|(a, b)| a == b).count();
        shared * limb_bytes >= SHARED_BYTES
            && same_form(first, procedure)
            && others.iter().all(|&arg| arg < calls[0].first_result)
    };
    1 + calls[1..].iter().take(JOINED - 1).take_while(fits).count()
}

/// Whether procedures differ by exponents, constants and operands only.
fn same_form(a: &Procedure, b: &Procedure) -> bool {
    let same = |(x, y): (&Inst, &Inst)| {
        let list = matches!(x.op, Op::Dot | Op::BConv);
        (x.op, x.modulus) == (y.op, y.modulus) && (!list || (x.b, x.c) == (y.b, y.c))
    };
    a.params == b.params && a.insts.len() == b.insts.len() && a.insts.iter().zip(&b.insts).all(same)
}

/// The arguments of a group, each once, and for the parameters of every call,
/// one after the other, where they are among them.
fn parameters(program: &LimbProgram, group: &[Call]) -> (Vec<u32>, Vec<u32>) {
    let (mut args, mut places, mut at) = (Vec::new(), Vec::new(), HashMap::new());
    for &arg in group.iter().flat_map(|call| program.call_args(call)) {
        places.push(*at.entry(arg).or_insert_with(|| {
            args.push(arg);
            args.len() as u32 - 1
        }));
    }
    (args, places)
}

/// The procedure of a group of the same form, instruction by instruction.
fn interleave(program: &LimbProgram, group: &[Call], params: u32, places: &[u32]) -> Procedure {
    let procedure = |call: &Call| &program.procedures[call.procedure as usize];
    let mut whole = Procedure {
        params,
        types: vec![procedure(&group[0]).types[0]; params as usize],
        ..Procedure::default()
    };
    let mut parts: Vec<Vec<Inst>> = Vec::new();
    let mut places = places;
    for part in group.iter().map(procedure) {
        let (own, others) = places.split_at(part.params as usize);
        places = others;
        let base = whole.types.len() as u32;
        let local = |v: u32| {
            own.get(v as usize)
                .copied()
                .unwrap_or(base + v - part.params)
        };
        for (&place, &ty) in own.iter().zip(&part.types) {
            whole.types[place as usize] = ty;
        }
        whole.types.extend(&part.types[part.params as usize..]);
        let pool = &mut whole.operands;
        let renumbered = part
            .insts
            .iter()
            .map(|inst| renumber(part, inst, pool, local));
        parts.push(renumbered.collect());
        whole.results.extend(part.results.iter().map(|&v| local(v)));
    }
    let names: Vec<&str> = group.iter().map(|call| &*procedure(call).name).collect();
    whole.name = names.join(" + ");
    for at in 0..parts[0].len() {
        whole.insts.extend(parts.iter().map(|part| part[at]));
    }
    whole
}

/// An instruction with other numbers of values; its lists go to `pool`.
fn renumber(
    procedure: &Procedure,
    inst: &Inst,
    pool: &mut Vec<u32>,
    local: impl Fn(u32) -> u32,
) -> Inst {
    let mut inst = *inst;
    inst.dst = local(inst.dst);
    let fields = inst.op.field_sources();
    if fields > 0 {
        for field in [&mut inst.a, &mut inst.b, &mut inst.c]
            .into_iter()
            .take(fields)
        {
            *field = local(*field);
        }
        return inst;
    }
    let start = pool.len() as u32;
    procedure.for_each_source(&inst, |v| pool.push(local(v)));
    if let InstView::Matrix { dst_moduli, .. } = procedure.view(&inst, &mut [0; 3]) {
        pool.extend(dst_moduli);
    }
    inst.a = start;
    inst
}

#[cfg(test)]
mod tests {
    use cyclotron_isa::testing::HashInputs;
    use cyclotron_isa::{LimbProgram, LimbType, ProgramBuilder, Source, interpret};
    use cyclotron_ring::{Ring, Simd, primes};

    use super::{Calls, SHARED_BYTES};
    use crate::Engine;

    const LOG_N: u32 = 10;

    /// Limbs that are enough to share.
    const SHARED: u32 = (SHARED_BYTES >> LOG_N) as u32 / 8;

    fn moduli() -> Vec<u64> {
        primes::ntt_primes(1 << 50, 2 << LOG_N, 2)
    }

    /// Calls of procedures of one form but the last, which read `shared` limbs and
    /// two of their own: `calls` says which procedure, and of which earlier call
    /// the result is one of these.
    fn program(shared: u32, calls: &[(usize, Option<usize>)]) -> LimbProgram {
        let mut builder = ProgramBuilder::new("alike", LOG_N, 64, &moduli());
        let ty = LimbType::eval(0);
        let own = 2 * calls.len() as u32;
        let inputs: Vec<u32> = (0..shared + own)
            .map(|at| {
                let input = builder.ciphertext(&format!("x{at}"));
                let (poly, limb) = (0, 0);
                builder.input(Source::Ciphertext { input, poly, limb }, ty)
            })
            .collect();
        let procedures: Vec<u32> = (0..4)
            .map(|kind| {
                builder.procedure(&format!("p{kind}"), |p| {
                    let all: Vec<u32> = (0..shared + 2).map(|_| p.param(ty)).collect();
                    let (reads, own) = all.split_at(shared as usize);
                    let pairs: Vec<_> = reads.iter().map(|&v| (v, own[0])).collect();
                    let sums = [p.dot(0, &pairs), p.dot(0, &[(own[0], own[1])])];
                    let sources = sums.map(|sum| p.intt(sum));
                    let converted = p.bconv(&[0, 1], &sources, &[1, 2, 3 + kind, 4]);
                    let values = [p.ntt(0, converted[0]), p.ntt(1, converted[1])];
                    let scaled = p.mul_c(0, values[0], 7 + kind);
                    let last = if kind < 3 {
                        p.aut(scaled, [1, 5, 25][kind as usize])
                    } else {
                        p.neg(scaled)
                    };
                    vec![last, values[1]]
                })
            })
            .collect();
        let mut made: Vec<u32> = Vec::new();
        let output = builder.output_named("y");
        for (at, &(kind, reads)) in calls.iter().enumerate() {
            let mut args = inputs[..shared as usize].to_vec();
            let own = &inputs[shared as usize + 2 * at..];
            args.extend([own[0], reads.map_or(own[1], |call| made[call])]);
            let results = builder.call(procedures[kind], &args, at as u32);
            made.push(results[0]);
            for (value, limb) in results.into_iter().zip(0..) {
                builder.output(output, at as u8, limb, value);
            }
        }
        builder.finish()
    }

    /// How many calls a run executes, once its results are the interpreter's.
    fn executed(shared: u32, calls: &[(usize, Option<usize>)]) -> (usize, usize) {
        let program = program(shared, calls);
        let ring = Ring::<u64>::new(LOG_N, &moduli(), Simd::detect().unwrap()).unwrap();
        let inputs = HashInputs::new(shared.into(), &program);
        let expected = interpret(&program, &ring, &inputs).unwrap();
        for threads in [1, 2] {
            let engine = Engine::new(threads).unwrap();
            let (outputs, _) = engine.run(&program, &ring, &inputs).unwrap();
            assert_eq!(outputs, expected, "{calls:?} on {threads} threads");
        }
        let calls = Calls::new(&program);
        (calls.calls.len(), calls.joined.len())
    }

    #[test]
    fn neighbours_of_one_form_are_one_call() {
        assert_eq!(executed(SHARED, &[(0, None), (1, None), (2, None)]), (2, 1));
    }

    #[test]
    fn equal_groups_have_one_procedure() {
        let pairs = [
            (0, None),
            (1, None),
            (0, None),
            (1, None),
            (1, None),
            (0, None),
        ];
        assert_eq!(executed(SHARED, &pairs), (3, 2));
    }

    #[test]
    fn what_depends_or_differs_or_shares_little_stays_apart() {
        assert_eq!(executed(SHARED, &[(0, None), (1, Some(0))]), (2, 0));
        assert_eq!(executed(SHARED, &[(2, None), (3, None)]), (2, 0));
        assert_eq!(executed(SHARED / 2, &[(0, None), (1, None)]), (2, 0));
    }
}

//! Random programs on random machines: a legal schedule or a typed error.

mod support;

use std::ops::ControlFlow;

use cyclotron_checker::check;
use cyclotron_compiler::{CompileError, Options, Phase2, compile};
use support::{
    machines::Shape,
    programs::{self, Random},
};

fn random_shape(random: &mut Random) -> Shape {
    let mut one_of = |list: &[u32]| list[random.next(list.len() as u64) as usize];
    Shape {
        clusters: one_of(&[1, 2, 3, 4, 7, 16]) as u16,
        regfile_slots: one_of(&[2, 3, 4, 8, 20]) as u16,
        net_ports: one_of(&[1, 1, 2]) as u16,
        banks: one_of(&[1, 2, 5, 16]) as u16,
        bank_slots: one_of(&[1, 2, 4, 16, 64]) as u16,
        channels: one_of(&[1, 2, 3]) as u16,
        channel_span: one_of(&[0, 16, 128, 700]),
        channel_latency: one_of(&[0, 30, 300, 1000]),
        occupancy: one_of(&[1, 16, 128]),
        xbar_span: one_of(&[8, 16, 128]),
        among_clusters: one_of(&[0, 1, 1]) == 1,
        multipass_ntt: one_of(&[0, 1]) == 1,
        single_port: one_of(&[0, 1]) == 1,
        // Results come 2, 5, 210 and 275 cycles after operands, which must not
        // be in the same bank.
        turn_banks: one_of(&[0, 7, 8]) as u16,
    }
}

#[test]
fn random_programs_compile_or_are_refused() {
    let mut refused = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        random.next(2);
        let shape = random_shape(&mut random);
        let machine = shape.resolve(10);
        let program = programs::random(seed, 1 + random.next(300));
        let effort = (seed % 3) as u8;
        let options = Options {
            effort,
            seed,
            phase2: if seed % 4 == 3 {
                Phase2::Csr
            } else {
                Phase2::Greedy
            },
        };
        match compile(&program, &machine, &options, &mut |_, _| {
            ControlFlow::Continue(())
        }) {
            Ok(compiled) => {
                let (bound, schedule) = (compiled.bound, compiled.schedule);
                if let Err(why) = check(&compiled.flat, &schedule, &machine) {
                    panic!("seed {seed}, {shape:?}: {why}");
                }
                let (cycles, least) = (schedule.cycles, bound.cycles);
                assert!(
                    least <= cycles,
                    "seed {seed}, {shape:?}: {bound:?} but {cycles}"
                );
            }
            Err(CompileError::DoesNotFit { .. }) => {
                let tight = shape.banks * shape.bank_slots < 4 || shape.regfile_slots < 3;
                assert!(tight, "seed {seed}, {shape:?} refused");
                refused += 1;
            }
            Err(other) => panic!("seed {seed}, {shape:?}: {other}"),
        }
    }
    assert!(refused < 100, "{refused} refused");
}

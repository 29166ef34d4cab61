//! What is computed once per program, and reused by every run of it.
//!
//! A procedure becomes a list of *tasks* with their dependences: the pieces
//! into which [`crate::rewrite`] joins and cuts its instructions.

use cyclotron_isa::{LimbProgram, Procedure};

use crate::rewrite::{Calls, Piece, Shape, rewrite};

/// A ragged table: row r is `items[starts[r]..starts[r + 1]]`.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Groups `(row, item)` pairs by row; items of a row keep their order.
    fn group(rows: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for &(row, _) in pairs {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for &(row, item) in pairs {
            let at = &mut next[row as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Rows { starts, items }
    }

    pub(crate) fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.items[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// The plan of a procedure.
#[derive(Debug)]
pub(crate) struct ProcedurePlan {
    /// What is executed, in the order of priority: a task is a piece.
    pub tasks: Vec<Piece>,
    /// For every task, how many of its sources other tasks define.
    pub pending: Vec<u32>,
    /// Tasks that wait for nothing but the arguments.
    pub roots: Vec<u32>,
    /// For every local value, the tasks that read it, once per reading.
    pub readers: Rows,
    /// For every local value, the positions among the results that it takes.
    pub results: Rows,
    /// Number of local values.
    pub values: usize,
}

impl ProcedurePlan {
    fn new(procedure: &Procedure, constants: &[u64], shape: Shape) -> Self {
        let tasks = rewrite(procedure, constants, shape);
        let pending: Vec<u32> = tasks
            .iter()
            .map(|task| {
                let computed = task.sources.iter().filter(|&&v| v >= procedure.params);
                computed.count() as u32
            })
            .collect();
        let values = procedure.types.len();
        let reads: Vec<_> = (0u32..)
            .zip(&tasks)
            .flat_map(|(t, task)| task.sources.iter().map(move |&value| (value, t)))
            .collect();
        let results: Vec<_> = (0u32..)
            .zip(&procedure.results)
            .map(|(k, &v)| (v, k))
            .collect();
        ProcedurePlan {
            roots: (0u32..)
                .zip(&pending)
                .filter(|&(_, &n)| n == 0)
                .map(|(t, _)| t)
                .collect(),
            readers: Rows::group(values, &reads),
            results: Rows::group(values, &results),
            values,
            pending,
            tasks,
        }
    }

    /// How often tasks read a local value.
    pub(crate) fn reads(&self, value: u32) -> u32 {
        self.readers.row(value).len() as u32
    }
}

/// A limb program ready to run: its procedures' plans and how often each global
/// value is used. Made by [`crate::Engine::prepare`]; belongs to the program
/// that it was made from.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) calls: Calls,
    /// Plans of the program's procedures that are called, then of joined ones.
    pub(crate) procedures: Vec<ProcedurePlan>,
    /// For every global value, arguments and outputs that name it.
    pub(crate) global_uses: Vec<u32>,
    /// Instructions that a run executes.
    pub(crate) instructions: u64,
}

impl Prepared {
    pub(crate) fn new(program: &LimbProgram, threads: usize) -> Self {
        let calls = Calls::new(program);
        let mut global_uses = vec![0; program.global_count()];
        let mut called = vec![false; program.procedures.len() + calls.joined.len()];
        for (at, call) in (0u32..).zip(&calls.calls) {
            called[call.procedure as usize] = true;
            for &arg in calls.args(at) {
                global_uses[arg as usize] += 1;
            }
        }
        for output in &program.outputs {
            global_uses[output.value as usize] += 1;
        }
        let shape = Shape::new(program, threads);
        let none = Procedure::default();
        let procedures = program.procedures.iter().chain(&calls.joined);
        let procedures = procedures
            .zip(called)
            .map(|(procedure, called)| if called { procedure } else { &none })
            .map(|p| ProcedurePlan::new(p, &program.constants, shape))
            .collect();
        Prepared {
            calls,
            procedures,
            global_uses,
            instructions: program.instruction_count(),
        }
    }
}

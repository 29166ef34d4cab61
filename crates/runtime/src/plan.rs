//! What is computed once per program, and reused by every run of it.
//!
//! A procedure becomes a list of *tasks* with their dependences. A task is an
//! instruction, or a part of the destinations of a base conversion: each
//! destination of `BCONV` is independent of the others, so a wide one is cut
//! into as many tasks as there are threads.

use cyclotron_isa::{Inst, InstView, LimbProgram, Op, Procedure};

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

/// A part of an instruction that is executed at once.
#[derive(Debug)]
pub(crate) struct Task {
    /// The instruction; its destination, count and matrix are the part's.
    pub inst: Inst,
    /// For a part of a base conversion: its moduli and its columns of the matrix.
    pub part: Option<Box<MatrixPart>>,
}

/// The part of a base conversion that a task computes.
#[derive(Debug)]
pub(crate) struct MatrixPart {
    /// Modulus of every destination of the part.
    pub dst_moduli: Vec<usize>,
    /// Row-major by source, one column per destination of the part.
    pub matrix: Vec<u64>,
}

/// The plan of a procedure.
#[derive(Debug)]
pub(crate) struct ProcedurePlan {
    /// In the procedure's order, which is that of priority.
    pub tasks: Vec<Task>,
    /// Sources of every task.
    pub sources: Rows,
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
    fn new(procedure: &Procedure, constants: &[u64], threads: usize) -> Self {
        let mut tasks = Vec::with_capacity(procedure.insts.len());
        let mut reads = Vec::new();
        for inst in &procedure.insts {
            let first = tasks.len() as u32;
            if inst.op == Op::BConv {
                split(procedure, inst, constants, threads, &mut tasks);
            } else {
                let inst = *inst;
                tasks.push(Task { inst, part: None });
            }
            for task in first..tasks.len() as u32 {
                procedure.for_each_source(inst, |value| reads.push((task, value)));
            }
        }
        let pending: Vec<u32> = {
            let mut pending = vec![0; tasks.len()];
            for &(task, value) in &reads {
                pending[task as usize] += u32::from(value >= procedure.params);
            }
            pending
        };
        let values = procedure.types.len();
        let by_value: Vec<_> = reads.iter().map(|&(task, value)| (value, task)).collect();
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
            sources: Rows::group(tasks.len(), &reads),
            readers: Rows::group(values, &by_value),
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

    /// The local values that a task defines.
    pub(crate) fn defined(&self, task: u32) -> std::ops::Range<u32> {
        let inst = &self.tasks[task as usize].inst;
        inst.dst..inst.dst + Procedure::result_count(inst)
    }
}

/// Cuts a base conversion into at most `threads` tasks of about equal size.
fn split(
    procedure: &Procedure,
    inst: &Inst,
    constants: &[u64],
    threads: usize,
    tasks: &mut Vec<Task>,
) {
    let mut fields = [0; 3];
    let InstView::Matrix { srcs, dst_moduli } = procedure.view(inst, &mut fields) else {
        unreachable!("a base conversion has a matrix");
    };
    let count = dst_moduli.len();
    let parts = threads.clamp(1, count);
    for part in 0..parts {
        let columns = part * count / parts..(part + 1) * count / parts;
        let matrix = (0..srcs.len())
            .flat_map(|row| {
                let at = inst.imm as usize + row * count;
                &constants[at + columns.start..at + columns.end]
            })
            .copied()
            .collect();
        let moduli: Vec<usize> = dst_moduli[columns.clone()]
            .iter()
            .map(|&m| m as usize)
            .collect();
        let mut own = *inst;
        own.dst += columns.start as u32;
        own.c = moduli.len() as u32;
        own.modulus = moduli[0] as u16;
        tasks.push(Task {
            inst: own,
            part: Some(Box::new(MatrixPart {
                dst_moduli: moduli,
                matrix,
            })),
        });
    }
}

/// A limb program ready to run: its procedures' plans and how often each global
/// value is used. Made by [`crate::Engine::prepare`]; belongs to the program
/// that it was made from.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) procedures: Vec<ProcedurePlan>,
    /// For every global value, arguments and outputs that name it.
    pub(crate) global_uses: Vec<u32>,
    /// Instructions that a run executes.
    pub(crate) instructions: u64,
    /// Tasks that a run executes.
    pub(crate) tasks: u64,
}

impl Prepared {
    pub(crate) fn new(program: &LimbProgram, threads: usize) -> Self {
        let mut global_uses = vec![0; program.global_count()];
        for call in &program.calls {
            for &arg in program.call_args(call) {
                global_uses[arg as usize] += 1;
            }
        }
        for output in &program.outputs {
            global_uses[output.value as usize] += 1;
        }
        let procedures: Vec<_> = program
            .procedures
            .iter()
            .map(|p| ProcedurePlan::new(p, &program.constants, threads))
            .collect();
        let tasks_of = |procedure: u32| procedures[procedure as usize].tasks.len() as u64;
        Prepared {
            tasks: program
                .calls
                .iter()
                .map(|call| tasks_of(call.procedure))
                .sum(),
            procedures,
            global_uses,
            instructions: program.instruction_count(),
        }
    }
}

//! One run of a program: its values, and what a worker does with a job.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use cyclotron_isa::{InputProvider, LimbProgram, fetch};
use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::compute::{compute, transform};
use crate::engine::Progress;
use crate::error::RuntimeError;
use crate::plan::{Prepared, ProcedurePlan};
use crate::pool::{Pool, SharedPool};
use crate::queue::{Admission, Job, News, Queue};
use crate::rewrite::Piece;
use crate::value::{Global, Local, lock};

/// A call that is being executed.
#[derive(Debug)]
pub(crate) struct RunningCall<W: Word> {
    call: u32,
    values: Vec<Local<W>>,
    /// For every task, sources that are still to be computed.
    pending: Vec<AtomicU32>,
    unfinished_tasks: AtomicU32,
}

/// Everything that the workers of a run share.
pub(crate) struct Run<'a, W: Word> {
    program: &'a LimbProgram,
    prepared: &'a Prepared,
    ring: &'a Ring<W>,
    provider: &'a dyn InputProvider<W>,
    progress: Option<Progress<'a>>,
    globals: Vec<Mutex<Global<W>>>,
    queue: Queue<RunningCall<W>>,
    pub(crate) pool: SharedPool<W>,
    done: AtomicU64,
    fetch_nanos: AtomicU64,
    failure: Mutex<Option<RuntimeError>>,
}

/// What a worker keeps to itself.
struct Worker<'a, W: Word> {
    pool: Pool<'a, W>,
    news: News<RunningCall<W>>,
    /// Calls whose last argument has just come.
    startable: Vec<u32>,
    /// Sources of the task at hand.
    sources: Vec<Arc<LimbBuf<W>>>,
    /// For values that only one task sees.
    scratch: LimbBuf<W>,
}

/// Abandons the run if a worker panics, so that the others do not wait for it.
struct StopOnPanic<'a, C>(&'a Queue<C>);

impl<C> Drop for StopOnPanic<'_, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl<'a, W: Word> Run<'a, W> {
    pub(crate) fn new(
        program: &'a LimbProgram,
        prepared: &'a Prepared,
        ring: &'a Ring<W>,
        provider: &'a dyn InputProvider<W>,
        threads: usize,
    ) -> Self {
        let global = |&uses: &u32| Mutex::new(Global::new(uses));
        Run {
            program,
            prepared,
            ring,
            provider,
            progress: None,
            globals: prepared.global_uses.iter().map(global).collect(),
            queue: Queue::new(prepared.calls.calls.len(), threads),
            pool: SharedPool::new(program.n()),
            done: AtomicU64::new(0),
            fetch_nanos: AtomicU64::new(0),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn with_progress(mut self, progress: Option<Progress<'a>>) -> Self {
        self.progress = progress;
        self
    }

    /// Works until nothing is left. Every thread of the engine calls it once.
    pub(crate) fn work(&self) {
        let _guard = StopOnPanic(&self.queue);
        let mut worker = Worker {
            pool: Pool::new(&self.pool),
            news: News::new(),
            startable: Vec::new(),
            sources: Vec::new(),
            scratch: LimbBuf::default(),
        };
        while let Some(job) = self.queue.next(&mut worker.news) {
            let done = match job {
                Job::Admit(call) => {
                    self.admit(call, &mut worker);
                    Ok(())
                }
                Job::Fetch(input) => self.fetch(input, &mut worker),
                Job::Task(call, task) => self.execute(&call, task, &mut worker),
            };
            if let Err(failure) = done {
                lock(&self.failure).get_or_insert(failure);
                self.queue.stop();
            }
            while let Some(call) = worker.startable.pop() {
                self.start(call, &mut worker);
            }
        }
    }

    /// Has a call wait for those of its arguments that are not there yet.
    fn admit(&self, call: u32, worker: &mut Worker<'_, W>) {
        let admission = Admission::new(call);
        for &arg in self.prepared.calls.args(call) {
            let mut global = lock(&self.globals[arg as usize]);
            if global.value.is_some() {
                continue;
            }
            admission.expect_one_more();
            global.waiting.push(Arc::clone(&admission));
            if (arg as usize) < self.program.inputs.len() && !global.requested {
                global.requested = true;
                worker.news.fetch(call, arg);
            }
        }
        if admission.arrived() {
            worker.startable.push(call);
        }
    }

    fn fetch(&self, input: u32, worker: &mut Worker<'_, W>) -> Result<(), RuntimeError> {
        let value = self.ask(input)?;
        self.set_global(input, value, worker);
        Ok(())
    }

    fn ask(&self, input: u32) -> Result<Arc<LimbBuf<W>>, RuntimeError> {
        let decl = self.program.inputs[input as usize];
        let start = Instant::now();
        let value = fetch(self.provider, decl, self.ring);
        let nanos = start.elapsed().as_nanos() as u64;
        self.fetch_nanos.fetch_add(nanos, Ordering::Relaxed);
        // A limb that the provider does not keep is ours to use again.
        Ok(match Arc::try_unwrap(value?) {
            Ok(limb) => {
                self.pool.adopt();
                Arc::new(limb)
            }
            Err(kept) => kept,
        })
    }

    fn set_global(&self, value: u32, limb: Arc<LimbBuf<W>>, worker: &mut Worker<'_, W>) {
        let mut global = lock(&self.globals[value as usize]);
        if global.uses == 0 {
            drop(global);
            worker.pool.release(limb);
            return;
        }
        global.value = Some(limb);
        for admission in std::mem::take(&mut global.waiting) {
            if admission.arrived() {
                worker.startable.push(admission.call);
            }
        }
    }

    /// Starts a call whose arguments are all there.
    fn start(&self, index: u32, worker: &mut Worker<'_, W>) {
        let call = &self.prepared.calls.calls[index as usize];
        let plan = &self.prepared.procedures[call.procedure as usize];
        let running = Arc::new(RunningCall {
            call: index,
            values: (0..plan.values).map(|_| Local::empty()).collect(),
            pending: plan.pending.iter().map(|&n| AtomicU32::new(n)).collect(),
            unfinished_tasks: AtomicU32::new(plan.tasks.len() as u32),
        });
        for (local, &arg) in (0..).zip(self.prepared.calls.args(index)) {
            let value = lock(&self.globals[arg as usize]).take();
            self.publish(&running, plan, local, value, worker);
        }
        for &task in &plan.roots {
            worker.news.task(index, Arc::clone(&running), task);
        }
        if plan.tasks.is_empty() {
            worker.news.call_finished();
        }
    }

    /// Makes a local value available to its readers and to the caller.
    fn publish(
        &self,
        running: &RunningCall<W>,
        plan: &ProcedurePlan,
        local: u32,
        value: Arc<LimbBuf<W>>,
        worker: &mut Worker<'_, W>,
    ) {
        let first_result = self.prepared.calls.calls[running.call as usize].first_result;
        for &position in plan.results.row(local) {
            self.set_global(first_result + position, Arc::clone(&value), worker);
        }
        match plan.reads(local) {
            0 => worker.pool.release(value),
            reads => running.values[local as usize].set(value, reads),
        }
    }

    fn execute(
        &self,
        running: &Arc<RunningCall<W>>,
        index: u32,
        worker: &mut Worker<'_, W>,
    ) -> Result<(), RuntimeError> {
        let procedure = self.prepared.calls.calls[running.call as usize].procedure;
        let plan = &self.prepared.procedures[procedure as usize];
        let task = &plan.tasks[index as usize];
        let sources = task.sources.iter();
        worker
            .sources
            .extend(sources.map(|&v| running.values[v as usize].read()));
        let results = self.results(task, worker);
        for (&local, result) in task.results.iter().zip(results) {
            self.publish(running, plan, local, Arc::new(result), worker);
            for &reader in plan.readers.row(local) {
                if running.pending[reader as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                    worker.news.task(running.call, Arc::clone(running), reader);
                }
            }
        }
        if running.unfinished_tasks.fetch_sub(1, Ordering::AcqRel) == 1 {
            worker.news.call_finished();
        }
        self.report(u64::from(task.insts))
    }

    /// The results of a task, from the worker's sources, which are released.
    fn results(&self, task: &Piece, worker: &mut Worker<'_, W>) -> Vec<LimbBuf<W>> {
        let mut sources = std::mem::take(&mut worker.sources);
        let own = match sources.first_mut().map(Arc::get_mut) {
            Some(Some(_)) if task.work.in_place() => Arc::into_inner(sources.remove(0)),
            _ => None,
        };
        let limbs: Vec<&[W]> = sources.iter().map(|limb| &***limb).collect();
        let results = if let Some(mut limb) = own {
            transform(self.ring, &task.work, None, &limbs, &mut limb);
            vec![limb]
        } else {
            let mut results: Vec<_> = task.results.iter().map(|_| worker.pool.take()).collect();
            let mut dsts: Vec<&mut [W]> = results.iter_mut().map(|limb| &mut **limb).collect();
            let scratch = &mut worker.scratch;
            compute(self.ring, &task.work, &limbs, &mut dsts, scratch);
            results
        };
        for source in sources.drain(..) {
            worker.pool.release(source);
        }
        worker.sources = sources;
        results
    }

    /// Counts instructions, and tells the progress callback about every hundredth
    /// of the run.
    fn report(&self, insts: u64) -> Result<(), RuntimeError> {
        let before = self.done.fetch_add(insts, Ordering::Relaxed);
        let (done, total) = (before + insts, self.prepared.instructions);
        let Some(progress) = self.progress else {
            return Ok(());
        };
        let hundredth = (total / 100).max(1);
        if done / hundredth > before / hundredth && progress(done, total).is_break() {
            return Err(RuntimeError::Cancelled { done, total });
        }
        Ok(())
    }

    /// The output limbs, once the work is done.
    pub(crate) fn outputs(&self) -> Result<Vec<LimbBuf<W>>, RuntimeError> {
        if let Some(failure) = lock(&self.failure).take() {
            return Err(failure);
        }
        let inputs = self.program.inputs.len() as u32;
        let limb = |value: u32| {
            let mut global = lock(&self.globals[value as usize]);
            if global.value.is_none() && value < inputs {
                global.value = Some(self.ask(value)?);
            }
            let limb = global.take();
            Ok(Arc::try_unwrap(limb).unwrap_or_else(|shared| LimbBuf::from_slice(&shared)))
        };
        self.program
            .outputs
            .iter()
            .map(|output| limb(output.value))
            .collect()
    }

    /// Seconds that workers spent waiting for the provider, summed over them.
    pub(crate) fn fetch_seconds(&self) -> f64 {
        self.fetch_nanos.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

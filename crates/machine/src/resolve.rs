//! From a description to a machine at one ring degree.

use cyclotron_isa::Op;

use crate::description::{Bandwidth, Crossbar, Offchip, Reach};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::resolved::{
    Bank, Channel, OpTiming, RegFile, Resolved, Turns, UnitKind, Xbar, XbarKind,
};

/// Slots, banks, units and channels are numbered in 16 bits; the last number
/// means "none".
const MAX_NUMBER: u64 = u16::MAX as u64 - 1;
const KIB: u64 = 1024;

impl Machine {
    /// Bytes of one stored vector of 2^`log_n` words, rounded up.
    #[must_use]
    pub fn vector_bytes(&self, log_n: u32) -> u64 {
        // Exact: at most 2^20 words of at most 16 bytes.
        round_up(f64::from(1u32 << log_n.min(31)) * self.store_bytes)
    }

    /// The machine at ring degree N = 2^`log_n`.
    ///
    /// # Errors
    /// The degree is outside the machine's range, its words are too small for a
    /// transform of that length, a memory holds no vector, or the description
    /// uses what schedules cannot express.
    pub fn resolve(&self, log_n: u32) -> Result<Resolved, MachineError> {
        self.check_degree(log_n)?;
        let at = At {
            machine: self,
            log_n,
            vector_bytes: self.vector_bytes(log_n),
        };
        if let Some(cycles @ 1..) = self.streams.as_ref().map(|s| s.issue_overhead_cycles) {
            return Err(at.not_modelled(format!("`streams.issue_overhead_cycles` of {cycles}")));
        }
        let (units, ops) = at.units()?;
        Ok(Resolved {
            name: self.name.clone(),
            hash: self.hash().to_owned(),
            clock_mhz: self.clock_mhz,
            word_bits: self.word_bits,
            log_n,
            vector_bytes: at.vector_bytes,
            clusters: at.number("cluster.count", self.cluster.count.into())?,
            units,
            regfile: at.regfile(&ops)?,
            ops,
            groups: self
                .scratchpads
                .iter()
                .map(|group| group.name.clone())
                .collect(),
            banks: at.banks()?,
            xbars: self
                .xbars
                .iter()
                .map(|xbar| at.xbar(xbar))
                .collect::<Result<_, _>>()?,
            channels: at.channels()?,
        })
    }

    /// The machine for polynomials of 2^`log_n` coefficients: at that degree, or with its
    /// longest vectors, of which such a polynomial is several.
    ///
    /// # Errors
    /// As [`Self::resolve`]; for longer polynomials too, words must have room for primes
    /// that transforms of their degree need.
    pub fn resolve_for_polynomials(&self, log_n: u32) -> Result<Resolved, MachineError> {
        let longest = self.n_max.ilog2();
        if log_n > longest {
            self.check_primes(log_n)?;
        }
        self.resolve(log_n.min(longest))
    }

    fn check_degree(&self, log_n: u32) -> Result<(), MachineError> {
        if !(self.n_min.ilog2()..=self.n_max.ilog2()).contains(&log_n) {
            return Err(MachineError::UnsupportedDegree {
                machine: self.name.clone(),
                log_n,
                n_min: self.n_min,
                n_max: self.n_max,
            });
        }
        self.check_primes(log_n)
    }

    fn check_primes(&self, log_n: u32) -> Result<(), MachineError> {
        let step = self.moduli.step(log_n);
        // The smallest number above 1 that is 1 modulo the step is step + 1.
        let needs = step.ilog2() + 1;
        if self.moduli.bits_max < needs {
            return Err(MachineError::WordTooSmall {
                machine: self.name.clone(),
                log_n,
                bits_max: self.moduli.bits_max,
                step,
                needs,
            });
        }
        Ok(())
    }
}

/// A machine at a degree, while it is resolved.
struct At<'a> {
    machine: &'a Machine,
    log_n: u32,
    vector_bytes: u64,
}

type Timings = [Option<OpTiming>; Op::ALL.len()];

impl At<'_> {
    /// A count that schedules can number.
    fn number(&self, what: &str, count: u64) -> Result<u16, MachineError> {
        match u16::try_from(count) {
            Ok(number) if count <= MAX_NUMBER => Ok(number),
            _ => Err(MachineError::TooMany {
                machine: self.machine.name.clone(),
                what: what.to_owned(),
                log_n: self.log_n,
                count,
                max: MAX_NUMBER,
            }),
        }
    }

    /// Vectors that a memory of this many bytes holds: at least one.
    fn slots(&self, key: &str, bytes: u64) -> Result<u16, MachineError> {
        let slots = bytes / self.vector_bytes;
        if slots == 0 {
            return Err(MachineError::NoSlots {
                machine: self.machine.name.clone(),
                key: key.to_owned(),
                log_n: self.log_n,
                has_bytes: bytes,
                vector_bytes: self.vector_bytes,
            });
        }
        self.number(&format!("the number of vectors in {key}"), slots)
    }

    fn not_modelled(&self, what: String) -> MachineError {
        MachineError::NotModelled {
            machine: self.machine.name.clone(),
            what,
        }
    }

    fn units(&self) -> Result<(Vec<UnitKind>, Timings), MachineError> {
        let scope = self.machine.scope(self.log_n);
        let fault = |error: crate::FormulaError| self.not_modelled(error.to_string());
        let mut kinds = Vec::new();
        let mut timings: Timings = [None; Op::ALL.len()];
        let mut first = 0u64;
        for (index, unit) in self.machine.cluster.units.iter().enumerate() {
            if !unit.exclusive_with.is_empty() {
                let what = format!("`exclusive_with` of unit `{}`", unit.name);
                return Err(self.not_modelled(what));
            }
            let count = unit.count.evaluate(&scope).map_err(fault)?;
            let key = format!("the number of units of a cluster (with `{}`)", unit.name);
            kinds.push(UnitKind {
                name: unit.name.clone(),
                count: self.number(&key, count.into())?,
                first: self.number(&key, first)?,
            });
            first += u64::from(count);
            self.number(&key, first)?;
            for op in Op::ALL {
                if let Some(timing) = unit.ops.get(op.machine_name()) {
                    timings[op as usize] = Some(OpTiming {
                        unit: self.number("the kinds of unit", index as u64)?,
                        occupancy: timing.occupancy.evaluate(&scope).map_err(fault)?,
                        latency: timing.latency.evaluate(&scope).map_err(fault)?,
                        multipass: timing.multipass,
                    });
                }
            }
        }
        Ok((kinds, timings))
    }

    /// The latency of a memory: streams are told apart by the cycle at which they
    /// appear, which needs at least one cycle.
    fn latency(&self, key: &str, cycles: u32) -> Result<u32, MachineError> {
        if cycles == 0 {
            return Err(self.not_modelled(format!("`{key}` of 0 cycles")));
        }
        Ok(cycles)
    }

    /// What the banks of the register files allow.
    fn turns(&self, ops: &Timings) -> Result<Option<Turns>, MachineError> {
        let file = &self.machine.cluster.regfile;
        if !file.element_partitioned {
            return Ok(None);
        }
        let turns = Turns {
            banks: self.number("cluster.regfile.banks", file.banks.into())?,
            accesses: self.number("cluster.regfile.clock_mult", file.clock_mult.into())?,
            chunks: (1u32 << self.log_n).div_ceil(self.machine.lanes).max(1),
        };
        for op in Op::ALL {
            let own = ops[op as usize].filter(|timing| timing.occupancy == turns.chunks);
            if let Some(timing) = own {
                self.check_turns(turns, op, timing)?;
            }
        }
        Ok(Some(turns))
    }

    /// Whether a bank serves all that one operation does to it at a time.
    fn check_turns(&self, turns: Turns, op: Op, timing: OpTiming) -> Result<(), MachineError> {
        let passes = if timing.multipass {
            timing.occupancy
        } else {
            0
        };
        let delay = passes + timing.latency + self.machine.cluster.regfile.latency;
        let meets_itself =
            delay < turns.chunks && delay.is_multiple_of(u32::from(turns.banks.max(1)));
        let most = op.field_sources() + usize::from(meets_itself);
        if most <= usize::from(turns.accesses) {
            return Ok(());
        }
        let why = if meets_itself {
            format!("whose result comes {delay} cycles after its operands, in the same banks,")
        } else {
            format!("with {most} operands at a time")
        };
        Err(self.not_modelled(format!(
            "`{}` {why} on a register file whose banks serve {} accesses a cycle",
            op.machine_name(),
            turns.accesses
        )))
    }

    fn regfile(&self, ops: &Timings) -> Result<RegFile, MachineError> {
        let file = &self.machine.cluster.regfile;
        Ok(RegFile {
            slots: self.slots("cluster.regfile.kib", u64::from(file.kib) * KIB)?,
            latency: self.latency("cluster.regfile.latency", file.latency)?,
            net_reads: self.number("cluster.regfile.net_read_ports", file.net_read_ports.into())?,
            net_writes: self.number(
                "cluster.regfile.net_write_ports",
                file.net_write_ports.into(),
            )?,
            turns: self.turns(ops)?,
        })
    }

    fn banks(&self) -> Result<Vec<Bank>, MachineError> {
        let mut banks = Vec::new();
        for (index, group) in self.machine.scratchpads.iter().enumerate() {
            let key = format!("scratchpad.{}.kib_per_bank", group.name);
            let bank = Bank {
                group: self.number("the number of scratchpad groups", index as u64)?,
                slots: self.slots(&key, u64::from(group.kib_per_bank) * KIB)?,
                latency: self
                    .latency(&format!("scratchpad.{}.latency", group.name), group.latency)?,
                reads: self.number("read_ports", group.read_ports.into())?,
                writes: self.number("write_ports", group.write_ports.into())?,
                single_port: group.single_port,
            };
            let total = banks.len() as u64 + u64::from(group.banks);
            self.number("the number of banks of all groups", total)?;
            banks.extend((0..group.banks).map(|_| bank));
        }
        Ok(banks)
    }

    /// Indices of the groups that something reaches; `None` for the cluster.
    fn groups(&self, reach: &Reach) -> Result<Option<Vec<u16>>, MachineError> {
        let groups = self.machine.scratchpads.iter().enumerate();
        let mut indices = Vec::new();
        for (index, group) in groups {
            let reached = match reach {
                Reach::AllGroups => true,
                Reach::Named(names) => names.contains(&group.name),
            };
            if reached {
                indices.push(self.number("the number of scratchpad groups", index as u64)?);
            }
        }
        Ok((!indices.is_empty()).then_some(indices))
    }

    /// Width of the narrowest port among groups; `None` if there is no group.
    fn narrowest(&self, groups: &[u16]) -> Option<u32> {
        let widths = groups
            .iter()
            .map(|&group| self.machine.scratchpads[usize::from(group)].bytes_per_cycle);
        widths.min()
    }

    fn xbar(&self, xbar: &Crossbar) -> Result<Xbar, MachineError> {
        let (kind, groups) = match (self.groups(&xbar.from)?, self.groups(&xbar.to)?) {
            (Some(groups), None) => (XbarKind::BankToCluster, groups),
            (None, Some(groups)) => (XbarKind::ClusterToBank, groups),
            (None, None) => (XbarKind::ClusterToCluster, Vec::new()),
            (Some(_), Some(_)) => {
                let what = format!("crossbar `{}` between scratchpads", xbar.name);
                return Err(self.not_modelled(what));
            }
        };
        let width = self
            .narrowest(&groups)
            .map_or(xbar.bytes_per_cycle, |port| port.min(xbar.bytes_per_cycle));
        Ok(Xbar {
            name: xbar.name.clone(),
            kind,
            groups,
            latency: xbar.latency,
            span: self.span(&format!("xbar.{}", xbar.name), f64::from(width))?,
        })
    }

    fn channels(&self) -> Result<Vec<Channel>, MachineError> {
        let mut channels = Vec::new();
        for (index, memory) in self.machine.offchip.iter().enumerate() {
            let groups = self.groups(&memory.attach)?.unwrap_or_default();
            let channel = Channel {
                memory: self.number("the number of off-chip memories", index as u64)?,
                span: self.channel_span(memory, &groups)?,
                groups,
                latency: memory.latency_cycles,
            };
            let total = channels.len() as u64 + u64::from(memory.channels);
            self.number("the number of off-chip channels", total)?;
            channels.extend((0..memory.channels).map(|_| channel.clone()));
        }
        Ok(channels)
    }

    fn channel_span(&self, memory: &Offchip, groups: &[u16]) -> Result<u32, MachineError> {
        let Bandwidth::GbPerSecond(gb_per_s) = memory.bandwidth else {
            return Ok(0);
        };
        // 10^9 bytes a second over 10^6 cycles a second.
        let channel = gb_per_s * 1000.0 * memory.efficiency / self.machine.clock_mhz;
        let port = self.narrowest(groups).map_or(f64::INFINITY, f64::from);
        self.span(&format!("offchip.{}", memory.name), channel.min(port))
    }

    /// Cycles that one vector takes at so many bytes per cycle.
    fn span(&self, what: &str, bytes_per_cycle: f64) -> Result<u32, MachineError> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a vector has at most 2^24 bytes"
        )]
        let cycles = self.vector_bytes as f64 / bytes_per_cycle;
        // A bandwidth that divides the vector must not lose a cycle to rounding.
        let cycles = round_up(cycles * (1.0 - 1e-12)).max(1);
        let max = crate::formula::MAX_VALUE;
        match u32::try_from(cycles) {
            Ok(span) if span <= max => Ok(span),
            _ => Err(MachineError::TooMany {
                machine: self.machine.name.clone(),
                what: format!("the cycles that {what} takes for a vector"),
                log_n: self.log_n,
                count: cycles,
                max: max.into(),
            }),
        }
    }
}

fn round_up(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; beyond 2^64 the cast gives the largest integer"
    )]
    let rounded = value.ceil() as u64;
    rounded
}

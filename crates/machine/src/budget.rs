//! Area and power of a machine, component by component.

use crate::description::{Cost, Description};
use crate::formula::FormulaError;
use crate::machine::Machine;

/// A kind of component in an area and power breakdown.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLine {
    /// What it is, by its path in the file: `cluster.cc.fu.ntt`.
    pub component: String,
    /// How many the whole machine has.
    pub count: u64,
    /// Of one of them.
    pub each: Cost,
}

/// Area and power of a whole machine, by component.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Budget {
    /// The components, in the order of the file: units and register file of the
    /// clusters, scratchpad groups, crossbars, off-chip interfaces.
    pub lines: Vec<BudgetLine>,
}

impl BudgetLine {
    /// Square millimetres of all of them; `None` if not known.
    #[must_use]
    pub fn area_mm2(&self) -> Option<f64> {
        self.each.area_mm2.map(|area| area * exact(self.count))
    }

    /// Thermal design power of all of them in watts; `None` if not known.
    #[must_use]
    pub fn tdp_w(&self) -> Option<f64> {
        self.each.tdp_w.map(|power| power * exact(self.count))
    }
}

impl Budget {
    /// Square millimetres of the components whose path starts with `prefix`;
    /// `None` if there is none or one of them is not known.
    ///
    /// # Examples
    /// ```
    /// use cyclotron_machine::Machine;
    ///
    /// let budget = Machine::shipped("f1")?.budget(14)?;
    /// assert_eq!(budget.area_mm2("xbar").map(|area| (area * 100.0).round()), Some(1002.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn area_mm2(&self, prefix: &str) -> Option<f64> {
        self.sum(prefix, BudgetLine::area_mm2)
    }

    /// Thermal design power in watts, likewise.
    #[must_use]
    pub fn tdp_w(&self, prefix: &str) -> Option<f64> {
        self.sum(prefix, BudgetLine::tdp_w)
    }

    fn sum(&self, prefix: &str, part: fn(&BudgetLine) -> Option<f64>) -> Option<f64> {
        let mut parts = self
            .lines
            .iter()
            .filter(|line| line.component.starts_with(prefix))
            .map(part)
            .peekable();
        parts.peek()?;
        parts.sum()
    }
}

impl Machine {
    /// Area and power by component. Counts of units may depend on the vector
    /// length, so the breakdown is for N = 2^`log_n`.
    ///
    /// # Errors
    /// `log_n` is so far outside the machine's range that a unit count has no value.
    pub fn budget(&self, log_n: u32) -> Result<Budget, FormulaError> {
        Budget::of(self, log_n)
    }
}

impl Budget {
    fn of(machine: &Description, log_n: u32) -> Result<Self, FormulaError> {
        let mut lines = Vec::new();
        let mut add = |component: String, count: u64, each: Cost| {
            lines.push(BudgetLine {
                component,
                count,
                each,
            });
        };
        let cluster = &machine.cluster;
        let clusters = u64::from(cluster.count);
        let scope = machine.scope(log_n.min(62));
        for unit in &cluster.units {
            let count = clusters * u64::from(unit.count.evaluate(&scope)?);
            let component = format!("cluster.{}.fu.{}", cluster.name, unit.name);
            add(component, count, unit.cost);
        }
        let component = format!("cluster.{}.regfile", cluster.name);
        add(component, clusters, cluster.regfile.cost);
        for group in &machine.scratchpads {
            let component = format!("scratchpad.{}", group.name);
            add(component, group.banks.into(), group.cost);
        }
        for xbar in &machine.xbars {
            add(format!("xbar.{}", xbar.name), 1, xbar.cost);
        }
        for memory in &machine.offchip {
            let component = format!("offchip.{}", memory.name);
            add(component, memory.channels.into(), memory.cost);
        }
        Ok(Self { lines })
    }
}

fn exact(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let count = count as f64;
    count
}

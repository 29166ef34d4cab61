//! The variance of an error, uniform or slot by slot.

/// A variance that is the same in every slot, or one for each slot.
///
/// Errors start uniform; a product with a plaintext vector makes them differ,
/// and a sum of rotations adds up those of the slots it adds. Weights whose
/// largest is far above their root mean square make the difference: a sum over
/// 1,024 slots of an error times such weights is as small as it really is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variance {
    /// The same everywhere.
    Uniform(f64),
    /// By slot.
    Slots(Vec<f64>),
}

impl Variance {
    /// The largest of all slots.
    pub(crate) fn largest(&self) -> f64 {
        match self {
            Variance::Uniform(v) => *v,
            Variance::Slots(slots) => slots.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Changed alike in every slot.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Variance {
        match self {
            Variance::Uniform(v) => Variance::Uniform(f(*v)),
            Variance::Slots(slots) => Variance::Slots(slots.iter().map(|&v| f(v)).collect()),
        }
    }

    /// Combined slot by slot with another.
    pub(crate) fn zip(&self, other: &Variance, f: impl Fn(f64, f64) -> f64) -> Variance {
        match (self, other) {
            (a, Variance::Uniform(b)) => a.map(|a| f(a, *b)),
            (Variance::Uniform(a), b) => b.map(|b| f(*a, b)),
            (Variance::Slots(a), Variance::Slots(b)) => {
                Variance::Slots(a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect())
            }
        }
    }

    /// Combined with the values of a plaintext operand in `slots` slots, zero where there is none.
    pub(crate) fn zip_values(
        &self,
        values: &[f64],
        slots: usize,
        f: impl Fn(f64, f64) -> f64,
    ) -> Variance {
        let value = |slot: usize| values.get(slot).copied().unwrap_or(0.0);
        let at = |slot: usize| match self {
            Variance::Uniform(v) => *v,
            Variance::Slots(all) => all[slot],
        };
        Variance::Slots((0..slots).map(|slot| f(at(slot), value(slot))).collect())
    }

    /// Rotated to the left: `out[i] = in[i + steps]`.
    pub(crate) fn rotated(&self, steps: i64) -> Variance {
        match self {
            Variance::Uniform(v) => Variance::Uniform(*v),
            Variance::Slots(slots) => {
                let mut moved = slots.clone();
                let count = i64::try_from(slots.len()).expect("slots fit");
                moved.rotate_left(usize::try_from(steps.rem_euclid(count)).expect("not negative"));
                Variance::Slots(moved)
            }
        }
    }
}

//! Formulas: `"2*lgE*(lat_mul + lat_add) + N/E"`.
//!
//! `+ - * /`, parentheses, `ceil`, `floor`, `min`, `max`, numbers, the machine's
//! variables, and N, E, lgN, lgE. Arithmetic is exact (fractions of 128-bit
//! integers); the final value is rounded up to an integer.
//!
//! Deliberately not here: powers, comparisons and conditions, which no machine
//! needs yet.

mod parser;
mod ratio;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

pub use ratio::Ratio;

/// Names that formulas know besides the machine's variables.
pub(crate) const BUILT_IN: [&str; 4] = ["N", "E", "lgN", "lgE"];

/// Functions that formulas know.
pub(crate) const FUNCTIONS: [&str; 4] = ["ceil", "floor", "min", "max"];

/// Cycles and counts are below this.
pub(crate) const MAX_VALUE: u32 = 1 << 30;

/// What a formula is evaluated with.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// `N`, the vector length: a power of two.
    pub n: u64,
    /// `E`, the lanes: a power of two.
    pub lanes: u64,
    /// The machine's variables.
    pub vars: &'a BTreeMap<String, Ratio>,
}

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    text: String,
    root: Expr,
}

/// Part of a formula, with its bytes in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expr {
    kind: ExprKind,
    span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExprKind {
    Number(Ratio),
    Name(String),
    Negative(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Sub,
    Mul,
    Div,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Ceil,
    Floor,
    Min,
    Max,
}

/// What is wrong with a formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct FormulaError {
    /// Bytes of the formula that are wrong.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub why: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
    /// The text is not a formula or uses an unknown name, whatever the values.
    pub malformed: bool,
}

impl FormulaError {
    fn value(span: &Range<usize>, why: impl Into<String>) -> Self {
        Self {
            span: span.clone(),
            why: why.into(),
            help: None,
            malformed: false,
        }
    }
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// The text is longer than 1,000 bytes, nested deeper than 32 or not a formula.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        Ok(Self {
            text: text.to_owned(),
            root: parser::parse(text)?,
        })
    }

    /// The formula of a constant.
    #[must_use]
    pub fn constant(value: u32) -> Self {
        let text = value.to_string();
        let root = Expr {
            span: 0..text.len(),
            kind: ExprKind::Number(Ratio::from(i128::from(value))),
        };
        Self { text, root }
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value, rounded up.
    ///
    /// # Errors
    /// An unknown name, a division by zero, an overflow, or a value below 0 or
    /// above 2^30.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<u32, FormulaError> {
        let value = self.root.evaluate(scope)?;
        let whole = &self.root.span;
        let rounded = value.ceil();
        if rounded < 0 {
            let why = format!("is {value} at N = {}, and must not be negative", scope.n);
            return Err(FormulaError::value(whole, why));
        }
        match u32::try_from(rounded) {
            Ok(result) if result <= MAX_VALUE => Ok(result),
            _ => {
                let why = format!("is above 2^30 at N = {}", scope.n);
                Err(FormulaError::value(whole, why))
            }
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expr {
    fn evaluate(&self, scope: &Scope<'_>) -> Result<Ratio, FormulaError> {
        let result = match &self.kind {
            ExprKind::Number(number) => Some(*number),
            ExprKind::Name(name) => return self.lookup(name, scope),
            ExprKind::Negative(inner) => Ratio::from(0).sub(inner.evaluate(scope)?),
            ExprKind::Binary(operator, left, right) => {
                let (a, b) = (left.evaluate(scope)?, right.evaluate(scope)?);
                match operator {
                    Operator::Add => a.add(b),
                    Operator::Sub => a.sub(b),
                    Operator::Mul => a.mul(b),
                    Operator::Div if b.is_zero() => {
                        let why = format!("divides by zero at N = {}", scope.n);
                        return Err(FormulaError::value(&right.span, why));
                    }
                    Operator::Div => a.div(b),
                }
            }
            ExprKind::Call(function, arguments) => Some(function.apply(arguments, scope)?),
        };
        result.ok_or_else(|| {
            FormulaError::value(&self.span, format!("is too large at N = {}", scope.n))
        })
    }

    fn lookup(&self, name: &str, scope: &Scope<'_>) -> Result<Ratio, FormulaError> {
        let value = match name {
            "N" => Ratio::from(i128::from(scope.n)),
            "E" => Ratio::from(i128::from(scope.lanes)),
            "lgN" => Ratio::from(i128::from(scope.n.ilog2())),
            "lgE" => Ratio::from(i128::from(scope.lanes.ilog2())),
            _ => match scope.vars.get(name) {
                Some(value) => *value,
                None => return Err(self.unknown_name(name, scope)),
            },
        };
        Ok(value)
    }

    fn unknown_name(&self, name: &str, scope: &Scope<'_>) -> FormulaError {
        let known = BUILT_IN
            .into_iter()
            .chain(scope.vars.keys().map(String::as_str));
        let help = crate::suggest::did_you_mean(name, known.clone()).unwrap_or_else(|| {
            let known: Vec<&str> = known.collect();
            format!(
                "known names: {}; define others in [machine.vars]",
                known.join(", ")
            )
        });
        FormulaError {
            span: self.span.clone(),
            why: format!("unknown name `{name}`"),
            help: Some(help),
            malformed: true,
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        match name {
            "ceil" => Some(Self::Ceil),
            "floor" => Some(Self::Floor),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// The parser gives one argument to `ceil` and `floor` and at least one to the others.
    fn apply(self, arguments: &[Expr], scope: &Scope<'_>) -> Result<Ratio, FormulaError> {
        let mut result: Option<Ratio> = None;
        for argument in arguments {
            let value = argument.evaluate(scope)?;
            result = Some(match (self, result) {
                (Self::Ceil, _) => Ratio::from(value.ceil()),
                (Self::Floor, _) => Ratio::from(value.floor()),
                (Self::Min, Some(best)) if best.le(value) => best,
                (Self::Max, Some(best)) if value.le(best) => best,
                (Self::Min | Self::Max, _) => value,
            });
        }
        Ok(result.unwrap_or(Ratio::from(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<u32, String> {
        let vars = BTreeMap::from([
            ("lat_mul".to_owned(), Ratio::from(4)),
            (
                "half".to_owned(),
                Ratio::from_decimal("0.5").expect("a decimal"),
            ),
        ]);
        let scope = Scope {
            n: 16384,
            lanes: 128,
            vars: &vars,
        };
        Formula::parse(text)
            .and_then(|formula| formula.evaluate(&scope))
            .map_err(|error| format!("{}..{} {}", error.span.start, error.span.end, error.why))
    }

    #[test]
    fn precedence_and_rounding_are_those_of_arithmetic() {
        assert_eq!(value("1 + 2*3 - 4/2"), Ok(5));
        assert_eq!(value("2*(1+2)/4"), Ok(2));
        assert_eq!(value("8/2/2"), Ok(2));
        assert_eq!(value("-lat_mul + 5"), Ok(1));
        assert_eq!(value("N/E/3*3"), Ok(128));
        assert_eq!(value("half*3"), Ok(2));
        assert_eq!(value("floor(half*3) + min(3, 2, 9) + max(1, lgN)"), Ok(17));
        assert_eq!(value("ceil(84/8)"), Ok(11));
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        assert_eq!(
            value("1 + lat_mull"),
            Err("4..12 unknown name `lat_mull`".into())
        );
        assert_eq!(
            value("N/(E-128)"),
            Err("2..9 divides by zero at N = 16384".into())
        );
        assert_eq!(
            value("lgE - lgN"),
            Err("0..9 is -7 at N = 16384, and must not be negative".into())
        );
        assert_eq!(
            value("1e30"),
            Err("1..2 expected an operator, found `e`".into())
        );
        assert_eq!(value(""), Err("0..0 the formula is empty".into()));
        assert_eq!(value("(1"), Err("2..2 expected `)`".into()));
        assert_eq!(
            value("1 +"),
            Err("3..3 expected a number, a name or `(`".into())
        );
        assert_eq!(
            value("N*N*N"),
            Err("0..5 is above 2^30 at N = 16384".into())
        );
    }

    #[test]
    fn hostile_formulas_are_refused() {
        let deep = format!("{}1{}", "(".repeat(400), ")".repeat(400));
        assert!(value(&deep).is_err());
        assert!(value(&"-".repeat(900)).is_err());
        assert!(value(&"1+".repeat(5000)).is_err());
        let huge = ["N"; 40].join("*");
        assert!(value(&huge).unwrap_err().contains("too large"));
        assert!(
            value("1/N/N/N/N/N/N/N/N/N/N + 1/3")
                .unwrap_err()
                .contains("too large")
        );
        assert!(value("99999999999999999999999999999999999999999999999").is_err());
    }
}

//! The text forms of limb programs, movement plans, schedules and bundles.
//!
//! All are lines of words. `;` starts a comment, blank lines mean nothing, and
//! names stand in double quotes. What is printed reads back as the same value,
//! and reading never allocates more than the text is long.
//!
//! ```text
//! limb_program "sum"
//! log_n 14
//! word_bits 32
//! modulus m0 4293918721
//! constant c0 7 65536
//! ciphertext 0 "x"
//! named_output 0 "y"
//! input $0 eval:m0 ciphertext 0 poly 0 limb 0
//! procedure 0 "rotate_and_add"
//!   param %0 eval:m0
//!   %1 eval:m0 = aut %0 k25
//!   %2 eval:m0 = add %0 %1
//!   %3 eval:m0 = mulc %2 c1
//!   return %3
//! call 0 node 3 $1 <- $0
//! output 0 poly 0 limb 0 $1
//! ```
//!
//! Inside a procedure values are `%0, %1, ...`, in the program `$0, $1, ...`;
//! a call names its first result. `dot` lists its pairs one after the other;
//! `bconv` defines several values: `%4 coeff:m1, %5 coeff:m2 = bconv %0 %1 c8`,
//! where its matrix starts at constant 8. An immediate `=5` instead of `c1`
//! appends the constant 5 to the table if it is not there.
//!
//! A program on parts ([`crate::part`]) has a line `log_parts 1` after `log_n`; inputs and
//! outputs that are other parts than the first end in `part 1` (before an output's value),
//! and the source `twist` is a twist.

//!
//! The other forms are described at [`parse_plan`], [`parse_schedule`] and
//! [`Bundle`].

mod bundle;
mod line;
mod parse;
mod plan;
mod print;
mod schedule;

pub use bundle::{BUNDLE_VERSION, Bundle};
pub use parse::parse;
pub use plan::{parse_plan, print_plan};
pub use print::print;
pub use schedule::{parse_schedule, print_schedule};

//! HE programs: dataflow graphs over ciphertexts and plaintext operands.
//!
//! A [`Graph`] is what the user wrote: every [`Node`] knows its line. [`place`]
//! turns it into a [`PlacedGraph`] for one modulus chain: it inserts rescales
//! (modulus switches in BGV), relinearizations, level drops and corrections by
//! the lazy rule, and knows level and scale (correction factor) of every value.
//! [`NoiseReport`] says how much noise every value carries, and which key-switch
//! variants are therefore legal.
//!
//! Deliberately not here: limbs, keys and costs (`schemes`, `lower`). The crate
//! depends on nothing, so that front ends and services can use it alone.

mod chain;
mod coherent;
mod conversion;
mod error;
mod graph;
mod magnitude;
mod matching;
mod noise;
mod placed;
mod placement;
mod residues;
mod text;
mod transfer;
mod variance;
mod verify;

pub use chain::{ChainSpec, KeySwitch};
pub use error::ProgramError;
pub use graph::{Graph, HeOp, Node, PlainOperand, Scheme, Span};
pub use magnitude::{MEASURED_MARGIN, input_margin, magnitudes};
pub use noise::{NodeNoise, NoiseReport, check_magnitudes, noise};
pub use placed::{PlacedGraph, PlacedNode, PlacedOp, PlainScale};
pub use placement::place;

//! An independent proof that a schedule is legal and computes its limb program.

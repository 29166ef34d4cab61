//! Modular arithmetic, NTT, automorphism, base conversion and samplers over limbs.

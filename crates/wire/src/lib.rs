//! Versioned formats for parameters, keys, ciphertexts and programs, safe on hostile bytes.

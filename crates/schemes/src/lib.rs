//! CKKS and BGV: parameters, security, keys, encoding, encryption, and each operation as an emitter of limb instructions.

//! What can be wrong with parameters, keys, plaintexts and ciphertexts.

/// A set of parameters that cannot be used. Each message says what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// No such scheme.
    #[error("unknown scheme `{name}`: use `ckks` or `bgv`")]
    UnknownScheme {
        /// What was asked for.
        name: String,
    },
    /// The text of a literal does not have the documented form.
    #[error("parameter literal: {why}")]
    Literal {
        /// The parser's message, with line and column.
        why: String,
    },
    /// The ring degree is outside the supported range.
    #[error("log_n = {log_n} is not supported: use {min} to {max}")]
    RingDegree {
        /// log2 of the asked ring degree.
        log_n: u32,
        /// Smallest supported.
        min: u32,
        /// Largest supported.
        max: u32,
    },
    /// Words are neither 32 nor 64 bits.
    #[error("word_bits = {word_bits} is not supported: limbs are stored in 32 or 64 bits")]
    WordBits {
        /// The asked width.
        word_bits: u32,
    },
    /// A field of the literal is missing, superfluous or contradicts another.
    #[error("{field}: {why}")]
    Field {
        /// The literal's field.
        field: &'static str,
        /// What is wrong, and what to write instead.
        why: String,
    },
    /// A modulus is not a usable prime.
    #[error("modulus {q} at position {position} of the chain {why}")]
    Modulus {
        /// The modulus.
        q: u64,
        /// Its position in the extended chain.
        position: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There are not enough primes of the asked size and congruence.
    #[error(
        "no further prime of {bits} bits is 1 mod {step} ({used} are in use): ask for fewer or \
         wider primes, wider words or a smaller ring"
    )]
    PrimesExhausted {
        /// Bits of the prime that is missing.
        bits: u32,
        /// It should be 1 modulo this.
        step: u64,
        /// Primes of this size that are in use.
        used: usize,
    },
    /// No chain of rescale primes keeps the scale of each level.
    #[error(
        "the scale 2^{scale_bits} cannot be kept over {levels} levels with primes 1 mod {step}: some \
         level's differs by {:.1} % (at most {:.1} %); use a larger scale, fewer levels or wider \
         words", 100.0 * .deviation, 100.0 * .limit
    )]
    ScaleDrift {
        /// log2 of the nominal scale.
        scale_bits: f64,
        /// Number of rescale primes.
        levels: usize,
        /// They are 1 modulo this.
        step: u64,
        /// Relative deviation of the worst level's scale.
        deviation: f64,
        /// The largest allowed.
        limit: f64,
    },
    /// The plaintext modulus gives no slots or does not fit.
    #[error("plaintext modulus {t}: {why}")]
    PlaintextModulus {
        /// The modulus.
        t: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The parameters do not reach the wished security level, and no reason to use them was given.
    #[error(
        "N = 2^{log_n} with log2({modulus}) = {log_modulus:.1} gives {stated}, less than the {wished} bits \
         asked for{fix}; to use it all the same, state why: allow_insecure=\"...\" in the program or \
         --allow-insecure REASON on the command line"
    )]
    Insecure {
        /// log2 of the ring degree.
        log_n: u32,
        /// Which modulus decides: `Q` or `QP`.
        modulus: &'static str,
        /// log2 of that modulus.
        log_modulus: f64,
        /// What the parameters give, for example `about 74 bits of security`.
        stated: String,
        /// The wished security level.
        wished: u32,
        /// What would reach it, or empty.
        fix: String,
    },
    /// The wished security level is not one of the table's.
    #[error("security = {wished} is not supported: use 128, 192 or 256")]
    SecurityLevel {
        /// The wished level.
        wished: u32,
    },
    /// No parameters satisfy a request.
    #[error("no parameters satisfy the request: {why}")]
    NoChoice {
        /// What stands in the way, and what to relax.
        why: String,
    },
    /// The ring rejects the parameters or the host cannot run them.
    #[error("ring: {0}")]
    Ring(String),
}

/// An operation on keys, plaintexts or ciphertexts that cannot be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SchemeError {
    /// The parameters are not usable.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// A key that does not exist or does not fit the parameters.
    #[error("key `{key}`: {why}")]
    BadKey {
        /// The key's name.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// Two objects belong to different parameters.
    #[error("the {what} belongs to parameters {found}, but parameters {expected} are in use")]
    ParameterMismatch {
        /// What was passed: `ciphertext`, `secret key`, ...
        what: &'static str,
        /// Hash of the parameters in use.
        expected: String,
        /// Hash of the object's parameters.
        found: String,
    },
    /// More values than slots.
    #[error(
        "{values} values do not fit {slots} slots: split the vector or use a larger ring{hint}"
    )]
    TooManySlots {
        /// Number of values.
        values: usize,
        /// Number of slots.
        slots: usize,
        /// More about these parameters, or empty.
        hint: String,
    },
    /// A value is NaN or infinite.
    #[error("value {value} in slot {slot} is not a finite number")]
    NotFinite {
        /// The slot.
        slot: usize,
        /// The value, as text.
        value: String,
    },
    /// An encoded coefficient does not fit the modulus.
    #[error(
        "encoded at scale 2^{scale_bits:.1}, the largest coefficient has {coefficient_bits:.1} bits, but \
         the modulus at level {level} holds only {modulus_bits:.1}: use smaller values, a smaller \
         scale or a higher level"
    )]
    Overflow {
        /// log2 of the scale.
        scale_bits: f64,
        /// log2 of the largest coefficient.
        coefficient_bits: f64,
        /// The level.
        level: usize,
        /// log2(Q/2) at that level.
        modulus_bits: f64,
    },
    /// A scale that is not a positive finite number.
    #[error("scale {scale} is not a positive finite number")]
    BadScale {
        /// The scale, as text.
        scale: String,
    },
    /// A level that the parameters do not have.
    #[error("level {level} does not exist: these parameters have levels {min} to {max}")]
    BadLevel {
        /// The asked level.
        level: usize,
        /// Lowest level.
        min: usize,
        /// Highest level.
        max: usize,
    },
    /// The operation belongs to the other scheme.
    #[error("{operation} needs {expected} parameters, these are {found}")]
    WrongScheme {
        /// What was asked for.
        operation: &'static str,
        /// The scheme it belongs to.
        expected: crate::Scheme,
        /// The parameters' scheme.
        found: crate::Scheme,
    },
    /// A ciphertext, key or plaintext is not well-formed.
    #[error("malformed {what}: {why}")]
    Malformed {
        /// What was passed.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A limb was asked for that the object does not have.
    #[error("{what} has no limb {limb} of polynomial {poly}, digit {digit}")]
    NoSuchLimb {
        /// What was asked.
        what: String,
        /// Digit (0 where there is none).
        digit: usize,
        /// Polynomial.
        poly: usize,
        /// Position in the extended chain.
        limb: usize,
    },
    /// A plaintext operand cannot be encoded.
    #[error("plaintext operand `{name}`: {error}")]
    Operand {
        /// Its name in the program.
        name: String,
        /// What is wrong.
        error: Box<SchemeError>,
    },
    /// The system's random number generator failed.
    #[error("no randomness: {0}")]
    Randomness(String),
}

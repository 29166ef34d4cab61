//! What client-side operations share for one set of parameters.

use std::sync::{Arc, OnceLock};

use cyclotron_ring::Simd;

use crate::encode::{CanonicalEmbedding, SlotCodec};
use crate::error::SchemeError;
use crate::limbs::AnyRing;
use crate::params::{Parameters, ParamsHash};
use crate::scheme::Scheme;

/// Validated parameters, their ring and their encoding tables. Shared by
/// reference between threads; the tables are made on first use.
#[derive(Debug)]
pub struct Context {
    params: Arc<Parameters>,
    hash: ParamsHash,
    ring: AnyRing,
    embedding: OnceLock<CanonicalEmbedding>,
    slot_codec: OnceLock<SlotCodec>,
    factors: Vec<u64>,
    scales: Vec<f64>,
}

impl Context {
    /// Validates the parameters and builds their ring with the fastest SIMD path, or the one forced by
    /// the environment.
    ///
    /// # Errors
    /// Broken parameters, or a forced SIMD path that the host lacks.
    pub fn new(params: Arc<Parameters>) -> Result<Self, SchemeError> {
        let simd =
            Simd::detect().map_err(|error| crate::ParameterError::Ring(error.to_string()))?;
        Self::with_simd(params, simd)
    }

    /// The same with a given SIMD path.
    ///
    /// # Errors
    /// Broken parameters, or a SIMD path that the host lacks.
    pub fn with_simd(params: Arc<Parameters>, simd: Simd) -> Result<Self, SchemeError> {
        params.validate()?;
        let ring = AnyRing::new(&params, simd)?;
        Ok(Self::over(params, ring))
    }

    /// A context without checks.
    pub(crate) fn over(params: Arc<Parameters>, ring: AnyRing) -> Self {
        let bgv = params.scheme == Scheme::Bgv;
        Self {
            hash: params.hash(),
            factors: if bgv {
                params.correction_factors()
            } else {
                Vec::new()
            },
            scales: if bgv {
                Vec::new()
            } else {
                params.canonical_scales()
            },
            params,
            ring,
            embedding: OnceLock::new(),
            slot_codec: OnceLock::new(),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Arc<Parameters> {
        &self.params
    }

    /// Their hash.
    #[must_use]
    pub fn hash(&self) -> ParamsHash {
        self.hash
    }

    /// The ring over the extended chain.
    #[must_use]
    pub fn ring(&self) -> &AnyRing {
        &self.ring
    }

    /// The ring of the 2^`log_parts` parts that its polynomials are split into, made
    /// anew, with the same kernels.
    ///
    /// # Cost
    /// As that of [`cyclotron_ring::Ring::of_parts`].
    ///
    /// # Errors
    /// Parts that are too short.
    pub fn ring_of_parts(&self, log_parts: u32) -> Result<AnyRing, SchemeError> {
        Ok(AnyRing::of_parts(
            &self.params,
            log_parts,
            self.ring.simd(),
        )?)
    }

    /// The canonical scale of a level; 1 for BGV.
    ///
    /// # Panics
    /// If the level does not exist.
    #[must_use]
    pub fn scale_at(&self, level: usize) -> f64 {
        if self.scales.is_empty() {
            1.0
        } else {
            self.scales[level]
        }
    }

    /// The canonical correction factor of a level; 1 for CKKS.
    ///
    /// # Panics
    /// If the level does not exist.
    #[must_use]
    pub fn factor_at(&self, level: usize) -> u64 {
        if self.factors.is_empty() {
            1
        } else {
            self.factors[level]
        }
    }

    /// The CKKS embedding.
    ///
    /// # Errors
    /// [`SchemeError::WrongScheme`] for BGV parameters.
    pub fn embedding(&self) -> Result<&CanonicalEmbedding, SchemeError> {
        self.require(Scheme::Ckks, "a real or complex encoding")?;
        Ok(self
            .embedding
            .get_or_init(|| CanonicalEmbedding::new(self.params.log_n)))
    }

    /// The BGV slots.
    ///
    /// # Errors
    /// [`SchemeError::WrongScheme`] for CKKS parameters.
    pub fn slot_codec(&self) -> Result<&SlotCodec, SchemeError> {
        self.require(Scheme::Bgv, "an integer encoding")?;
        if let Some(codec) = self.slot_codec.get() {
            return Ok(codec);
        }
        let codec = SlotCodec::new(&self.params)?;
        Ok(self.slot_codec.get_or_init(|| codec))
    }

    /// The reason for which insecure parameters were accepted, as derived objects carry it.
    #[must_use]
    pub fn insecure_tag(&self) -> Option<Arc<str>> {
        self.params.insecure.as_deref().map(Arc::from)
    }

    pub(crate) fn require(
        &self,
        scheme: Scheme,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        if self.params.scheme == scheme {
            return Ok(());
        }
        Err(SchemeError::WrongScheme {
            operation,
            expected: scheme,
            found: self.params.scheme,
        })
    }

    pub(crate) fn check_level(&self, level: usize) -> Result<(), SchemeError> {
        let max = self.params.levels();
        if (1..=max).contains(&level) {
            return Ok(());
        }
        Err(SchemeError::BadLevel { level, min: 1, max })
    }

    pub(crate) fn check_hash(
        &self,
        what: &'static str,
        found: ParamsHash,
    ) -> Result<(), SchemeError> {
        if found == self.hash {
            return Ok(());
        }
        Err(SchemeError::ParameterMismatch {
            what,
            expected: self.hash.short(),
            found: found.short(),
        })
    }
}

//! What the owner of the secret key does: encode, encrypt, decrypt.

use std::sync::Arc;

use cyclotron_schemes::{
    Ciphertext, Context, Plaintext, Scheme, SchemeError, SecretKey, decrypt_integers, decrypt_real,
    encrypt_secret, random_seed,
};

use crate::case::{Case, Checked};
use crate::error::DriverError;
use crate::sets::input;

/// The owner of a secret key.
pub(crate) struct Owner {
    pub context: Arc<Context>,
    pub secret: SecretKey,
}

impl Owner {
    fn level(&self) -> usize {
        self.context.params().levels()
    }

    fn values(&self) -> Values {
        let params = self.context.params();
        let slots = input(params.scheme, params.slots(), 0);
        match params.scheme {
            Scheme::Ckks => Values::Real(slots),
            Scheme::Bgv => Values::Integers(slots.iter().map(|&v| v as i64).collect()),
        }
    }

    fn encode(&self, values: &Values) -> Result<Plaintext, SchemeError> {
        let (context, level) = (&self.context, self.level());
        match values {
            Values::Real(x) => Plaintext::encode_real(context, x, level, context.scale_at(level)),
            Values::Integers(x) => Plaintext::encode_integers(context, x, level, 1),
        }
    }

    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, SchemeError> {
        encrypt_secret(&self.context, &self.secret, plaintext, &random_seed()?)
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Values, SchemeError> {
        let (context, secret) = (&self.context, &self.secret);
        Ok(match self.context.params().scheme {
            Scheme::Ckks => Values::Real(decrypt_real(context, secret, ciphertext)?),
            Scheme::Bgv => {
                let slots = decrypt_integers(context, secret, ciphertext)?;
                Values::Integers(slots.iter().map(|&v| v as i64).collect())
            }
        })
    }

    fn checked(&self, ciphertext: &Ciphertext) -> Result<Checked, DriverError> {
        Ok(match (self.decrypt(ciphertext)?, self.values()) {
            (Values::Real(found), Values::Real(expected)) => Checked::new(&found, &expected),
            (Values::Integers(found), Values::Integers(expected)) => {
                Checked::new(&found, &expected)
            }
            _ => unreachable!("both are of the parameters' scheme"),
        })
    }
}

enum Values {
    Real(Vec<f64>),
    Integers(Vec<i64>),
}

/// Slots to a plaintext: all limbs in evaluation domain.
pub(crate) struct Encode {
    owner: Arc<Owner>,
    values: Values,
}

impl Encode {
    pub(crate) fn new(owner: Arc<Owner>) -> Self {
        Self {
            values: owner.values(),
            owner,
        }
    }
}

impl Case for Encode {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        let plaintext = self.owner.encode(&self.values)?;
        for limb in 0..self.owner.level() {
            std::hint::black_box(plaintext.limb(&self.owner.context, limb)?);
        }
        Ok(None)
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        let plaintext = self.owner.encode(&self.values)?;
        self.owner.checked(&self.owner.encrypt(&plaintext)?)
    }
}

/// An encoded plaintext to a ciphertext, under the secret key.
pub(crate) struct Encrypt {
    owner: Arc<Owner>,
    plaintext: Plaintext,
}

impl Encrypt {
    pub(crate) fn new(owner: Arc<Owner>) -> Result<Self, DriverError> {
        Ok(Self {
            plaintext: owner.encode(&owner.values())?,
            owner,
        })
    }
}

impl Case for Encrypt {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        std::hint::black_box(self.owner.encrypt(&self.plaintext)?);
        Ok(None)
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        self.owner.checked(&self.owner.encrypt(&self.plaintext)?)
    }
}

/// A ciphertext to slots.
pub(crate) struct Decrypt {
    owner: Arc<Owner>,
    ciphertext: Ciphertext,
}

impl Decrypt {
    pub(crate) fn new(owner: Arc<Owner>) -> Result<Self, DriverError> {
        let plaintext = owner.encode(&owner.values())?;
        Ok(Self {
            ciphertext: owner.encrypt(&plaintext)?,
            owner,
        })
    }
}

impl Case for Decrypt {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        std::hint::black_box(self.owner.decrypt(&self.ciphertext)?);
        Ok(None)
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        self.owner.checked(&self.ciphertext)
    }
}

package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// ckksFamily makes the CKKS cases of a parameter set.
func ckksFamily(name string, set parameterSet) (*family, error) {
	q, special, err := set.chain()
	if err != nil {
		return nil, err
	}
	parameters := chainFacts(set.LogN, q, special)
	parameters["scale_bits"] = set.ScaleBits
	return schemeFamily(name, "rescale", parameters, func() (*scheme[float64], error) {
		params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
			LogN: set.LogN, Q: q, P: special, LogDefaultScale: set.ScaleBits,
		})
		if err != nil {
			return nil, err
		}
		return ckksScheme(params), nil
	})
}

// ckksScheme makes keys for the operations.
func ckksScheme(params ckks.Parameters) *scheme[float64] {
	sk, keys := secretAndKeys(params.Parameters, params.GaloisElements(rotations))
	encoder, eval := ckks.NewEncoder(params), ckks.NewEvaluator(params, keys)
	return &scheme[float64]{
		input:  func(k, i int) float64 { return float64((i*7+k*13)%41-20) / 20 },
		mul:    func(a, b float64) float64 { return a * b },
		encode: func(v []float64, pt *rlwe.Plaintext) error { return encoder.Encode(v, pt) },
		decode: func(pt *rlwe.Plaintext, v []float64) error { return encoder.Decode(pt, v) },

		newPlaintext:  func(level int) *rlwe.Plaintext { return ckks.NewPlaintext(params, level) },
		newCiphertext: func(level int) *rlwe.Ciphertext { return ckks.NewCiphertext(params, 1, level) },
		add:           func(a, b, out *rlwe.Ciphertext) error { return eval.Add(a, b, out) },
		mulRelin:      func(a, b, out *rlwe.Ciphertext) error { return eval.MulRelin(a, b, out) },
		mulPlain: func(a *rlwe.Ciphertext, b *rlwe.Plaintext, out *rlwe.Ciphertext) error {
			return eval.Mul(a, b, out)
		},
		rotate:    eval.Rotate,
		hoisted:   eval.RotateHoisted,
		rescale:   eval.Rescale,
		encryptor: rlwe.NewEncryptor(params, sk),
		decryptor: rlwe.NewDecryptor(params, sk),
		slots:     params.MaxSlots(),
		maxLevel:  params.MaxLevel(),
	}
}

// secretAndKeys makes a secret key, its relinearization key and keys for some automorphisms.
func secretAndKeys(params rlwe.Parameters, elements []uint64) (*rlwe.SecretKey, rlwe.EvaluationKeySet) {
	generator := rlwe.NewKeyGenerator(params)
	sk := generator.GenSecretKeyNew()
	return sk, rlwe.NewMemEvaluationKeySet(
		generator.GenRelinearizationKeyNew(sk), generator.GenGaloisKeysNew(elements, sk)...)
}

package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// bgvFamily makes the BGV cases of a parameter set.
func bgvFamily(name string, set parameterSet) (*family, error) {
	q, special, err := set.chain()
	if err != nil {
		return nil, err
	}
	parameters := chainFacts(set.LogN, q, special)
	parameters["plaintext_modulus"] = set.PlaintextModulus
	return schemeFamily(name, "mod_switch", parameters, func() (*scheme[uint64], error) {
		params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
			LogN: set.LogN, Q: q, P: special, PlaintextModulus: set.PlaintextModulus,
		})
		if err != nil {
			return nil, err
		}
		return bgvScheme(params), nil
	})
}

// bgvScheme makes keys for the operations.
func bgvScheme(params bgv.Parameters) *scheme[uint64] {
	sk, keys := secretAndKeys(params.Parameters, params.GaloisElements(rotations))
	encoder, eval := bgv.NewEncoder(params), bgv.NewEvaluator(params, keys)
	t := params.PlaintextModulus()
	levelP := params.MaxLevelP()
	digits := make([]ringqp.Poly, params.BaseRNSDecompositionVectorSize(params.MaxLevel(), levelP))
	for i := range digits {
		digits[i] = params.RingQP().NewPoly()
	}
	return &scheme[uint64]{
		input:  func(k, i int) uint64 { return uint64((i*7 + k*13) % 41) },
		mul:    func(a, b uint64) uint64 { return a * b % t },
		encode: func(v []uint64, pt *rlwe.Plaintext) error { return encoder.Encode(v, pt) },
		decode: func(pt *rlwe.Plaintext, v []uint64) error { return encoder.Decode(pt, v) },

		newPlaintext:  func(level int) *rlwe.Plaintext { return bgv.NewPlaintext(params, level) },
		newCiphertext: func(level int) *rlwe.Ciphertext { return bgv.NewCiphertext(params, 1, level) },
		add:           func(a, b, out *rlwe.Ciphertext) error { return eval.Add(a, b, out) },
		mulRelin:      func(a, b, out *rlwe.Ciphertext) error { return eval.MulRelin(a, b, out) },
		mulPlain: func(a *rlwe.Ciphertext, b *rlwe.Plaintext, out *rlwe.Ciphertext) error {
			return eval.Mul(a, b, out)
		},
		rotate: eval.RotateColumns,
		hoisted: func(a *rlwe.Ciphertext, steps []int, out map[int]*rlwe.Ciphertext) error {
			return hoistedAutomorphisms(eval.Evaluator, params.Parameters, digits, a, steps, out)
		},
		rescale:   eval.Rescale,
		encryptor: rlwe.NewEncryptor(params, sk),
		decryptor: rlwe.NewDecryptor(params, sk),
		slots:     params.MaxSlots(),
		maxLevel:  params.MaxLevel(),
	}
}

// hoistedAutomorphisms rotates by several steps with one decomposition, into preallocated
// digits. BGV has no call for that; these are the public steps of which CKKS makes its own.
func hoistedAutomorphisms(
	eval *rlwe.Evaluator, params rlwe.Parameters, digits []ringqp.Poly,
	a *rlwe.Ciphertext, steps []int, out map[int]*rlwe.Ciphertext,
) error {
	level := a.Level()
	eval.DecomposeNTT(level, params.MaxLevelP(), params.PCount(), a.Value[1], a.IsNTT, digits)
	for _, step := range steps {
		if err := eval.AutomorphismHoisted(level, a, digits, params.GaloisElement(step), out[step]); err != nil {
			return err
		}
	}
	return nil
}

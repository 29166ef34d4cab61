package main

import (
	"fmt"
	"math/bits"

	"github.com/tuneinsight/lattigo/v6/ring"
)

// kernelBits and kernelLogN span the transforms that are measured.
var (
	kernelBits = []int{30, 31, 32, 50, 60}
	kernelLogN = []int{14, 16}
)

// transform is one negacyclic transform: its ring and its words.
type transform struct {
	sub *ring.SubRing
	// coeffs is kept; words is transformed in place; eval and out are for the check.
	coeffs, words, eval, out []uint64
}

func newTransform(logN int, modulus uint64) (*transform, error) {
	r, err := ring.NewRing(1<<logN, []uint64{modulus})
	if err != nil {
		return nil, err
	}
	t := &transform{sub: r.SubRings[0]}
	n := 1 << logN
	t.coeffs, t.words = make([]uint64, n), make([]uint64, n)
	t.eval, t.out = make([]uint64, n), make([]uint64, n)
	for i := range t.coeffs {
		t.coeffs[i] = (uint64(i)*uint64(i) + 1) % modulus
	}
	copy(t.words, t.coeffs)
	return t, nil
}

// square returns the first coefficients of x*x modulo X^N + 1, by the transform and by
// the definition; an error if the inverse does not return what the forward one was given.
func (t *transform) square(count int) (got, expected []uint64, err error) {
	q := t.sub.Modulus
	t.sub.NTT(t.coeffs, t.eval)
	t.sub.INTT(t.eval, t.out)
	for i := range t.out {
		if t.out[i] != t.coeffs[i] {
			return nil, nil, fmt.Errorf("inverse of forward differs at %d modulo %d", i, q)
		}
	}
	products := make([]uint64, len(t.eval))
	for i, x := range t.eval {
		products[i] = mulMod(x, x, q)
	}
	t.sub.INTT(products, t.out)
	for k := range count {
		sum := uint64(0)
		for i, x := range t.coeffs {
			j := k - i
			if j >= 0 {
				sum = (sum + mulMod(x, t.coeffs[j], q)) % q
			} else {
				sum = (sum + q - mulMod(x, t.coeffs[j+len(t.coeffs)], q)) % q
			}
		}
		expected = append(expected, sum)
	}
	return append(got, t.out[:count]...), expected, nil
}

func mulMod(a, b, q uint64) uint64 {
	high, low := bits.Mul64(a, b)
	_, rest := bits.Div64(high%q, low, q)
	return rest
}

// kernels returns the transforms as cases.
func kernels() ([]*family, error) {
	families := []*family{}
	for _, logN := range kernelLogN {
		for _, size := range kernelBits {
			q, err := primeBelow(size, uint64(2)<<logN, nil)
			if err != nil {
				return nil, err
			}
			families = append(families, kernelFamily(logN, size, q))
		}
	}
	return families, nil
}

func kernelFamily(logN, size int, q uint64) *family {
	var t *transform
	label := fmt.Sprintf("%dbit/n%d", size, logN)
	parameters := facts{"log_n": logN, "prime": q, "log_q": round2(logProduct(q)), "limbs": 1}
	check := func() (any, any, error) {
		got, expected, err := t.square(8)
		return got, expected, err
	}
	f := &family{
		name:   "ntt/" + label,
		load:   func() (err error) { t, err = newTransform(logN, q); return err },
		unload: func() { t = nil },
	}
	f.cases = []*measurement{
		{
			name: "ntt/forward/" + label, parameters: parameters, check: check,
			run: func() error { t.sub.NTT(t.words, t.words); return nil },
		},
		{
			name: "ntt/inverse/" + label, parameters: parameters, check: check,
			run: func() error { t.sub.INTT(t.words, t.words); return nil },
		},
	}
	return f
}

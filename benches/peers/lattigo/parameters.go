package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/tuneinsight/lattigo/v6/ring"
)

// parameterSet gives a set by the sizes of its primes.
type parameterSet struct {
	LogN             int    `json:"log_n"`
	DataBits         []int  `json:"data_bits"`
	SpecialBits      []int  `json:"special_bits"`
	ScaleBits        int    `json:"scale_bits"`
	PlaintextModulus uint64 `json:"plaintext_modulus"`
}

// readSets reads the parameter sets, sorted by name.
func readSets(path string) (names []string, sets map[string]parameterSet, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, &sets); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for name := range sets {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, sets, nil
}

// splitName takes "ckks/n16" apart.
func splitName(name string) (scheme, size string, err error) {
	scheme, size, found := strings.Cut(name, "/")
	if !found {
		return "", "", fmt.Errorf("a parameter set is called scheme/size, not %q", name)
	}
	return scheme, size, nil
}

// primes returns distinct primes of these sizes, each the largest left below 2^bits
// that is 1 modulo twoN.
func primes(bits []int, twoN uint64, taken map[uint64]bool) ([]uint64, error) {
	found := make([]uint64, 0, len(bits))
	for _, b := range bits {
		q, err := primeBelow(b, twoN, taken)
		if err != nil {
			return nil, err
		}
		taken[q] = true
		found = append(found, q)
	}
	return found, nil
}

// primeBelow returns the largest prime below 2^bits that is 1 modulo twoN and not taken.
func primeBelow(bits int, twoN uint64, taken map[uint64]bool) (uint64, error) {
	least := uint64(1) << (bits - 1)
	for q := (uint64(1)<<bits)/twoN*twoN - twoN + 1; q > least; q -= twoN {
		if !taken[q] && ring.IsPrime(q) {
			return q, nil
		}
	}
	return 0, fmt.Errorf("there is no prime of %d bits left that is 1 modulo %d", bits, twoN)
}

// chain returns the data primes and the special primes of a set. Special primes are the
// largest: a digit must not exceed their product.
func (p parameterSet) chain() (q, special []uint64, err error) {
	taken := map[uint64]bool{}
	twoN := uint64(2) << p.LogN
	if special, err = primes(p.SpecialBits, twoN, taken); err != nil {
		return nil, nil, err
	}
	q, err = primes(p.DataBits, twoN, taken)
	return q, special, err
}

func logProduct(primes ...uint64) float64 {
	sum := 0.0
	for _, q := range primes {
		sum += math.Log2(float64(q))
	}
	return sum
}

// chainFacts describes a chain of primes for the runner.
func chainFacts(logN int, q, special []uint64) facts {
	digits := 0
	if len(special) > 0 {
		digits = (len(q) + len(special) - 1) / len(special)
	}
	logQ, logP := logProduct(q...), logProduct(special...)
	return facts{
		"log_n": logN, "limbs": len(q), "special": len(special), "digits": digits,
		"log_q": round2(logQ), "log_qp": round2(logQ + logP),
		"data_bits": sizes(q), "special_bits": sizes(special),
	}
}

func sizes(primes []uint64) []int {
	bits := make([]int, len(primes))
	for i, q := range primes {
		bits[i] = int(math.Ceil(math.Log2(float64(q))))
	}
	return bits
}

func round2(x float64) float64 { return math.Round(x*100) / 100 }

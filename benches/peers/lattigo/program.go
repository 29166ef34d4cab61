package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// node is a placed operation of a program; its fields are those of benches/README.md.
type node struct {
	Op             string  `json:"op"`
	Args           []int   `json:"args"`
	Input          int     `json:"input"`
	Plain          int     `json:"plain"`
	Output         int     `json:"output"`
	Negate         bool    `json:"negate"`
	Value          float64 `json:"value"`
	Steps          int     `json:"steps"`
	Level          int     `json:"level"`
	ScaleBits      float64 `json:"scale_bits"`
	PlainScaleBits float64 `json:"plain_scale_bits"`
}

// chain is what a program's parameters are made from.
type chain struct {
	Scheme    string   `json:"scheme"`
	LogN      int      `json:"log_n"`
	Moduli    []uint64 `json:"moduli"`
	Special   []uint64 `json:"special_moduli"`
	Digit     int      `json:"digit_limbs"`
	ScaleBits float64  `json:"scale_bits"`
}

// program is a program with every level and scale made explicit, and the values that it
// is run on.
type program struct {
	Name       string `json:"program"`
	Parameters chain  `json:"parameters"`
	Inputs     []struct {
		Name   string    `json:"name"`
		Values []float64 `json:"values"`
	} `json:"inputs"`
	Plains []struct {
		Values []float64 `json:"values"`
	} `json:"plains"`
	Nodes   []node `json:"nodes"`
	Outputs []struct {
		Name     string    `json:"name"`
		Slots    []int     `json:"slots"`
		Expected []float64 `json:"expected"`
	} `json:"outputs"`
}

func readProgram(path string) (*program, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &program{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Parameters.Scheme != "ckks" {
		return nil, fmt.Errorf("%s: programs are CKKS here, not %q", path, p.Parameters.Scheme)
	}
	for i, n := range p.Nodes {
		for _, arg := range n.Args {
			if arg < 0 || arg >= i {
				return nil, fmt.Errorf("%s: node %d reads node %d", path, i, arg)
			}
		}
	}
	return p, nil
}

// programFamilies makes two cases of a program: the same operations at the same parameters,
// and the program as a user of Lattigo would place it, on words of 60 bits.
func programFamilies(path string, threads int) ([]*family, error) {
	if path == "" {
		return nil, errors.New("the programs suite needs --spec FILE")
	}
	p, err := readProgram(path)
	if err != nil {
		return nil, err
	}
	name := "program/" + p.Name
	families := []*family{programFamily(name, p, threads)}
	if native, err := replace(p); err != nil {
		fmt.Fprintln(os.Stderr, "lattigo: no native placement:", err)
	} else {
		families = append(families, programFamily(name+"/native", native, threads))
	}
	return families, nil
}

func programFamily(name string, p *program, threads int) *family {
	var e *execution
	parameters := chainFacts(p.Parameters.LogN, p.Parameters.Moduli, p.Parameters.Special)
	parameters["scale_bits"] = p.Parameters.ScaleBits
	parameters["operations"] = counts(p.Nodes)
	f := &family{
		name:   name,
		load:   func() (err error) { e, err = newExecution(p, threads); return err },
		unload: func() { e = nil },
	}
	f.cases = []*measurement{{
		name: name, parameters: parameters,
		run: func() error { return e.run() },
		check: func() (any, any, error) {
			if err := e.run(); err != nil {
				return nil, nil, err
			}
			return e.results()
		},
	}}
	return f
}

func counts(nodes []node) map[string]int {
	c := map[string]int{}
	for _, n := range nodes {
		c[n.Op]++
	}
	return c
}

// keysFor makes the parameters of a program and the keys that it needs.
func keysFor(p *program) (ckks.Parameters, *rlwe.SecretKey, rlwe.EvaluationKeySet, error) {
	params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: p.Parameters.LogN, Q: p.Parameters.Moduli, P: p.Parameters.Special,
		LogDefaultScale: int(math.Round(p.Parameters.ScaleBits)),
	})
	if err != nil {
		return params, nil, nil, err
	}
	seen := map[int]bool{}
	steps := []int{}
	for _, n := range p.Nodes {
		if n.Op == "rotate" && !seen[n.Steps] {
			seen[n.Steps] = true
			steps = append(steps, n.Steps)
		}
	}
	sk, keys := secretAndKeys(params.Parameters, params.GaloisElements(steps))
	return params, sk, keys, nil
}

package main

import (
	"fmt"
	"math"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// apply computes one node into out (nil where the result is an operand); the evaluator may
// be used by several goroutines at once. Scales are those that the library tracks.
func (e *execution) apply(i int, out *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	n := e.program.Nodes[i]
	arg := func(k int) *rlwe.Ciphertext { return e.values[n.Args[k]] }
	switch n.Op {
	case "input":
		return e.inputs[n.Input], nil
	case "output":
		e.outputs[n.Output] = arg(0)
		return arg(0), nil
	case "add":
		return out, e.eval.Add(arg(0), arg(1), out)
	case "sub":
		return out, e.eval.Sub(arg(0), arg(1), out)
	case "neg":
		return out, e.eval.Mul(arg(0), -1, out)
	case "mul":
		return out, e.eval.Mul(arg(0), arg(1), out)
	case "mul_relin":
		return out, e.eval.MulRelin(arg(0), arg(1), out)
	case "relinearize":
		return out, e.eval.Relinearize(arg(0), out)
	case "rotate":
		return out, e.eval.Rotate(arg(0), n.Steps, out)
	case "rescale":
		return out, e.eval.Rescale(arg(0), out)
	case "drop":
		for k := range out.Value {
			out.Value[k].CopyLvl(out.Level(), arg(0).Value[k])
		}
		*out.MetaData = *arg(0).MetaData
		return out, nil
	}
	return e.applyPlain(i, out)
}

// applyPlain computes the operations with a constant or a plain operand.
func (e *execution) applyPlain(i int, out *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	n := e.program.Nodes[i]
	ct := e.values[n.Args[0]]
	switch n.Op {
	case "add_const":
		return out, e.eval.Add(ct, n.Value/ct.Scale.Float64(), out)
	case "mul_const":
		err := e.eval.Mul(ct, int64(n.Value), out)
		bits := n.ScaleBits - e.program.Nodes[n.Args[0]].ScaleBits
		out.Scale = ct.Scale.Mul(rlwe.NewScale(math.Exp2(bits)))
		return out, err
	case "mul_const_add":
		// The sum's scale is larger than the factor's: the library multiplies the
		// constant by what is missing, which makes an integer of it.
		x := e.values[n.Args[1]]
		return ct, e.eval.MulThenAdd(x, n.Value*x.Scale.Float64()/ct.Scale.Float64(), ct)
	case "add_plain":
		pt, err := e.operand(i, ct.Scale)
		if err != nil {
			return nil, err
		}
		return out, e.eval.Add(ct, pt, out)
	case "mul_plain":
		pt, err := e.operand(i, rlwe.NewScale(math.Exp2(n.PlainScaleBits)))
		if err != nil {
			return nil, err
		}
		return out, e.eval.Mul(ct, pt, out)
	case "mul_plain_add":
		pt, err := e.operand(i, rlwe.NewScale(math.Exp2(n.PlainScaleBits)))
		if err != nil {
			return nil, err
		}
		return ct, e.eval.MulThenAdd(e.values[n.Args[1]], pt, ct)
	}
	return nil, fmt.Errorf("unknown operation %q", n.Op)
}

// operand returns a node's plain operand, encoded by the first run.
func (e *execution) operand(i int, scale rlwe.Scale) (*rlwe.Plaintext, error) {
	if e.plains[i] == nil {
		n := e.program.Nodes[i]
		level := e.program.Nodes[n.Args[0]].Level
		pt, err := e.encode(e.program.Plains[n.Plain].Values, level, scale, n.Negate)
		if err != nil {
			return nil, err
		}
		e.plains[i] = pt
	}
	return e.plains[i], nil
}

package main

import (
	"fmt"
	"math"
)

// The words of the native placement. Lattigo takes as long for a prime of 30 bits as for one
// of 60, so few large primes suit it. A product is rescaled at once, while at least
// nativeLeastScale bits remain of its scale: what follows, usually rotations, then works on
// fewer limbs. Two special primes were faster than one or three. Plain operands are encoded
// so that a product returns to nativeScale bits.
const (
	nativeWord       = 60
	nativeMiddle     = 40
	nativeScale      = 36
	nativeLeastScale = 25
)

// replacement places a program anew.
type replacement struct {
	from *program
	// bits are the sizes of the data primes.
	bits  []float64
	nodes []node
	// of maps a node to the one that holds its value now.
	of []int
}

// replace places a program as a user of Lattigo would: three data primes in place of many
// small ones, products relinearized and rescaled at once, multiplications by plain values
// fused with the additions that follow them.
func replace(p *program) (*program, error) {
	set := parameterSet{
		LogN:        p.Parameters.LogN,
		DataBits:    []int{nativeWord, nativeMiddle, nativeWord},
		SpecialBits: []int{nativeWord, nativeWord},
	}
	q, special, err := set.chain()
	if err != nil {
		return nil, err
	}
	r := &replacement{from: p}
	for _, prime := range q {
		r.bits = append(r.bits, math.Log2(float64(prime)))
	}
	for i, n := range p.Nodes {
		at, err := r.place(n)
		if err != nil {
			return nil, fmt.Errorf("node %d (%s): %w", i, n.Op, err)
		}
		r.of = append(r.of, at)
	}
	native := *p
	native.Parameters.Moduli, native.Parameters.Special = q, special
	native.Parameters.Digit = len(special)
	native.Parameters.ScaleBits = nativeScale
	native.Nodes = fuse(r.nodes)
	return &native, nil
}

// place appends what computes a node; it returns the position of the result.
func (r *replacement) place(n node) (int, error) {
	args := make([]int, len(n.Args))
	for i, arg := range n.Args {
		args[i] = r.of[arg]
	}
	old := n
	n.Args = args
	switch n.Op {
	case "input":
		n.Level = len(r.bits)
		return r.push(n), nil
	case "relinearize", "rescale", "drop":
		return args[0], nil
	case "mul":
		n.Op = "mul_relin"
		n.Args = r.aligned(args)
		n.Level = r.nodes[n.Args[0]].Level
		n.ScaleBits = r.nodes[n.Args[0]].ScaleBits + r.nodes[n.Args[1]].ScaleBits
		return r.rescaled(r.push(n)), nil
	case "mul_plain":
		return r.mulPlain(n, old), nil
	case "mul_const":
		x := r.nodes[args[0]]
		n.Level = x.Level
		n.ScaleBits = x.ScaleBits + old.ScaleBits - r.from.Nodes[old.Args[0]].ScaleBits
		return r.push(n), nil
	case "add_const":
		return 0, fmt.Errorf("constants are scaled for another chain")
	}
	n.Args = r.aligned(args)
	x := r.nodes[n.Args[0]]
	n.Level, n.ScaleBits = x.Level, x.ScaleBits
	for _, arg := range n.Args[1:] {
		if math.Abs(r.nodes[arg].ScaleBits-x.ScaleBits) > 1e-6 {
			return 0, fmt.Errorf("operands have scales of %f and %f bits", x.ScaleBits, r.nodes[arg].ScaleBits)
		}
	}
	return r.push(n), nil
}

func (r *replacement) push(n node) int {
	r.nodes = append(r.nodes, n)
	return len(r.nodes) - 1
}

// aligned drops operands to the lowest level among them.
func (r *replacement) aligned(args []int) []int {
	level := r.nodes[args[0]].Level
	for _, arg := range args {
		level = min(level, r.nodes[arg].Level)
	}
	aligned := make([]int, len(args))
	for i, arg := range args {
		aligned[i] = arg
		if x := r.nodes[arg]; x.Level != level {
			aligned[i] = r.push(node{Op: "drop", Args: []int{arg}, Level: level, ScaleBits: x.ScaleBits})
		}
	}
	return aligned
}

// mulPlain chooses the operand's scale: what brings the product back to nativeScale bits
// where a prime can be dropped, else the program's own, if the modulus leaves it the margin
// that the program's chain leaves it.
func (r *replacement) mulPlain(n, old node) int {
	x := r.nodes[n.Args[0]]
	n.Level = x.Level
	top := r.bits[x.Level-1]
	if wanted := top + nativeScale - x.ScaleBits; x.Level > 1 && wanted > 20 && wanted < 50 {
		n.PlainScaleBits = wanted
	} else {
		margin := logProduct(r.from.Parameters.Moduli[:old.Level]...) - old.ScaleBits
		room := sum(r.bits[:x.Level]) - margin - x.ScaleBits
		n.PlainScaleBits = math.Min(old.PlainScaleBits, room)
	}
	n.ScaleBits = x.ScaleBits + n.PlainScaleBits
	return r.rescaled(r.push(n))
}

// rescaled drops primes while enough of the scale remains.
func (r *replacement) rescaled(at int) int {
	for {
		x := r.nodes[at]
		after := x.ScaleBits - r.bits[x.Level-1]
		if x.Level == 1 || after < nativeLeastScale {
			return at
		}
		at = r.push(node{Op: "rescale", Args: []int{at}, Level: x.Level - 1, ScaleBits: after})
	}
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// fuse turns a multiplication by a plain value and the addition that alone uses it into one
// operation, if the other summand is used by nothing else either: it is updated in place.
func fuse(nodes []node) []node {
	uses := make([]int, len(nodes))
	for _, n := range nodes {
		for _, arg := range n.Args {
			uses[arg]++
		}
	}
	at := make([]int, len(nodes))
	fused := make([]node, 0, len(nodes))
	skipped := map[int]bool{}
	for _, n := range nodes {
		if n.Op != "add" || n.Args[0] == n.Args[1] {
			continue
		}
		factor := nodes[n.Args[1]]
		plain := factor.Op == "mul_const" || factor.Op == "mul_plain"
		own := nodes[n.Args[0]].Op != "input" && uses[n.Args[0]] == 1 && uses[n.Args[1]] == 1
		if plain && own {
			skipped[n.Args[1]] = true
		}
	}
	for i, n := range nodes {
		if skipped[i] {
			continue
		}
		if n.Op == "add" && skipped[n.Args[1]] {
			factor := nodes[n.Args[1]]
			args := []int{at[n.Args[0]], at[factor.Args[0]]}
			factor.Op, factor.Args = factor.Op+"_add", args
			n = factor
		} else {
			args := make([]int, len(n.Args))
			for k, arg := range n.Args {
				args[k] = at[arg]
			}
			n.Args = args
		}
		at[i] = len(fused)
		fused = append(fused, n)
	}
	return fused
}

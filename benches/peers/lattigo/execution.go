package main

import (
	"container/heap"
	"fmt"
	"math"
	"sync"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// execution runs a program's operations on worker goroutines: whatever is ready, the first
// in program order first. Ciphertexts come from free lists, so nothing is allocated once
// the lists are filled, and a result reuses memory that was written a moment ago.
type execution struct {
	program *program
	threads int
	params  ckks.Parameters
	encoder *ckks.Encoder
	eval    *ckks.Evaluator
	secret  *rlwe.Decryptor
	inputs  []*rlwe.Ciphertext
	// plains are the encoded operands by node, made in the first run.
	plains []*rlwe.Plaintext
	users  [][]int
	shared sync.Mutex
	wake   *sync.Cond
	// What follows changes during a run, under the lock.
	values  []*rlwe.Ciphertext
	waiting []int
	uses    []int
	ready   positions
	left    int
	failure error
	free    map[[2]int][]*rlwe.Ciphertext
	outputs []*rlwe.Ciphertext
}

// newExecution makes keys, encrypts the inputs and runs the program once, which encodes
// its plain operands.
func newExecution(p *program, threads int) (*execution, error) {
	params, sk, keys, err := keysFor(p)
	if err != nil {
		return nil, err
	}
	e := &execution{
		program: p, threads: threads, params: params,
		encoder: ckks.NewEncoder(params), eval: ckks.NewEvaluator(params, keys),
		secret:  rlwe.NewDecryptor(params, sk),
		plains:  make([]*rlwe.Plaintext, len(p.Nodes)),
		users:   make([][]int, len(p.Nodes)),
		outputs: make([]*rlwe.Ciphertext, len(p.Outputs)),
		free:    map[[2]int][]*rlwe.Ciphertext{},
	}
	e.wake = sync.NewCond(&e.shared)
	for i, n := range p.Nodes {
		for _, arg := range n.Args {
			e.users[arg] = append(e.users[arg], i)
		}
	}
	if err := e.encryptInputs(rlwe.NewEncryptor(params, sk)); err != nil {
		return nil, err
	}
	return e, e.run()
}

func (e *execution) encryptInputs(encryptor *rlwe.Encryptor) error {
	e.inputs = make([]*rlwe.Ciphertext, len(e.program.Inputs))
	for _, n := range e.program.Nodes {
		if n.Op != "input" {
			continue
		}
		pt, err := e.encode(e.program.Inputs[n.Input].Values, n.Level, rlwe.NewScale(math.Exp2(n.ScaleBits)), false)
		if err != nil {
			return err
		}
		if e.inputs[n.Input], err = encryptor.EncryptNew(pt); err != nil {
			return err
		}
	}
	return nil
}

// encode makes a plaintext of so many data limbs.
func (e *execution) encode(values []float64, limbs int, scale rlwe.Scale, negate bool) (*rlwe.Plaintext, error) {
	slots := make([]float64, e.params.MaxSlots())
	copy(slots, values)
	if negate {
		for i := range slots {
			slots[i] = -slots[i]
		}
	}
	pt := ckks.NewPlaintext(e.params, limbs-1)
	pt.Scale = scale
	return pt, e.encoder.Encode(slots, pt)
}

// run executes the program once.
func (e *execution) run() error {
	nodes := e.program.Nodes
	e.values = make([]*rlwe.Ciphertext, len(nodes))
	e.waiting, e.uses = make([]int, len(nodes)), make([]int, len(nodes))
	e.ready, e.left, e.failure = e.ready[:0], len(nodes), nil
	for i, ct := range e.outputs {
		e.recycle(ct)
		e.outputs[i] = nil
	}
	for i, n := range nodes {
		e.waiting[i], e.uses[i] = len(n.Args), len(e.users[i])
		if len(n.Args) == 0 {
			heap.Push(&e.ready, i)
		}
	}
	var workers sync.WaitGroup
	for range e.threads {
		workers.Add(1)
		go func() {
			defer workers.Done()
			e.work()
		}()
	}
	workers.Wait()
	return e.failure
}

// work executes ready operations until none is left.
func (e *execution) work() {
	e.shared.Lock()
	defer e.shared.Unlock()
	for {
		for len(e.ready) == 0 && e.left > 0 && e.failure == nil {
			e.wake.Wait()
		}
		if e.left == 0 || e.failure != nil {
			return
		}
		i := heap.Pop(&e.ready).(int)
		out := e.destination(i)
		e.shared.Unlock()
		result, err := e.apply(i, out)
		e.shared.Lock()
		if err != nil {
			e.failure = fmt.Errorf("node %d (%s): %w", i, e.program.Nodes[i].Op, err)
		}
		e.finish(i, result)
	}
}

// finish stores a result, frees operands that nobody needs any more and wakes workers.
func (e *execution) finish(i int, result *rlwe.Ciphertext) {
	n := e.program.Nodes[i]
	e.values[i] = result
	e.left--
	for k, arg := range n.Args {
		e.uses[arg]--
		if e.uses[arg] == 0 && !(n.inPlace() && k == 0) && n.Op != "output" && e.program.Nodes[arg].Op != "input" {
			e.recycle(e.values[arg])
			e.values[arg] = nil
		}
	}
	for _, user := range e.users[i] {
		e.waiting[user]--
		if e.waiting[user] == 0 {
			heap.Push(&e.ready, user)
		}
	}
	e.wake.Broadcast()
}

// inPlace says that the result takes over the first operand's memory.
func (n node) inPlace() bool {
	return n.Op == "mul_const_add" || n.Op == "mul_plain_add"
}

// destination takes a ciphertext for the result of a node, if it needs one.
func (e *execution) destination(i int) *rlwe.Ciphertext {
	n := e.program.Nodes[i]
	if n.Op == "input" || n.Op == "output" || n.inPlace() {
		return nil
	}
	degree := 1
	if n.Op == "mul" {
		degree = 2
	}
	key := [2]int{degree, n.Level - 1}
	if list := e.free[key]; len(list) > 0 {
		ct := list[len(list)-1]
		e.free[key] = list[:len(list)-1]
		return ct
	}
	return ckks.NewCiphertext(e.params, degree, n.Level-1)
}

func (e *execution) recycle(ct *rlwe.Ciphertext) {
	if ct != nil {
		key := [2]int{ct.Degree(), ct.Level()}
		e.free[key] = append(e.free[key], ct)
	}
}

// results decrypts the first slots of the outputs, and says what they should be.
func (e *execution) results() (any, any, error) {
	got, expected := []float64{}, []float64{}
	for i, output := range e.program.Outputs {
		pt := e.secret.DecryptNew(e.outputs[i])
		values := make([]float64, e.params.MaxSlots())
		if err := e.encoder.Decode(pt, values); err != nil {
			return nil, nil, err
		}
		for k, want := range output.Expected[:min(checkedSlots, len(output.Expected))] {
			slot := k
			if output.Slots != nil {
				slot = output.Slots[k]
			}
			got, expected = append(got, values[slot]), append(expected, want)
		}
	}
	return got, expected, nil
}

// positions is a heap of node indices, the least first.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}

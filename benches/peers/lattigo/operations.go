package main

import (
	"fmt"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// rotations are the steps of the hoisted rotation.
var rotations = []int{1, 2, 3, 4, 5, 6, 7, 8}

// checkedSlots is how many slots a check compares.
const checkedSlots = 8

// number is a slot's value.
type number interface{ float64 | uint64 }

// scheme is what the operations of a scheme need from the library; T is a slot's value.
type scheme[T number] struct {
	input  func(k, i int) T
	mul    func(a, b T) T
	encode func(values []T, pt *rlwe.Plaintext) error
	decode func(pt *rlwe.Plaintext, values []T) error

	newPlaintext  func(level int) *rlwe.Plaintext
	newCiphertext func(level int) *rlwe.Ciphertext
	add           func(a, b, out *rlwe.Ciphertext) error
	mulRelin      func(a, b, out *rlwe.Ciphertext) error
	mulPlain      func(a *rlwe.Ciphertext, b *rlwe.Plaintext, out *rlwe.Ciphertext) error
	rotate        func(a *rlwe.Ciphertext, steps int, out *rlwe.Ciphertext) error
	hoisted       func(a *rlwe.Ciphertext, steps []int, out map[int]*rlwe.Ciphertext) error
	rescale       func(a, out *rlwe.Ciphertext) error

	encryptor *rlwe.Encryptor
	decryptor *rlwe.Decryptor
	slots     int
	maxLevel  int
}

// operands are the fixed inputs, and an output for each operation.
type operands[T number] struct {
	values [2][]T
	plain  [2]*rlwe.Plaintext
	fresh  [2]*rlwe.Ciphertext
	// scaled is the first input times one: at the scale of a product.
	scaled   *rlwe.Ciphertext
	out      *rlwe.Ciphertext
	lower    *rlwe.Ciphertext
	rotated  map[int]*rlwe.Ciphertext
	encoded  *rlwe.Plaintext
	opened   *rlwe.Plaintext
	decoded  []T
	received []T
}

func (s *scheme[T]) operands() (*operands[T], error) {
	o := &operands[T]{rotated: map[int]*rlwe.Ciphertext{}}
	for k := range 2 {
		o.values[k] = make([]T, s.slots)
		for i := range o.values[k] {
			o.values[k][i] = s.input(k, i)
		}
		o.plain[k] = s.newPlaintext(s.maxLevel)
		if err := s.encode(o.values[k], o.plain[k]); err != nil {
			return nil, err
		}
		o.fresh[k] = s.newCiphertext(s.maxLevel)
		if err := s.encryptor.Encrypt(o.plain[k], o.fresh[k]); err != nil {
			return nil, err
		}
	}
	for _, step := range rotations {
		o.rotated[step] = s.newCiphertext(s.maxLevel)
	}
	o.scaled, o.out = s.newCiphertext(s.maxLevel), s.newCiphertext(s.maxLevel)
	o.lower = s.newCiphertext(s.maxLevel - 1)
	o.encoded, o.opened = s.newPlaintext(s.maxLevel), s.newPlaintext(s.maxLevel)
	o.decoded, o.received = make([]T, s.slots), make([]T, s.slots)
	ones := make([]T, s.slots)
	for i := range ones {
		ones[i] = 1
	}
	if err := s.encode(ones, o.encoded); err != nil {
		return nil, err
	}
	return o, s.mulPlain(o.fresh[0], o.encoded, o.scaled)
}

// open decrypts and decodes all slots.
func (s *scheme[T]) open(ct *rlwe.Ciphertext, pt *rlwe.Plaintext, values []T) error {
	s.decryptor.Decrypt(ct, pt)
	return s.decode(pt, values)
}

// operation is a case in terms of its operands.
type operation[T number] struct {
	name    string
	run     func(s *scheme[T], o *operands[T]) error
	divisor int
	// result is what the check decrypts; nil for operations that do not make a ciphertext.
	result func(o *operands[T]) *rlwe.Ciphertext
	// slots is what the check takes when there is no ciphertext.
	slots  func(s *scheme[T], o *operands[T]) ([]T, error)
	expect func(s *scheme[T], i int) T
}

// operations are the cases of a scheme; drop is what it calls the operation that drops a prime.
func operations[T number](drop string) []operation[T] {
	first := func(s *scheme[T], i int) T { return s.input(0, i) }
	product := func(s *scheme[T], i int) T { return s.mul(s.input(0, i), s.input(1, i)) }
	out := func(o *operands[T]) *rlwe.Ciphertext { return o.out }
	last := rotations[len(rotations)-1]
	return []operation[T]{
		{
			name:   "add",
			run:    func(s *scheme[T], o *operands[T]) error { return s.add(o.fresh[0], o.fresh[1], o.out) },
			result: out,
			expect: func(s *scheme[T], i int) T { return s.input(0, i) + s.input(1, i) },
		}, {
			name:   "mul_relin",
			run:    func(s *scheme[T], o *operands[T]) error { return s.mulRelin(o.fresh[0], o.fresh[1], o.out) },
			result: out, expect: product,
		}, {
			name:   "rotate",
			run:    func(s *scheme[T], o *operands[T]) error { return s.rotate(o.fresh[0], 1, o.out) },
			result: out,
			expect: func(s *scheme[T], i int) T { return s.input(0, i+1) },
		}, {
			name:    "hoisted8",
			run:     func(s *scheme[T], o *operands[T]) error { return s.hoisted(o.fresh[0], rotations, o.rotated) },
			divisor: len(rotations),
			result:  func(o *operands[T]) *rlwe.Ciphertext { return o.rotated[last] },
			expect:  func(s *scheme[T], i int) T { return s.input(0, i+last) },
		}, {
			name:   drop,
			run:    func(s *scheme[T], o *operands[T]) error { return s.rescale(o.scaled, o.lower) },
			result: func(o *operands[T]) *rlwe.Ciphertext { return o.lower },
			expect: first,
		}, {
			name:   "mul_plain",
			run:    func(s *scheme[T], o *operands[T]) error { return s.mulPlain(o.fresh[0], o.plain[1], o.out) },
			result: out, expect: product,
		}, {
			name: "encode",
			run:  func(s *scheme[T], o *operands[T]) error { return s.encode(o.values[0], o.encoded) },
			slots: func(s *scheme[T], o *operands[T]) ([]T, error) {
				return o.received, s.decode(o.encoded, o.received)
			},
			expect: first,
		}, {
			name:   "encrypt",
			run:    func(s *scheme[T], o *operands[T]) error { return s.encryptor.Encrypt(o.plain[0], o.out) },
			result: out, expect: first,
		}, {
			name:   "decrypt",
			run:    func(s *scheme[T], o *operands[T]) error { return s.open(o.fresh[0], o.opened, o.decoded) },
			slots:  func(_ *scheme[T], o *operands[T]) ([]T, error) { return o.decoded, nil },
			expect: first,
		},
	}
}

// schemeFamily makes the cases of one parameter set; load makes its keys.
func schemeFamily[T number](name, drop string, parameters facts, load func() (*scheme[T], error)) (*family, error) {
	kind, size, err := splitName(name)
	if err != nil {
		return nil, err
	}
	var s *scheme[T]
	var o *operands[T]
	f := &family{name: name, unload: func() { s, o = nil, nil }}
	f.load = func() (err error) {
		if s, err = load(); err != nil {
			return err
		}
		o, err = s.operands()
		return err
	}
	for _, op := range operations[T](drop) {
		f.cases = append(f.cases, &measurement{
			name:       fmt.Sprintf("%s/%s/%s", kind, op.name, size),
			parameters: parameters,
			divisor:    op.divisor,
			run:        func() error { return op.run(s, o) },
			check:      func() (any, any, error) { return op.check(s, o) },
		})
	}
	return f, nil
}

// check runs an operation, opens its result and says what it should be.
func (op operation[T]) check(s *scheme[T], o *operands[T]) (any, any, error) {
	if err := op.run(s, o); err != nil {
		return nil, nil, err
	}
	values := o.received
	var err error
	if op.result != nil {
		ct := op.result(o)
		err = s.open(ct, s.newPlaintext(ct.Level()), values)
	} else {
		values, err = op.slots(s, o)
	}
	if err != nil {
		return nil, nil, err
	}
	expected := make([]T, checkedSlots)
	for i := range expected {
		expected[i] = op.expect(s, i)
	}
	return values[:checkedSlots], expected, nil
}

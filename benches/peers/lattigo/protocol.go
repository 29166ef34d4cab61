package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// growthBytes is how much garbage may pile up before it is collected between two requests.
const growthBytes = 2 << 30

// batchSeconds is how long a repetition lasts at least; short cases run several times.
const batchSeconds = 0.02

// facts are the parameters that a case really uses, as the runner prints them.
type facts map[string]any

// measurement is one case: an operation on operands that its family has prepared.
type measurement struct {
	name       string
	parameters facts
	// family makes the keys and operands that several cases share.
	family *family
	// run executes the operation once; results go to preallocated outputs that stay reachable.
	run func() error
	// divisor is the number of operations that one run executes.
	divisor int
	// check returns values computed by the peer and the values that they should be.
	check func() (got, expected any, err error)
	warm  bool
	// batch is how many runs make one repetition: enough for batchSeconds.
	batch int
}

// family is a parameter set: its cases share keys and operands, made on first use.
type family struct {
	name   string
	cases  []*measurement
	load   func() error
	unload func()
	loaded bool
}

func (f *family) prepare() error {
	if f.loaded {
		return nil
	}
	if err := f.load(); err != nil {
		return err
	}
	f.loaded = true
	return nil
}

func (f *family) release() {
	if f.loaded {
		f.unload()
	}
	f.loaded = false
	for _, c := range f.cases {
		c.warm = false
	}
	debug.FreeOSMemory()
}

// request is one line from the runner.
type request struct {
	Run         string `json:"run"`
	Repetitions int    `json:"repetitions"`
	Check       string `json:"check"`
	Release     string `json:"release"`
	Quit        bool   `json:"quit"`
}

// server answers requests; it collects garbage between repetitions only.
type server struct {
	families  []*family
	byName    map[string]*measurement
	heapBytes uint64
	out       *json.Encoder
}

func newServer(families []*family) *server {
	s := &server{families: families, byName: map[string]*measurement{}, out: json.NewEncoder(os.Stdout)}
	for _, f := range families {
		for _, c := range f.cases {
			s.byName[c.name] = c
			c.family = f
		}
	}
	return s
}

// serve announces the cases and answers until the input ends.
func (s *server) serve(in io.Reader, notes []string) error {
	cases := []facts{}
	for _, f := range s.families {
		for _, c := range f.cases {
			cases = append(cases, facts{"case": c.name, "parameters": c.parameters})
		}
	}
	hello := facts{"driver": "lattigo", "version": "6.2.0", "cases": cases, "notes": notes}
	if err := s.out.Encode(hello); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			if err := s.out.Encode(facts{"error": err.Error()}); err != nil {
				return err
			}
			continue
		}
		if r.Quit {
			return nil
		}
		if err := s.out.Encode(s.answer(r)); err != nil {
			return err
		}
	}
	return lines.Err()
}

// answer handles one request; a panic of the library becomes an error line.
func (s *server) answer(r request) (reply facts) {
	defer func() {
		if problem := recover(); problem != nil {
			reply = facts{"error": fmt.Sprint(problem)}
		}
	}()
	var err error
	switch {
	case r.Run != "":
		reply, err = s.time(r.Run, max(r.Repetitions, 1))
	case r.Check != "":
		reply, err = s.verify(r.Check)
	case r.Release != "":
		reply, err = s.drop(r.Release)
	default:
		err = fmt.Errorf("a request has one of run, check, release, quit")
	}
	if err != nil {
		return facts{"error": err.Error()}
	}
	return reply
}

func (s *server) find(name string) (*measurement, error) {
	c, ok := s.byName[name]
	if !ok {
		return nil, fmt.Errorf("unknown case %q", name)
	}
	return c, c.family.prepare()
}

func (s *server) time(name string, repetitions int) (facts, error) {
	c, err := s.find(name)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, 0, repetitions)
	for range repetitions {
		if s.collect() {
			s.cool()
		}
		if err := c.warmUp(); err != nil {
			return nil, err
		}
		elapsed, err := c.clock(c.batch)
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, elapsed/float64(c.batch*max(c.divisor, 1)))
	}
	return facts{"run": name, "seconds": seconds}, nil
}

// warmUp runs a case untimed, which fills the library's pools and faults their pages in,
// and finds out how often a short one has to run.
func (m *measurement) warmUp() error {
	if m.warm {
		return nil
	}
	if _, err := m.clock(1); err != nil {
		return err
	}
	m.warm = true
	if m.batch > 0 {
		return nil
	}
	elapsed, err := m.clock(1)
	m.batch = 1
	if elapsed < batchSeconds {
		m.batch = int(batchSeconds/max(elapsed, 1e-7)) + 1
	}
	return err
}

// clock returns the seconds that some runs take.
func (m *measurement) clock(runs int) (float64, error) {
	start := time.Now()
	for range runs {
		if err := m.run(); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), nil
}

// collect frees garbage once enough has piled up; the collector is off otherwise.
func (s *server) collect() bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc < s.heapBytes+growthBytes {
		return false
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.heapBytes = m.HeapAlloc
	return true
}

// cool forgets which cases are warm: a collection empties the library's pools.
func (s *server) cool() {
	for _, c := range s.byName {
		c.warm = false
	}
}

func (s *server) verify(name string) (facts, error) {
	c, err := s.find(name)
	if err != nil {
		return nil, err
	}
	got, expected, err := c.check()
	if err != nil {
		return nil, err
	}
	return facts{"check": name, "values": got, "expected": expected}, nil
}

// drop frees a parameter set and the variants of it.
func (s *server) drop(name string) (facts, error) {
	found := false
	for _, f := range s.families {
		if f.name == name || strings.HasPrefix(f.name, name+"/") {
			f.release()
			found = true
		}
	}
	if !found {
		return nil, fmt.Errorf("unknown parameter set %q", name)
	}
	s.cool()
	return facts{"release": name}, nil
}

// Command driver measures Lattigo for `cyclotron bench`: it announces cases and answers the
// runner's requests, one JSON object a line (benches/README.md).
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// memoryLimitBytes makes the collector run in spite of everything before memory runs out.
const memoryLimitBytes = 16 << 30

func main() {
	suite := flag.String("suite", "", "kernels, operations or programs")
	threads := flag.Int("threads", 1, "goroutines that a program is spread over; operations use one")
	sets := flag.String("sets", "", "file with the parameter sets of the operations")
	spec := flag.String("spec", "", "file with the program of the programs suite")
	flag.Parse()
	if err := drive(*suite, *threads, *sets, *spec); err != nil {
		fmt.Fprintln(os.Stderr, "lattigo:", err)
		os.Exit(1)
	}
}

func drive(suite string, threads int, sets, spec string) error {
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimitBytes)
	notes := []string{
		"outputs are preallocated; garbage is collected between repetitions only",
		fmt.Sprintf("built by %s", runtime.Version()),
	}
	var families []*family
	var err error
	switch suite {
	case "kernels":
		families, err = kernels()
	case "operations":
		notes = append(notes,
			"encrypt is under the secret key; decrypt includes decoding all slots",
			"one operation runs on one thread, whatever --threads says")
		families, err = operationFamilies(sets)
	case "programs":
		families, err = programFamilies(spec, threads)
	default:
		err = fmt.Errorf("--suite is kernels, operations or programs, not %q", suite)
	}
	if err != nil {
		return err
	}
	return newServer(families).serve(os.Stdin, notes)
}

func operationFamilies(path string) ([]*family, error) {
	names, sets, err := readSets(path)
	if err != nil {
		return nil, err
	}
	var families []*family
	for _, name := range names {
		kind, _, err := splitName(name)
		if err != nil {
			return nil, err
		}
		build := ckksFamily
		if kind == "bgv" {
			build = bgvFamily
		}
		f, err := build(name, sets[name])
		if err != nil {
			return nil, err
		}
		families = append(families, f)
	}
	return families, nil
}

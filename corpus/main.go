// Command corpus differentiates functions that were not written for nabla, and prints how many of the derivatives are
// right: wrappers of public modules in libraries, and ordinary programs by topic in programs. It copies their packages
// to a temporary module, generates derivatives there, builds and runs them, and compares values, forward, reverse and
// second-order derivatives with differences (package check).
//
//	go run .                        all functions
//	go run . -sample 40 -seed 3     a random sample
//	go run . -run 'orb|spline' -v   functions whose names match, each with its outcome
//	go run . -update                also write right.txt, the list of functions that are right
//
// A function is right, refused by nabla gen, or wrong: a wrong number, a panic, code that does not compile, or an
// internal error of nabla gen. It is warned if derivatives are wrong and nabla gen warns of it. The exit status is 1 if
// a function is wrong that wrong.txt does not explain, or if one listed in right.txt is not right.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	sample := flag.Int("sample", 0, "only `N` functions, chosen at random")
	seed := flag.Uint64("seed", 1, "choice of the sample")
	match := flag.String("run", "", "only functions whose name matches this `regexp`")
	update := flag.Bool("update", false, "write right.txt")
	verbose := flag.Bool("v", false, "print each function")
	keep := flag.Bool("keep", false, "keep the temporary module and print its directory")
	part := flag.String("generate", "", "generate derivatives in this `directory`; for the command itself")
	flag.Parse()
	if *part != "" {
		generateHere(*part, flag.Args())
		return
	}
	ok, err := run(options{*sample, *seed, *match, *update, *verbose, *keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct {
	sample                int
	seed                  uint64
	match                 string
	update, verbose, keep bool
}

const rightFile, wrongFile = "right.txt", "wrong.txt"

// run differentiates the selected functions and reports whether the outcomes are as expected.
func run(o options) (bool, error) {
	all, err := functions(".")
	if err != nil {
		return false, err
	}
	re, err := regexp.Compile(o.match)
	if err != nil {
		return false, err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(f *function) bool { return !re.MatchString(f.name()) })
	if o.sample > 0 && o.sample < len(chosen) {
		rng := rand.New(rand.NewPCG(o.seed, 0))
		rng.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:o.sample]
		slices.SortFunc(chosen, func(a, b *function) int { return cmp.Compare(a.name(), b.name()) })
	}
	if len(chosen) == 0 {
		return false, errors.New("no function is selected")
	}
	if err := differentiate(chosen, o.keep); err != nil {
		return false, err
	}
	right, err := lines(rightFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	known, err := lines(wrongFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	ok := report(os.Stdout, chosen, right, known, o.verbose)
	if o.update {
		if len(chosen) < len(all) {
			return false, errors.New("-update needs all functions")
		}
		return ok, writeRight(chosen)
	}
	return ok, nil
}

// lines returns the lines of a file, by their first words. Comments begin with #.
func lines(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if word, rest, _ := strings.Cut(s.Text(), " "); word != "" && word[0] != '#' {
			m[word] = rest
		}
	}
	return m, nil
}

func writeRight(list []*function) error {
	var s strings.Builder
	s.WriteString("# Functions whose derivatives are right; go run . -update writes this list.\n")
	for _, f := range list {
		if f.outcome == right {
			s.WriteString(f.name() + "\n")
		}
	}
	return os.WriteFile(rightFile, []byte(s.String()), 0o666)
}

// Command mutate makes random mutants of packages, changes of one place each, and reports those that the packages' own
// tests do not detect:
//
//	go run ./internal/mutate -n 300 ./...
//
// A mutant has a condition negated, an operator exchanged, a boundary moved, a constant changed by one, or a statement
// or an assignment removed. Its package is built with go test -overlay, so that no file in the tree changes, and tested
// with -short -failfast. Mutants that do not compile are replaced by others. Mutants of code that the tests do not run
// are listed without being tried. Generated files and tests are not mutated. The same seed makes the same mutants of
// the same source.
//
// A surviving mutant indicates a missing test, or is equivalent to the original.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	info, err := os.Stderr.Stat()
	os.Exit(command(ctx, os.Stdout, os.Stderr, err == nil && info.Mode()&os.ModeCharDevice != 0, os.Args[1:]))
}

// command runs the command line and returns the exit code: 0 if everything requested was done, even if mutants
// survived, 1 if not, 2 for an invalid command line.
func command(ctx context.Context, out, errOut io.Writer, terminal bool, args []string) int {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(errOut)
	o := options{minLimit: 10 * time.Second}
	flags.IntVar(&o.n, "n", 100, "number of mutants whose tests are run")
	flags.Uint64Var(&o.seed, "seed", 1, "which mutants")
	flags.IntVar(&o.parallel, "parallel", 1, "how many are tried at a time")
	flags.Float64Var(&o.slowdown, "patience", 5, "how many times as long as without a change tests may take")
	flags.IntVar(&o.memory, "memory", 4096, "MiB of address space that tests may have, 0 for any; on Unix")
	quiet := flags.Bool("q", false, "omit the list of mutants of code that is not covered")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if o.patterns = flags.Args(); len(o.patterns) == 0 {
		o.patterns = []string{"."}
	}
	if o.n < 1 || o.parallel < 1 || !(o.slowdown >= 1) || o.memory < 0 {
		fmt.Fprintln(errOut,
			"mutate: want -n and -parallel of 1 or more, -patience of 1 or more, and -memory of 0 or more")
		return 2
	}
	var err error
	if o.dir, err = os.Getwd(); err != nil {
		fmt.Fprintln(errOut, "mutate:", err)
		return 1
	}
	if terminal {
		o.progress = func(s *outcome) { fmt.Fprintf(errOut, "\r[%d/%d] %s\x1b[K", s.tried(), o.n, s.counts()) }
	}
	s, err := mutate(ctx, o)
	if terminal {
		fmt.Fprint(errOut, "\r\x1b[K")
	}
	if s != nil {
		s.write(out, o, !*quiet)
	}
	if err != nil {
		fmt.Fprintln(errOut, "mutate:", err)
		return 1
	}
	if s.tried() < o.n && len(s.broken) > 0 {
		return 1
	}
	return 0
}

// counts returns the numbers of mutants by verdict, as text.
func (s *outcome) counts() string {
	return fmt.Sprintf("%d killed (%d by time), %d survived, %d not covered, %d did not compile",
		s.count[killed]+s.count[timedOut], s.count[timedOut], s.count[survived], s.count[uncovered],
		s.count[uncompiled])
}

// write writes the survivors with their diffs, the mutants of code that is not covered, the packages whose tests are
// unusable, and a line of totals.
func (s *outcome) write(w io.Writer, o options, all bool) {
	sorted := slices.Clone(s.results)
	slices.SortStableFunc(sorted, func(a, b result) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return a.start - b.start
	})
	for _, r := range sorted {
		if r.verdict != survived {
			continue
		}
		fmt.Fprintf(w, "%s: survived: %s\n", r.position(o.dir), r.kind)
		if src, err := os.ReadFile(r.file); err == nil {
			fmt.Fprintln(w, r.diff(src))
		}
	}
	for _, r := range sorted {
		if all && r.verdict == uncovered {
			fmt.Fprintf(w, "%s: not covered: %s\n", r.position(o.dir), r.kind)
		}
	}
	var paths []string
	for p := range s.broken {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		fmt.Fprintf(w, "%s: not tried: %s\n", p, s.broken[p])
	}
	fmt.Fprintf(w, "%d mutants of %d, seed %d: %s\n", s.tried(), s.sites, o.seed, s.counts())
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// A verdict is the result of trying a mutant.
type verdict int

const (
	killed     verdict = iota // a test failed
	timedOut                  // the tests took much longer than for the original
	survived                  // the tests passed
	uncovered                 // the tests do not run the mutated code
	uncompiled                // it does not compile
	untested                  // the package has no tests, or they fail for the original
	unfinished                // the run was interrupted
)

// options configures a run.
type options struct {
	n        int // number of mutants whose tests are run
	seed     uint64
	parallel int
	slowdown float64       // factor by which tests may take longer
	minLimit time.Duration // time that tests may always take
	memory   int           // MiB of address space for the tests, 0 for no limit
	dir      string        // directory for resolving patterns
	patterns []string
	progress func(s *outcome) // may be nil
}

// result is a mutant with its verdict.
type result struct {
	*mutant
	verdict verdict
}

// An outcome holds the results of a run.
type outcome struct {
	results []result          // in the order of the seed
	broken  map[string]string // packages whose tests are unusable, with the reason
	sites   int               // number of possible mutants
	count   [unfinished + 1]int
}

// tried returns the number of mutants whose tests were run.
func (s *outcome) tried() int { return s.count[killed] + s.count[timedOut] + s.count[survived] }

// targets returns the packages that match, except those below testdata directories.
func targets(ctx context.Context, dir string, patterns []string) (all []*target, err error) {
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %s", bytes.TrimSpace(stderr.Bytes()))
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath, Dir                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		t := &target{Path: p.ImportPath, Dir: p.Dir, Tests: len(p.TestGoFiles) + len(p.XTestGoFiles)}
		for _, f := range p.GoFiles {
			t.Files = append(t.Files, filepath.Join(p.Dir, f))
		}
		all = append(all, t)
	}
}

// A baseline holds the results of the tests of an unmodified package.
type baseline struct {
	once sync.Once
	// time of the tests
	took time.Duration
	// blocks that the tests run
	cover coverage
	// reason that the tests are unusable
	err error
}

// A runner tries mutants.
type runner struct {
	options
	// directory of all mutants and test binaries
	tmp string
	mu  sync.Mutex
	// baselines by package, guarded by mu
	bases map[*target]*baseline
}

// mutate tries n of the mutants of the packages that match.
func mutate(ctx context.Context, o options) (*outcome, error) {
	pkgs, err := targets(ctx, o.dir, o.patterns)
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, p := range pkgs {
		found, err := p.mutants()
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	l := &runner{options: o, tmp: tmp, bases: map[*target]*baseline{}}
	s := &outcome{broken: map[string]string{}, sites: len(all)}
	s.results = l.tryAll(ctx, shuffled(all, o.seed), s)
	for p, b := range l.bases {
		if b.err != nil {
			s.broken[p.Path] = b.err.Error()
		}
	}
	return s, ctx.Err()
}

// tryAll tries mutants in order, several at a time, until the tests of n of them were run. The mutants in the result do
// not depend on timing.
func (l *runner) tryAll(ctx context.Context, mutants []*mutant, s *outcome) []result {
	verdicts := make([]verdict, len(mutants))
	for i := range verdicts {
		verdicts[i] = unfinished
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := 0
	for range max(1, l.parallel) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				if i == len(mutants) || s.tried() >= l.n || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				v := l.verdictOn(ctx, mutants[i])
				mu.Lock()
				verdicts[i] = v
				s.count[v]++
				if l.progress != nil {
					l.progress(s)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var out []result
	s.count = [unfinished + 1]int{}
	for i, v := range verdicts[:next] {
		if s.tried() == l.n {
			break
		}
		s.count[v]++
		out = append(out, result{mutants[i], v})
	}
	return out
}

// baseline returns the baseline of a package, which it measures once.
func (l *runner) baseline(ctx context.Context, p *target) *baseline {
	l.mu.Lock()
	b := l.bases[p]
	if b == nil {
		b = new(baseline)
		l.bases[p] = b
	}
	l.mu.Unlock()
	b.once.Do(func() { b.err = l.measureBaseline(ctx, p, b) })
	return b
}

// measureBaseline runs the tests of the unmodified package with coverage, and stores their time and the covered blocks
// in b. It fails if the package has no tests, or they do not compile or fail.
func (l *runner) measureBaseline(ctx context.Context, p *target, b *baseline) error {
	if p.Tests == 0 {
		return errors.New("it has no tests")
	}
	dir, err := os.MkdirTemp(l.tmp, "base")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, profile := filepath.Join(dir, "base.test"), filepath.Join(dir, "cover.out")
	if out, err := l.build(ctx, p, binary, "-cover", "-covermode=set"); err != nil {
		return fmt.Errorf("its tests do not compile: %s", firstLine(out))
	}
	start := time.Now()
	out, err := l.run(ctx, p, binary, 10*time.Minute, "-test.coverprofile="+profile)
	if err != nil {
		return fmt.Errorf("its tests fail without a change: %s", firstLine(out))
	}
	b.took = time.Since(start)
	f, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer f.Close()
	b.cover, err = readCoverage(f)
	return err
}

// build builds the test binary of a package.
func (l *runner) build(ctx context.Context, p *target, binary string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, p.Path)...)
	cmd.Dir = p.Dir
	return cmd.CombinedOutput()
}

// errTimeout is the error of a test binary that was killed at its time limit.
var errTimeout = errors.New("the tests take too long")

// run runs a test binary with a time limit.
func (l *runner) run(
	ctx context.Context,
	p *target,
	binary string,
	limit time.Duration,
	flags ...string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := limitedCommand(ctx, l.memory, binary, append([]string{"-test.short", "-test.failfast"}, flags...)...)
	cmd.Dir = p.Dir
	cmd.WaitDelay = 10 * time.Second
	out := &prefixWriter{max: 1 << 16}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if ctx.Err() == context.DeadlineExceeded {
		err = errTimeout
	}
	return out.text, err
}

// verdictOn tries a mutant and returns the verdict.
func (l *runner) verdictOn(ctx context.Context, m *mutant) verdict {
	b := l.baseline(ctx, m.pkg)
	switch {
	case ctx.Err() != nil:
		return unfinished
	case b.err != nil:
		return untested
	case !b.cover.covers(m):
		return uncovered
	}
	dir, err := os.MkdirTemp(l.tmp, "mutant")
	if err != nil {
		return unfinished
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return unfinished
	}
	binary := filepath.Join(dir, "mutant.test")
	if _, err := l.build(ctx, m.pkg, binary, "-overlay="+overlay); err != nil {
		if ctx.Err() != nil {
			return unfinished
		}
		return uncompiled
	}
	_, err = l.run(ctx, m.pkg, binary, max(l.minLimit, time.Duration(l.slowdown*float64(b.took))))
	switch {
	case ctx.Err() != nil:
		return unfinished
	case err == nil:
		return survived
	case errors.Is(err, errTimeout):
		return timedOut
	}
	return killed
}

// overlay writes the mutated file, and the overlay file for the go command, whose name it returns.
func (m *mutant) overlay(dir string) (string, error) {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, m.apply(src), 0o666); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}

// A prefixWriter keeps the beginning of the text written to it, since a mutant may print without end.
type prefixWriter struct {
	text []byte
	max  int
}

// Write never fails; it discards everything beyond max bytes.
func (t *prefixWriter) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), t.max-len(t.text))]...)
	return len(p), nil
}

// firstLine returns the first line of the output of a command that is neither empty nor the name of a package, for an
// error.
func firstLine(out []byte) string {
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return string(line)
		}
	}
	return "no output"
}

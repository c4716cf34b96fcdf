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

// verdict is what became of a mutant.
type verdict int

const (
	killed     verdict = iota // a test failed
	timedOut                  // the tests took much longer than without
	survived                  // the tests passed
	uncovered                 // the tests do not run it
	uncompiled                // it is no Go
	untested                  // the package has no tests, or they fail without a change
	unfinished                // the run was interrupted
)

// options are those of a run.
type options struct {
	n        int // mutants whose tests are run
	seed     uint64
	parallel int
	patience float64       // times the tests may take longer
	least    time.Duration // how long they may take in any case
	memory   int           // MiB of address space for the tests, 0 for any
	dir      string        // where patterns are resolved
	patterns []string
	progress func(s *summary) // may be nil
}

// result is a mutant with its verdict.
type result struct {
	*mutant
	verdict verdict
}

// summary is what a run found.
type summary struct {
	results []result          // in the order of the seed
	broken  map[string]string // packages whose tests cannot be used, and why
	sites   int               // mutants there are
	count   [unfinished + 1]int
}

// tried is how many mutants had their tests run.
func (s *summary) tried() int { return s.count[killed] + s.count[timedOut] + s.count[survived] }

// targets are the packages that match, without those below testdata.
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

// baseline is how the tests of a package run without a change.
type baseline struct {
	once  sync.Once
	took  time.Duration
	cover coverage
	err   error
}

// A lab tries mutants.
type lab struct {
	options
	tmp   string
	mu    sync.Mutex
	bases map[*target]*baseline
}

// mutate finds the mutants of the packages that match and tries n of them.
func mutate(ctx context.Context, o options) (*summary, error) {
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
	l := &lab{options: o, tmp: tmp, bases: map[*target]*baseline{}}
	s := &summary{broken: map[string]string{}, sites: len(all)}
	s.results = l.all(ctx, shuffled(all, o.seed), s)
	for p, b := range l.bases {
		if b.err != nil {
			s.broken[p.Path] = b.err.Error()
		}
	}
	return s, ctx.Err()
}

// all tries mutants one after the other, several at a time, until n of them had their tests
// run. Which are in the result does not depend on which was faster.
func (l *lab) all(ctx context.Context, mutants []*mutant, s *summary) []result {
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
				v := l.try(ctx, mutants[i])
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

// base runs the tests of a package as it is, once.
func (l *lab) base(ctx context.Context, p *target) *baseline {
	l.mu.Lock()
	b := l.bases[p]
	if b == nil {
		b = new(baseline)
		l.bases[p] = b
	}
	l.mu.Unlock()
	b.once.Do(func() { b.err = l.measure(ctx, p, b) })
	return b
}

func (l *lab) measure(ctx context.Context, p *target, b *baseline) error {
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
func (l *lab) build(ctx context.Context, p *target, binary string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, p.Path)...)
	cmd.Dir = p.Dir
	return cmd.CombinedOutput()
}

var errTimeout = errors.New("the tests take too long")

// run runs a test binary for as long as limit.
func (l *lab) run(ctx context.Context, p *target, binary string, limit time.Duration, flags ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := bounded(ctx, l.memory, binary, append([]string{"-test.short", "-test.failfast"}, flags...)...)
	cmd.Dir = p.Dir
	cmd.WaitDelay = 10 * time.Second
	out := &head{max: 1 << 16}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if ctx.Err() == context.DeadlineExceeded {
		err = errTimeout
	}
	return out.text, err
}

// try is the verdict on a mutant.
func (l *lab) try(ctx context.Context, m *mutant) verdict {
	b := l.base(ctx, m.pkg)
	switch {
	case ctx.Err() != nil:
		return unfinished
	case b.err != nil:
		return untested
	case !b.cover.runs(m):
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
	_, err = l.run(ctx, m.pkg, binary, max(l.least, time.Duration(l.patience*float64(b.took))))
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

// overlay writes the changed file, and the file that tells the go command of it.
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

// head keeps the beginning of what is written to it: a mutant may print without end.
type head struct {
	text []byte
	max  int
}

func (t *head) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), t.max-len(t.text))]...)
	return len(p), nil
}

func firstLine(out []byte) string {
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return string(line)
		}
	}
	return "no output"
}

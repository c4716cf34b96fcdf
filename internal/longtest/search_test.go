package longtest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestSearchCounts(t *testing.T) {
	var seeds []uint64
	s := longtest.Search{Few: 30, Usual: 30, Many: 30, Check: func(seed uint64) (int, error) {
		seeds = append(seeds, seed)
		if seed%3 == 1 {
			return 1, fmt.Errorf("seed %d has branches: %w", seed, longtest.ErrRefused)
		}
		return 2, nil
	}}
	if got, want := s.Run(t).String(), "30 functions, 50 comparisons, 0 differ, 10 refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i, seed := range seeds {
		if seed != uint64(i) {
			t.Fatalf("case %d has seed %d", i, seed)
		}
	}
}

// TestSearchFails checks that a search with mistakes fails, and describes the first of each kind, of five at most.
func TestSearchFails(t *testing.T) {
	var described []uint64
	r := new(recorder)
	c := longtest.Search{Few: 20, Usual: 20, Many: 20, Check: func(seed uint64) (int, error) {
		if seed < 4 {
			return 1, nil
		}
		return 1, fmt.Errorf("kind %d: at %d", seed%8, seed)
	}, Describe: func(seed uint64, err error) string {
		described = append(described, seed)
		return err.Error()
	}}.Run(r)
	if !r.failed || c.Differ != 16 || fmt.Sprint(described) != "[4 5 6 7 8]" {
		t.Errorf("failed is %v with %v, described are %v", r.failed, c, described)
	}
	if !slices.Contains(r.lines, "seed 5: kind 5: at 5") || !slices.Contains(r.lines, "2 × kind 5") ||
		r.lines[len(r.lines)-1] != "20 functions, 20 comparisons, 16 differ, 0 refused" {
		t.Errorf("the lines are %q", r.lines)
	}
	r = new(recorder)
	longtest.Search{Few: 2, Usual: 2, Many: 2, Check: func(uint64) (int, error) {
		return 0, errors.New("no colon")
	}}.Run(r)
	if !r.failed {
		t.Error("a search that finds a mistake does not fail")
	}
}

// A recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed bool
	lines  []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Fail()                     { r.failed = true }
func (r *recorder) Log(args ...any)           { r.lines = append(r.lines, fmt.Sprint(args...)) }
func (r *recorder) Logf(f string, a ...any)   { r.Log(fmt.Sprintf(f, a...)) }
func (r *recorder) Errorf(f string, a ...any) { r.Logf(f, a...); r.failed = true }

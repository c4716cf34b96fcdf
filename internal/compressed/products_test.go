package compressed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
)

// problems are those that are solved for Jacobians and, the last two, for Hessians.
var problems = []coloring.Problem{
	{Partition: coloring.Column},
	{Partition: coloring.Row},
	{Partition: coloring.Bidirectional},
	{Partition: coloring.Bidirectional, Decompression: coloring.Substitution},
	{Structure: coloring.Symmetric},
	{Structure: coloring.Symmetric, Decompression: coloring.Substitution},
}

// prepared returns the Jacobian or Hessian that an engine of the given lanes computes of a.
func prepared(spec Spec, e engine.Backend) (*Matrix, error) {
	if spec.Coloring.Problem().Structure == coloring.Symmetric {
		return Hessian(spec, e, e)
	}
	return Jacobian(spec, e, e)
}

// TestValues: values, outputs and results of random matrices are those of the matrix, whatever the groups, the number
// of products at a time and of goroutines, streamed or not, compared in every call or not.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	streamed := 0
	for k := range 600 {
		problem := problems[k%len(problems)]
		m, n := r.IntN(9), r.IntN(9)
		symmetric := problem.Structure == coloring.Symmetric
		if symmetric {
			m = n
		}
		a := random(r, m, n, r.Float64(), symmetric)
		c := colored(t, a, n, problem)
		f := function(n, m)
		if symmetric {
			f = function(n, 1)
		}
		extent := Extent(r.IntN(3))
		x := make([]float64, n)
		spec := Spec{Coloring: c, Scope: NewScope(extent, f, x, c.Pattern()), F: f, Of: f, X: x, Workers: r.IntN(4),
			StreamBytes: int64(r.IntN(2)), Unchecked: r.IntN(4) == 0}
		e := constant(a, 1+r.IntN(4))
		if spec.Workers > 1 { // a log for each goroutine
			e.log = nil
		}
		title := fmt.Sprintf("case %d, %v, %d×%d, %d workers, %d lanes", k, problem, m, n, spec.Workers, e.lanes)
		matrix, err := prepared(spec, e)
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		if matrix.p.streamed {
			streamed++
		}
		want := entries(a, c.Pattern())
		for call := range 5 {
			data, out := make([]float64, len(want)), make([]float64, m)
			for i := range data {
				data[i] = -1
			}
			y, err := matrix.Values(out, data, x)
			if err != nil || !slices.Equal(data, want) {
				t.Fatalf("%s: call %d: %v, want %v, error %v", title, call, data, want, err)
			}
			for i, v := range out {
				if v != float64(i+1) {
					t.Fatalf("%s: call %d: out is %v", title, call, out)
				}
			}
			if symmetric && y != 7 {
				t.Fatalf("%s: call %d: the value is %v", title, call, y)
			}
		}
	}
	if streamed < 20 {
		t.Errorf("only %d matrices were streamed", streamed)
	}
}

// TestValuesAfterFailure: an error or a panic in any sweep is an error of the call, and the next call is right.
func TestValuesAfterFailure(t *testing.T) {
	failure := errors.New("broken")
	a := random(rand.New(rand.NewPCG(3, 4)), 6, 6, 1, true)
	for _, problem := range problems {
		for _, workers := range []int{1, 3} {
			for _, stream := range []int64{0, 1} {
				for _, panics := range []bool{false, true} {
					c := colored(t, a, 6, problem)
					e := constant(a, 1)
					f := function(6, 6)
					x := make([]float64, 6)
					spec := Spec{Coloring: c, Scope: NewScope(OnAllBranches, f, x, c.Pattern()), F: f, Of: f, X: x,
						StreamBytes: stream}
					e.fail = func(int) error { return failure }
					if _, err := prepared(spec, e); !errors.Is(err, failure) {
						t.Fatalf("%v: preparation: %v", problem, err)
					}
					e.fail = nil
					matrix, err := prepared(spec, e)
					if err != nil {
						t.Fatal(err)
					}
					sweeps := len(matrix.p.tasks)
					spec.Workers = workers
					data, out := make([]float64, len(matrix.Buffer())), make([]float64, 6)
					for bad := range sweeps {
						m, err := prepared(spec, &table{at: e.at, lanes: 1})
						if err != nil {
							t.Fatal(err)
						}
						var swept atomic.Int64
						for _, w := range m.p.workers {
							w.sweeper = &failing{w.sweeper, &swept, int64(bad) + 1, panics, failure}
						}
						err = valuesRecovered(m, out, data, x)
						var pe *engine.PanicError
						if panics && (!errors.As(err, &pe) || pe.Value != failure) || !errors.Is(err, failure) {
							t.Fatalf("%v, %d workers: sweep %d of %d: %v", problem, workers, bad, sweeps, err)
						}
						for _, w := range m.p.workers {
							w.sweeper = w.sweeper.(*failing).sweeper
						}
						_, err = m.Values(out, data, x)
						if err != nil || !slices.Equal(data, entries(a, c.Pattern())) {
							t.Fatalf("%v, %d workers: after a failure: %v, %v", problem, workers, data, err)
						}
					}
				}
			}
		}
	}
}

// valuesRecovered is Values with a panic as an error, which the caller of a single goroutine has to recover.
func valuesRecovered(m *Matrix, out, data, x []float64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &engine.PanicError{Value: v}
		}
	}()
	_, err = m.Values(out, data, x)
	return err
}

// A failing sweeper fails at the sweep whose number, among those of all workers, is bad.
type failing struct {
	sweeper
	swept  *atomic.Int64 // by all workers
	bad    int64
	panics bool
	err    error
}

func (s *failing) sweep(row bool, out []float64, result engine.Block, x []float64, seed engine.Block) (float64, error) {
	if s.swept.Add(1) == s.bad {
		if s.panics {
			panic(s.err)
		}
		return 0, s.err
	}
	return s.sweeper.sweep(row, out, result, x, seed)
}

// TestMemoryLimit: products that exceed the memory limit are an error that says by how much, and streaming stays
// within.
func TestMemoryLimit(t *testing.T) {
	a := random(rand.New(rand.NewPCG(5, 6)), 8, 8, 1, false) // eight products of 16 numbers in and out
	c := colored(t, a, 8, coloring.Problem{Partition: coloring.Column})
	x := make([]float64, 8)
	for _, l := range []struct {
		memory, stream int64
		lanes          int
		ok             bool
	}{
		{8 * 8 * 16, 0, 1, true}, {8*8*16 - 1, 0, 1, false}, {8 * 16, 1, 1, true}, {8*16 - 1, 1, 1, false},
		{8 * 8 * 16, 1, 8, true}, {8 * 16, 1, 2, false},
	} {
		f := function(8, 8).With(8, 8, engine.Policy{Memory: l.memory})
		spec := Spec{Coloring: c, Scope: NewScope(OnAllBranches, f, x, c.Pattern()), F: f, Of: f, X: x,
			StreamBytes: l.stream}
		_, err := Jacobian(spec, constant(a, l.lanes), nil)
		var le *engine.LimitError
		if (err == nil) != l.ok || err != nil && (!errors.As(err, &le) || int64(le.Bytes) <= l.memory) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// TestPartsOfWorkers: each goroutine has products, of nearly equal number, engines get no more lanes than they take,
// and no worker gets less than leastShare products that another could compute with its own.
func TestPartsOfWorkers(t *testing.T) {
	a := random(rand.New(rand.NewPCG(7, 8)), 13, 13, 1, false)
	c := colored(t, a, 13, coloring.Problem{Partition: coloring.Column})
	f, x := function(13, 13), make([]float64, 13)
	for _, w := range []struct {
		workers, lanes int
		parts          []int
	}{
		{0, 1, slices.Repeat([]int{1}, 13)}, {1, 13, []int{13}}, {1, 6, []int{4, 4, 5}}, {2, 13, []int{6, 7}},
		{3, 4, []int{3, 3, 3, 4}}, {9, 13, []int{4, 4, 5}}, {20, 1, slices.Repeat([]int{1}, 13)}, {1, 100, []int{13}},
	} {
		spec := Spec{Coloring: c, Scope: NewScope(OnAllBranches, f, x, c.Pattern()), F: f, Of: f, X: x,
			Workers: w.workers}
		e := &table{at: func([]float64) [][]float64 { return a }, lanes: w.lanes}
		m, err := Jacobian(spec, e, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.of[0] != f || slices.Contains(e.of[1:], f) {
			t.Errorf("%d workers: not the first one alone has the function itself", w.workers)
		}
		var parts []int
		for _, p := range m.p.tasks {
			parts = append(parts, p.k)
		}
		if !slices.Equal(parts, w.parts) || len(m.p.workers) != min(max(1, w.workers), len(parts)) || m.Recordings() !=
			len(m.p.workers) {
			t.Errorf("%d workers of %d lanes: parts %v, want %v; %d goroutines, %d recordings", w.workers, w.lanes,
				parts, w.parts, len(m.p.workers), m.Recordings())
		}
	}
}

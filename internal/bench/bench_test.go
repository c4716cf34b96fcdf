package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/tabular"
	"github.com/nabla-ad/nabla/internal/timing"
	"github.com/nabla-ad/nabla/sparsity"
)

// copyReference returns an engine that copies the reference; change may modify the result.
func copyReference(name string, change func(y, d []float64)) Engine {
	return Engine{Name: name, Prepare: func(p *problems.Problem) (Derivative, error) {
		return func(y, d, x []float64) error {
			for _, c := range p.Cases {
				if &c.X[0] == &x[0] {
					copy(y, c.Value)
					copy(d, c.Derivative)
				}
			}
			if change != nil {
				change(y, d)
			}
			return nil
		}, nil
	}}
}

var errBroken = errors.New("broken")

func tasks(t *testing.T, names ...string) []Task {
	t.Helper()
	var entries []problems.Entry
	for _, n := range names {
		e, err := problems.Lookup(n)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return Tasks(entries, []int{10})
}

func run(t *testing.T, e Engine, names ...string) []Row {
	t.Helper()
	rows, err := Run(t.Context(), Config{Tasks: tasks(t, names...), Engines: []Engine{e}, Budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRunHonest(t *testing.T) {
	rows := run(t, copyReference("honest", nil), "T1", "T3", "T6")
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	for i, r := range rows {
		if r.Task != []string{"T1", "T3", "T6"}[i] || r.N != []int{10, 10, 15}[i] || r.Engine != "honest" {
			t.Errorf("row %d is %s n=%d %s", i, r.Task, r.N, r.Engine)
		}
		if !r.OK || r.Err != nil || r.Error != 0 || r.Allocs != 0 {
			t.Errorf("%s: ok %v, err %v, error %v, allocs %v", r.Task, r.OK, r.Err, r.Error, r.Allocs)
		}
		if !(r.PlainNS > 0 && r.DerivativeNS > 0 && r.PrepareNS > 0) || r.Ratio != r.DerivativeNS/r.PlainNS {
			t.Errorf("%s: plain %v, derivative %v, ratio %v, prepare %v", r.Task, r.PlainNS, r.DerivativeNS, r.Ratio,
				r.PrepareNS)
		}
		// T6 has 1000 cases, and its time is that of one.
		if r.PlainNS > 50e3 {
			t.Errorf("%s: a call of the function takes %v ns", r.Task, r.PlainNS)
		}
	}
}

func TestRunWrong(t *testing.T) {
	second := 0
	for _, tt := range []struct {
		name   string
		change func(y, d []float64)
	}{
		{"sign", func(_, d []float64) { d[len(d)-1] = -d[len(d)-1] }},
		{"a little", func(_, d []float64) { d[0] *= 1 + 1e-6 }},
		{"nan", func(_, d []float64) { d[0] = math.NaN() }},
		{"infinite", func(_, d []float64) { d[0] = math.Inf(1) }},
		{"value", func(y, _ []float64) { y[0] *= 2 }},
		{"second call", func(_, d []float64) {
			if second++; second > 1 {
				d[0]++
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, copyReference("liar", tt.change), "T1")[0]
			if r.OK || r.Err != nil {
				t.Errorf("ok %v, err %v, want a wrong row", r.OK, r.Err)
			}
			if !math.IsNaN(r.PlainNS) || !math.IsNaN(r.DerivativeNS) || !math.IsNaN(r.Ratio) {
				t.Errorf("a wrong derivative was timed: %+v", r)
			}
		})
	}
}

// TestRunWrongBlock modifies one block of T6 that is small compared with the largest one.
func TestRunWrongBlock(t *testing.T) {
	calls := 0
	e := copyReference("liar", func(_, d []float64) {
		if calls++; calls == 1000 {
			d[3] += 1e-6
		}
	})
	if r := run(t, e, "T6")[0]; r.OK {
		t.Errorf("error %v passes", r.Error)
	}
}

func TestRunApproximate(t *testing.T) {
	e := copyReference("differences", func(_, d []float64) { d[0] *= 1 + 1e-6 })
	e.Approximate = true
	if r := run(t, e, "T1")[0]; !r.OK || r.Error == 0 {
		t.Errorf("ok %v, error %v: finite differences are not held to exactness", r.OK, r.Error)
	}
	e = copyReference("differences", func(_, d []float64) { d[0] *= 1.1 })
	e.Approximate = true
	if r := run(t, e, "T1")[0]; r.OK {
		t.Errorf("error %v passes", r.Error)
	}
}

func TestRunFailing(t *testing.T) {
	prepare := Engine{Name: "failing", Prepare: func(*problems.Problem) (Derivative, error) { return nil, errBroken }}
	call := Engine{Name: "failing", Prepare: func(*problems.Problem) (Derivative, error) {
		return func(y, d, x []float64) error { return errBroken }, nil
	}}
	for _, e := range []Engine{prepare, call} {
		rows := run(t, e, "T1", "T3")
		if len(rows) != 2 {
			t.Fatalf("%d rows, want 2: one failure must not end the run", len(rows))
		}
		if r := rows[0]; r.OK || !errors.Is(r.Err, errBroken) {
			t.Errorf("ok %v, err %v", r.OK, r.Err)
		}
	}
}

// TestRunInterrupted interrupts a call that does not end: the tasks before it stay.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	stuck := copyReference("stuck", nil)
	prepare := stuck.Prepare
	stuck.Prepare = func(p *problems.Problem) (Derivative, error) {
		if p.Name == "T3" {
			cancel()
			<-release // a call that takes long
		}
		return prepare(p)
	}
	rows, err := Run(ctx, Config{
		Tasks: tasks(
			t,
			"T1",
			"T3",
			"T6",
		), Engines: []Engine{copyReference("honest", nil), stuck}, Budget: time.Millisecond,
	})
	if len(rows) != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows and error %v, want 2 and %v", len(rows), err, context.Canceled)
	}
}

// TestRunInterruptedTurns interrupts between two rounds and checks that engines with a sample keep their rows.
func TestRunInterruptedTurns(t *testing.T) {
	for _, tt := range []struct {
		at      string
		samples int
		once    bool // the unprepared call was timed
	}{{"T3 n=10 prepared 3/11", 2, false}, {"T3 n=10 unprepared 3/11", 11, true}} {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := Run(ctx, Config{
			Tasks: tasks(t, "T1", "T3"), Engines: []Engine{copyReference("one", nil), copyReference("two", nil)},
			Budget: time.Millisecond,
			Progress: func(_, _ int, what string) {
				if what == tt.at {
					cancel()
				}
			},
		})
		if len(rows) != 4 || !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %d rows and error %v", tt.at, len(rows), err)
		}
		for _, r := range rows[2:] {
			if n := len(r.Derivative.NS); n > tt.samples || n < tt.samples-1 || !r.OK ||
				!(r.DerivativeNS > 0 && r.PlainNS > 0 && r.PrepareNS > 0) {
				t.Errorf("%s: %s has %d samples: %+v", tt.at, r.Engine, n, r)
			}
			if r.UnpreparedNS > 0 != tt.once || math.IsNaN(r.BreakEven) == tt.once {
				t.Errorf("%s: %s unprepared %v, break-even %v", tt.at, r.Engine, r.UnpreparedNS, r.BreakEven)
			}
		}
	}
}

func TestRunProgress(t *testing.T) {
	var told []string
	_, err := Run(t.Context(), Config{
		Tasks: tasks(t, "T1", "T3"), Engines: []Engine{copyReference("honest", nil)}, Budget: time.Millisecond,
		Progress: func(done, total int, what string) {
			if done != len(told) || total != 2*(1+2*timing.Rounds) {
				t.Errorf("%d of %d", done, total)
			}
			told = append(told, what)
		},
	})
	if err != nil || len(told) != 2*(1+2*timing.Rounds) {
		t.Fatalf("%d steps, error %v", len(told), err)
	}
	for i, want := range map[int]string{
		0: "T1 n=10 honest", 1: "T1 n=10 prepared 1/11", 22: "T1 n=10 unprepared 11/11", 23: "T3 n=10 honest",
	} {
		if told[i] != want {
			t.Errorf("step %d is %q, want %q", i, told[i], want)
		}
	}
}

// TestRunOnce has an engine whose derivative without preparation differs from the prepared one.
func TestRunOnce(t *testing.T) {
	e := copyReference("honest", nil)
	wrong := copyReference("liar", func(_, d []float64) { d[0]++ })
	e.Once = func(p *problems.Problem) Derivative { d, _ := wrong.Prepare(p); return d }
	if r := run(t, e, "T1")[0]; r.OK || !math.IsNaN(r.DerivativeNS) {
		t.Errorf("a wrong unprepared derivative passes: %+v", r)
	}
	e.Once = func(*problems.Problem) Derivative { return func(y, d, x []float64) error { return errBroken } }
	if r := run(t, e, "T1")[0]; r.OK || !errors.Is(r.Err, errBroken) {
		t.Errorf("ok %v, err %v", r.OK, r.Err)
	}
	slow := copyReference("slow", nil)
	slow.Once = func(p *problems.Problem) Derivative {
		d, _ := slow.Prepare(p)
		return func(y, dd, x []float64) error { time.Sleep(time.Millisecond); return d(y, dd, x) }
	}
	if r := run(t, slow, "T1")[0]; r.UnpreparedNS < 1e6 || r.BreakEven != 1 {
		t.Errorf("unprepared %v, break-even %v", r.UnpreparedNS, r.BreakEven)
	}
}

// TestRunFailingLater has an engine that fails when it is timed.
func TestRunFailingLater(t *testing.T) {
	var e Engine
	var calls int
	e = copyReference("honest", nil)
	prepare := e.Prepare
	e.Prepare = func(p *problems.Problem) (Derivative, error) {
		if calls++; calls > 6 {
			return nil, errBroken
		}
		return prepare(p)
	}
	if r := run(t, e, "T1")[0]; r.OK || !errors.Is(r.Err, errBroken) || !math.IsNaN(r.DerivativeNS) {
		t.Errorf("ok %v, err %v, derivative %v", r.OK, r.Err, r.DerivativeNS)
	}
}

// TestCountCalls counts calls of the functions, including those that engines make through Func.
func TestCountCalls(t *testing.T) {
	counting := func(times int) Engine {
		return Engine{Name: "counting", Prepare: func(p *problems.Problem) (Derivative, error) {
			p.Eval(make([]float64, p.M), p.Cases[0].X)
			d, err := copyReference("", nil).Prepare(p)
			return func(y, dd, x []float64) error {
				for range times {
					p.Eval(y, x)
				}
				return d(y, dd, x)
			}, err
		}}
	}
	for _, task := range []string{"T1", "T6", "T7"} {
		if r := run(t, counting(3), task)[0]; r.PrepareCalls != 1 || r.Calls != 3 {
			t.Errorf("%s: %v calls in Prepare, %v in the derivative, want 1 and 3", task, r.PrepareCalls, r.Calls)
		}
	}
	for _, tt := range []struct {
		b             nabla.Backend
		prepare, call float64
	}{{reversediff.Backend{}, 0, 1}, {reversediff.Backend{Compile: true}, 1, 0}} {
		for _, task := range []string{"T1", "T6", "T7"} {
			r := run(t, Of(tt.b), task)[0]
			if r.Calls != tt.call || r.PrepareCalls < tt.prepare {
				t.Errorf("%s with %s: %v calls in Prepare, %v in the derivative", task, tt.b.Name(), r.PrepareCalls,
					r.Calls)
			}
		}
	}
}

// TestRunSparse measures sparse derivatives beside dense ones.
func TestRunSparse(t *testing.T) {
	entry, err := problems.Lookup("T4")
	if err != nil {
		t.Fatal(err)
	}
	compiled := reversediff.Backend{Compile: true}
	c := Config{
		Tasks: append(tasks(t, "T1", "listing2"), Task{entry, 72}), Budget: time.Millisecond,
		Engines: []Engine{
			Of(forwarddiff.Backend{}), OfPlain(finitediff.Backend{}),
			OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}}), OfSparse(nabla.AutoSparse{Dense: compiled}),
		},
	}
	rows, err := Run(t.Context(), c)
	if err != nil || len(rows) != 2+4+4 || c.Rows() != len(rows) {
		t.Fatalf("%d rows of %d, error %v", len(rows), c.Rows(), err)
	}
	for i, want := range []struct{ nnz, colors int }{
		{}, {}, {}, {}, {28, 3}, {28, 0}, {}, {}, {432, 7}, {432, 0},
	} {
		r := rows[i]
		if !r.OK || r.Err != nil || !(r.DerivativeNS > 0 && r.UnpreparedNS > 0 && r.PrepareNS > 0) {
			t.Errorf("%s %s: %+v", r.Task, r.Engine, r)
		}
		if want.nnz == 0 {
			if r.Sparse != nil {
				t.Errorf("%s %s is sparse: %+v", r.Task, r.Engine, *r.Sparse)
			}
			continue
		}
		// The number of colours depends on orders that may get better.
		s := r.Sparse
		if s == nil || s.NNZ != want.nnz || s.Colors > want.colors || (s.Colors == 0) != (want.colors == 0) ||
			!(s.DetectionNS > 0) || math.IsNaN(s.ColoringNS) != (want.colors == 0) || s.DetectionNS > 10*r.PrepareNS {
			t.Errorf("%s %s: %+v, want %+v", r.Task, r.Engine, s, want)
		}
	}
}

// TestRunSparseWrong has patterns that lack entries, and wrong ones.
func TestRunSparseWrong(t *testing.T) {
	const n = 10
	diagonal := sparsity.Known{H: sparsity.Banded(n, n, 0, 0)}
	none := sparsity.Known{H: sparsity.Empty(n, n)}
	spoiled := func(spoil func(d []float64)) Engine {
		e := OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}})
		right := e.Sparse
		e.Sparse = func(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
			f, plan, err := right(p)
			return func(y, d, x []float64) error {
				err := f(y, d, x)
				spoil(d)
				return err
			}, plan, err
		}
		return e
	}
	for _, tt := range []struct {
		name   string
		e      Engine
		failed bool
	}{
		{"missing entries", OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: diagonal, NoProbe: true}),
			false},
		{"missing entries, probed", OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: diagonal}), true},
		{"no entries", OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: none, NoProbe: true}), false},
		{"an entry", spoiled(func(d []float64) { d[3] += 1e-6 }), false},
		{"nan", spoiled(func(d []float64) { d[27] = math.NaN() }), false},
		{"swapped", spoiled(func(d []float64) { d[0], d[1] = d[1], d[0] }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.e, "listing2")[0]
			if r.OK || (r.Err != nil) != tt.failed || !math.IsNaN(r.DerivativeNS) || r.Sparse != nil {
				t.Errorf("ok %v, err %v, error %v, derivative %v", r.OK, r.Err, r.Error, r.DerivativeNS)
			}
		})
	}
	// A pattern may have more entries than there are nonzeros.
	full := OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: sparsity.None{}})
	if r := run(t, full, "listing2")[0]; !r.OK || r.Sparse.NNZ != n*n || r.Sparse.Colors != n {
		t.Errorf("a full pattern: %+v, %+v", r, r.Sparse)
	}
	// Another pattern in the call without preparation.
	e := OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}})
	e.Once = OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: sparsity.None{}}).Once
	if r := run(t, e, "listing2")[0]; r.OK || r.Err == nil {
		t.Errorf("another pattern passes: %+v", r)
	}
}

func TestTakes(t *testing.T) {
	dense, sparse := copyReference("dense", nil), OfSparse(nabla.AutoSparse{Dense: forwarddiff.Backend{}})
	slow := dense
	slow.SkipSparse = true
	for _, tt := range []struct {
		task                string
		n                   int
		dense, slow, sparse bool
	}{
		{"T1", 10 * LargestDense, true, true, false}, {"listing2", LargestDense, true, false, true},
		{"listing2", LargestDense + 1, false, false, true}, {"T4", 2048, true, false, true},
	} {
		e, err := problems.Lookup(tt.task)
		if err != nil {
			t.Fatal(err)
		}
		task := Task{e, tt.n}
		if dense.Takes(task) != tt.dense || slow.Takes(task) != tt.slow || sparse.Takes(task) != tt.sparse {
			t.Errorf("%s n=%d: %v, %v, %v", tt.task, tt.n, dense.Takes(task), slow.Takes(task), sparse.Takes(task))
		}
	}
	// A task without engines has no row and no step.
	steps := 0
	rows, err := Run(t.Context(), Config{
		Tasks: tasks(t, "T1", "listing2"), Engines: []Engine{slow}, Budget: time.Millisecond,
		Progress: func(done, total int, _ string) {
			if steps++; total != 1+2*timing.Rounds {
				t.Errorf("step %d of %d", done, total)
			}
		},
	})
	if err != nil || len(rows) != 1 || steps != 1+2*timing.Rounds {
		t.Errorf("%d rows, %d steps, error %v", len(rows), steps, err)
	}
}

// TestSeriesDistinct checks that the marks and colours of all engines of the command, and of more, are distinct.
func TestSeriesDistinct(t *testing.T) {
	seen := map[string]bool{}
	for k := range 20 {
		_, color, _ := strings.Cut(seriesClass(k), " ")
		seen[color+marker(k)] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 series have %d looks", len(seen))
	}
}

func TestTasks(t *testing.T) {
	var got []string
	for _, size := range [][]int{nil, {5, 6}} {
		for _, task := range Tasks(problems.Entries(), size) {
			if task.Entry.Name == "T1" || task.Entry.Name == "T8" {
				got = append(got, task.Entry.Name+" "+tabular.Count(float64(task.N)))
			}
		}
	}
	want := []string{"T1 10", "T1 100", "T1 1000", "T1 10000", "T8 6", "T1 5", "T1 6", "T8 6"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAllocations(t *testing.T) {
	var keep []*int
	e := copyReference("wasteful", func(_, _ []float64) { keep = append(keep[:0:0], new(int), new(int)) })
	if r := run(t, e, "T1")[0]; r.Allocs != 3 {
		t.Errorf("%v allocations, want 3: two numbers and the slice", r.Allocs)
	}
	if r := run(t, e, "T6")[0]; r.Allocs != 3 {
		t.Errorf("%v allocations in T6, want 3 for each observation", r.Allocs)
	}
	_ = keep
}

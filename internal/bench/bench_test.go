package bench

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/problems"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// honest copies the reference; change spoils it.
func honest(name string, change func(y, d []float64)) Engine {
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
	rows := run(t, honest("honest", nil), "T1", "T3", "T6")
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
			t.Errorf("%s: plain %v, derivative %v, ratio %v, prepare %v", r.Task, r.PlainNS, r.DerivativeNS, r.Ratio, r.PrepareNS)
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
			r := run(t, honest("liar", tt.change), "T1")[0]
			if r.OK || r.Err != nil {
				t.Errorf("ok %v, err %v, want a wrong row", r.OK, r.Err)
			}
			if !math.IsNaN(r.PlainNS) || !math.IsNaN(r.DerivativeNS) || !math.IsNaN(r.Ratio) {
				t.Errorf("a wrong derivative was timed: %+v", r)
			}
		})
	}
}

// TestRunWrongBlock spoils one block of T6 that is small beside the largest one.
func TestRunWrongBlock(t *testing.T) {
	calls := 0
	e := honest("liar", func(_, d []float64) {
		if calls++; calls == 1000 {
			d[3] += 1e-6
		}
	})
	if r := run(t, e, "T6")[0]; r.OK {
		t.Errorf("error %v passes", r.Error)
	}
}

func TestRunApproximate(t *testing.T) {
	e := honest("differences", func(_, d []float64) { d[0] *= 1 + 1e-6 })
	e.Approximate = true
	if r := run(t, e, "T1")[0]; !r.OK || r.Error == 0 {
		t.Errorf("ok %v, error %v: finite differences are not held to exactness", r.OK, r.Error)
	}
	e = honest("differences", func(_, d []float64) { d[0] *= 1.1 })
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

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	stuck := Engine{Name: "stuck", Prepare: func(*problems.Problem) (Derivative, error) {
		cancel()
		<-release // a call that takes long
		return nil, errBroken
	}}
	rows, err := Run(ctx, Config{
		Tasks: tasks(t, "T1"), Engines: []Engine{honest("honest", nil), stuck, honest("honest", nil)}, Budget: time.Millisecond,
	})
	if len(rows) != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows and error %v, want 1 and %v", len(rows), err, context.Canceled)
	}
}

func TestRunProgress(t *testing.T) {
	var told []string
	_, err := Run(t.Context(), Config{
		Tasks: tasks(t, "T1", "T3"), Engines: []Engine{honest("honest", nil)}, Budget: time.Millisecond,
		Progress: func(done, total int, what string) {
			if done != len(told) || total != 2 {
				t.Errorf("%d of %d", done, total)
			}
			told = append(told, what)
		},
	})
	if want := []string{"T1 n=10 honest", "T3 n=10 honest"}; err != nil || !slices.Equal(told, want) {
		t.Errorf("told %q, want %q; error %v", told, want, err)
	}
}

func TestTasks(t *testing.T) {
	var got []string
	for _, size := range [][]int{nil, {5, 6}} {
		for _, task := range Tasks(problems.Entries(), size) {
			if task.Entry.Name == "T1" || task.Entry.Name == "T8" {
				got = append(got, task.Entry.Name+" "+count(float64(task.N)))
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
	e := honest("wasteful", func(_, _ []float64) { keep = append(keep[:0:0], new(int), new(int)) })
	if r := run(t, e, "T1")[0]; r.Allocs != 3 {
		t.Errorf("%v allocations, want 3: two numbers and the slice", r.Allocs)
	}
	if r := run(t, e, "T6")[0]; r.Allocs != 3 {
		t.Errorf("%v allocations in T6, want 3 for each observation", r.Allocs)
	}
	_ = keep
}

// TestCompare times sleeps, which take at least their time.
func TestCompare(t *testing.T) {
	sleep := func(d time.Duration) func() error { return func() error { time.Sleep(d); return nil } }
	a, b, err := compare(t.Context(), sleep(time.Millisecond), sleep(4*time.Millisecond), 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if a < 1e6 || b < 4e6 {
		t.Errorf("1 ms and 4 ms took %v and %v ns", a, b)
	}
}

func TestStatistics(t *testing.T) {
	for _, tt := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 100}, 3.5}} {
		if got := median(tt.v); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
	for _, tt := range []struct {
		got, want []float64
		err       float64
	}{
		{[]float64{1, 2}, []float64{1, 2}, 0},
		{[]float64{1, 5}, []float64{2, 4}, 0.25},
		{[]float64{0, 0}, []float64{0, 0}, 0},
		{[]float64{0, 0.5}, []float64{0, 0}, 0.5},
		{[]float64{math.NaN(), 4}, []float64{2, 4}, math.NaN()},
		{[]float64{math.Inf(1), 4}, []float64{2, 4}, math.Inf(1)},
	} {
		if got := relative(tt.got, tt.want); got != tt.err && !(math.IsNaN(got) && math.IsNaN(tt.err)) {
			t.Errorf("relative(%v, %v) = %v, want %v", tt.got, tt.want, got, tt.err)
		}
	}
}

func sample() []Row {
	nan := math.NaN()
	return []Row{
		{Task: "T1", N: 10, Engine: "forwarddiff", PlainNS: 4.25, DerivativeNS: 17, Ratio: 4, PrepareNS: 837, Error: 0, OK: true},
		{Task: "T1", N: 10000, Engine: "reversediff(compile)", PlainNS: 8123.456789, DerivativeNS: 45312.2, Ratio: 5.57794568, PrepareNS: 26.4e6, Allocs: 12, Error: 1.2345e-16, OK: true},
		{Task: "gmm", N: 30, Engine: "liar", PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: 0.25},
		{Task: "T8", N: 6, Engine: "broken, it seems", PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: nan, Err: errBroken},
		{Task: "T5", N: 330, Engine: "slow", PlainNS: 999.6, DerivativeNS: 3.02e9, Ratio: 213023.4, PrepareNS: 999.4e3, Allocs: 140, Error: 3.7e-5, OK: true},
	}
}

func TestWrite(t *testing.T) {
	for _, format := range Formats {
		var b strings.Builder
		if err := Write(&b, format, sample()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "rows."+format)
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s:\n%s\nwant (rewrite with -update):\n%s", format, b.String(), want)
		}
	}
}

func TestWriteNothing(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "json", nil); err != nil || b.String() != "[]\n" {
		t.Errorf("no rows are %q, error %v", b.String(), err)
	}
	if err := Write(&b, "xml", nil); err == nil || !strings.Contains(err.Error(), "table, csv, json") {
		t.Errorf("xml: %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteFails(t *testing.T) {
	for _, format := range Formats {
		if err := Write(closed{}, format, sample()); !errors.Is(err, errBroken) {
			t.Errorf("%s to a closed writer: %v", format, err)
		}
	}
}

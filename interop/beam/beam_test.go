package nablabeam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/interop/beam/internal/coded"
	"github.com/nabla-ad/nabla/optim/gonumopt"
	"github.com/nabla-ad/nabla/sums"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	for name, t := range coded.Terms {
		Register(name, t)
	}
	register.Function2x0(generate)
	register.Emitter1[coded.Batch]()
	register.Function1x1(spoil)
	register.DoFn2x1[context.Context, Dead[coded.Batch], error](&deadFn{})
}

// rows returns the blocks with the numbers from 40·i on, whose sizes differ.
func blocks(i int) (list []coded.Batch) {
	r := rand.New(rand.NewPCG(4, uint64(i)))
	for _, size := range []int{1, 13, 6, 20} {
		var b coded.Batch
		for range size {
			b.X = append(b.X, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
			b.Y = append(b.Y, float64(r.IntN(2)))
		}
		list = append(list, b)
	}
	return list
}

func generate(i int, emit func(coded.Batch)) {
	for _, b := range blocks(i) {
		emit(b)
	}
}

const groups = 25 // of 40 rows

// read makes the data in the workers, from the numbers of groups.
func read(s beam.Scope) beam.PCollection {
	list := make([]int, groups)
	for i := range list {
		list[i] = i
	}
	return beam.ParDo(s, generate, beam.CreateList(s, list))
}

// all are the blocks of read.
func all() (list []coded.Batch) {
	for i := range groups {
		list = append(list, blocks(i)...)
	}
	return list
}

// query is a query at two points with two directions.
func query(residuals bool) *sums.Query {
	return &sums.Query{X: mat.NewDense(2, 3, []float64{0.1, -0.2, 0.3, 1, 0, -1}), Gradient: true,
		V: mat.NewDense(3, 2, []float64{1, 0, 0, 2, -1, 1}), GaussNewton: residuals}
}

// numbers returns the numbers of a sum for query.
func numbers(s *sums.Sum, residuals bool) (v []float64) {
	for i := range 2 {
		v = append(append(v, s.Value(i)), s.Gradient(nil, i)...)
		v = append(v, s.Product(nil, i)...)
	}
	if residuals {
		v = append(v, s.GaussNewton(nil).RawSymmetric().Data...)
	}
	return v
}

func evaluator(t *testing.T, name string, o Options) *Evaluator[coded.Batch] {
	t.Helper()
	if o.Scratch == "" {
		o.Scratch = t.TempDir()
	}
	o.Runner = "prism"
	e, err := New[coded.Batch](name, read, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// agree compares sums by pipelines with those in this process.
func agree(t *testing.T) {
	for name, term := range coded.Terms {
		residuals := name == "deviations"
		e := evaluator(t, name, Options{Rows: 40 * groups})
		got, err := e.Sum(t.Context(), query(residuals))
		if err != nil {
			t.Fatal(err)
		}
		want, err := sums.NewLocal(term, sums.Slice(all()), nil).Sum(t.Context(), query(residuals))
		if err != nil {
			t.Fatal(err)
		}
		a, b := numbers(got, residuals), numbers(want, residuals)
		if got.Rows != want.Rows || !slices.EqualFunc(a, b, func(x, y float64) bool {
			return math.Abs(x-y) <= 1e-12*(1+math.Abs(y))
		}) {
			t.Errorf("%s: got %v of %d rows, want %v of %d", name, a, got.Rows, b, want.Rows)
		}
	}
}

// TestSum compares with sums in this process, with the workers in this process.
func TestSum(t *testing.T) {
	agree(t)
	scratch := t.TempDir()
	if _, err := evaluator(t, "logistic", Options{Scratch: scratch}).Sum(t.Context(), query(false)); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(scratch); err != nil || len(files) != 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

// TestProcesses is TestSum with workers in processes of their own.
func TestProcesses(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	boot := filepath.Join(t.TempDir(), "boot")
	script := fmt.Sprintf("#!/bin/sh\nid= at=\nfor a; do case $a in --id=*) id=${a#--id=};; "+
		"--provision_endpoint=*) at=${a#*=};; esac; done\n"+
		"exec '%s' --worker --id=\"$(echo $id | tr -d \"'\")\" --logging_endpoint=$at --control_endpoint=$at\n", binary)
	if err := os.WriteFile(boot, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	kind, config, bin := *jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary
	defer func() {
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = kind, config, bin
	}()
	*jobopts.EnvironmentType, *jobopts.WorkerBinary = "PROCESS", binary
	*jobopts.EnvironmentConfig = fmt.Sprintf(`{"command": %q}`, boot)
	agree(t)
}

// spoil makes the targets of some rows NaN or 17.
func spoil(b coded.Batch) coded.Batch {
	switch {
	case len(b.Y) == 13:
		b.Y[3], b.Y[7] = math.NaN(), math.NaN()
	case len(b.Y) == 1:
		b.Y[0] = 17
	}
	return b
}

// spoiled is read with bad rows.
func spoiled(s beam.Scope) beam.PCollection { return beam.ParDo(s, spoil, read(s)) }

// A deadFn writes dead blocks to files.
type deadFn struct{ Dir string }

func (f *deadFn) ProcessElement(_ context.Context, d Dead[coded.Batch]) error {
	file, err := os.CreateTemp(f.Dir, "dead")
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, "%d of %d rows: %s", d.Rows, len(d.Block.Y), d.Reason)
	return err
}

// TestBadRows: bad rows are left out and their blocks are dead letters, or they end the job with the error of the row.
func TestBadRows(t *testing.T) {
	dir := t.TempDir()
	o := Options{Scratch: t.TempDir(), Runner: "prism", Rows: 40 * groups,
		Dead: func(s beam.Scope, dead beam.PCollection) { beam.ParDo0(s, &deadFn{dir}, dead) }}
	e, err := New[coded.Batch]("logistic, good", spoiled, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Sum(t.Context(), query(false))
	if err != nil {
		t.Fatal(err)
	}
	list := all()
	for i := range list {
		list[i] = spoil(list[i])
	}
	want, err := sums.NewLocal(coded.Terms["logistic, good"], sums.Slice(list), nil).Sum(t.Context(), query(false))
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 37*groups || got.BadRows != 3*groups || math.Abs(got.Value(0)-want.Value(0)) > 1e-12*want.Value(0) {
		t.Errorf("%v of %d rows, %d left out; want %v", got.Value(0), got.Rows, got.BadRows, want.Value(0))
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2*groups {
		t.Fatalf("%d dead blocks, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if s := string(text); err != nil || !strings.Contains(s, "2 of 13 rows: the value at point 0 is NaN") &&
			!strings.Contains(s, "1 of 1 rows: nabla: function") {
			t.Errorf("a dead block: %s, %v", s, err)
		}
	}
	if e, err = New[coded.Batch]("logistic", spoiled, Options{Scratch: t.TempDir(), Runner: "prism"}); err != nil {
		t.Fatal(err)
	}
	var job *JobError
	_, err = e.Sum(t.Context(), query(false))
	if !errors.As(err, &job) || !strings.Contains(err.Error(), "sums: row") {
		t.Errorf("bad rows: %v", err)
	}
}

// TestEmpty: a sum over no elements is zero.
func TestEmpty(t *testing.T) {
	nothing := func(s beam.Scope) beam.PCollection { return beam.CreateList(s, []coded.Batch{}) }
	e, err := New[coded.Batch]("logistic", nothing, Options{Scratch: t.TempDir(), Runner: "prism"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Sum(t.Context(), query(false))
	if err != nil || s.Rows != 0 || s.Value(1) != 0 || !slices.Equal(s.Product(nil, 1), []float64{0, 0, 0}) {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestMistakes: names, options and numbers of rows.
func TestMistakes(t *testing.T) {
	var reg *RegisterError
	if _, err := New[coded.Batch]("nothing", read, Options{Scratch: "x"}); !errors.As(err, &reg) || reg.Got != "" {
		t.Errorf("no term: %v", err)
	}
	if _, err := New[int]("logistic", read, Options{Scratch: "x"}); !errors.As(err, &reg) || reg.Got == "" {
		t.Errorf("another type: %v", err)
	}
	var option *OptionError
	if _, err := New[coded.Batch]("logistic", read, Options{}); !errors.As(err, &option) {
		t.Errorf("no directory: %v", err)
	}
	var shape *nabla.ShapeError
	if _, err := evaluator(t, "logistic", Options{}).Sum(t.Context(), sums.At(nil, false)); !errors.As(err, &shape) {
		t.Errorf("no point: %v", err)
	}
	var rows *RowsError
	s, err := evaluator(t, "logistic", Options{Rows: 5}).Sum(t.Context(), query(false))
	if !errors.As(err, &rows) || rows.Got != 40*groups || s.Rows != 40*groups {
		t.Errorf("rows: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Register took a name twice")
		}
	}()
	Register("logistic", coded.Terms["logistic"])
}

// TestRetry: a bundle that fails and is run again counts once.
func TestRetry(t *testing.T) {
	q, err := query(false).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	f := &bundleFn[coded.Batch]{Term: "logistic"}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	var emitted []byte
	emit := func(b []byte) { emitted = b }
	dead := func(Dead[coded.Batch]) {}
	for attempt := range 2 {
		if err := f.StartBundle(q, emit, dead); err != nil {
			t.Fatal(err)
		}
		for i, b := range blocks(0) {
			if attempt == 0 && i == 3 {
				b.Y[0] = math.NaN()
			}
			if err := f.ProcessElement(b, q, emit, dead); (err != nil) != (attempt == 0 && i == 3) {
				t.Fatalf("attempt %d, block %d: %v", attempt, i, err)
			}
		}
	}
	if emitted != nil {
		t.Error("a sum was emitted before the bundle was complete")
	}
	if err := f.FinishBundle(q, emit, dead); err != nil {
		t.Fatal(err)
	}
	var s sums.Sum
	want, err := sums.NewLocal(coded.Terms["logistic"], sums.Slice(blocks(0)), nil).Sum(t.Context(), query(false))
	if err != nil || s.UnmarshalBinary(emitted) != nil || !slices.Equal(numbers(&s, false), numbers(want, false)) {
		t.Errorf("got %v, want %v, %v", &s, want, err)
	}
}

// TestMergeOrder: sums merge in any grouping.
func TestMergeOrder(t *testing.T) {
	var list [][]byte
	w, err := coded.Terms["logistic"].Worker(query(false))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all() {
		s := w.NewSum()
		if err := w.Add(s, &b); err != nil {
			t.Fatal(err)
		}
		e, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var first []float64
	for range 10 {
		rest := append(slices.Clone(list), nil)
		for len(rest) > 1 {
			i := r.IntN(len(rest) - 1)
			m, err := (&mergeFn{}).MergeAccumulators(rest[i], rest[len(rest)-1])
			if err != nil {
				t.Fatal(err)
			}
			rest[i], rest = m, rest[:len(rest)-1]
		}
		var s sums.Sum
		if err := s.UnmarshalBinary(rest[0]); err != nil {
			t.Fatal(err)
		}
		got := numbers(&s, false)
		if first == nil {
			first = got
		}
		for i, x := range got {
			if math.Abs(x-first[i]) > 1e-15*(1+math.Abs(x)) || s.Rows != 40*groups {
				t.Errorf("number %d: %v and %v, %d rows", i, x, first[i], s.Rows)
			}
		}
	}
}

// TestObjective minimises by gonum, with a pipeline for each pass, as in this process.
func TestObjective(t *testing.T) {
	minimum := func(e sums.Evaluator) ([]float64, *sums.Objective) {
		o := sums.NewObjective(t.Context(), e, false)
		res, err := optimize.Minimize(gonumopt.Objective(o), make([]float64, 3),
			&optimize.Settings{GradientThreshold: 1e-8}, &optimize.LBFGS{})
		if err != nil {
			t.Fatal(err)
		}
		return res.X, o
	}
	x, o := minimum(evaluator(t, "logistic", Options{}))
	want, p := minimum(sums.NewLocal(coded.Terms["logistic"], sums.Slice(all()), nil))
	for i := range x {
		if math.Abs(x[i]-want[i]) > 1e-9 || o.Passes() != p.Passes() {
			t.Errorf("got %v after %d passes, want %v after %d", x, o.Passes(), want, p.Passes())
		}
	}
}

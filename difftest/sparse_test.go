package difftest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

var (
	fwd    = forwarddiff.Backend{}
	rev    = reversediff.Backend{Compile: true}
	pairFR = nabla.SecondOrder{Outer: fwd, Inner: rev}
)

// matrices are the scenarios of group with a Jacobian or Hessian, prepared where they
// are called if at is set.
func matrices(group string, at bool) []difftest.Scenario {
	var some []difftest.Scenario
	for _, s := range difftest.Scenarios(group) {
		if s.Operator != "jacobian" && s.Operator != "hessian" {
			continue
		}
		if at {
			s.PrepX = s.X
		}
		some = append(some, s)
	}
	return some
}

// forms leaves out of scenarios that are the same but for where the result goes those for allocated ones: given and
// allocated
// results are tried in both. The long form of the tests has all.
func forms(scenarios []difftest.Scenario) []difftest.Scenario {
	if longtest.Long() {
		return scenarios
	}
	return slices.DeleteFunc(scenarios, func(s difftest.Scenario) bool { return !strings.HasSuffix(s.Name, "/in") })
}

// inTurn is every other scenario, for odd and for even i, or all in the long form.
func inTurn(i int, scenarios []difftest.Scenario) (list []difftest.Scenario) {
	for k, s := range scenarios {
		if longtest.Long() || (k+i)%2 == 0 {
			list = append(list, s)
		}
	}
	return list
}

// TestSparseConformance runs the whole kit on AutoSparse of every engine, including operators that are not sparse.
func TestSparseConformance(t *testing.T) {
	for _, c := range []struct {
		dense nabla.Backend
		o     difftest.Options
	}{
		{fwd, difftest.Options{AllocFree: true}},
		{rev, difftest.Options{AllocFree: true}},
		{nabla.MixedMode{Forward: fwd, Reverse: rev}, difftest.Options{AllocFree: true}},
	} {
		b := nabla.AutoSparse{Dense: c.dense}
		if c.dense != fwd && testing.Short() || c.dense == rev && !longtest.Long() {
			continue // the goroutines of the others are the same, and rows are part of a mixed mode
		}
		t.Run(b.Name(), func(t *testing.T) {
			c.o.NoModifiers = c.dense != rev
			difftest.Run(t, b, &c.o)
		})
	}
}

// TestSparseSettings runs the sparse scenarios, and the matrices of the default ones, with every engine and setting.
// In the usual form a setting has half of the sparse ones.
func TestSparseSettings(t *testing.T) {
	if n := len(matrices("sparse", false)); n != 38 {
		t.Fatalf("%d sparse scenarios", n)
	}
	greedy := coloring.Greedy{}
	var wide map[string]string
	if !longtest.Long() {
		wide = map[string]string{"sparse/squarequadraticform_band20": "takes half a second"}
	}
	differences := func(m finitediff.Method) finitediff.Backend { return finitediff.Backend{Method: m} }
	settings := []struct {
		b nabla.AutoSparse
		o difftest.Options
	}{
		{nabla.AutoSparse{Dense: reversediff.Backend{}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: tracker.Backend{}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: finitediff.Backend{}}, difftest.Options{Tol: 1e-8, SecondTol: 1e-5, Skip: wide}},
		{nabla.AutoSparse{Dense: pairFR}, difftest.Options{AllocFree: true}},
		{nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: rev, Inner: fwd}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{Chunk: 1}, Inner: tracker.Backend{}}},
			difftest.Options{}},
		{nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: rev}},
			difftest.Options{SecondTol: 1e-7}},
		{nabla.AutoSparse{Dense: nabla.MixedMode{Forward: fwd, Reverse: tracker.Backend{}},
			Decompression: coloring.Substitution}, difftest.Options{}},
		{nabla.AutoSparse{Dense: nabla.MixedMode{Forward: rev, Reverse: rev}, Coloring: greedy}, difftest.Options{}},
		{nabla.AutoSparse{Dense: differences(finitediff.Forward)},
			difftest.Options{Tol: 1e-5, SecondTol: 1e-4, Skip: wide}},
		{nabla.AutoSparse{Dense: differences(finitediff.Complex)},
			difftest.Options{SecondTol: 1e-8, Skip: map[string]string{"sparse/squarequadraticform": "takes seconds"}}},
		{nabla.AutoSparse{Dense: fwd, Workers: 3}, difftest.Options{}},
		{nabla.AutoSparse{Dense: pairFR, Workers: 2, Decompression: coloring.Substitution},
			difftest.Options{Tol: 1e-11}},
		{nabla.AutoSparse{Dense: tracker.Backend{}, Workers: 2, NoProbe: true}, difftest.Options{}},
		{nabla.AutoSparse{Dense: rev, Coloring: greedy}, difftest.Options{AllocFree: true}},
		{nabla.AutoSparse{Dense: rev, Detector: sparsity.Global{}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: fwd, Detector: sparsity.Recorded{}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: fwd, Coloring: coloring.Greedy{Orders: []coloring.Order{coloring.SmallestLast}}},
			difftest.Options{}},
		{nabla.AutoSparse{Dense: fwd, Coloring: each50{}}, difftest.Options{}},
		{nabla.AutoSparse{Dense: fwd, Detector: known{}}, difftest.Options{}},
	}
	if !testing.Short() {
		settings = longtest.Sample(settings, 8)
	}
	for i, c := range settings {
		t.Run(c.b.Name(), func(t *testing.T) {
			if testing.Short() && c.b.Workers == 0 { // the others say nothing about races
				t.Skip("one goroutine")
			}
			c.o.Scenarios = inTurn(i, forms(matrices("sparse", false)))
			if c.b.Detector == nil && c.b.Coloring == nil && longtest.Long() {
				c.o.Scenarios = append(c.o.Scenarios, forms(matrices("default", false))...)
			}
			difftest.Run(t, c.b, &c.o)
		})
	}
	// Local patterns are those of the point of preparation.
	t.Run("local", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes seconds")
		}
		for _, d := range []sparsity.Detector{sparsity.Local{}, nabla.DenseDetector{Backend: pairFR},
			nabla.DenseDetector{Backend: pairFR, Direct: true}} {
			b := nabla.AutoSparse{Dense: pairFR, Detector: d}
			difftest.Run(t, b, &difftest.Options{Scenarios: forms(matrices("sparse", true))})
		}
	})
	// Functions over float64, which only differences of values can do.
	t.Run("plain", func(t *testing.T) {
		var jacobians []difftest.Scenario
		for _, s := range forms(matrices("sparse", true)) {
			if s.Operator == "jacobian" {
				jacobians = append(jacobians, s)
			}
		}
		b := nabla.AutoSparse{Dense: finitediff.Backend{}}
		difftest.Run(t, b, &difftest.Options{Scenarios: jacobians, Plain: true, Tol: 1e-8})
	})
}

// known is a detector that returns patterns found before, like a user who stores them.
type known struct{}

func (known) Name() string { return "known" }

func (known) Jacobian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	s, err := sparsity.Global{}.Jacobian(f, x)
	return sparsity.Known{J: s}.J, err
}

func (known) Hessian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	s, err := sparsity.Global{}.Hessian(f, x)
	return sparsity.Known{H: s}.H, err
}

// each50 is coloring.Constant for any number of columns: each its own colour.
type each50 struct{}

func (each50) String() string { return "constant" }

func (each50) Color(p *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
	_, n := p.Dims()
	c := coloring.Constant{Columns: make([]int, n)}
	for j := range c.Columns {
		c.Columns[j] = j + 1
	}
	return c.Color(p, problem)
}

// swapping is an engine whose entries are right but for two that are exchanged.
type swapping struct{ reversediff.Backend }

func (swapping) Name() string { return "swapping" }

func (b swapping) PrepareSparseJacobian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseJacobian, error) {
	j, err := b.Backend.PrepareSparseJacobian(f, x, s, some)
	if j == nil {
		return nil, err
	}
	return swapped{j}, err
}

type swapped struct{ engine.SparseJacobian }

func (s swapped) ValueAndEntries(y, entries, x []float64) error {
	err := s.SparseJacobian.ValueAndEntries(y, entries, x)
	if n := len(entries); n > 1 {
		entries[0], entries[n-1] = entries[n-1], entries[0]
	}
	return err
}

// firstHessian is an engine whose sparse Hessian is that of its first call.
type firstHessian struct{ reversediff.Backend }

func (firstHessian) Name() string { return "first Hessian" }

func (b firstHessian) PrepareSparseHessian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	h, err := b.Backend.PrepareSparseHessian(f, x, s, some)
	if h == nil {
		return nil, err
	}
	return &stuck{SparseHessian: h}, err
}

type stuck struct {
	engine.SparseHessian
	kept []float64
}

func (s *stuck) ValueGradientAndEntries(grad, entries, x []float64) (float64, error) {
	y, err := s.SparseHessian.ValueGradientAndEntries(grad, entries, x)
	if s.kept == nil {
		s.kept = append(s.kept, entries...)
	}
	copy(entries, s.kept)
	return y, err
}

// mistaken is a detector whose pattern is that of Global with a mistake.
type mistaken struct {
	name string
	make func(s *sparsity.Pattern) (*sparsity.Pattern, error)
}

func (d mistaken) Name() string { return d.name }

func (d mistaken) Jacobian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	s, err := sparsity.Global{}.Jacobian(f, x)
	if err != nil {
		return nil, err
	}
	return d.make(s)
}

func (d mistaken) Hessian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	s, err := sparsity.Global{}.Hessian(f, x)
	if err != nil {
		return nil, err
	}
	return d.make(s)
}

// without is s without its entry k and, where it is symmetric, the mirror image.
func without(s *sparsity.Pattern, k int, mirror bool) *sparsity.Pattern {
	m, n := s.Dims()
	var is, js []int
	for j := range n {
		for _, i := range s.Col(j) {
			is, js = append(is, i), append(js, j)
		}
	}
	var us, vs []int
	for e := range is {
		if e != k && !(mirror && is[e] == js[k] && js[e] == is[k]) {
			us, vs = append(us, is[e]), append(vs, js[e])
		}
	}
	p, err := sparsity.FromEntries(m, n, us, vs)
	if err != nil {
		panic(err)
	}
	return p
}

var errDetector = errors.New("the detector has no idea")

// TestBrokenSparse requires that each mistake of a sparse backend is reported, as the error for it or as a wrong
// number.
func TestBrokenSparse(t *testing.T) {
	detector := func(name string, make func(s *sparsity.Pattern) (*sparsity.Pattern, error)) sparsity.Detector {
		return mistaken{name, make}
	}
	missing := detector("misses", func(s *sparsity.Pattern) (*sparsity.Pattern, error) {
		return without(s, 1, s.Symmetric()), nil
	})
	oneSided := detector("one-sided", func(s *sparsity.Pattern) (*sparsity.Pattern, error) {
		return without(s, 1, false), nil
	})
	shape := detector("shape", func(s *sparsity.Pattern) (*sparsity.Pattern, error) {
		m, n := s.Dims()
		return sparsity.Full(m+1, n+1), nil
	})
	none := detector("nil", func(*sparsity.Pattern) (*sparsity.Pattern, error) { return nil, nil })
	fails := detector("fails", func(*sparsity.Pattern) (*sparsity.Pattern, error) { return nil, errDetector })
	more := detector("more", func(s *sparsity.Pattern) (*sparsity.Pattern, error) {
		m, n := s.Dims()
		return s.Union(sparsity.Full(m, n))
	})
	jacobian, hessian := "sparse/diffsquare_vec_to_vec/jacobian/", "sparse/sumdiffcube_vec_to_num/hessian/"
	const out = "out/out on "
	for _, c := range []struct {
		b     nabla.AutoSparse
		check []string
	}{
		{nabla.AutoSparse{Dense: fwd, Detector: missing}, []string{
			"[unprepared] " + jacobian + out +
				"sparse(forwarddiff, detector=misses): Jacobian: error: nabla: Jacobian: the sparsity pattern " +
				"misses entries",
			"[prepare] " + hessian + out,
		}},
		{nabla.AutoSparse{Dense: rev, Detector: missing}, []string{
			"[prepare] " + jacobian + out +
				"sparse(reversediff(compile), detector=misses): prepared at [1 8 27 64 125 216]: nabla: Jacobian: " +
				"entry (0, 1) is 14 and not in the",
			"[unprepared] " + hessian + out +
				"sparse(reversediff(compile), detector=misses): Hessian: error: nabla: Hessian: entry (0, 1) is -6 " +
				"and not in the",
		}},
		{nabla.AutoSparse{Dense: fwd, Detector: missing, NoProbe: true}, []string{
			"[prepared] " + jacobian + out +
				"sparse(forwarddiff, detector=misses, noprobe): Jacobian(nil, x): the derivative is wrong",
		}},
		{nabla.AutoSparse{Dense: pairFR, Detector: missing, NoProbe: true}, []string{
			"[prepared] " + hessian + out +
				"sparse(forwarddiff over reversediff(compile), detector=misses, noprobe): Hessian(nil, x): the " +
				"second derivative is wrong",
		}},
		{nabla.AutoSparse{Dense: fwd, Detector: oneSided},
			[]string{"nabla: Hessian: the pattern of a Hessian is symmetric, and that of detector one-sided is not"}},
		{nabla.AutoSparse{Dense: fwd, Detector: shape},
			[]string{"gives a pattern of 6×7, want 5×6", "gives a pattern of 7×7, want 6×6"}},
		{nabla.AutoSparse{Dense: fwd, Detector: none}, []string{"detector nil returned no pattern and no error"}},
		{nabla.AutoSparse{Dense: fwd, Detector: fails},
			[]string{"[prepare] " + jacobian + out, "the detector has no idea"}},
		{nabla.AutoSparse{Dense: fwd, Detector: more}, []string{
			"[sparsity] " + jacobian + out +
				"sparse(forwarddiff, detector=more): Jacobian: the derivative stores 30 elements, want 10",
			"[sparsity] " + hessian + out +
				"sparse(forwarddiff, detector=more): Hessian: the second derivative stores 36 elements, want 16",
		}},
		{nabla.AutoSparse{Dense: fwd, Coloring: coloring.Constant{Columns: []int{1, 1, 2, 2, 1, 2}}},
			[]string{"coloring: invalid colours: ", "both have colour 1"}},
		{nabla.AutoSparse{Dense: swapping{rev}}, []string{
			"[prepared] " + jacobian + out + "sparse(swapping): Jacobian(nil, x): the derivative is wrong: number 0 is",
			"sparse(swapping): Dense(nil, x): the derivative is wrong",
		}},
		{nabla.AutoSparse{Dense: firstHessian{rev}}, []string{
			"[third point] " + hessian + out + "sparse(first Hessian): Hessian(nil, x): the second derivative is wrong",
		}},
	} {
		r := newRecorder(jacobian, hessian)
		difftest.Check(r, c.b, &difftest.Options{NoModifiers: true})
		for _, s := range c.check {
			if !contains(*r.failed, s) {
				t.Errorf("%s: no message with %q among %d:\n%s", c.b.Name(), s, len(*r.failed),
					strings.Join(first(*r.failed, 12), "\n"))
			}
		}
	}
	// The same scenarios pass without a mistake, without which the above would prove nothing.
	r := newRecorder(jacobian, hessian)
	difftest.Check(r, nabla.AutoSparse{Dense: rev}, nil)
	if len(*r.failed) > 0 {
		t.Errorf("an engine that is right fails: %q", first(*r.failed, 3))
	}
}

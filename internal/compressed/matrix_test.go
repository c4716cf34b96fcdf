package compressed

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
	"github.com/nabla-ad/nabla/sparsity"
)

// A settings is a bound struct of some bytes.
type settings struct{ bytes []byte }

func (s *settings) Params() int                       { return 0 }
func (s *settings) Read([]float64)                    {}
func (s *settings) Enter(*engine.Tracer, int32) error { return nil }
func (s *settings) Leave() error                      { return nil }
func (s *settings) Snapshot(dst []byte) []byte        { return append(dst, s.bytes...) }
func (s *settings) Arg() any                          { return s }
func (s *settings) Bound() any                        { return s }
func (s *settings) Clone() (engine.Context, error)    { return s, nil }
func (s *settings) Beside() engine.Context            { return s }
func (s *settings) Own() error                        { return nil }
func (s *settings) Refresh() error                    { return nil }
func (s *settings) Rebind(any) error                  { return nil }

// TestComparedCalls: which of 16 calls take a product to compare, by the extent of the pattern and by the struct.
func TestComparedCalls(t *testing.T) {
	a := [][]float64{{1, 0, 2}, {0, 3, 0}, {4, 0, 5}}
	full := [][]float64{{1, 2}, {3, 4}}
	thinned := []int{1, 2, 4, 8, 16}
	every := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	x := []float64{1, 2, 3}
	cases := []struct {
		title     string
		a         [][]float64
		extent    Extent
		unchecked bool
		bytes     int // of the bound struct, -1 for none
		changes   int // the call before which it changes, 0 for never
		next      int // the call before which CompareNext is called, 0 for never
		compared  []int
	}{
		{"a black box", a, OnBranch, false, -1, 0, 0, every},
		{"a pattern of one point", a, AtPoint, false, -1, 0, 0, every},
		{"all branches", a, OnAllBranches, false, -1, 0, 0, thinned},
		{"all branches, a struct", a, OnAllBranches, false, 10, 0, 0, thinned},
		{"all branches, a struct that changes", a, OnAllBranches, false, 10, 7, 0,
			[]int{1, 2, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		{"all branches, a large struct", a, OnAllBranches, false, 64*6 + 1, 0, 0, every},
		{"all branches, CompareNext", a, OnAllBranches, false, -1, 0, 6, []int{1, 2, 4, 6, 7, 9, 13}},
		{"a full pattern", full, AtPoint, false, -1, 0, 0, nil},
		{"without checks", a, AtPoint, true, -1, 0, 0, nil},
	}
	for k := range 2 * len(cases) {
		c := cases[k/2]
		n := len(c.a)
		stream := int64(k % 2)
		def := engine.Def{Name: "f", N: n, M: n, Plain: func(y, x []float64, _ engine.Context) error { return nil }}
		s := &settings{make([]byte, max(0, c.bytes))}
		if c.bytes >= 0 {
			def.Context = s
		}
		f := engine.NewFunction(def)
		g := colored(t, c.a, n, coloring.Problem{Partition: coloring.Column})
		e := constant(c.a, 1)
		m, err := Jacobian(Spec{Coloring: g, Scope: NewScope(c.extent, f, x[:n], g.Pattern()), F: f, Of: f, X: x[:n],
			Unchecked: c.unchecked, StreamBytes: stream}, e, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.title, err)
		}
		if c.unchecked && e.log.products != g.Colors() {
			t.Errorf("%s: the preparation takes %d products", c.title, e.log.products)
		}
		var compared []int
		for call := 1; call <= 16; call++ {
			if call == c.changes {
				s.bytes[0]++
			}
			if call == c.next {
				m.CompareNext()
			}
			before := e.log.products
			if _, err := m.Values(make([]float64, n), m.Buffer(), x[:n]); err != nil {
				t.Fatalf("%s: %v", c.title, err)
			}
			switch e.log.products - before - g.Colors() {
			case 0:
			case 1:
				compared = append(compared, call)
			default:
				t.Errorf("%s: call %d takes %d products, for %d groups", c.title, call, e.log.products-before,
					g.Colors())
			}
		}
		if !slices.Equal(compared, c.compared) {
			t.Errorf("%s: calls %v are compared, want %v", c.title, compared, c.compared)
		}
		if m.Always() != slices.Equal(c.compared, every) {
			t.Errorf("%s: Always is %v", c.title, m.Always())
		}
	}
}

// TestProbeInTheSameSweep: if an engine computes enough products at a time, a call that is always compared takes one
// sweep.
func TestProbeInTheSameSweep(t *testing.T) {
	a := [][]float64{{1, 0, 2}, {0, 3, 0}, {2, 0, 5}}
	for _, problem := range problems {
		c := colored(t, a, 3, problem)
		if c.Forward() > 0 && c.Reverse() > 0 {
			continue // one sweep for each
		}
		f, x, e := function(3, 3), make([]float64, 3), constant(a, 100)
		m, err := prepared(Spec{Coloring: c, Scope: NewScope(AtPoint, f, x, c.Pattern()), F: f, Of: f, X: x}, e)
		if err != nil {
			t.Fatal(err)
		}
		before := *e.log
		if _, err := m.Values(nil, m.Buffer(), x); err != nil {
			t.Fatal(err)
		}
		if e.log.sweeps != before.sweeps+1 || e.log.products != before.products+c.Colors()+1 {
			t.Errorf("%v: %d sweeps, %d products", problem, e.log.sweeps-before.sweeps, e.log.products-before.products)
		}
	}
}

// TestWrongPattern: an entry that the pattern lacks is an error of the preparation or of the first compared call, and
// of all calls from then on, until CompareNext starts over; where the pattern holds, calls are right.
func TestWrongPattern(t *testing.T) {
	right := [][]float64{{1, 0, 2}, {0, 3, 0}, {2, 0, 5}}
	wrong := [][]float64{{1, 0, 2}, {0, 3, 6}, {2, 6, 5}}
	for _, problem := range problems {
		for _, extent := range []Extent{AtPoint, OnAllBranches} {
			title := fmt.Sprintf("%v, extent %d", problem, extent)
			c := colored(t, right, 3, problem)
			e := constant(nil, 2)
			e.at = func(x []float64) [][]float64 {
				if x[0] < 0 {
					return wrong
				}
				return right
			}
			m := 3
			if problem.Structure == coloring.Symmetric {
				m = 1
			}
			f := function(3, m)
			there, here := []float64{-1, 0, 0}, []float64{1, 0, 0}
			spec := Spec{Coloring: c, Scope: NewScope(extent, f, here, c.Pattern()), F: f, Of: f, X: there}
			var pe *engine.PatternError
			if _, err := prepared(spec, e); !errors.As(err, &pe) {
				t.Errorf("%s: preparation: %v", title, err)
			}
			spec.X = here
			matrix, err := prepared(spec, e)
			if err != nil {
				t.Fatalf("%s: %v", title, err)
			}
			at := func(x []float64) error {
				_, err := matrix.Values(make([]float64, 3), matrix.Buffer(), x)
				if err == nil && x[0] > 0 && !slices.Equal(matrix.Buffer(), entries(right, c.Pattern())) {
					t.Errorf("%s: %v", title, matrix.Buffer())
				}
				return err
			}
			for call := 1; call <= 10; call++ {
				x, due := here, false
				if call >= 6 {
					x, due = there, extent == AtPoint || call >= 8
				}
				if err := at(x); errors.As(err, &pe) != due {
					t.Errorf("%s: call %d: %v, want an error: %v", title, call, err, due)
				}
			}
			if err := at(here); err != nil {
				t.Errorf("%s: where the pattern holds: %v", title, err)
			}
			matrix.CompareNext()
			for call := 1; call <= 3; call++ {
				if err := at(here); err != nil {
					t.Errorf("%s: after CompareNext: %v", title, err)
				}
			}
			if err := at(there); !errors.As(err, &pe) { // call 4
				t.Errorf("%s: after CompareNext: %v", title, err)
			}
		}
	}
}

// TestCheckOfOtherProducts: Begin and Check compare the matrix in the calls in which Values would.
func TestCheckOfOtherProducts(t *testing.T) {
	a := [][]float64{{1, 0, 2}, {0, 3, 0}, {2, 0, 5}}
	c := colored(t, a, 3, coloring.Problem{Structure: coloring.Symmetric})
	f, x, e := function(3, 1), make([]float64, 3), constant(a, 3)
	m, err := Hessian(Spec{Coloring: c, Scope: NewScope(OnAllBranches, f, x, c.Pattern()), F: f, Of: f, X: x}, e, e)
	if err != nil {
		t.Fatal(err)
	}
	for call := 1; call <= 10; call++ {
		before := e.log.sweeps
		m.Begin()
		if err := m.Check(x); err != nil {
			t.Fatal(err)
		}
		want := 0
		if call&(call-1) == 0 {
			want = 2 // the groups, and the comparison
		}
		if got := e.log.sweeps - before; got != want {
			t.Errorf("call %d: %d sweeps, want %d", call, got, want)
		}
	}
	wrong := [][]float64{{1, 6, 2}, {6, 3, 0}, {2, 0, 5}}
	e.at = func([]float64) [][]float64 { return wrong }
	m.CompareNext()
	for call := range 3 { // the first is due, the others follow a failure
		var pe *engine.PatternError
		if m.Begin(); !errors.As(m.Check(x), &pe) {
			t.Errorf("call %d: a wrong pattern is no error", call)
		}
	}
}

// branching returns x ↦ x₀·x₁ + x₁·x₂ where x₀ ≥ 0, and x₀·x₁ or, if wrong is set, x₀·x₂ elsewhere.
func branching(wrong bool) *engine.Function {
	traced := func(y, x []engine.Real, _ engine.Context) error {
		mul := func(a, b engine.Real) engine.Real { return core.Apply2(rules.Mul, a, b) }
		negative := x[0].V < 0
		if x[0].ID != 0 {
			core.Compare(core.OpGuardLt, x[0], engine.Real{}, negative)
		}
		switch {
		case !negative:
			y[0] = core.Apply2(rules.Add, mul(x[0], x[1]), mul(x[1], x[2]))
		case wrong:
			y[0] = mul(x[0], x[2])
		default:
			y[0] = mul(x[0], x[1])
		}
		return nil
	}
	return engine.NewFunction(engine.Def{Name: "f", N: 3, M: 1, Traced: traced})
}

// TestOtherRecordings: calls that replay another recording than the preparation are compared, until, after 16 of them,
// a detector finds that the pattern holds there too.
func TestOtherRecordings(t *testing.T) {
	here, there := []float64{1, 2, 3}, []float64{-1, 2, 3}
	e := reversediff.Backend{Compile: true}
	prepare := func(f *engine.Function, mistake bool) *Matrix {
		p, err := sparsity.Recorded{}.Hessian(f, here)
		if err != nil {
			t.Fatal(err)
		}
		c, err := coloring.Greedy{}.Color(p, coloring.Problem{Structure: coloring.Symmetric})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Hessian(Spec{Coloring: c, Scope: NewScope(OnBranch, f, here, p), F: f, Of: f, X: here,
			TrustReplays: mistake}, e, e)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := prepare(branching(false), false)
	for call := 1; call <= 40; call++ {
		x, elsewhere := here, false
		if call > 10 {
			x, elsewhere = there, call < 10+mostDoubts // the last of the doubts accepts the branch
		}
		if _, err := m.Values(nil, m.Buffer(), x); err != nil {
			t.Fatal(err)
		}
		if m.Elsewhere() != elsewhere {
			t.Errorf("call %d at %v: elsewhere is %v, want %v", call, x, m.Elsewhere(), elsewhere)
		}
	}
	var pe *engine.PatternError
	for _, mistake := range []bool{false, true} {
		m := prepare(branching(true), mistake)
		for call := 1; call <= 11; call++ {
			x := here
			if call == 11 {
				x = there
			}
			if _, err := m.Values(nil, m.Buffer(), x); errors.As(err, &pe) != (call == 11 && !mistake) {
				t.Errorf("mistake %v, call %d: %v", mistake, call, err)
			}
		}
	}
}

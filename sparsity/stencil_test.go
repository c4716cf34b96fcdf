package sparsity_test

import (
	"compress/gzip"
	"os"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

func all(x ...[]float64) []sparsity.Detector {
	return []sparsity.Detector{sparsity.Global{}, sparsity.Local{}, sparsity.Recorded{Points: x}}
}

// pattern is a pattern of entries that are right by construction.
func pattern(t testing.TB, rows, cols int, i, j []int) *sparsity.Pattern {
	t.Helper()
	p, err := sparsity.FromEntries(rows, cols, i, j)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stencil is the pattern of the Brusselator: a point and its neighbours of its own
// species, and the point of the other one.
func stencil(t testing.TB, n int) *sparsity.Pattern {
	var i, j []int
	at := func(a, b, s int) int { return (a+n)%n + n*((b+n)%n) + n*n*s }
	for s := range 2 {
		for b := range n {
			for a := range n {
				for _, k := range []int{at(a, b, s), at(a-1, b, s), at(a+1, b, s), at(a, b-1, s), at(a, b+1, s),
					at(a, b, 1-s)} {
					i, j = append(i, at(a, b, s)), append(j, k)
				}
			}
		}
	}
	return pattern(t, 2*n*n, 2*n*n, i, j)
}

func brusselator(n int) *nabla.Func {
	return nabla.InPlace(2*n*n, func(y, x []nabla.Real) { problems.Brusselator(y, x, n) })
}

func TestBrusselator(t *testing.T) {
	for _, n := range []int{6, 12, 24, 32} {
		want := stencil(t, n)
		if n == 24 {
			want = reference(t, "testdata/pattern_brusselator_24.mtx.gz")
			if !want.Equal(stencil(t, n)) {
				t.Fatal("the reference is another stencil")
			}
		}
		x := make([]float64, 2*n*n)
		for i := range x {
			x[i] = 1 + float64(i%7)/8
		}
		for _, d := range all(x) {
			got, err := nabla.JacobianSparsity(brusselator(n), d, x)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("N = %d, %s: %d entries, want %d", n, d.Name(), got.NNZ(), want.NNZ())
			}
		}
	}
}

// reference reads a pattern in the Matrix Market format, compressed.
func reference(t *testing.T, path string) *sparsity.Pattern {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sparsity.ReadMatrixMarket(z)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSparseScenarios compares with the number of elements that the scenarios of
// the conformance kit give.
func TestSparseScenarios(t *testing.T) {
	seen := 0
	for _, s := range difftest.Scenarios("sparse") {
		if s.Operator != "jacobian" && s.Operator != "hessian" {
			continue
		}
		m := len(s.Value)
		if s.Outputs != nil {
			m = s.Outputs(len(s.X))
		} else if m == 0 {
			m = len(s.X)
		}
		for _, d := range all() {
			if s.Operator == "hessian" {
				m, d = 1, second{d}
			}
			got, err := nabla.JacobianSparsity(nabla.InPlace(m, s.Func), d, s.X)
			if err != nil {
				t.Errorf("%s, %s: %v", s.Name, d.Name(), err)
			} else if got.NNZ() != s.NNZ {
				t.Errorf("%s, %s: %d entries, want %d", s.Name, d.Name(), got.NNZ(), s.NNZ)
			}
		}
		seen++
	}
	if seen < 30 {
		t.Errorf("%d scenarios", seen)
	}
}

// TestScheduledProgram has statements of many lanes.
func TestScheduledProgram(t *testing.T) {
	fn := capture(t, brusselator(6), make([]float64, 72))
	p, err := fn.Program(make([]float64, 72))
	if err != nil {
		t.Fatal(err)
	}
	scheduled := schedule(p)
	if n := p.Operations(); len(scheduled.Stmts) >= n/2 {
		t.Fatalf("%d statements for %d operations: nothing was gathered", len(scheduled.Stmts), n)
	}
	if got, err := sparsity.OfProgram(scheduled); err != nil || !got.Equal(stencil(t, 6)) {
		t.Errorf("%d entries, %v", got.NNZ(), err)
	}
	for _, q := range []*program.Program{p, scheduled} { // of u²v: u with u and v at each point
		if got, err := sparsity.HessianOfProgram(q); err != nil || got.NNZ() != 3*36 {
			t.Errorf("the second derivatives have %d entries, %v", got.NNZ(), err)
		}
	}
}

package edges

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/sparsity"
)

var mesh = &Mesh{Triangles: [][3]int{{0, 1, 2}, {2, 1, 3}, {3, 4, 2}, {0, 4, 2}, {1, 1, 0}},
	Weights: []float64{1, 2, 0.5, -1, 3}}

var graph = &Rows{First: []int{0, 2, 2, 5, 6, 8}, Col: []int{0, 3, 1, 2, 4, 2, 2, 2},
	Value: []float64{1, -2, 0.5, 3, 1, -1, 2, 0.25}}

// sparsePoints are points at which the functions take different branches.
var sparsePoints = [][]float64{
	{1, 2, 3, 4, 5}, {-1, 2, -3, 4, -5}, {1, -2, 3, -4, 5}, {0.5, 0.25, 2, 1, -3}, {-1, -2, -3, -4, -5},
	{1, 2, 3, 4, 5},
}

// sparseFunctions are those whose Jacobians generated code computes entry by entry.
var sparseFunctions = map[string]*nabla.Func{
	"Upwind":   nabla.InPlace(5, Upwind),
	"Forces":   nabla.BindInPlace(5, Forces, mesh),
	"Activate": nabla.Bind(Activate, graph),
	"Mean":     nabla.InPlace(5, Mean),
	"Slopes":   nabla.InPlace(5, Slopes),
	"Strided":  nabla.BindInPlace(5, Strided, &Steps{Every: 2}),
	"Again":    nabla.InPlace(5, Again),
	"Twice":    nabla.InPlace(3, Twice),
}

// full is the pattern of all entries.
func full(m, n int) sparsity.Detector {
	return sparsity.Known{J: sparsity.Full(m, n), H: sparsity.Full(n, n)}
}

// TestEntries compares Jacobians that generated code computes entry by entry with those of another engine, at points
// at which control flow differs from that of preparation.
func TestEntries(t *testing.T) {
	for name, f := range sparseFunctions {
		for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
			for _, x0 := range sparsePoints {
				m := 5
				if name == "Twice" {
					m = 3
				}
				p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: b, Detector: full(m, 5)}, x0)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if p.Plan().Coloring != nil {
					t.Errorf("%s: the entries are computed from products", name)
				}
				var got *mat.Dense
				y := make([]float64, m)
				for k, x := range sparsePoints {
					wantY, want, err := nabla.ValueAndJacobian(f, forwarddiff.Backend{}, x)
					if err != nil {
						t.Fatal(err)
					}
					if y, got, err = p.ValueAndDense(y, got, x); err != nil {
						t.Fatalf("%s at %v after %v: %v", name, x, x0, err)
					}
					if !mat.EqualApprox(got, want, 1e-12) || !floats.EqualApprox(y, wantY, 1e-14) {
						t.Errorf("%s at %v, call %d after %v: got\n%v\n%v want\n%v\n%v", name, x, k, x0, y,
							mat.Formatted(got), wantY, mat.Formatted(want))
					}
				}
				if name == "Activate" { // the function allocates
					continue
				}
				last := sparsePoints[len(sparsePoints)-1]
				n := testing.AllocsPerRun(10, func() { _, got, _ = p.ValueAndDense(y, got, last) })
				if n != 0 {
					t.Errorf("%s: %v allocations in a call", name, n)
				}
			}
		}
	}
}

// TestHessianEntries does the same for a Hessian.
func TestHessianEntries(t *testing.T) {
	f := nabla.Bind(Energy, mesh)
	p, err := nabla.PrepareHessian(f, nabla.AutoSparse{Dense: source.Reverse{}}, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	if p.Plan().Coloring != nil {
		t.Error("the entries are computed from products")
	}
	for _, x := range sparsePoints {
		wantY, wantG, want, err := nabla.ValueGradientAndHessian(f, forwarddiff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		y, g, got, err := p.ValueGradientAndDense(nil, nil, x)
		if err != nil || !mat.EqualApprox(got, want, 1e-12) || math.Abs(y-wantY) > 1e-13 ||
			!floats.EqualApprox(g, wantG, 1e-12) {
			t.Errorf("at %v: got %v %v\n%v\n%v, want %v %v\n%v", x, y, g, mat.Formatted(got), err, wantY, wantG,
				mat.Formatted(want))
		}
		if got, err = p.Dense(nil, x); err != nil || !mat.EqualApprox(got, want, 1e-12) {
			t.Errorf("without the value at %v: got %v, %v", x, mat.Formatted(got), err)
		}
	}
}

// TestEntriesOutside requires an error for an entry outside of the pattern, and right entries afterwards.
func TestEntriesOutside(t *testing.T) {
	b := nabla.AutoSparse{Dense: source.Reverse{}}
	p, err := nabla.PrepareJacobian(nabla.InPlace(5, Upwind), b, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	var outside *nabla.PatternError
	if _, err := p.Jacobian(nil, sparsePoints[1]); !errors.As(err, &outside) || outside.Row != 2 || outside.Col != 3 {
		t.Errorf("got %v, want an entry outside of the pattern, at 2, 3", err)
	}
	got, err := p.Dense(nil, sparsePoints[0])
	want, _ := nabla.Jacobian(nabla.InPlace(5, Upwind), forwarddiff.Backend{}, sparsePoints[0])
	if err != nil || !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("afterwards %v, %v", mat.Formatted(got), err)
	}
	if _, err := p.Extend(sparsePoints[1]); err != nil {
		t.Fatal(err)
	}
	got, err = p.Dense(nil, sparsePoints[1])
	want, _ = nabla.Jacobian(nabla.InPlace(5, Upwind), forwarddiff.Backend{}, sparsePoints[1])
	if err != nil || !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("with a larger pattern %v, %v", mat.Formatted(got), err)
	}
}

// TestEntriesSome computes only some entries, of rows with many.
func TestEntriesSome(t *testing.T) {
	diagonal, err := sparsity.FromEntries(5, 5, []int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Mean", "Slopes", "Upwind"} {
		p, err := nabla.PrepareJacobian(sparseFunctions[name],
			nabla.AutoSparse{Dense: source.Forward{}, Entries: diagonal}, sparsePoints[1])
		if err != nil {
			t.Fatal(err)
		}
		points := append(sparsePoints[:3:3], []float64{2, 2, 0, 0, 0})
		for _, x := range points {
			got, err := p.Jacobian(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			want, err := nabla.Jacobian(sparseFunctions[name], source.Forward{}, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				a, b := got.At(i, i), want.At(i, i)
				if math.Abs(a-b) > 1e-12 || (a != a) != (b != b) {
					t.Errorf("%s at %v: entry %d is %v, want %v", name, x, i, a, b)
				}
			}
		}
	}
}

// TestEntriesSettled requires the derivatives of other ways of calculation where some are infinite.
func TestEntriesSettled(t *testing.T) {
	b := nabla.AutoSparse{Dense: source.Reverse{}}
	p, err := nabla.PrepareJacobian(sparseFunctions["Slopes"], b, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{1, 1, 2, 3, 3}, {0, 0, 0, 0, 0}, {1, 2, 3, 4, 5}} {
		want, err := nabla.Jacobian(sparseFunctions["Slopes"], source.Forward{}, x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Dense(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			for j := range 5 {
				if a, b := got.At(i, j), want.At(i, j); a != b && (a == a || b == b) {
					t.Errorf("at %v: entry %d, %d is %v, want %v", x, i, j, a, b)
				}
			}
		}
	}
}

// TestEntriesBound changes the bound struct between calls: how many entries there are, and where.
func TestEntriesBound(t *testing.T) {
	s := &Steps{Every: 1}
	f := nabla.BindInPlace(5, Strided, s)
	p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: source.Reverse{}, Detector: full(5, 5)}, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, s.Every = range []int{2, 0, 1, 3} {
		want, err := nabla.Jacobian(f, source.Forward{}, sparsePoints[1])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Dense(nil, sparsePoints[1]); err != nil || !mat.EqualApprox(got, want, 1e-12) {
			t.Errorf("every %d: %v, %v", s.Every, mat.Formatted(got), err)
		}
	}
}

// TestEntriesFailures requires the errors of the function itself.
func TestEntriesFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *nabla.Func
		want error
	}{
		{"an output that is not written", nabla.InPlace(5, Partly), nabla.ErrOutputNotWritten},
		{"an error", nabla.InPlace(5, Domain), ErrDomain},
	} {
		p, err := nabla.PrepareJacobian(c.f, nabla.AutoSparse{Dense: source.Reverse{}}, sparsePoints[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{sparsePoints[0], sparsePoints[1], sparsePoints[0]} {
			got, err := p.Dense(nil, x)
			if x[0] < 0 {
				if !errors.Is(err, c.want) {
					t.Errorf("%s: got %v, want %v", c.name, err, c.want)
				}
				continue
			}
			want, _ := nabla.Jacobian(c.f, forwarddiff.Backend{}, x)
			if err != nil || !mat.EqualApprox(got, want, 1e-12) {
				t.Errorf("%s: got %v, %v", c.name, got, err)
			}
		}
	}
	m := &Mesh{Triangles: [][3]int{{0, 1, 2}}, Weights: []float64{1}}
	b := nabla.AutoSparse{Dense: source.Reverse{}}
	p, err := nabla.PrepareJacobian(nabla.BindInPlace(5, Forces, m), b, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	m.Triangles[0][1] = 7
	if _, err := p.Jacobian(nil, sparsePoints[0]); err == nil || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("got %v, want an index out of range", err)
	}
	m.Triangles[0][1] = 0
	if got, err := p.Jacobian(nil, sparsePoints[0]); err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestEntriesTooMany computes few entries of rows with many, from the start and after the bound struct has changed.
func TestEntriesTooMany(t *testing.T) {
	const n = 400
	at := make([]int, n)
	x := make([]float64, n)
	for i := range at {
		at[i], x[i] = i, math.Sin(float64(i))
	}
	diagonal, err := sparsity.FromEntries(n, n, at, at)
	if err != nil {
		t.Fatal(err)
	}
	s := &Steps{}
	f := nabla.BindInPlace(n, Window, s)
	for _, s.Every = range []int{1, n} {
		p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: source.Forward{}, Entries: diagonal}, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, s.Every = range []int{1, n, 2, n - 1} {
			y, got, err := p.ValueAndJacobian(nil, nil, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				sum := 0.0
				for k := range s.Every {
					sum += x[(i+k)%n]
				}
				if v := got.At(i, i); math.Abs(v-2*sum) > 1e-12 || math.Abs(y[i]-sum*sum) > 1e-12 {
					t.Fatalf("every %d: output %d is %v, and its derivative %v, want %v and %v", s.Every, i, y[i], v,
						sum*sum, 2*sum)
				}
			}
		}
	}
}

// TestEntriesLengths requires an error if the number of outputs changes.
func TestEntriesLengths(t *testing.T) {
	p, err := nabla.PrepareJacobian(Short, nabla.AutoSparse{Dense: source.Reverse{}}, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []float64{-1, 101, 1} {
		x := append([]float64{first}, sparsePoints[0][1:]...)
		var shape *nabla.ShapeError
		_, err := p.Jacobian(nil, x)
		if first == 1 && err != nil || first != 1 && !errors.As(err, &shape) {
			t.Errorf("at %v: got %v", first, err)
		}
	}
}

// TestEntriesRestart requires an error, and no endless loop, for a function whose entries differ in each call.
func TestEntriesRestart(t *testing.T) {
	c := &Calls{}
	_, err := nabla.Jacobian(nabla.BindInPlace(5, Restart, c), nabla.Policy{
		Backend:      nabla.AutoSparse{Dense: source.Reverse{}, Detector: full(5, 5)},
		NoStaleCheck: true,
	}, sparsePoints[0])
	if err == nil {
		t.Error("no error for a function that changes its struct")
	}
}

// TestHessianEntriesSettled requires the derivatives of products where some are infinite, and the error of an entry
// outside of the pattern.
func TestHessianEntriesSettled(t *testing.T) {
	b := nabla.AutoSparse{Dense: source.Reverse{}, Detector: full(5, 5)}
	p, err := nabla.PrepareHessian(Bends, b, sparsePoints[0])
	if err != nil {
		t.Fatal(err)
	}
	if p.Plan().Coloring != nil {
		t.Error("the entries are computed from products")
	}
	for _, x := range [][]float64{{1, 1, 2, 3, 3}, {0, 0, 0, 0, 0}, {1, 2, 4, 7, 5}} {
		wantY, wantG, want, err := nabla.ValueGradientAndHessian(Bends, source.Reverse{}, x)
		if err != nil {
			t.Fatal(err)
		}
		y, g, got, err := p.ValueGradientAndDense(nil, nil, x)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(y-wantY) > 1e-14 {
			t.Errorf("value %v, want %v", y, wantY)
		}
		for i := range 5 {
			if a, b := g[i], wantG[i]; math.Abs(a-b) > 1e-12 || (a != a) != (b != b) {
				t.Errorf("at %v: derivative %d is %v, want %v", x, i, a, b)
			}
			for j := range 5 {
				if a, b := got.At(i, j), want.At(i, j); math.Abs(a-b) > 1e-12 || (a != a) != (b != b) {
					t.Errorf("at %v: entry %d, %d is %v, want %v", x, i, j, a, b)
				}
			}
		}
	}
	diagonal := sparsity.Banded(5, 5, 0, 0)
	var outside *nabla.PatternError
	_, err = nabla.Hessian(Bends, nabla.AutoSparse{Dense: source.Reverse{}, Detector: sparsity.Known{H: diagonal}},
		[]float64{1, 2, 4, 7, 5})
	if !errors.As(err, &outside) || !strings.Contains(outside.Op, "Hessian") {
		t.Errorf("got %v, want an entry outside of the pattern of the Hessian", err)
	}
}

package nabla_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// ringed has the outputs yᵢ = sin(xᵢ)·xᵢ₊₁ + xᵢ₊₂², of indices modulo n.
func ringed(x []nabla.Real) []nabla.Real {
	n := len(x)
	y := make([]nabla.Real, n)
	for i, v := range x {
		y[i] = nabla.Sin(v).Mul(x[(i+1)%n]).Add(x[(i+2)%n].Sq())
	}
	return y
}

// ringedSum is Σ yᵢ² of ringed.
func ringedSum(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range ringed(x) {
		s = s.Add(v.Sq())
	}
	return s
}

// wantedPart returns the entries of a matrix at the positions of p, and zeros elsewhere.
func wantedPart(a mat.Matrix, p *sparsity.Pattern) *mat.Dense {
	m, n := a.Dims()
	d := mat.NewDense(m, n, nil)
	for j := range n {
		for _, i := range p.Col(j) {
			d.Set(i, j, a.At(i, j))
		}
	}
	return d
}

// entriesBackends are engines whose products and whose entries are used, and one that must compare every call.
func entriesBackends() []nabla.AutoSparse {
	pair := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	return append(waysBackends(), nabla.AutoSparse{Dense: pair}, nabla.AutoSparse{Dense: pair, Workers: 2},
		nabla.AutoSparse{Dense: pair, NoProbe: true}, nabla.AutoSparse{Dense: symbolic.Backend{}},
		nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}},
		nabla.AutoSparse{Dense: pair, Detector: sparsity.Local{}}, nabla.AutoSparse{Dense: tracker.Backend{}})
}

// TestEntries: the entries that are wanted are those of the whole matrix, for random parts and at many points.
func TestEntries(t *testing.T) {
	const n = 9
	r := rand.New(rand.NewPCG(11, 12))
	random := func(x []float64) {
		for i := range x {
			x[i] = 2 * r.Float64()
		}
	}
	x := make([]float64, n)
	random(x)
	for _, b := range entriesBackends() {
		tol := 1e-10
		if strings.Contains(b.Name(), "finitediff") {
			tol = 1e-5
		}
		for _, density := range []float64{0, 0.15, 0.5, 1} {
			var is, js []int
			for i := range n {
				for j := range n {
					if r.Float64() < density {
						is, js = append(is, i), append(js, j)
					}
				}
			}
			some, err := sparsity.FromEntries(n, n, is, js)
			if err != nil {
				t.Fatal(err)
			}
			both, err := some.Union(some.Transpose())
			if err != nil {
				t.Fatal(err)
			}
			b.Entries = some
			pj, err := nabla.PrepareJacobian(ringed, b, x)
			if err != nil {
				t.Errorf("%s: %v", b.Name(), err)
				continue
			}
			b.Entries = both
			ph, err := nabla.PrepareHessian(ringedSum, b, x)
			if err != nil {
				t.Errorf("%s: %v", b.Name(), err)
				continue
			}
			for k := range 6 {
				random(x)
				wantJ, err := nabla.Jacobian(ringed, forwarddiff.Backend{}, x)
				if err != nil {
					t.Fatal(err)
				}
				wantH, err := nabla.Hessian(ringedSum, reversediff.Backend{}, x)
				if err != nil {
					t.Fatal(err)
				}
				if k == 4 {
					pj, ph = pj.Clone(), ph.Clone()
				}
				y, j, err := pj.ValueAndSparse(nil, nil, x)
				if err != nil {
					t.Fatalf("%s: %v", b.Name(), err)
				}
				if !mat.EqualApprox(j, wantedPart(wantJ, some), tol) || !j.Pattern().Equal(pj.Plan().Pattern) {
					t.Fatalf("%s: entries of the Jacobian\n%v\nwant\n%v", b.Name(), mat.Formatted(j),
						mat.Formatted(wantedPart(wantJ, some)))
				}
				if want := math.Sin(x[0])*x[1] + x[2]*x[2]; math.Abs(y[0]-want) > 1e-12 {
					t.Errorf("%s: value %v, want %v", b.Name(), y[0], want)
				}
				h, err := ph.Hessian(nil, x)
				if err != nil {
					t.Fatalf("%s: %v", b.Name(), err)
				}
				if !mat.EqualApprox(h, wantedPart(wantH, both), tol) {
					t.Fatalf("%s: entries of the Hessian\n%v\nwant\n%v", b.Name(), mat.Formatted(h),
						mat.Formatted(wantedPart(wantH, both)))
				}
			}
		}
	}
}

// TestEntriesProducts: some entries take fewer products than all, and never more.
func TestEntriesProducts(t *testing.T) {
	const n = 120
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + float64(i%7)/10
	}
	pair := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}
	for _, c := range []struct {
		entries  *sparsity.Pattern
		jac, hes int
	}{
		{nil, 4, 6},
		{sparsity.Banded(n, n, 0, 0), 3, 3},
		{sparsity.Banded(n, n, 1, 1), 3, 5},
	} {
		b := nabla.AutoSparse{Dense: pair, Entries: c.entries}
		pj, err := nabla.PrepareJacobian(ringed, b, x)
		if err != nil {
			t.Fatal(err)
		}
		ph, err := nabla.PrepareHessian(ringedSum, b, x)
		if err != nil {
			t.Fatal(err)
		}
		if j, h := pj.Plan().Products(), ph.Plan().Products(); j > c.jac || h > c.hes {
			t.Errorf("%v: %d and %d products, want at most %d and %d", c.entries, j, h, c.jac, c.hes)
		}
	}
}

// TestEntriesWrongPattern: an entry that the pattern lacks is found although not all entries are wanted; an engine that
// computes entries needs no pattern.
func TestEntriesWrongPattern(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	lacking := sparsity.Banded(5, 5, 0, 1)
	refused := 0
	for _, b := range entriesBackends() {
		if b.NoProbe {
			continue
		}
		b.Detector, b.Entries = sparsity.Known{J: lacking}, sparsity.Banded(5, 5, 0, 0)
		p, err := nabla.PrepareJacobian(ringed, b, x)
		var pe *nabla.PatternError
		if errors.As(err, &pe) {
			refused++
			continue
		}
		if err != nil || p.Plan().Products() != 0 {
			t.Errorf("%s: %v, %v, want a *PatternError", b.Name(), p.Plan(), err)
			continue
		}
		want := wantedPart(mat.NewDiagDense(5, nil), b.Entries)
		for i, v := range x {
			want.Set(i, i, math.Cos(v)*x[(i+1)%5])
		}
		if j, err := p.Jacobian(nil, x); err != nil || !mat.EqualApprox(j, want, 1e-12) {
			t.Errorf("%s: %v, %v, want %v", b.Name(), j, err, want)
		}
		if added, err := p.Extend(x); added != 0 || err != nil {
			t.Errorf("%s: %d entries are added, %v", b.Name(), added, err)
		}
	}
	if refused < 5 {
		t.Errorf("%d engines refuse", refused)
	}
}

// TestEntriesExtend: entries of a new branch are added if they are wanted.
func TestEntriesExtend(t *testing.T) {
	first, second := []float64{0.5, 2, 3, 5}, []float64{-0.5, 2, 3, 5}
	wanted, err := sparsity.FromEntries(3, 4, []int{0, 0, 1}, []int{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	b := nabla.AutoSparse{Dense: forwarddiff.Backend{}, Entries: wanted}
	p, err := nabla.PrepareJacobian(nabla.Bind(waysVector, &twoWays{way: "input"}), b, first)
	if err != nil {
		t.Fatal(err)
	}
	var pe *nabla.PatternError
	if _, err := p.Jacobian(nil, second); !errors.As(err, &pe) {
		t.Errorf("on another branch: %v, want a *PatternError", err)
	}
	if added, err := p.Extend(second); added != 5 || err != nil || p.Plan().Pattern.NNZ() != 3 {
		t.Errorf("%d entries added, %v, %v; want 5 and three wanted", added, err, p.Plan())
	}
	for _, x := range [][]float64{first, second, second, first} {
		j, err := p.Jacobian(nil, x)
		want := wantedPart(mat.NewDense(3, 4, waysJacobian(x, x[0] < 0)), wanted)
		if err != nil || !mat.EqualApprox(j, want, 1e-12) {
			t.Errorf("at %v: %v, %v, want %v", x, j, err, want)
		}
	}
}

// TestEntriesErrors: positions that do not fit the matrix are refused.
func TestEntriesErrors(t *testing.T) {
	x := []float64{1, 2, 3}
	var pe *nabla.PatternError
	b := nabla.AutoSparse{Dense: reversediff.Backend{}, Entries: sparsity.Full(2, 3)}
	if _, err := nabla.PrepareJacobian(ringed, b, x); !errors.As(err, &pe) {
		t.Errorf("a Jacobian of other dimensions: %v", err)
	}
	b.Entries = sparsity.Banded(3, 3, 0, 1)
	if _, err := nabla.PrepareHessian(ringedSum, b, x); !errors.As(err, &pe) {
		t.Errorf("a triangle of a Hessian: %v", err)
	}
	b.Entries = sparsity.Banded(3, 3, 0, 0)
	var ue *nabla.UnsupportedError
	if _, err := nabla.PrepareHessianDiagonal(ringedSum, b, x); !errors.As(err, &ue) {
		t.Errorf("a diagonal: %v", err)
	}
	b.Coloring = coloring.None{}
	p, err := nabla.PrepareJacobian(ringed, b, x)
	if err != nil || p.Plan().Products() != 3 {
		t.Errorf("without groups: %v, %v", p.Plan(), err)
	}
}

package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestRandomSparse compares sparse derivatives with those that no engine computed, at
// the point of preparation and at others, on the same branch and on others, in any call.
func TestRandomSparse(t *testing.T) {
	var seen sparseCounts
	n, found := 0, 0
	for seed := range longtest.Seeds(60, 60, 1500) {
		n++
		r := rand.New(rand.NewPCG(seed, 21))
		data := make([]byte, 10+r.IntN(150))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if !fuzzSparse(t, fmt.Sprint("seed ", seed), data, &seen) {
			if found++; found == 3 {
				break
			}
		}
	}
	t.Logf("%+v", seen)
	if seen.Entries < 20*n || seen.Zeros < n || seen.Caught < n/100 || seen.Refused < n/20 {
		t.Errorf("the functions are too much alike: %+v", seen)
	}
}

func FuzzSparse(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 22))
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzSparse(t, "fuzz", data, new(sparseCounts)) })
}

// sparseCounts counts the cases that a test has covered.
type sparseCounts struct {
	Refused int // functions that branch
	Caught  int // patterns of another branch that were an error
	Entries int // compared
	Zeros   int // that no pattern has
}

// fuzzSparse reports errors, shrunk, of the sparse derivatives of the function generated from data.
func fuzzSparse(t *testing.T, name string, data []byte, seen *sparseCounts) bool {
	t.Helper()
	o := randfunc.Options{M: 1}
	pick := 0
	if len(data) > 0 {
		o.Nested = data[0]&3 == 0
		o.Escapes = data[0]&12 == 0
		if data[0]&16 == 0 {
			o.M = 4
		}
		pick = int(data[0]) + len(data)
		data = data[1:]
	}
	if err := fieldsOf(data, seen); err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	p, xs := randfunc.New(data, 3, o)
	err := checkSparse(p, xs, pick, seen)
	if err == nil {
		return true
	}
	kind := failureKind(err)
	q, ys := randfunc.Shrink(p, xs, func(p *randfunc.Prog, xs [][]float64) bool {
		e := checkSparse(p, xs, pick, new(sparseCounts))
		return e != nil && failureKind(e) == kind
	})
	t.Errorf("%s: %v\nbefore it was shrunk: %v\n%s%s", name, checkSparse(q, ys, pick, seen), err, q,
		randfunc.Points(ys))
	return false
}

// checkSparse is the first thing that is wrong with the sparse Jacobian of p or, where
// it has one output, the Hessian. Of the engines some take part, which pick says.
func checkSparse(p *randfunc.Prog, xs [][]float64, pick int, seen *sparseCounts) error {
	f := nabla.InPlace(p.M, p.Real().Into)
	oracles := make([]*randfunc.Oracle, len(xs))
	for i, x := range xs {
		oracles[i] = p.Oracle(x)
	}
	for k := range 3 {
		b := sparseExact[(pick+4*k)%len(sparseExact)]
		for _, d := range []sparsity.Detector{nil, sparsity.Recorded{Points: xs}, sparsity.Recorded{}} {
			b.Detector = d
			// A pattern of all branches, or one that only x0 has to do with.
			all := d != nil && d.Name() != sparsity.Recorded{}.Name()
			if err := jacobiansAt(p, f, b, xs, oracles, all, seen); err != nil {
				return err
			}
			if p.M == 1 {
				if err := hessiansAt(p, b, xs, oracles, all, seen); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// excused reports whether err is one that there may be: of a pattern of another branch.
func (seen *sparseCounts) excused(err error, all bool) bool {
	var pe *nabla.PatternError
	if errors.As(err, &pe) && !all {
		seen.Caught++
		return true
	}
	return false
}

func jacobiansAt(p *randfunc.Prog, f *nabla.Func, b nabla.AutoSparse, xs [][]float64, oracles []*randfunc.Oracle,
	all bool, seen *sparseCounts) error {
	prep, err := nabla.PrepareJacobian(f, b, xs[0])
	if err != nil {
		return fmt.Errorf("prepare Jacobian with %s: %w", b.Name(), err)
	}
	plan := prep.Plan()
	if plan.Fallback != "" {
		seen.Refused++
	}
	for _, i := range visits(len(xs)) {
		x := xs[i]
		j, err := prep.Jacobian(nil, x)
		if err != nil {
			if i > 0 && seen.excused(err, all || b.Detector == nil && plan.Fallback == "") {
				continue
			}
			return fmt.Errorf("Jacobian with %s: at %v: %w", b.Name(), x, err)
		}
		o := oracles[i]
		if o.Big || (i > 0 && !all || b.Decompression == coloring.Substitution) && hidden(o) {
			continue
		}
		seen.Zeros += p.M*p.N - plan.Pattern.NNZ()
		for r := range p.M {
			if !o.Smooth && !knownValue(o, r) {
				continue
			}
			scale := o.Scale[r]
			if b.Decompression == coloring.Substitution { // rounding errors of other entries are in it
				scale = slices.Repeat([]float64{slices.Max(slices.Concat(o.Scale...))}, p.N)
			}
			if err := agreeSparse(j, r, o.Grad[r], scale, 1e-9, o.Smooth, seen); err != nil {
				return fmt.Errorf("Jacobian with %s wrong: at %v: %w", b.Name(), x, err)
			}
		}
	}
	return nil
}

func hessiansAt(p *randfunc.Prog, b nabla.AutoSparse, xs [][]float64, oracles []*randfunc.Oracle, all bool,
	seen *sparseCounts) error {
	f := p.Real().Scalar
	n := p.N
	prep, err := nabla.PrepareHessian(f, b, xs[0])
	if err != nil {
		return fmt.Errorf("prepare Hessian with %s: %w", b.Name(), err)
	}
	plan := prep.Plan()
	for _, i := range visits(len(xs)) {
		x := xs[i]
		_, g, h, err := prep.ValueGradientAndHessian(nil, nil, x)
		if err != nil {
			if i > 0 && seen.excused(err, all || b.Detector == nil && plan.Fallback == "") {
				continue
			}
			return fmt.Errorf("Hessian with %s: at %v: %w", b.Name(), x, err)
		}
		o := oracles[i]
		if err := agreeWithOracle(o, 0, g); err != nil {
			return fmt.Errorf("gradient of Hessian with %s wrong: at %v: %w", b.Name(), x, err)
		}
		if o.Big || !o.Smooth || !finite(o.Scale[0]) || !finite(o.Scale2[0]) || i > 0 && !all && hidden(o) {
			continue
		}
		seen.Zeros += n*n - plan.Pattern.NNZ()
		scale := make([]float64, n)
		for r := range n {
			for c := range n {
				scale[c] = o.Scale2[0][r*n+c] + o.Scale2[0][c*n+r]
			}
			if err := agreeSparse(h, r, o.Hess[0][r*n:r*n+n], scale, 1e-8, true, seen); err != nil {
				return fmt.Errorf("Hessian with %s wrong: at %v: %w", b.Name(), x, err)
			}
		}
	}
	return nil
}

// modes is the bound struct of programs with fields. Mode changes the pattern.
type modes struct {
	Mode int
	Rate nabla.Real
	Own  [added]float64
}

// crossed are the pairs of added inputs that are multiplied in each mode.
var crossed = [][2]int{{0, 1}, {2, 3}, {0, 4}, {1, 1}, {3, 4}}

// added is how many inputs there are besides those of the program.
const added = 5

// into is p at the first inputs, and for each of the others its square and, in one of
// them, a product that the mode chooses. Scalar sums them.
func (m *modes) into(g *randfunc.Real, outs int, y, x []nabla.Real) {
	n := len(x) - added
	g.Into(y[:outs], x[:n:n])
	z, pair := x[n:], crossed[m.Mode]
	for k := range z {
		y[outs+k] = z[k].Sq().Scale(m.Own[k])
		if k == pair[0] {
			y[outs+k] = y[outs+k].Add(m.Rate.Mul(z[k]).Mul(z[pair[1]]))
		}
	}
}

func (m *modes) random(r *rand.Rand) {
	m.Mode, m.Rate = r.IntN(len(crossed)), nabla.Const(float64(1+r.IntN(3)))
}

// checkFields is the first thing that is wrong with the sparse derivatives of p with a
// bound struct that changes between calls, those that are compared whatever happens and
// others.
func checkFields(p *randfunc.Prog, x []float64, r *rand.Rand, seen *sparseCounts) error {
	o := p.Oracle(x)
	if o.Big || !o.Smooth || hidden(o) || p.M > 1 {
		return nil
	}
	n := p.N
	at := slices.Clone(x)
	for range added {
		at = append(at, float64(1+r.IntN(5)))
	}
	m := &modes{}
	for k := range m.Own {
		m.Own[k] = float64(r.IntN(2))
	}
	g := p.Real()
	f := nabla.Bind(func(x []nabla.Real, m *modes) nabla.Real {
		y := make([]nabla.Real, 1+added)
		m.into(g, 1, y, x)
		return nabla.Sum(y...)
	}, m)
	several := nabla.BindInPlace(1+added, func(y, x []nabla.Real, m *modes) { m.into(g, 1, y, x) }, m)
	b := sparseExact[r.IntN(len(sparseExact))]
	if r.IntN(2) == 0 {
		b.Detector = sparsity.Recorded{}
	}
	m.random(r)
	first := m.Mode
	hess, err := nabla.PrepareHessian(f, b, at)
	if err != nil {
		return fmt.Errorf("prepare Hessian with %s and fields: %w", b.Name(), err)
	}
	jac, err := nabla.PrepareJacobian(several, b, at)
	if err != nil {
		return fmt.Errorf("prepare Jacobian with %s and fields: %w", b.Name(), err)
	}
	for call := range 9 {
		if r.IntN(3) == 0 {
			m.random(r)
		}
		var pe *nabla.PatternError
		pair, rate := crossed[m.Mode], m.Rate.Value()
		h, err := hess.Hessian(nil, at)
		switch {
		case errors.As(err, &pe) && m.Mode != first:
			seen.Caught++
		case err != nil:
			return fmt.Errorf("Hessian with %s and fields: call %d, mode %d: %w", b.Name(), call, m.Mode, err)
		default:
			for i := range at {
				for j := range at {
					want, tol := 0.0, 1e-9
					switch a, c := i-n, j-n; {
					case i < n && j < n:
						want, tol = o.Hess[0][i*n+j], 1e-8*(o.Scale2[0][i*n+j]+o.Scale2[0][j*n+i])+1e-200
					case a < 0 || c < 0:
					case a == c && a == pair[0] && a == pair[1]:
						want = 2 * (m.Own[a] + rate)
					case a == c:
						want = 2 * m.Own[a]
					case [2]int{min(a, c), max(a, c)} == pair:
						want = rate
					}
					if seen.Entries++; tol < 1e100 && !(math.Abs(h.At(i, j)-want) <= tol) {
						return fmt.Errorf("Hessian with %s and fields wrong: call %d, mode %d, first %d: element %d "+
							"%d is %v, want %v", b.Name(), call, m.Mode, first, i, j, h.At(i, j), want)
					}
				}
			}
		}
		J, err := jac.Jacobian(nil, at)
		switch {
		case errors.As(err, &pe) && m.Mode != first:
			seen.Caught++
			continue
		case err != nil:
			return fmt.Errorf("Jacobian with %s and fields: call %d, mode %d: %w", b.Name(), call, m.Mode, err)
		}
		z := at[n:]
		for i := range 1 + added {
			for j := range at {
				want, tol := 0.0, 1e-9
				switch a, c := i-1, j-n; {
				case i == 0 && j < n:
					want, tol = o.Grad[0][j], 1e-9*o.Scale[0][j]+1e-200
				case i == 0 || c < 0:
				default:
					if a == c {
						want = 2 * m.Own[a] * z[a]
					}
					if a == pair[0] && c == pair[1] {
						want += rate * z[a]
					}
					if a == pair[0] && c == a {
						want += rate * z[pair[1]]
					}
				}
				if seen.Entries++; tol < 1e100 && !(math.Abs(J.At(i, j)-want) <= tol) {
					return fmt.Errorf("Jacobian with %s and fields wrong: call %d, mode %d, first %d: element %d %d "+
						"is %v, want %v", b.Name(), call, m.Mode, first, i, j, J.At(i, j), want)
				}
			}
		}
	}
	return nil
}

// fieldsOf is checkFields of the program that data makes.
func fieldsOf(data []byte, seen *sparseCounts) error {
	p, xs := randfunc.New(data, 1, randfunc.Options{M: 1})
	r := rand.New(rand.NewPCG(uint64(len(data)), uint64(sum(data))))
	return checkFields(p, xs[0], r, seen)
}

func sum(data []byte) (s int) {
	for i, b := range data {
		s += (i + 1) * int(b)
	}
	return s
}

// visits are the calls of an object prepared at the first of n points: other branches come
// first in calls that are compared whatever happens, and in calls that are not.
func visits(n int) (calls []int) {
	calls = []int{0, 0} // the third call is compared only if it has to be
	for i := range n {
		calls = append(calls, n-1-i, 0)
	}
	return calls
}

// hidden reports whether a comparison with a pattern of another branch involves numbers, such as
// NaNs, that hide those added to them.
func hidden(o *randfunc.Oracle) bool {
	for i := range o.Y {
		if v := o.Y[i]; v-v != 0 || !finite(o.Grad[i]) || !finite(o.Hess[i]) {
			return true
		}
	}
	return false
}

// agreeSparse compares row r of a with the expected values.
func agreeSparse(a mat.Matrix, r int, want, scale []float64, tol float64, smooth bool, seen *sparseCounts) error {
	if !smooth {
		tol = 1e-5
	}
	for c, w := range want {
		s := scale[c]
		if s-s != 0 || s > 1e100 {
			continue
		}
		v := a.At(r, c)
		if v != v && !smooth { // the result of an inner derivative at infinities is not specified
			continue
		}
		seen.Entries++
		if !(math.Abs(v-w) <= tol*s+1e-200) {
			return fmt.Errorf("element %d %d is %v, want %v ± %g", r, c, v, w, tol*s)
		}
	}
	return nil
}

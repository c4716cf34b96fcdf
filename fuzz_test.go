package nabla_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// firstOrder are the engines that are compared. The infinite and undefined components of the first two, in forward
// mode, have to agree, and so have those of two in reverse mode.
var firstOrder = slices.Insert(engines.Branching(), 1, nabla.Backend(forwarddiff.Backend{Chunk: 1}))

// straightOrder has an engine for functions without branches too.
var straightOrder = append(slices.Clone(firstOrder), symbolic.Backend{Exact: true})

// first returns the index of b in firstOrder.
func first(b nabla.Backend) int { return slices.Index(firstOrder, b) }

// secondOrder are pairs that come about in different ways.
var secondOrder = []nabla.Backend{
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	nabla.SecondOrder{Outer: forwarddiff.Backend{Chunk: 1}, Inner: tracker.Backend{}},
	nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: forwarddiff.Backend{}},
	nabla.SecondOrder{Outer: tracker.Backend{}, Inner: reversediff.Backend{}},
	forwarddiff.Backend{},
	forwarddiff.Hyper{},
	forwarddiff.Hyper{Chunk: 1},
	reversediff.Backend{},
	reversediff.Backend{Compile: true},
	tracker.Backend{},
}

// TestRandomFunctions compares the engines with each other, with the function over
// plain numbers, with derivatives computed without any engine and with finite
// differences.
func TestRandomFunctions(t *testing.T) {
	longtest.Search{Few: 200, Usual: 200, Many: 3000, Check: func(seed uint64) (points int, err error) {
		p, xs, v := fuzzProgram(randomData(seed))
		return len(xs), checkProgram(p, xs, v)
	}, Describe: func(seed uint64, err error) string {
		p, xs, v := fuzzProgram(randomData(seed))
		return shrunk(p, xs, v, err)
	}}.Run(t)
}

// randomData returns the bytes from which the program of a seed is generated.
func randomData(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 10+r.IntN(150))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// fuzzProgram returns the program generated from data, with points and its variant.
func fuzzProgram(data []byte) (*randfunc.Prog, [][]float64, variant) {
	o, v := randfunc.Options{M: 1}, variant{}
	if len(data) > 0 {
		v = variant{goroutines: data[0]&96 == 0, captures: data[0]&160 == 160}
		o.Nested = data[0]&1 == 0
		o.Escapes = data[0]&6 == 0
		if data[0]&24 == 0 {
			o.M = 3
		}
		data = data[1:]
	}
	p, xs := randfunc.New(data, 3, o)
	return p, xs, v
}

func FuzzEngines(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, xs, v := fuzzProgram(data)
		if err := checkProgram(p, xs, v); err != nil {
			t.Error(shrunk(p, xs, v, err))
		}
	})
}

// shrunk describes the smallest program that fails in checkProgram as p does.
func shrunk(p *randfunc.Prog, xs [][]float64, v variant, err error) string {
	kind := failureKind(err)
	q, ys := randfunc.Shrink(p, xs, func(p *randfunc.Prog, xs [][]float64) bool {
		e := checkProgram(p, xs, v)
		return e != nil && failureKind(e) == kind
	})
	return fmt.Sprintf("%+v: %v\n%s%s", v, checkProgram(q, ys, v), q, randfunc.Points(ys))
}

// failureKind is an error without its numbers.
func failureKind(err error) string {
	s, _, _ := strings.Cut(err.Error(), ":")
	return s
}

// sameNumber tells neither NaNs nor zeros apart.
func sameNumber(a, b float64) bool { return a == b || a != a && b != b }

func samePattern(a, b float64) bool {
	return (a != a) == (b != b) && math.IsInf(a, 1) == math.IsInf(b, 1) && math.IsInf(a, -1) == math.IsInf(b, -1)
}

// A variant is an addition to a program that changes at most the sign of its result.
type variant struct {
	goroutines bool // it runs in several goroutines at once, and all results count
	captures   bool // it is multiplied with captured numbers, 1 or -1
}

// Goroutines begin together, change each input to itself in many operations, which takes
// them so long that they are at it at the same time, and run the program several times.
// With two goroutines that ran it once, of which one result counted, 300 programs did not
// show operations without the owner check.
const (
	atOnce = 4
	turns  = 100
	runs   = 4
)

// turned is x again, bit for bit, behind operations of one number, of two, and comparisons.
func turned(x []nabla.Real) []nabla.Real {
	x = slices.Clone(x)
	zero := nabla.Const(0)
	for k := range turns {
		a := &x[k%len(x)]
		if a.Less(*a) {
			panic("a number is less than itself")
		}
		*a = a.Neg().Neg().Sub(zero)
	}
	return x
}

// scalar is p as a function with one output, and the numbers that it captures.
func (v variant) scalar(p *randfunc.Prog) (f func(x []nabla.Real) nabla.Real, captured *[]float64) {
	captured = &[]float64{1, 1}
	f = p.Real().Scalar
	if v.goroutines {
		var each [atOnce]func(x []nabla.Real) nabla.Real
		for i := range each {
			each[i] = p.Real().Scalar
		}
		f = func(x []nabla.Real) nabla.Real {
			var ys [atOnce]nabla.Real
			var ready atomic.Int32
			parallel(atOnce, func(i int) {
				for ready.Add(1); ready.Load() < atOnce; {
					runtime.Gosched()
				}
				z := turned(x)
				for range runs {
					ys[i] = each[i](slices.Clone(z))
				}
			})
			for i := range ys {
				ys[i] = ys[i].Scale(1. / atOnce)
			}
			return nabla.Sum(ys[:]...)
		}
	}
	if v.captures {
		g := f
		f = func(x []nabla.Real) nabla.Real {
			y := g(x)
			for _, w := range *captured {
				y = y.Scale(w)
			}
			return y
		}
	}
	return f, captured
}

// checkProgram is the first property that does not hold.
func checkProgram(p *randfunc.Prog, xs [][]float64, variant variant) error {
	if p.M > 1 {
		return checkJacobian(p, xs)
	}
	f, captured := variant.scalar(p)
	plain := p.Plain()
	preps := make([]*nabla.GradientPrep, len(firstOrder))
	for i, b := range firstOrder {
		var err error
		if preps[i], err = nabla.PrepareGradient(f, b, xs[0]); err != nil {
			return fmt.Errorf("prepare with %s: %w", b.Name(), err)
		}
	}
	y := make([]float64, 1)
	for k := range xs {
		x := xs[len(xs)-1-k]
		plain.Run(y, x)
		o := p.Oracle(x)
		grads := make([][]float64, len(preps))
		for i, prep := range preps {
			name := firstOrder[i].Name()
			// The third call is none that is compared whatever the function is: data that
			// changed in the second one was seen there even if it was taken to be fixed.
			sign := 1.0
			if changed := variant.captures && k == 2; changed && i%2 == 0 {
				sign, (*captured)[1] = -1, -1
			} else if changed {
				sign, *captured = -1, []float64{-1, 1}
			}
			v, g, err := prep.ValueAndGradient(nil, x)
			if err != nil {
				return fmt.Errorf("gradient with %s: at %v: %w", name, x, err)
			}
			want := y[0]
			if variant.captures { // zeros have no sign then
				v, want = v*sign+0, want+0
				for j := range g {
					g[j] = g[j]*sign + 0
				}
				*captured = []float64{1, 1}
			}
			if math.Abs(want) < 1e-290 && (variant.goroutines || sign < 0) {
				if variant.goroutines { // a part of it may be 0
					want = v
				}
				if sign < 0 { // values do not tell
					g = o.Grad[0]
				}
			}
			// Numbers as small as that are not compared with those of a recording.
			if !sameValue(p, o, 0, v, want) && !(variant.captures && math.Abs(v-want) <= 1e-300) {
				return fmt.Errorf("value with %s: at %v: %v, plain %v", name, x, v, want)
			}
			grads[i] = g
		}
		for i, g := range grads {
			err := agreeWithOracle(o, 0, g)
			// near a tie the value may be 0 as well, or NaN
			if err != nil && variant.captures && !(math.Abs(y[0]) > 1e-300) {
				for j := range g {
					g[j] = -g[j]
				}
				err = agreeWithOracle(o, 0, g)
			}
			if err != nil {
				return fmt.Errorf("gradient with %s wrong: at %v: %w", firstOrder[i].Name(), x, err)
			}
		}
		for j := range x {
			if !samePattern(grads[0][j], grads[1][j]) {
				return fmt.Errorf("forward modes differ: at %v: %v and %v", x, grads[0], grads[1])
			}
			recorded, taped := grads[first(reversediff.Backend{})], grads[first(tracker.Backend{})]
			if !samePattern(recorded[j], taped[j]) && !o.Big {
				return fmt.Errorf("reverse modes differ: at %v: %v and %v", x, recorded, taped)
			}
			if o.Smooth && !o.Big && !p.Has(randfunc.Box) && !samePattern(grads[0][j], o.Grad[0][j]) {
				return fmt.Errorf("forward mode differs from oracle: at %v: %v and %v", x, grads[0], o.Grad[0])
			}
		}
		if !p.Has(randfunc.Escape) {
			if err := checkDifferences(plain, o, x); err != nil {
				return err
			}
		}
	}
	if p.Size()%3 != 0 {
		return nil
	}
	_, err := checkHessian(p, f, xs, secondOrder)
	return err
}

// agreeWithOracle compares the gradient of output i where no factor is infinite.
func agreeWithOracle(o *randfunc.Oracle, i int, g []float64) error {
	tol := 1e-11
	if !o.Smooth {
		if !knownValue(o, i) {
			return nil
		}
		tol = 1e-7
	}
	for j, v := range g {
		s := o.Scale[i][j]
		if s-s != 0 || o.Big || s > 1e200 {
			continue
		}
		if !(math.Abs(v-o.Grad[i][j]) <= tol*s+1e-290) {
			return fmt.Errorf("%v, want %v ± %g", g, o.Grad[i], tol*s)
		}
	}
	return nil
}

// sameValue compares output i with the value of the function over plain numbers: bit for bit,
// unless the function contains derivatives, which may take another order of operations.
func sameValue(p *randfunc.Prog, o *randfunc.Oracle, i int, got, want float64) bool {
	if !p.Has(randfunc.Grad) {
		return identical(got, want)
	}
	// An infinity may be that of a zero whose sign is not the same.
	return sameNumber(got, want) || math.Abs(got-want) <= 1e-13*math.Abs(want)+4*o.Err[i] || o.Big ||
		math.IsInf(want, 0)
}

// knownValue reports whether the value of a program with derivatives inside is
// known well enough. Whether the zero derivatives of an infinite one are structural
// depends on the formula of the derivative inside.
func knownValue(o *randfunc.Oracle, i int) bool {
	return o.Err[i] <= 1e-9*(1+math.Abs(o.Y[i])) && !math.IsInf(o.Y[i], 0)
}

// checkDifferences compares with central differences along a direction, where the
// function is smooth and the differences are good.
func checkDifferences(plain *randfunc.Plain, o *randfunc.Oracle, x []float64) error {
	if o.Big || !knownValue(o, 0) {
		return nil
	}
	dir := make([]float64, len(x))
	want, scale, norm, bend := 0.0, 0.0, 0.0, 0.0
	for _, s := range o.Scale2[0] {
		bend += s
	}
	for j := range x {
		norm += math.Abs(x[j])
		dir[j] = math.Cos(float64(1 + 3*j))
		want += dir[j] * o.Grad[0][j]
		scale += math.Abs(dir[j]) * o.Scale[0][j]
	}
	if scale-scale != 0 || !(norm < 1e6) {
		return nil
	}
	y, z := make([]float64, 1), make([]float64, len(x))
	plain.Run(y, x)
	branch := plain.Branch
	at := func(h float64) float64 {
		for j := range z {
			z[j] = x[j] + h*dir[j]
		}
		plain.Run(y, z)
		if plain.Branch != branch {
			return math.NaN()
		}
		return y[0]
	}
	const h = 1e-4
	for _, v := range x { // a step would pass a kink at 0
		if v != 0 && math.Abs(v) < h {
			return nil
		}
		if v == 0 && !o.Smooth { // the derivative inside may be that of a branch which holds at 0 alone, as of ⌊J0(v)⌋
			return nil
		}
	}
	if !(bend*h <= scale) || !o.Smooth && scale > 1e6 {
		return nil // too much changes in a step, or may: the curvature of a derivative inside is not known
	}
	var d [3]float64
	for i := range d {
		step := h / float64(int(1)<<i)
		d[i] = (at(step) - at(-step)) / (2 * step)
	}
	est := math.Abs(d[0]-d[1]) + math.Abs(d[1]-d[2])
	noise := 20 * o.Err[0] / h
	if math.Abs(d[0]-d[1]) > 0.1*scale+noise || math.Abs(d[2]-d[1]) > 0.35*math.Abs(d[1]-d[0])+noise {
		return nil // not converging
	}
	if math.Abs(d[2]-want) > 30*est+noise+1e-6*scale {
		return fmt.Errorf("differences differ: at %v along %v: %v, derivative %v", x, dir, d, want)
	}
	return nil
}

// checkHessian compares the Hessians of the engines with the oracle and, where it has none, with each other. It returns
// the number of entries that it compared.
func checkHessian(p *randfunc.Prog, f func([]nabla.Real) nabla.Real, xs [][]float64, engines []nabla.Backend,
) (compared int, err error) {
	var others [3]*mat.SymDense // of the first pair, by point
	for _, b := range engines {
		prep, err := nabla.PrepareHessian(f, b, xs[0])
		if err != nil {
			return compared, fmt.Errorf("prepare Hessian with %s: %w", b.Name(), err)
		}
		for k := range xs {
			x := xs[len(xs)-1-k]
			o := p.Oracle(x)
			v, g, h, err := prep.ValueGradientAndHessian(nil, nil, x)
			if err != nil {
				return compared, fmt.Errorf("Hessian with %s: at %v: %w", b.Name(), x, err)
			}
			if o.Smooth && !sameNumber(v, o.Y[0]) && !(math.Abs(v-o.Y[0]) < 1e-290) { // a part of it may be 0
				return compared, fmt.Errorf("value of Hessian with %s: at %v: %v, want %v", b.Name(), x, v, o.Y[0])
			}
			if err := agreeWithOracle(o, 0, g); err != nil {
				return compared, fmt.Errorf("gradient of Hessian with %s wrong: at %v: %w", b.Name(), x, err)
			}
			if o.Big || !finite(o.Scale[0]) || !finite(o.Scale2[0]) {
				continue
			}
			if !o.Smooth { // a derivative inside: the pairs agree with each other
				if others[k] == nil {
					others[k] = h.(*mat.SymDense)
				} else if k, err := agreeRoughly(o, others[k], h.(*mat.SymDense)); err != nil {
					return compared, fmt.Errorf("third order with %s: at %v: %w", b.Name(), x, err)
				} else {
					compared += k
				}
				continue
			}
			n := len(x)
			for i := range n {
				for j := range n {
					s := o.Scale2[0][i*n+j] + o.Scale2[0][j*n+i]
					if s > 1e150 {
						continue
					}
					compared++
					if !(math.Abs(h.At(i, j)-o.Hess[0][i*n+j]) <= 1e-10*s+1e-200) {
						return compared, fmt.Errorf("Hessian with %s wrong: at %v: element %d %d is %v, want %v ± %g",
							b.Name(), x, i, j, h.At(i, j), o.Hess[0][i*n+j], 1e-10*s)
					}
				}
			}
		}
	}
	return compared, nil
}

// agreeRoughly compares Hessians of a function with derivatives inside, which are
// as accurate as third derivatives are conditioned, and returns how many entries.
func agreeRoughly(o *randfunc.Oracle, a, b *mat.SymDense) (compared int, err error) {
	x, y := a.RawSymmetric().Data, b.RawSymmetric().Data
	if !finite(x) || !finite(y) || !knownValue(o, 0) {
		return 0, nil
	}
	size := 1.0
	for i := range x {
		size = max(size, math.Abs(x[i]), math.Abs(y[i]))
	}
	if size >= 1e6 {
		return 0, nil
	}
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-6*size {
			return 0, fmt.Errorf("%v and %v", x, y)
		}
	}
	return len(x), nil
}

func finite(a []float64) bool {
	for _, v := range a {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// checkJacobian compares Jacobians and products of a function that writes its
// outputs.
func checkJacobian(p *randfunc.Prog, xs [][]float64) error {
	m, n := p.M, p.N
	f := nabla.InPlace(m, p.Real().Into)
	plain := p.Plain()
	want := make([]float64, m)
	dx, w := make([]float64, n), make([]float64, m)
	for j := range dx {
		dx[j] = float64(j) - 0.5
	}
	for i := range w {
		w[i] = 1 - float64(i)
	}
	for _, b := range firstOrder {
		name := b.Name()
		prep, err := nabla.PrepareJacobian(f, b, xs[0])
		if err != nil {
			return fmt.Errorf("prepare Jacobian with %s: %w", name, err)
		}
		push, err := nabla.PreparePushforward(f, b, xs[0])
		if err != nil {
			return fmt.Errorf("prepare pushforward with %s: %w", name, err)
		}
		pull, err := nabla.PreparePullback(p.Real().Vector, b, xs[0])
		if err != nil {
			return fmt.Errorf("prepare pullback with %s: %w", name, err)
		}
		jac := mat.NewDense(m, n, nil)
		for k := range xs {
			x := xs[len(xs)-1-k]
			plain.Run(want, x)
			o := p.Oracle(x)
			y, _, err := prep.ValueAndJacobian(nil, jac, x)
			if err != nil {
				return fmt.Errorf("Jacobian with %s: at %v: %w", name, x, err)
			}
			y1, dy, err := push.ValueAndPushforward(nil, nil, x, dx)
			if err != nil {
				return fmt.Errorf("pushforward with %s: at %v: %w", name, x, err)
			}
			y2, xbar, err := pull.ValueAndPullback(nil, nil, x, w)
			if err != nil {
				return fmt.Errorf("pullback with %s: at %v: %w", name, x, err)
			}
			known := true
			sum, scale := make([]float64, n), make([]float64, n)
			for i := range want {
				if !sameValue(p, o, i, y[i], want[i]) || !sameValue(p, o, i, y1[i], want[i]) ||
					!sameValue(p, o, i, y2[i], want[i]) {
					return fmt.Errorf("value of Jacobian with %s: at %v: %v, %v and %v, plain %v", name, x, y, y1, y2,
						want)
				}
				if err := agreeWithOracle(o, i, jac.RawRowView(i)); err != nil {
					return fmt.Errorf("Jacobian with %s wrong: at %v: row %d: %w", name, x, i, err)
				}
				dot, s := 0.0, 0.0
				for j := range n {
					dot += o.Grad[i][j] * dx[j]
					s += math.Abs(o.Scale[i][j] * dx[j])
					sum[j] += w[i] * o.Grad[i][j]
					scale[j] += math.Abs(w[i]) * o.Scale[i][j]
				}
				ok := s < 1e200 && !o.Big && o.Smooth
				if ok && !(math.Abs(dy[i]-dot) <= 1e-11*s+1e-290) {
					return fmt.Errorf("pushforward with %s wrong: at %v: %v, element %d want %v ± %g", name, x, dy, i,
						dot, 1e-11*s)
				}
				known = known && ok
			}
			for j := range n {
				if known && !(math.Abs(xbar[j]-sum[j]) <= 1e-11*scale[j]+1e-290) {
					return fmt.Errorf("pullback with %s wrong: at %v: %v, want %v", name, x, xbar, sum)
				}
			}
		}
	}
	return nil
}

package forwarddiff_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/rules"
)

// This file has the two forms of forward over forward that hyper-dual numbers are compared with. Package nabla has
// neither: its pairs of forwarddiff differentiate the reverse of the recorded program, which is forward over reverse.

// nestedDuals is forward over forward without a recording, as in ForwardDiff.jl: dual numbers whose value and tangents
// are dual numbers. Both have all inputs as directions, so a number is (n+1)² floats.
type nestedDuals struct{}

func (nestedDuals) Name() string { return "nested duals" }

// PrepareHessian implements engine.Hessianer.
func (nestedDuals) PrepareHessian(f *engine.Function, _ []float64) (engine.Hessian, error) {
	n, m := f.Dims()
	return &nestedHessian{f: f, k: n + 1, xs: make([]engine.Real, n), ys: make([]engine.Real, m),
		p: make([]float64, n+1), q: make([]float64, n+1)}, f.Untraceable()
}

// A nestedHessian runs a function over nested dual numbers. Those of number id are mem[id·k²:][:k²]: element i·k+j is
// component j of component i, where component 0 is the value.
type nestedHessian struct {
	f      *engine.Function
	k      int
	next   int32
	mem    []float64
	xs, ys []engine.Real
	p, q   []float64 // the partial derivatives of an operation, as inner dual numbers
}

func (h *nestedHessian) of(id int32) []float64 {
	size := h.k * h.k
	return h.mem[int(id)*size : (int(id)+1)*size : (int(id)+1)*size]
}

// fresh returns a new number, which is not cleared.
func (h *nestedHessian) fresh() (int32, []float64) {
	h.next++
	if need := int(h.next+1) * h.k * h.k; need > len(h.mem) {
		h.mem = append(h.mem, make([]float64, need)...)
	}
	return h.next, h.of(h.next)
}

// addProduct adds the product of the inner dual numbers a and b to dst. Component 0 of dst is not used.
func addProduct(dst, a, b []float64) {
	dst, b = dst[:len(a)], b[:len(a)]
	a0, b0 := a[0], b[0]
	dst[0] += a0 * b0
	for j := 1; j < len(a); j++ {
		dst[j] += a0*b[j] + a[j]*b0
	}
}

// Unary implements engine.Hook.
func (h *nestedHessian) Unary(op rules.Op, a int32, av, v float64) int32 {
	id, dst := h.fresh()
	src, k := h.of(a), h.k
	p, pp := rules.Derivatives1(op, av, v)
	dst[0], h.p[0] = v, p
	for j := 1; j < k; j++ {
		dst[j], h.p[j] = p*src[j], pp*src[j]
	}
	clear(dst[k:])
	for i := k; i < len(dst); i += k {
		addProduct(dst[i:i+k], h.p, src[i:i+k])
	}
	return id
}

// Binary implements engine.Hook. Like the packages for such numbers it has a code path for the common operations.
func (h *nestedHessian) Binary(op rules.Op, a, b int32, av, bv, v float64) int32 {
	id, dst := h.fresh()
	k := h.k
	switch {
	case (op == rules.Add || op == rules.Sub) && b == 0:
		copy(dst, h.of(a))
		dst[0] = v
		return id
	case (op == rules.Add || op == rules.Sub) && a != 0:
		sa, sb := h.of(a)[:len(dst)], h.of(b)[:len(dst)]
		if op == rules.Add {
			for i, s := range sa {
				dst[i] = s + sb[i]
			}
		} else {
			for i, s := range sa {
				dst[i] = s - sb[i]
			}
		}
		return id
	case op == rules.Mul && b == 0:
		for i, s := range h.of(a) {
			dst[i] = s * bv
		}
		return id
	case op == rules.Mul && a == 0:
		for i, s := range h.of(b) {
			dst[i] = av * s
		}
		return id
	}
	clear(dst)
	switch {
	case op == rules.Mul:
		sa, sb := h.of(a), h.of(b)
		addProduct(dst[:k], sa[:k], sb[:k])
		for i := k; i < len(dst); i += k {
			addProduct(dst[i:i+k], sa[i:i+k], sb[:k])
			addProduct(dst[i:i+k], sa[:k], sb[i:i+k])
		}
	default:
		pa, pb := rules.Partials2(op, av, bv, v)
		xx, xy, yy := rules.Seconds2(op, av, bv, v)
		clear(h.p)
		clear(h.q)
		if a != 0 {
			h.addTangents(dst, h.of(a), pa, xx, xy)
		}
		if b != 0 {
			h.addTangents(dst, h.of(b), pb, xy, yy)
		}
		h.p[0], h.q[0] = pa, pb
		for i := k; i < len(dst); i += k {
			if a != 0 {
				addProduct(dst[i:i+k], h.p, h.of(a)[i:i+k])
			}
			if b != 0 {
				addProduct(dst[i:i+k], h.q, h.of(b)[i:i+k])
			}
		}
	}
	dst[0] = v
	return id
}

// addTangents adds the terms of the operand src to the tangents of the value and of both partial derivatives.
func (h *nestedHessian) addTangents(dst, src []float64, d, p, q float64) {
	for j := 1; j < h.k; j++ {
		dst[j] += d * src[j]
		h.p[j] += p * src[j]
		h.q[j] += q * src[j]
	}
}

// ValueGradientAndHessian implements engine.Hessian.
func (h *nestedHessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	t := engine.Overload(h)
	defer t.Close()
	h.next = 0
	for i, v := range x {
		id, dst := h.fresh()
		clear(dst)
		dst[0], dst[i+1], dst[(i+1)*h.k] = v, 1, 1
		h.xs[i] = t.Number(v, id)
	}
	if err := h.f.OverIn(t, h.ys, h.xs); err != nil {
		return 0, err
	}
	hess.Zero()
	clear(grad)
	if id := h.ys[0].ID; id != 0 {
		y := h.of(id)
		copy(grad, y[1:])
		for i := range x {
			copy(hess.Row(i), y[(i+1)*h.k+1:])
		}
	}
	return h.ys[0].V, nil
}

// compiledForward is forward over forward over a recorded program: the tangent of its tangent, compiled, in vector mode
// of width n. Direction i of the outer tangent is input i, and the inner tangent is along one input at a time.
type compiledForward struct{}

func (compiledForward) Name() string { return "compiled forward over forward" }

// PrepareHessian implements engine.Hessianer.
func (compiledForward) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	g, err := forwarddiff.Backend{}.PushforwardFunction(f)
	if err != nil {
		return nil, err
	}
	n := len(x)
	h := &tangentOfTangent{at: make([]float64, 2*n), y: make([]float64, 2), ydot: engine.NewBlock(2, n),
		dir: engine.NewBlock(2*n, n)}
	for i := range n {
		h.dir.Row(i)[i] = 1
	}
	copy(h.at, x)
	h.push, err = engine.CompilePushforward(g, h.at, n, 0)
	return h, err
}

type tangentOfTangent struct {
	push      engine.Pushforward
	at, y     []float64
	ydot, dir engine.Block
}

// ValueGradientAndHessian implements engine.Hessian.
func (h *tangentOfTangent) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	n := len(x)
	copy(h.at, x)
	clear(h.at[n:])
	for j := range x {
		h.at[n+j] = 1
		// Entries (j, i) for i ≥ j are enough.
		lanes := n - j
		if err := h.push.Pushforward(h.y, h.ydot.Cols(j, lanes), h.at, h.dir.Cols(j, lanes)); err != nil {
			return 0, err
		}
		h.at[n+j] = 0
		for i := j; i < n; i++ {
			d := h.ydot.Row(0)[i]
			hess.Row(j)[i], hess.Row(i)[j] = d, d
		}
		if grad != nil {
			grad[j] = h.y[0]
		}
	}
	return h.y[1], nil
}

// TestForwardOverForward checks that what the benchmarks compare hyper-dual numbers with computes the same Hessians.
func TestForwardOverForward(t *testing.T) {
	for _, c := range hyperCases() {
		for _, n := range c.sizes {
			x := point(n)
			want, err := nabla.Hessian(c.f, forwarddiff.Backend{}, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []nabla.Backend{forwarddiff.Hyper{}, nestedDuals{}, compiledForward{}} {
				got, err := nabla.Hessian(c.f, e, x)
				if err != nil {
					t.Fatal(err)
				}
				size := mat.Norm(want, math.Inf(1))
				for i := range n {
					for j := range n {
						if d := got.At(i, j) - want.At(i, j); !(math.Abs(d) <= 1e-12*size) {
							t.Fatalf("%s of %d inputs with %s:\n%v\nwant\n%v", c.name, n, e.Name(), mat.Formatted(got),
								mat.Formatted(want))
						}
					}
				}
			}
		}
	}
}

package nabla

import (
	"math"
	"slices"
	"sync"

	"github.com/nabla-ad/nabla/internal/core"
)

// A tangentRule is the rule (x, v) ↦ J(x)·v of a rule whose JVP and VJP are given over plain
// numbers only. They are differentiated numerically.
type tangentRule struct {
	of core.Custom
	n  int
}

// A cotangentRule is the rule (x, w) ↦ J(x)ᵀ·w of such a rule.
type cotangentRule struct {
	of   core.Custom
	n, m int
}

func (t *tangentRule) Name() string                { return "tangent of " + t.of.Name() }
func (t *tangentRule) Outputs(int) int             { return t.of.Outputs(t.n) }
func (t *tangentRule) Tangent(n int) core.Custom   { return &tangentRule{t, n} }
func (t *tangentRule) Cotangent(n int) core.Custom { return &cotangentRule{t, n, t.Outputs(n)} }

func (t *tangentRule) Value(y, xv []float64) {
	x, v := xv[:t.n], xv[t.n:]
	clear(y)
	if !allZero(v) {
		pushAt(y, t.of, x, v)
	}
}

func (t *tangentRule) JVP(ydot, xv, _, xvdot []float64) {
	x, v := xv[:t.n], xv[t.n:]
	dx, dv := xvdot[:t.n], xvdot[t.n:]
	clear(ydot)
	if !allZero(dv) {
		pushAt(ydot, t.of, x, dv)
	}
	jvpAlong(ydot, t.of, x, dx, v)
}

// VJP uses the symmetry of second derivatives: the gradient of wᵀ·J(x)·v with respect to x is the
// derivative of J(x)ᵀ·w along v.
func (t *tangentRule) VJP(xvbar, xv, _, w []float64) {
	x, v := xv[:t.n], xv[t.n:]
	if allZero(w) {
		return
	}
	vjpAlong(xvbar[:t.n], t.of, x, v, w)
	pullAt(xvbar[t.n:], t.of, x, w)
}

func (t *cotangentRule) Name() string                { return "cotangent of " + t.of.Name() }
func (t *cotangentRule) Outputs(int) int             { return t.n }
func (t *cotangentRule) Tangent(n int) core.Custom   { return &tangentRule{t, n} }
func (t *cotangentRule) Cotangent(n int) core.Custom { return &cotangentRule{t, n, t.n} }

func (t *cotangentRule) Value(y, xw []float64) {
	x, w := xw[:t.n], xw[t.n:]
	clear(y)
	if !allZero(w) {
		pullAt(y, t.of, x, w)
	}
}

func (t *cotangentRule) JVP(ydot, xw, _, xwdot []float64) {
	x, w := xw[:t.n], xw[t.n:]
	dx, dw := xwdot[:t.n], xwdot[t.n:]
	clear(ydot)
	if !allZero(dw) {
		pullAt(ydot, t.of, x, dw)
	}
	vjpAlong(ydot, t.of, x, dx, w)
}

func (t *cotangentRule) VJP(xwbar, xw, _, u []float64) {
	x, w := xw[:t.n], xw[t.n:]
	if allZero(u) {
		return
	}
	vjpAlong(xwbar[:t.n], t.of, x, u, w)
	ju := make([]float64, t.m)
	pushAt(ju, t.of, x, u)
	for i, v := range ju {
		xwbar[t.n+i] += v
	}
}

// lentValues holds memory for the values of rules, so that calls need not allocate. Memory in use
// when a rule panics is not returned to it.
var lentValues struct {
	mu   sync.Mutex
	free [][]float64
}

// lentMemory returns m zeros, which the caller returns by giveBackValue.
func lentMemory(m int) []float64 {
	l := &lentValues
	var y []float64
	l.mu.Lock()
	if n := len(l.free); n > 0 {
		y, l.free = l.free[n-1], l.free[:n-1]
	}
	l.mu.Unlock()
	y = slices.Grow(y[:0], m)[:m]
	clear(y)
	return y
}

func giveBackValue(y []float64) {
	lentValues.mu.Lock()
	lentValues.free = append(lentValues.free, y)
	lentValues.mu.Unlock()
}

func allZero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// jvpAlong adds to dst the derivative of J(x)·v as x moves along d.
func jvpAlong(dst []float64, c core.Custom, x, d, v []float64) {
	if allZero(v) {
		return
	}
	along(dst, x, d, func(g, p []float64) { pushAt(g, c, p, v) })
}

// vjpAlong adds to dst the derivative of J(x)ᵀ·w as x moves along d.
func vjpAlong(dst []float64, c core.Custom, x, d, w []float64) {
	if allZero(w) {
		return
	}
	along(dst, x, d, func(g, p []float64) { pullAt(g, c, p, w) })
}

const (
	levels     = 9  // of the extrapolation
	maxShrinks = 40 // halvings of the step until g is nearly linear over it
)

// along adds to dst the derivative of g along d at x: central differences over steps halved at
// every level, extrapolated to step 0 by Richardson's method. For each component it takes the value
// with the smallest estimated error, as in Ridders, "Accurate computation of F'(x) and F'(x)F”(x)",
// Adv. Eng. Softw. 4 (1982). The destination passed to g is zero.
func along(dst, x, d []float64, g func(dst, p []float64)) {
	scale, length := 0.0, 0.0
	for i, v := range d {
		length = math.Max(length, math.Abs(v))
		if v != 0 {
			scale = math.Max(scale, math.Abs(x[i]))
		}
	}
	if length == 0 {
		return
	}
	if scale == 0 {
		scale = 1
	}
	k := len(dst)
	p, buf := make([]float64, len(x)), make([]float64, 3*k)
	at := func(dst []float64, h float64) []float64 {
		for i, v := range x {
			p[i] = v
			if d[i] != 0 {
				p[i] += h * d[i]
			}
		}
		clear(dst)
		g(dst, p)
		return dst
	}
	mid, up, down := at(buf[:k], 0), buf[k:2*k], buf[2*k:]
	h := 0.1 * scale / length
	for range maxShrinks {
		if gentle(at(down, -h), mid, at(up, h)) {
			break
		}
		h /= 2
	}
	best, bestErr := make([]float64, k), make([]float64, k)
	var row [levels][]float64
	for l := range levels {
		row[l] = make([]float64, k)
		if l > 0 {
			h /= 2
			at(down, -h)
			at(up, h)
		}
		settled := l > 2
		for i := range k {
			// Row l of the table of this component replaces row l-1 in place.
			a := (up[i] - down[i]) / (2 * h)
			if l == 0 {
				row[0][i], best[i], bestErr[i] = a, a, math.Inf(1)
				continue
			}
			factor := 1.0
			for j := range l {
				above := row[j][i]
				row[j][i] = a
				factor *= 4
				next := a + (a-above)/(factor-1)
				if e := math.Max(math.Abs(next-a), math.Abs(next-above)); e <= bestErr[i] {
					best[i], bestErr[i] = next, e
				}
				a = next
			}
			row[l][i] = a
			settled = settled && bestErr[i] <= 1e-15*math.Abs(best[i])
		}
		if settled {
			break
		}
	}
	for i, v := range best {
		dst[i] += v
	}
}

// gentle reports whether three equidistant values are finite and lie nearly on a
// line, so that the step between them suits an extrapolation.
func gentle(down, mid, up []float64) bool {
	bend, size := 0.0, 0.0
	for i, m := range mid {
		s := up[i] - 2*m + down[i]
		if s-s != 0 {
			return false
		}
		bend = math.Max(bend, math.Abs(s))
		size = math.Max(size, math.Max(math.Abs(m), math.Abs(up[i]-down[i])))
	}
	return bend <= 0.05*size
}

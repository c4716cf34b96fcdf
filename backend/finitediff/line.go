package finitediff

import (
	"math"
)

// A line is f on a line through x: t ↦ f(x + t·v), or along one component. It computes derivatives of all outputs at
// t = 0, with estimates of their errors.
type line struct {
	s     *adaptive
	w     *worker
	noise []float64 // of each output; nil for rounding errors only

	// The line.
	x, y0   []float64 // the point, and f there
	v       []float64 // the direction; nil along component j
	j       int
	lo, hi  []float64 // the limits of the point, by MaxRange and Bounds
	scale   float64   // the length over which f is assumed to vary, in t
	blur    float64   // rounding errors of points on the line, in t
	given   float64   // the step of the user, or 0
	limited bool      // a node was outside of the domain since this was cleared

	// Results.
	d, e, steps []float64 // the derivatives, their errors and steps; steps are 0 where none is known

	values, old []float64 // at the nodes: node k of output i at k·m+i
	bound       []float64 // of the derivative that the truncation error depends on
	bad         int       // the node that failed last
	failed      error     // why
	floor       []float64 // noise that was found on this line
	runs        []run     // of the current scheme, for each output
}

// newLine returns a line for functions of n inputs and m outputs, with room for the schemes.
func newLine(s *adaptive, w *worker, n, m int, schemes ...[]scheme) *line {
	most := 0
	for _, list := range schemes {
		for _, sc := range list {
			for _, f := range sc {
				most = max(most, len(f.grid))
			}
		}
	}
	l := &line{s: s, w: w, lo: make([]float64, n), hi: make([]float64, n), d: make([]float64, m),
		e: make([]float64, m), steps: make([]float64, m), floor: make([]float64, m),
		values: make([]float64, most*m), old: make([]float64, most*m), bound: make([]float64, m), runs: make([]run, m)}
	return l
}

// at moves the line to the point x, where f is y0. Neither is copied.
func (l *line) at(x, y0 []float64) {
	l.x, l.y0 = x, y0
	for i, xi := range x {
		l.lo[i], l.hi[i] = l.s.limits(i, xi)
	}
	copy(l.w.x, x)
}

// limits returns the smallest and the largest value of component i in a call at xi.
func (s *adaptive) limits(i int, xi float64) (lo, hi float64) {
	lo, hi = s.box(i)
	if r := s.a.MaxRange; r > 0 {
		lo, hi = max(lo, -below(-xi, r)), min(hi, below(xi, r))
	}
	return lo, hi
}

// below returns the largest float64 that is not above x + r, for r > 0.
func below(x, r float64) float64 {
	s := x + r
	if s-s != 0 {
		return math.MaxFloat64
	}
	// The rounding error of the sum, exactly: D. Knuth, The Art of Computer Programming, vol. 2, §4.2.2.
	t := s - x
	if (x-(s-t))+(r-t) < 0 {
		return math.Nextafter(s, math.Inf(-1))
	}
	return s
}

// along makes the line that of component j.
func (l *line) along(j int) {
	l.v, l.j = nil, j
	l.scale, l.blur = max(math.Abs(l.x[j]), 1), 0
	l.given = 0
	if l.s.steps != nil {
		l.given = l.s.steps[j]
	}
}

// toward makes the line that along v, which is finite and not 0.
func (l *line) toward(v []float64) {
	l.v, l.scale, l.blur, l.given = v, math.Inf(1), 0, 0
	largest := 0.0
	for i, vi := range v {
		a := math.Abs(vi)
		if a == 0 {
			continue
		}
		largest = max(largest, a)
		l.scale = min(l.scale, max(math.Abs(l.x[i]), 1)/a)
		l.blur = max(l.blur, epsilon/2*math.Abs(l.x[i]))
		if l.s.steps != nil && l.s.steps[i] > 0 {
			if h := l.s.steps[i] / a; l.given == 0 || h < l.given {
				l.given = h
			}
		}
	}
	l.scale = min(l.scale, largestStep)
	l.blur /= largest
}

// fixed reports whether the line leads nowhere, since bounds leave one point.
func (l *line) fixed() bool {
	still := func(i int) bool {
		lo, hi := l.s.box(i)
		return lo == hi
	}
	if l.v == nil {
		return still(l.j)
	}
	for i, vi := range l.v {
		if vi != 0 && still(i) {
			return true
		}
	}
	return false
}

// room returns how far the line leads in both directions without leaving the limits, about.
func (l *line) room() (back, ahead float64) {
	if l.v == nil {
		return l.x[l.j] - l.lo[l.j], l.hi[l.j] - l.x[l.j]
	}
	back, ahead = math.MaxFloat64, math.MaxFloat64
	for i, vi := range l.v {
		down, up := l.x[i]-l.lo[i], l.hi[i]-l.x[i]
		if vi < 0 {
			down, up = up, down
		}
		if a := math.Abs(vi); a > 0 {
			back, ahead = min(back, down/a), min(ahead, up/a)
		}
	}
	return back, ahead
}

// move sets w.x to the point at t and reports whether it is within the limits. It returns the rounding error of the
// point, in t.
func (l *line) move(t float64) (blur float64, ok bool) {
	if l.v == nil {
		x := l.x[l.j]
		p := x + t
		l.w.x[l.j] = p
		return math.Abs(p - x - t), l.lo[l.j] <= p && p <= l.hi[l.j]
	}
	for i, vi := range l.v {
		p := l.x[i]
		if vi != 0 {
			if p += float64(t * vi); !(l.lo[i] <= p && p <= l.hi[i]) {
				return 0, false
			}
		}
		l.w.x[i] = p
	}
	return l.blur, true
}

// back returns w.x to x.
func (l *line) back() {
	if l.v == nil {
		l.w.x[l.j] = l.x[l.j]
		return
	}
	copy(l.w.x, l.x)
}

// sample evaluates f at the nodes of g with step h, into l.values, and reports whether all outputs that are finite at x
// are finite there. If shared is set, l.old has the values of twice the step.
func (l *line) sample(g *formula, h float64, shared bool) (bool, error) {
	m := len(l.y0)
	n := len(g.grid)
	l.failed = nil
	first := l.bad % n // where it failed before, it will again
	for i := range n {
		k := (first + i) % n
		dst := l.values[k*m : (k+1)*m]
		switch {
		case g.grid[k] == 0:
			copy(dst, l.y0)
			continue
		case shared && g.half[k] >= 0:
			copy(dst, l.old[g.half[k]*m:])
			continue
		}
		l.bad = k
		_, ok := l.move(g.grid[k] * h)
		if ok {
			if err := l.w.f.Value(dst, l.w.x); outside(err) {
				l.failed, ok = err, false
			} else if err != nil {
				l.back()
				return false, err
			}
		}
		for i, v := range dst {
			ok = ok && (v-v == 0 || l.y0[i]-l.y0[i] != 0)
		}
		if !ok {
			l.back()
			return false, nil
		}
	}
	l.back()
	return true, nil
}

// rounding returns the error of value v of output i.
func (l *line) rounding(i int, v float64) float64 {
	r := l.s.factor * epsilon * math.Abs(v)
	if l.noise != nil {
		r = max(r, l.noise[i])
	}
	return max(r, l.floor[i], math.SmallestNonzeroFloat64)
}

// quotient returns the derivative of output i by the coefficients c, which are those of g or of a neighbouring point,
// and its rounding error, from l.values.
func (l *line) quotient(g *formula, c []float64, i int, h float64) (d, rounding float64) {
	m := len(l.y0)
	y := l.y0[i]
	slope, blur := 0.0, 0.0
	for k, ck := range c {
		v := l.values[k*m+i]
		// The coefficients have the sum 0, so that y can be subtracted: the terms are small then.
		d += float64(ck * (v - y))
		rounding += math.Abs(ck) * l.rounding(i, v)
		t := g.grid[k] * h
		if t == 0 {
			continue
		}
		slope = max(slope, math.Abs((v-y)/t))
		if l.v == nil {
			blur += math.Abs(ck) * math.Abs(l.x[l.j]+t-l.x[l.j]-t)
		} else {
			blur += math.Abs(ck) * l.blur
		}
	}
	rounding += blur * slope
	for range g.order {
		d /= h
		rounding /= h
	}
	return d, rounding
}

// shorten returns a step for a line on which a step of h led outside of the domain: half of the way to 0, where many
// domains end, and otherwise an eighth.
func (l *line) shorten(g *formula, h float64) float64 {
	next := h / 8
	if l.v == nil {
		if c := math.Abs(l.x[l.j]) / (2 * g.reach); c < next && c > 0 {
			next = c
		}
	}
	return l.rounded(g, next)
}

// rounded returns h with three significant bits, and as a multiple of the distance between neighbouring float64 where
// that is possible, so that nodes and halved steps are exact. It is not larger than h.
func (l *line) rounded(g *formula, h float64) float64 {
	f, e := math.Frexp(h)
	h = math.Ldexp(math.Floor(f*8)/8, e)
	if l.v != nil {
		return h
	}
	a := math.Abs(l.x[l.j]) + g.reach*h
	if ulp := math.Nextafter(a, math.Inf(1)) - a; h < 8*ulp {
		h = math.Floor(h/ulp) * ulp
	}
	return h
}

// fit returns h, or the largest step at which the nodes of g are within the limits.
func (l *line) fit(g *formula, h float64) float64 {
	back, ahead := l.room()
	before := h
	for _, node := range g.grid {
		switch {
		case node > 0 && node*h > ahead:
			h = ahead / node
		case node < 0 && -node*h > back:
			h = back / -node
		}
	}
	l.limited = l.limited || l.s.bounded && h < before
	return l.rounded(g, h)
}

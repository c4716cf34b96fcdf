// Package check compares derivatives of a function with difference quotients: directional derivatives, products of
// weights with the Jacobian, and second derivatives as differences of such products. Quotients are central and
// extrapolated to step 0 after Richardson, in the form of Ridders, Advances in Engineering Software 4 (1982), which
// also estimates their error. The function has to be smooth near the points.
package check

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A Case is a function with its derivatives as functions of vectors.
type Case struct {
	Name string
	At   [][]float64 // points
	// Tolerance is the relative error that is allowed; 0 stands for 1e-6.
	Tolerance float64
	F         func(x []float64) []float64
	// Tangent returns the value and the derivative along d.
	Tangent func(x, d []float64) (y, dy []float64)
	// Adjoint returns the value and the product of the weights w with the Jacobian.
	Adjoint func(x, w []float64) (y, bar []float64)
	// Second returns the product of w with the Jacobian, and its derivative along d.
	Second func(x, w, d []float64) (bar, dbar []float64)
}

// A Result is the outcome for one function.
type Result struct {
	Name    string
	Wrong   string  // the first disagreement, with its kind
	Unclear string  // why the differences say nothing
	Error   float64 // largest relative error
	largest float64 // derivative
}

// most is the number of inputs up to which each of them is a direction.
const most = 12

// Run compares the derivatives of c at all its points.
func Run(c *Case) (r Result) {
	r.Name = c.Name
	tol := c.Tolerance
	if tol == 0 {
		tol = 1e-6
	}
	for _, x := range c.At {
		if !one(c, x, tol, &r) {
			return r
		}
	}
	if r.largest == 0 {
		r.Unclear = "all first derivatives are zero, which differences of a constant would confirm"
	}
	return r
}

// one compares the derivatives at x and reports whether they agree.
func one(c *Case, x []float64, tol float64, r *Result) bool {
	rng := rand.New(rand.NewPCG(1, uint64(len(x))))
	y, panicked := value(c.F, x)
	if panicked != nil {
		r.Unclear = fmt.Sprintf("the function panics at %v: %v", x, panicked)
		return false
	}
	if !finite(y) {
		r.Unclear = fmt.Sprintf("the value at %v is %v", x, y)
		return false
	}
	w := make([]float64, len(y))
	for i := range w {
		w[i] = 0.5 + rng.Float64()
	}
	yr, bar, failed := adjoint(c, x, w)
	if failed != nil {
		r.Wrong = fmt.Sprintf("reverse: panics at %v: %v", x, failed)
		return false
	}
	if !r.same("value in reverse", yr, y, 1e-12) || !finite(bar) && r.different("reverse", bar, nil) {
		return false
	}
	scaleBar := largest(bar)
	r.largest = max(r.largest, scaleBar)
	gradient := func(x []float64) []float64 {
		_, b := c.Adjoint(x, clone(w))
		return b
	}
	for _, d := range directions(len(x), rng) {
		yt, dy, failed := pair(func() ([]float64, []float64) { return c.Tangent(clone(x), clone(d)) })
		if failed != nil {
			r.Wrong = fmt.Sprintf("forward: panics at %v: %v", x, failed)
			return false
		}
		if !r.same("value forward", yt, y, 1e-12) {
			return false
		}
		if !r.compare("forward", dy, c.F, x, d, tol, 1e-3*scaleBar) {
			return false
		}
		sum, weighted := 0.0, 0.0
		for i := range d {
			sum += bar[i] * d[i]
		}
		for i := range w {
			weighted += w[i] * dy[i]
		}
		if !(math.Abs(sum-weighted) <= 1e-9*max(math.Abs(sum), scaleBar, largest(dy))) {
			r.Wrong = fmt.Sprintf("reverse: the product along %v is %.10g, and %.10g forward", d, sum, weighted)
			return false
		}
		b2, db, failed := pair(func() ([]float64, []float64) { return c.Second(clone(x), clone(w), clone(d)) })
		if failed != nil {
			r.Wrong = fmt.Sprintf("second order: panics at %v: %v", x, failed)
			return false
		}
		if !r.same("gradient at second order", b2, bar, 1e-10) {
			return false
		}
		if !r.compare("second order", db, gradient, x, d, tol, 1e-3*scaleBar) {
			return false
		}
	}
	return true
}

// directions returns the unit vectors, or random directions if there are many inputs.
func directions(n int, rng *rand.Rand) (list [][]float64) {
	for i := range min(n, most) {
		d := make([]float64, n)
		if n <= most {
			d[i] = 1
		} else {
			for j := range d {
				d[j] = rng.NormFloat64()
			}
		}
		list = append(list, d)
	}
	return list
}

func adjoint(c *Case, x, w []float64) (y, bar []float64, panicked any) {
	return pair(func() ([]float64, []float64) { return c.Adjoint(clone(x), clone(w)) })
}

// pair calls f and returns the value of a panic.
func pair(f func() ([]float64, []float64)) (a, b []float64, panicked any) {
	defer func() { panicked = recover() }()
	a, b = f()
	return a, b, nil
}

func value(f func([]float64) []float64, x []float64) (y []float64, panicked any) {
	y, _, panicked = pair(func() ([]float64, []float64) { return f(clone(x)), nil })
	return y, panicked
}

// quotient returns the derivative of f along d by extrapolated central differences with decreasing steps, the first
// relative to the point, and estimates of the errors. It returns nil if f is not defined near x.
func quotient(f func([]float64) []float64, x, d []float64, step float64) (best, errs []float64) {
	const levels, ratio = 12, 1.7
	size := 0.0
	for i := range d {
		if d[i] != 0 {
			size = max(size, math.Abs(x[i]))
		}
	}
	h := step * max(size, 0.02) / largest(d)
	var rows [][][]float64 // level, extrapolation, component
	at := func(h float64) []float64 {
		p := clone(x)
		for i := range p {
			p[i] += h * d[i]
		}
		y, panicked := value(f, p)
		if panicked != nil || !finite(y) {
			return nil
		}
		return y
	}
	for range levels {
		plus, minus := at(h), at(-h)
		if plus == nil || minus == nil || len(plus) != len(minus) || best != nil && len(best) != len(plus) {
			rows, best, errs = nil, nil, nil
			h /= ratio
			continue
		}
		n := len(plus)
		if best == nil {
			best, errs = make([]float64, n), make([]float64, n)
			for i := range errs {
				errs[i] = math.Inf(1)
			}
		}
		first := make([]float64, n)
		for i := range first {
			first[i] = (plus[i] - minus[i]) / (2 * h)
		}
		row := [][]float64{first}
		if k := len(rows); k > 0 {
			last := rows[k-1]
			factor := ratio * ratio
			for j := range last {
				next := make([]float64, n)
				for i := range next {
					next[i] = (row[j][i]*factor - last[j][i]) / (factor - 1)
					e := max(math.Abs(next[i]-row[j][i]), math.Abs(next[i]-last[j][i]))
					if e < errs[i] {
						errs[i], best[i] = e, next[i]
					}
				}
				factor *= ratio * ratio
				row = append(row, next)
			}
		}
		rows = append(rows, row)
		h /= ratio
	}
	if len(rows) < 3 {
		return nil, nil
	}
	return best, errs
}

// steps are the first steps of the quotients, relative to the point. Functions with many branches are smooth only in
// small neighbourhoods.
var steps = []float64{0.05, 1e-3, 3e-5, 1e-6}

// compare reports whether got is the derivative of f at x along d, for one of the steps. Small components are compared
// relative to the largest one and to scale, so that the rounding error of a derivative that is zero by cancellation is
// none relative to the others.
func (r *Result) compare(kind string, got []float64, f func([]float64) []float64, x, d []float64,
	tol, scale float64) bool {
	problem, disagree := "", false
	for _, step := range steps {
		want, errs := quotient(f, x, d, step)
		if want == nil {
			if problem == "" {
				problem = fmt.Sprintf("no difference quotient at %v along %v", x, d)
			}
			continue
		}
		if len(got) != len(want) {
			return !r.different(kind, got, want)
		}
		scale := max(scale, largest(want))
		ok, most := true, 0.0
		for i := range got {
			size := max(math.Abs(want[i]), 1e-2*scale, 1e-9)
			e := math.Abs(got[i] - want[i])
			uncertain := errs[i] > 1e-3*size && errs[i] > tol*size
			if agrees := e <= tol*size+20*errs[i]; agrees && !uncertain {
				most = max(most, e/size)
				continue
			}
			ok = false
			// Quotients with an estimate that the value contradicts count, others only if there are none.
			if !uncertain && !disagree || problem == "" {
				problem = fmt.Sprintf("component %d is %.10g, by differences %.10g ± %.1g", i, got[i], want[i], errs[i])
				disagree = disagree || !uncertain
			}
			break
		}
		if ok {
			r.Error = max(r.Error, most)
			return true
		}
	}
	if disagree {
		r.Wrong = kind + ": " + problem
	} else {
		r.Unclear = kind + ": " + problem
	}
	return false
}

// same reports whether two computations of the same numbers agree.
func (r *Result) same(kind string, got, want []float64, tol float64) bool {
	if len(got) != len(want) {
		return !r.different(kind, got, want)
	}
	scale := largest(want)
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol*scale) {
			return !r.different(kind, got, want)
		}
	}
	return true
}

// different records a disagreement and returns true.
func (r *Result) different(kind string, got, want []float64) bool {
	r.Wrong = fmt.Sprintf("%s is %v", kind, got)
	if want != nil {
		r.Wrong += fmt.Sprintf(", want %v", want)
	}
	return true
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func largest(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s = max(s, math.Abs(v))
	}
	return s
}

func clone(x []float64) []float64 { return append([]float64(nil), x...) }

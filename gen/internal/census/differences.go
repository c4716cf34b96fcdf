package main

import (
	"fmt"
	"go/types"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A precision holds the steps of differences and tolerances. If the differences of several steps disagree by more than
// agreement, or the function at the point is as far from its neighbours, there is a jump, a kink or noise. closeness is
// the tolerance of derivatives, transpose that of the adjoint
// with respect to the tangent.
type precision struct {
	steps                           []float64
	agreement, closeness, transpose float64
}

var (
	// double and single are the precisions for functions of float64 and those that use float32 or complex64.
	double = precision{[]float64{1e-4, 2e-5, 4e-6}, 1e-3, 2e-5, 1e-9}
	single = precision{[]float64{3e-2, 1e-2, 3e-3}, 2e-2, 5e-3, 1e-4}
)

// precision returns the precision for the smallest float type in a function.
func (t *transformed) precision() precision {
	for _, f := range reachable(t.f) {
		for _, v := range ir.Vars(f) {
			if holdsSingle(v.Type) {
				return single
			}
		}
	}
	return double
}

// holdsSingle reports whether t is float32, complex64 or a slice or array of one.
func holdsSingle(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.Float32 || u.Kind() == types.Complex64
	case *types.Slice:
		return holdsSingle(u.Elem())
	case *types.Array:
		return holdsSingle(u.Elem())
	}
	return false
}

// differences compares the derivatives dot of the outputs at with the closest of the central differences of three
// steps.
func (c *checker) differences(x, v, at, dot []float64) (string, error) {
	var quotients, sides [][]float64
	for _, h := range c.steps {
		shifted := func(h float64) []float64 {
			y := slices.Clone(x)
			for i := range y {
				y[i] += h * v[i]
			}
			return y
		}
		up, _, _, err := c.primal(shifted(h))
		if err != nil {
			return rough, nil
		}
		down, _, _, err := c.primal(shifted(-h))
		if err != nil {
			return rough, nil
		}
		a, b := up.all(), down.all()
		if len(a) != len(dot) || len(b) != len(dot) {
			return rough, nil
		}
		c.zeroUncompared(a)
		c.zeroUncompared(b)
		if slices.Contains(finite(a), false) || slices.Contains(finite(b), false) {
			return rough, nil
		}
		side := make([]float64, len(a))
		for i := range a {
			// A function that is elsewhere on both sides jumps at x, as the sign of a singular vector does.
			if c.compared[i] && math.Abs((a[i]+b[i])/2-at[i]) > c.agreement*(1+math.Abs(at[i])) {
				return rough, nil
			}
			side[i] = (a[i] - 2*at[i] + b[i]) / h
			a[i] = (a[i] - b[i]) / (2 * h)
		}
		sides = append(sides, side)
		quotients = append(quotients, a)
	}
	size := 1.0
	for _, q := range quotients {
		for _, d := range q {
			size = max(size, math.Abs(d))
		}
	}
	var failed error
	for i := range dot {
		if !c.compared[i] {
			continue
		}
		lo, hi, best := math.Inf(1), math.Inf(-1), math.Inf(1)
		for _, q := range quotients {
			lo, hi = min(lo, q[i]), max(hi, q[i])
			best = min(best, math.Abs(q[i]-dot[i]))
		}
		// The differences to both sides disagree at a kink, for the smallest step as for the largest.
		kink, wide := math.Abs(sides[len(sides)-1][i]), math.Abs(sides[0][i])
		if !(hi-lo < c.agreement*size) || !(kink < 10*c.agreement*size) || kink > c.closeness*size && kink > wide/4 {
			return rough, nil
		}
		if !(best < max(c.closeness*size, hi-lo)) {
			failed = fmt.Errorf("derivative %d is %v, differences are %v to %v", i, dot[i], lo, hi)
		}
	}
	if failed != nil {
		return disagreed, failed
	}
	return agreed, nil
}

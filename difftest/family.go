package difftest

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// families maps the names in scenarios.json to functions with closed forms. TestClosedForms compares these with the
// numbers of the catalogue.
var families = map[string]family{
	"num_to_num":       {into: sine, outputs: oneOutput, number: nabla.Sin, exact: exactSine},
	"onevec_to_onevec": {into: sine, outputs: sameLength, exact: exactSine},
	"num_to_vec":       {into: curve, outputs: func(int) int { return 2 }, exact: exactCurve},
	"num_to_mat":       {into: curves, outputs: func(int) int { return 4 }, exact: exactCurves},

	"arr_to_num(vector)": ofScalar(powers, exactPowers),
	"arr_to_num(matrix)": ofScalar(powers, exactPowers),

	"vec_to_vec": {into: sinCos, outputs: twiceLength, exact: exactSinCos},
	"vec_to_mat": {into: sinCos, outputs: twiceLength, exact: exactSinCos},
	"mat_to_vec": {into: sinCos, outputs: twiceLength, exact: exactSinCos},
	"mat_to_mat": {into: sinCos, outputs: twiceLength, exact: exactSinCos},

	"sparse_diffsquare vec->vec":     {into: diffSquare, outputs: pairsOf, exact: exactDiffs},
	"sparse_diffsquarecube vec->mat": {into: diffSquareCube, outputs: twicePairsOf, exact: exactDiffs},
	"sparse_diffsquarecube mat->vec": {into: diffSquareCube, outputs: twicePairsOf, exact: exactDiffs},
	"sparse_diffsquarecube mat->mat": {into: diffSquareCube, outputs: twicePairsOf, exact: exactDiffs},
	"sparse_sumdiffcube vec->num":    ofScalar(sumDiffCube, exactSumDiffCube),
	"sparse_sumdiffcube mat->num":    ofScalar(sumDiffCube, exactSumDiffCube),

	"identity": {
		into:    func(y, x []nabla.Real) { y[0] = x[0] },
		outputs: oneOutput,
		scalar:  func(x []nabla.Real) nabla.Real { return x[0] },
		number:  func(x nabla.Real) nabla.Real { return x },
		exact:   exactCopy,
	},
	"sum": ofScalar(sum, func(x []float64, m int) exactResults {
		t := newExactResults(len(x), 1)
		for i, v := range x {
			t.y[0] += v
			t.jac[i] = 1
		}
		return t
	}),
	"copyto": {into: func(y, x []nabla.Real) { copy(y[:len(x)], x) }, outputs: sameLength, exact: exactCopy},
	"nothing": {into: func(y, x []nabla.Real) {}, outputs: func(int) int { return 0 },
		exact: func(x []float64, m int) exactResults { return newExactResults(len(x), 0) }},
}

// ofScalar returns the family of a function with one output.
func ofScalar(f func(x []nabla.Real) nabla.Real, exact func(x []float64, m int) exactResults) family {
	return family{into: func(y, x []nabla.Real) { y[0] = f(x) }, outputs: oneOutput, scalar: f, exact: exact}
}

// oneOutput and the following functions return the number of outputs for n inputs.
func oneOutput(int) int      { return 1 }
func sameLength(n int) int   { return n }
func twiceLength(n int) int  { return 2 * n }
func pairsOf(n int) int      { return max(0, n-1) }
func twicePairsOf(n int) int { return 2 * max(0, n-1) }

// sine computes the sine of each input.
func sine(y, x []nabla.Real) {
	for i := range x {
		y[i] = nabla.Sin(x[i])
	}
}

func exactSine(x []float64, m int) exactResults {
	t := newExactResults(len(x), m)
	for i, v := range x {
		t.y[i], t.jac[i*len(x)+i] = math.Sin(v), math.Cos(v)
		if len(x) == 1 {
			t.hess[0] = -math.Sin(v)
		}
	}
	return t
}

// curve computes sin t in the first half of y and sin 2t in the second.
func curve(y, x []nabla.Real) {
	for i := range y {
		if 2*i < len(y) {
			y[i] = nabla.Sin(x[0])
		} else {
			y[i] = nabla.Sin(x[0].Scale(2))
		}
	}
}

func exactCurve(x []float64, m int) exactResults { return sines(x, m, []float64{1, 2}) }

// curves computes the matrix with columns curve(t) and curve(3t).
func curves(y, x []nabla.Real) {
	half := len(y) / 2
	curve(y[:half], x)
	curve(y[half:], []nabla.Real{x[0].Scale(3)})
}

func exactCurves(x []float64, m int) exactResults { return sines(x, m, []float64{1, 2, 3, 6}) }

// sines returns the results of sin ct, with the first c for the first outputs and so on.
func sines(x []float64, m int, cs []float64) exactResults {
	t := newExactResults(1, m)
	for i := range m {
		c := cs[i*len(cs)/m]
		t.y[i], t.jac[i], t.hess[i] = math.Sin(c*x[0]), c*math.Cos(c*x[0]), -c*c*math.Sin(c*x[0])
	}
	return t
}

// powers computes (Σ x⁴)(Σ x⁶).
func powers(x []nabla.Real) nabla.Real {
	var four, six nabla.Real
	for _, v := range x {
		p := v.Sq().Sq()
		four, six = four.Add(p), six.Add(p.Mul(v.Sq()))
	}
	return four.Mul(six)
}

func exactPowers(x []float64, m int) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	four, six := 0.0, 0.0
	for _, v := range x {
		four += math.Pow(v, 4)
		six += math.Pow(v, 6)
	}
	t.y[0] = four * six
	for i, v := range x {
		t.jac[i] = 4*math.Pow(v, 3)*six + 6*math.Pow(v, 5)*four
		for j, w := range x {
			t.hess[i*n+j] = 24*math.Pow(v, 3)*math.Pow(w, 5) + 24*math.Pow(v, 5)*math.Pow(w, 3)
		}
		t.hess[i*n+i] += 12*v*v*six + 30*math.Pow(v, 4)*four
	}
	return t
}

// sinCos computes the sines of the inputs, followed by the cosines.
func sinCos(y, x []nabla.Real) {
	for i, v := range x {
		y[i], y[len(x)+i] = nabla.Sin(v), nabla.Cos(v)
	}
}

func exactSinCos(x []float64, m int) exactResults {
	n := len(x)
	t := newExactResults(n, m)
	for i, v := range x {
		t.y[i], t.y[n+i] = math.Sin(v), math.Cos(v)
		t.jac[i*n+i], t.jac[(n+i)*n+i] = math.Cos(v), -math.Sin(v)
	}
	return t
}

// diffSquare computes the squares of the differences of neighbours.
func diffSquare(y, x []nabla.Real) {
	for i := 1; i < len(x); i++ {
		y[i-1] = x[i].Sub(x[i-1]).Sq()
	}
}

// diffSquareCube computes the squares of the differences of neighbours, and then their cubes.
func diffSquareCube(y, x []nabla.Real) {
	diffSquare(y, x)
	for i := 1; i < len(x); i++ {
		d := x[i].Sub(x[i-1])
		y[len(x)+i-2] = d.Mul(d).Mul(d)
	}
}

// exactDiffs returns the results of diffSquare or, if m has room for them, diffSquareCube.
func exactDiffs(x []float64, m int) exactResults {
	n := len(x)
	t := newExactResults(n, m)
	t.hess = nil
	for i := range m {
		j, p := i%(n-1), float64(2+i/(n-1))
		d := x[j+1] - x[j]
		slope := p * math.Pow(d, p-1)
		t.y[i] = math.Pow(d, p)
		t.jac[i*n+j], t.jac[i*n+j+1] = -slope, slope
	}
	return t
}

// sumDiffCube computes the sum of the cubes of the differences of neighbours.
func sumDiffCube(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := 1; i < len(x); i++ {
		d := x[i].Sub(x[i-1])
		s = s.Add(d.Mul(d).Mul(d))
	}
	return s
}

func exactSumDiffCube(x []float64, m int) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	for j := range n - 1 {
		d := x[j+1] - x[j]
		t.y[0] += d * d * d
		t.jac[j] -= 3 * d * d
		t.jac[j+1] += 3 * d * d
		t.hess[j*n+j] += 6 * d
		t.hess[(j+1)*n+j+1] += 6 * d
		t.hess[j*n+j+1], t.hess[(j+1)*n+j] = -6*d, -6*d
	}
	return t
}

// sum returns the sum of the inputs.
func sum(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v)
	}
	return s
}

// exactCopy returns the results of the identity, restricted to m outputs.
func exactCopy(x []float64, m int) exactResults {
	t := newExactResults(len(x), m)
	copy(t.y, x)
	for i := range min(m, len(x)) {
		t.jac[i*len(x)+i] = 1
	}
	return t
}

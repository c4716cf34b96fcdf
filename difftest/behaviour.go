package difftest

import (
	"math"
	"math/cmplx"
	"strings"

	"github.com/nabla-ad/nabla"
)

// behaviourScenarios returns the scenarios that nabla adds to the catalogue: functions with branches, state, special
// values, nested derivatives and rules.
func behaviourScenarios() []Scenario {
	var all []Scenario
	// add appends scenarios with a function f of m outputs, at x, prepared at prep. The tangent of a product has the
	// components -2.5, -1.5, ….
	add := func(name string, f family, x, prep []float64, m int, operators ...string) {
		forms := []string{"out"}
		if m > 1 {
			forms = []string{"out", "in"}
		}
		for _, operator := range operators {
			for _, form := range forms {
				s := Scenario{
					Name: "behaviour/" + name + "/" + operator + "/" + form, Group: "behaviour",
					Operator: operator, InPlace: form == "in", YShape: Shape{Number: m == 1},
					X: x, PrepX: prep, m: m, otherBranch: strings.HasPrefix(name, "branch") || name == "loop",
				}
				n := 0
				switch operator {
				case "pushforward", "hvp":
					n = len(x)
				case "pullback":
					n = m
				}
				if n > 0 {
					t := make([]float64, n)
					for i := range t {
						t[i] = float64(i%5) - 2.5
					}
					s.Tangents = [][]float64{t}
				}
				f.complete(&s)
				all = append(all, s.withExpected())
			}
		}
	}
	first := []string{"jacobian", "pushforward", "pullback"}
	second := []string{"gradient", "hvp", "hessian"}
	both := []string{"gradient", "pushforward", "pullback", "hvp", "hessian"}

	// Prepared in one branch, called in the other.
	negative, positive := []float64{-0.3, 2}, []float64{0.5, 2}
	add("branch", branch, negative, positive, 2, first...)
	add("branch_back", branch, positive, negative, 2, first...)
	add("branch_scalar", branchScalar, negative, positive, 1, second...)
	add("branch_scalar_back", branchScalar, positive, negative, 1, second...)

	// Three iterations of a loop, prepared at a point with one.
	add("loop", loop, []float64{2, 1}, []float64{7.5, 1}, 1, both...)

	// Outputs that do not depend on the inputs.
	three, zeros := []float64{1, 2, 3}, []float64{0, 0, 0}
	add("constant_output", constantOutput, three, zeros, 2, first...)
	add("constant_scalar", constantScalar, three, zeros, 1, "gradient", "hessian")
	add("sum", families["sum"], three, zeros, 1, "hessian")

	// A function that returns its argument, one that overwrites it, and one that updates a buffer of its own in place.
	add("returns_input", returnsInput, three, zeros, 3, "jacobian", "pullback")
	add("overwrites_input", overwritesInput, three, zeros, 1, "gradient", "hvp")
	add("scratch", prefixSums, []float64{1, -2, 0.5, 3}, []float64{0, 0, 0, 0}, 4, first...)

	// A matrix whose shape the function knows, row by row.
	six, more := []float64{1, 2, -1, 0.5, 3, -2}, []float64{1, 1, 1, 1, 1, 1}
	add("matrix", gram, six, more, 4, first...)
	add("matrix_scalar", gramNorm, six, more, 1, both...)

	// Complex numbers, as pairs of numbers; the last two have the real parts of z² and the square of |z|.
	add("complex_sine", complexSine, []float64{0.42, 1, -0.5, 0.25}, []float64{1, 1, 2, -1}, 4, first...)
	add("complex_square", complexSquare, []float64{1, 1}, []float64{0.5, -2}, 1, both...)
	add("complex_abs2", complexAbs2, []float64{1, 1}, []float64{0.5, -2}, 1, both...)

	// NaN propagates.
	nan := []float64{math.NaN()}
	add("nan", cubeOfOne, nan, []float64{1}, 1, both...)

	// Nested derivatives.
	for _, s := range derivativesInside(both, first) {
		add(s.name, s.family, []float64{1.5, -0.5}, []float64{2, 1}, s.m, s.operators...)
		for i := range all {
			if all[i].Func == nil && all[i].OnBackend == nil {
				all[i].OnBackend = s.over
			}
		}
	}

	// Custom rules. Those over plain numbers have first derivatives only.
	for _, r := range []struct {
		name      string
		rule      nabla.Rule
		operators []string
	}{
		{"rule_jvp", nabla.Rule{JVP: ruleJVP}, both[:3]},
		{"rule_vjp", nabla.Rule{VJP: ruleVJP}, both[:3]},
		{"rule_jvp_real", nabla.Rule{JVPReal: ruleJVPReal}, both},
		{"rule_vjp_real", nabla.Rule{VJPReal: ruleVJPReal}, both},
	} {
		r.rule.Name, r.rule.Value = r.name, ruleValue
		add(r.name, withRule(r.rule), []float64{1.5, 0.75}, []float64{1, 1}, 1, r.operators...)
	}

	// Sizes that are no multiple of a chunk size.
	const n, m = 23, 29
	x := make([]float64, n)
	for j := range x {
		x[j] = 0.1*float64(j%7) - 0.25
	}
	add("wide", wide, x, make([]float64, n), m, first...)
	add("wide_scalar", wideScalar, x, make([]float64, n), 1, second...)
	return append(all, append(structScenarios(), largeScenarios()...)...)
}

// branch computes (x0², x0·x1) for negative x0, (3·x1, x0) otherwise.
var branch = family{
	outputs: func(int) int { return 2 },
	into: func(y, x []nabla.Real) {
		if x[0].Less(nabla.Const(0)) {
			y[0], y[1] = x[0].Sq(), x[0].Mul(x[1])
		} else {
			y[0], y[1] = x[1].Scale(3), x[0]
		}
	},
	exact: func(x []float64, m int) exactResults {
		n := len(x)
		t := newExactResults(n, m)
		if x[0] < 0 {
			t.y[0], t.y[1] = x[0]*x[0], x[0]*x[1]
			t.jac[0], t.jac[n], t.jac[n+1] = 2*x[0], x[1], x[0]
		} else {
			t.y[0], t.y[1] = 3*x[1], x[0]
			t.jac[1], t.jac[n] = 3, 1
		}
		return t
	},
}

// branchScalar computes x0³·x1 for negative x0, x0·x1² otherwise.
var branchScalar = ofScalar(func(x []nabla.Real) nabla.Real {
	if x[0].Less(nabla.Const(0)) {
		return x[0].Mul(x[0].Sq()).Mul(x[1])
	}
	return x[0].Mul(x[1].Sq())
}, func(x []float64, _ int) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	a, b := x[0], x[1]
	if a < 0 {
		t.set2(a*a*a*b, 3*a*a*b, a*a*a, 6*a*b, 3*a*a, 0)
	} else {
		t.set2(a*b*b, b*b, 2*a*b, 0, 2*b, 2*a)
	}
	return t
})

// set2 sets the value, first and second derivatives of a function of the first two inputs a and b.
func (t exactResults) set2(y, ya, yb, yaa, yab, ybb float64) {
	n := len(t.jac)
	t.y[0], t.jac[0], t.jac[1] = y, ya, yb
	t.hess[0], t.hess[1], t.hess[n], t.hess[n+1] = yaa, yab, yab, ybb
}

// loop iterates v ← v² + x1 from v = x0 until v is at least 50, at most 20 times.
var loop = ofScalar(func(x []nabla.Real) nabla.Real {
	v := x[0]
	for k := 0; k < 20 && v.Less(nabla.Const(50)); k++ {
		v = v.Sq().Add(x[1])
	}
	return v
}, func(x []float64, _ int) exactResults {
	t := newExactResults(len(x), 1)
	// The value with its derivatives with respect to a = x0 and b = x1: (v²+b)ₐ = 2v·vₐ and so on.
	v, va, vb, vaa, vab, vbb := x[0], 1.0, 0.0, 0.0, 0.0, 0.0
	for k := 0; k < 20 && v < 50; k++ {
		vaa, vab, vbb = 2*(va*va+v*vaa), 2*(va*vb+v*vab), 2*(vb*vb+v*vbb)
		va, vb = 2*v*va, 2*v*vb+1
		v = v*v + x[1]
	}
	t.set2(v, va, vb, vaa, vab, vbb)
	return t
})

// constantOutput has an output that does not depend on the inputs.
var constantOutput = family{
	outputs: func(int) int { return 2 },
	into:    func(y, x []nabla.Real) { y[0], y[1] = nabla.Const(4), x[1] },
	exact: func(x []float64, m int) exactResults {
		t := newExactResults(len(x), m)
		t.y[0], t.y[1], t.jac[len(x)+1] = 4, x[1], 1
		return t
	},
}

// constantScalar does not depend on its inputs.
var constantScalar = ofScalar(func(x []nabla.Real) nabla.Real { return nabla.Const(4) },
	func(x []float64, _ int) exactResults {
		t := newExactResults(len(x), 1)
		t.y[0] = 4
		return t
	})

// returnsInput returns its argument slice itself.
var returnsInput = family{
	into: func(y, x []nabla.Real) { copy(y[:len(x)], x) }, outputs: sameLength,
	vector: func(x []nabla.Real) []nabla.Real { return x },
	exact:  exactCopy,
}

// overwritesInput computes Σ (2x)².
var overwritesInput = ofScalar(func(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := range x {
		x[i] = x[i].Scale(2)
		s = s.Add(x[i].Sq())
	}
	return s
}, func(x []float64, _ int) exactResults { return weightedSquares(x, func(int) float64 { return 4 }) })

// weightedSquares returns the results of Σ c(i)·x².
func weightedSquares(x []float64, c func(i int) float64) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	for i, v := range x {
		t.y[0] += c(i) * v * v
		t.jac[i], t.hess[i*n+i] = 2*c(i)*v, 2*c(i)
	}
	return t
}

// prefixSums computes the squares of the prefix sums of the prefix sums.
var prefixSums = family{
	outputs: sameLength,
	into: func(y, x []nabla.Real) {
		buf := make([]nabla.Real, len(x))
		copy(buf, x)
		for range 2 {
			for i := 1; i < len(buf); i++ {
				buf[i] = buf[i].Add(buf[i-1])
			}
		}
		for i, v := range buf {
			buf[i] = nabla.Const(0) // so that y would be wrong if it were a view of buf
			y[i] = v.Sq()
		}
	},
	exact: func(x []float64, m int) exactResults {
		n := len(x)
		t := newExactResults(n, m)
		t.hess = nil
		for i := range m {
			z := 0.0
			for j := range i + 1 {
				z += float64(i-j+1) * x[j]
			}
			t.y[i] = z * z
			for j := range i + 1 {
				t.jac[i*n+j] = 2 * z * float64(i-j+1)
			}
		}
		return t
	},
}

// gram computes XᵀX for a matrix X of two columns; both are stored row by row.
var gram = family{
	outputs: func(int) int { return 4 },
	into: func(y, x []nabla.Real) {
		for a := range 2 {
			for b := range 2 {
				var s nabla.Real
				for i := range len(x) / 2 {
					s = s.Add(x[2*i+a].Mul(x[2*i+b]))
				}
				y[2*a+b] = s
			}
		}
	},
	exact: exactGram,
}

// exactGram returns the value and the Jacobian of gram.
func exactGram(x []float64, m int) exactResults {
	n := len(x)
	t := newExactResults(n, m)
	for a := range 2 {
		for b := range 2 {
			row := t.jac[(2*a+b)*n:][:n]
			for i := range n / 2 {
				t.y[2*a+b] += x[2*i+a] * x[2*i+b]
				row[2*i+a] += x[2*i+b]
				row[2*i+b] += x[2*i+a]
			}
		}
	}
	return t
}

// gramNorm computes ‖XᵀX‖², the sum of the squares of the elements.
var gramNorm = ofScalar(func(x []nabla.Real) nabla.Real {
	var y [4]nabla.Real
	gram.into(y[:], x)
	return nabla.Dot(y[:], y[:])
}, func(x []float64, _ int) exactResults {
	n := len(x)
	g, t := exactGram(x, 4), newExactResults(n, 1)
	for k, v := range g.y {
		row := g.jac[k*n:][:n]
		t.y[0] += v * v
		for i := range n {
			t.jac[i] += 2 * v * row[i]
			for j := range n {
				t.hess[i*n+j] += 2 * row[i] * row[j]
			}
		}
		for i := range n / 2 {
			t.hess[(2*i+k/2)*n+2*i+k%2] += 2 * v
			t.hess[(2*i+k%2)*n+2*i+k/2] += 2 * v
		}
	}
	return t
})

// complexSine computes the sine of each complex number, whose parts are two successive inputs. A column of the Jacobian
// of a holomorphic function has the parts of its derivative, and the next one those of the derivative times i. Further
// outputs are 0.
var complexSine = family{
	outputs: func(n int) int { return n / 2 * 2 },
	into: func(y, x []nabla.Real) {
		clear(y)
		for i, z := range complexNumbers(x[:min(len(x), len(y))]) {
			w := z.Sin()
			y[2*i], y[2*i+1] = w.Re, w.Im
		}
	},
	exact: func(x []float64, m int) exactResults {
		n := len(x)
		t := newExactResults(n, m)
		for i := 0; i+1 < min(m, n); i += 2 {
			z := complex(x[i], x[i+1])
			w, d := cmplx.Sin(z), cmplx.Cos(z)
			t.y[i], t.y[i+1] = real(w), imag(w)
			t.jac[i*n+i], t.jac[i*n+i+1] = real(d), -imag(d)
			t.jac[(i+1)*n+i], t.jac[(i+1)*n+i+1] = imag(d), real(d)
		}
		return t
	},
}

// complexNumbers returns the complex numbers whose parts are successive numbers.
func complexNumbers(x []nabla.Real) []nabla.Complex {
	out := make([]nabla.Complex, len(x)/2)
	for i := range out {
		out[i] = nabla.Complex{Re: x[2*i], Im: x[2*i+1]}
	}
	return out
}

// complexSquare computes the real part of Σ z². Its gradient is the conjugate of 2z.
var complexSquare = ofScalar(func(x []nabla.Real) nabla.Real {
	var sum nabla.Complex
	for _, z := range complexNumbers(x) {
		sum = sum.Add(z.Sq())
	}
	return sum.Re
}, func(x []float64, _ int) exactResults { return exactSquares(x, -1) })

// complexAbs2 computes Σ |z|². Its gradient is 2z.
var complexAbs2 = ofScalar(func(x []nabla.Real) nabla.Real {
	var sum nabla.Real
	for _, z := range complexNumbers(x) {
		sum = sum.Add(z.Mul(z.Conj()).Re)
	}
	return sum
}, func(x []float64, _ int) exactResults { return exactSquares(x, 1) })

// exactSquares returns the results of the sum of the squares of the real parts, and sign times those of the imaginary
// ones.
func exactSquares(x []float64, sign float64) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	for i := range n / 2 * 2 {
		c := 1.0
		if i%2 == 1 {
			c = sign
		}
		t.y[0] += c * x[i] * x[i]
		t.jac[i], t.hess[i*n+i] = 2*c*x[i], 2*c
	}
	return t
}

// cubeOfOne computes x³ of one number.
var cubeOfOne = ofScalar(func(x []nabla.Real) nabla.Real {
	return x[0].Mul(x[0]).Mul(x[0])
}, func(x []float64, _ int) exactResults {
	t := newExactResults(len(x), 1)
	v := x[0]
	t.y[0], t.jac[0], t.hess[0] = v*v*v, 3*v*v, 6*v
	return t
})

// wide computes c·x² plus the next input for each output, with c = 1, 2, …; it has more outputs than inputs.
var wide = family{
	outputs: func(int) int { return 29 },
	into: func(y, x []nabla.Real) {
		for i := range y {
			y[i] = x[i%len(x)].Sq().Scale(float64(i + 1)).Add(x[(i+1)%len(x)])
		}
	},
	exact: func(x []float64, m int) exactResults {
		n := len(x)
		t := newExactResults(n, m)
		for i := range m {
			a, b, c := i%n, (i+1)%n, float64(i+1)
			t.y[i] = c*x[a]*x[a] + x[b]
			t.jac[i*n+a] += 2 * c * x[a]
			t.jac[i*n+b]++
		}
		return t
	},
}

// wideScalar computes Σ (i+1)·x².
var wideScalar = ofScalar(func(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i, v := range x {
		s = s.Add(v.Sq().Scale(float64(i + 1)))
	}
	return s
}, func(x []float64, _ int) exactResults {
	return weightedSquares(x, func(i int) float64 { return float64(i + 1) })
})

// largeSize is the number of inputs of the scenarios with many inputs.
const largeSize = 10_000

// largeScenarios returns scenarios on Σ x[i]²·x[i+1] of largeSize inputs, for the operators that take one sweep.
func largeScenarios() []Scenario {
	f := func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for i := range len(x) - 1 {
			s = s.Add(x[i].Sq().Mul(x[i+1]))
		}
		return s
	}
	at := func(operator string) func(x, t []float64) Results {
		return func(x, t []float64) Results {
			n := len(x)
			y, g, h := 0.0, make([]float64, n), make([]float64, n)
			for i := range n - 1 {
				a, b := x[i], x[i+1]
				y += a * a * b
				g[i] += 2 * a * b
				g[i+1] += a * a
				if operator == "hvp" {
					h[i] += 2*b*t[i] + 2*a*t[i+1]
					h[i+1] += 2 * a * t[i]
				}
			}
			r := Results{Value: []float64{y}, First: g}
			switch operator {
			case "pushforward":
				r.First = []float64{0}
				for i, v := range g {
					r.First[0] += v * t[i]
				}
			case "pullback":
				r.First = scaled(t[0], g)
			case "hvp":
				r.Second = h
			}
			return r
		}
	}
	x, t := make([]float64, largeSize), make([]float64, largeSize)
	for i := range x {
		x[i], t[i] = 1+float64(i%17)/16, float64(i%5)-1.5
	}
	var all []Scenario
	for _, operator := range []string{"gradient", "pushforward", "pullback", "hvp"} {
		s := Scenario{
			Name: "behaviour/large/" + operator + "/out", Group: "behaviour", Operator: operator, light: true,
			Func: func(y, x []nabla.Real) { y[0] = f(x) }, Outputs: oneOutput, YShape: Shape{Number: true},
			X: x, m: 1, At: at(operator),
		}
		switch operator {
		case "pushforward", "hvp":
			s.Tangents = [][]float64{t}
		case "pullback":
			s.Tangents = [][]float64{{-1.5}}
		}
		all = append(all, s.withExpected())
	}
	return all
}

package difftest

import "github.com/nabla-ad/nabla"

// Scenarios with bound structs.

// affine holds the parameters of a function of a struct, in the two instances that nabla.Struct takes.
type affine[T any] struct {
	Weights []T
	Bias    T
	Times   int
}

// gain is the struct bound to functions of an affine.
type gain[T any] struct{ K T }

// structGain is the number in it.
const structGain = 0.5

// structScenarios returns scenarios on k·b·Σw² of a struct with three numbers and an int, and on the same times a
// number of a bound struct.
func structScenarios() []Scenario {
	var all []Scenario
	for _, bound := range []bool{false, true} {
		name, factor := "behaviour/struct/", 1.0
		if bound {
			name, factor = "behaviour/struct_bound/", structGain
		}
		exact := func(x []float64, _ int) exactResults {
			n := len(x)
			t := newExactResults(n, 1)
			k, b := 3*factor, x[n-1]
			for i, w := range x[:n-1] {
				t.y[0] += k * b * w * w
				t.jac[i] = 2 * k * b * w
				t.jac[n-1] += k * w * w
				t.hess[i*n+i] = 2 * k * b
				t.hess[i*n+n-1], t.hess[(n-1)*n+i] = 2*k*w, 2*k*w
			}
			return t
		}
		for _, operator := range []string{"pullback", "gradient", "hvp", "hessian"} {
			s := Scenario{
				Name: name + operator + "/out", Group: "behaviour", Operator: operator,
				YShape: Shape{Number: true}, X: []float64{1.5, -2, 0.5}, PrepX: []float64{1, 1, 1}, m: 1,
			}
			switch operator {
			case "hvp":
				s.Tangents = [][]float64{{1, -1, 2}}
			case "pullback":
				s.Tangents = [][]float64{{-2}}
			}
			family{exact: exact, outputs: oneOutput}.complete(&s)
			s.Form, s.Outputs = func(plain bool) any { return structForm(plain, bound) }, nil
			all = append(all, s.withExpected())
		}
	}
	return all
}

// structForm returns the function of structScenarios over plain numbers or over Reals, with a bound struct or without.
func structForm(plain, bound bool) *nabla.Func {
	s := &affine[float64]{Weights: make([]float64, 2), Times: 3}
	var f *nabla.Func
	var err error
	switch {
	case plain && bound:
		f, _, err = nabla.BindStructPlain(func(a *affine[float64], g *gain[float64]) float64 {
			return g.K * affineSum(a)
		}, s, &gain[float64]{structGain})
	case plain:
		f, _, err = nabla.StructPlain(affineSum, s)
	case bound:
		f, _, err = nabla.BindStruct(func(a *affine[nabla.Real], g *gain[nabla.Real]) nabla.Real {
			return affineReal(a).Mul(g.K)
		}, s, &gain[nabla.Real]{nabla.Const(structGain)})
	default:
		f, _, err = nabla.Struct(affineReal, s)
	}
	if err != nil {
		panic(err) // a mistake in this file
	}
	return f
}

func affineSum(a *affine[float64]) float64 {
	y := 0.0
	for _, w := range a.Weights {
		y += w * w
	}
	return y * a.Bias * float64(a.Times)
}

func affineReal(a *affine[nabla.Real]) nabla.Real {
	return nabla.Dot(a.Weights, a.Weights).Mul(a.Bias).Scale(float64(a.Times))
}

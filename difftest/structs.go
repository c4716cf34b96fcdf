package difftest

import "github.com/nabla-ad/nabla"

// Scenarios with bound structs.

// affine holds the parameters of a function of a struct, in the two instances that nabla.Struct takes.
type affine[T any] struct {
	Weights []T
	Bias    T
	Times   int
}

// structScenarios returns scenarios on k·b·Σw² of a struct with three numbers and an int.
func structScenarios() []Scenario {
	exact := func(x []float64, _ int) exactResults {
		n := len(x)
		t := newExactResults(n, 1)
		k, b := 3.0, x[n-1]
		for i, w := range x[:n-1] {
			t.y[0] += k * b * w * w
			t.jac[i] = 2 * k * b * w
			t.jac[n-1] += k * w * w
			t.hess[i*n+i] = 2 * k * b
			t.hess[i*n+n-1], t.hess[(n-1)*n+i] = 2*k*w, 2*k*w
		}
		return t
	}
	form := func(plain bool) any {
		s := &affine[float64]{Weights: make([]float64, 2), Times: 3}
		var f *nabla.Func
		var err error
		if plain {
			f, _, err = nabla.StructPlain(func(a *affine[float64]) float64 {
				y := 0.0
				for _, w := range a.Weights {
					y += w * w
				}
				return y * a.Bias * float64(a.Times)
			}, s)
		} else {
			f, _, err = nabla.Struct(func(a *affine[nabla.Real]) nabla.Real {
				return nabla.Dot(a.Weights, a.Weights).Mul(a.Bias).Scale(float64(a.Times))
			}, s)
		}
		if err != nil {
			panic(err) // a mistake in this file
		}
		return f
	}
	var all []Scenario
	for _, operator := range []string{"gradient", "hvp", "hessian"} {
		s := Scenario{
			Name: "behaviour/struct/" + operator + "/out", Group: "behaviour", Operator: operator,
			YShape: Shape{Number: true}, X: []float64{1.5, -2, 0.5}, PrepX: []float64{1, 1, 1}, m: 1,
		}
		if operator == "hvp" {
			s.Tangents = [][]float64{{1, -1, 2}}
		}
		family{exact: exact, outputs: oneOutput}.complete(&s)
		s.Form, s.Outputs = form, nil
		all = append(all, s.withExpected())
	}
	return all
}

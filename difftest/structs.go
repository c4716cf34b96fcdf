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

// A structCase is a set of scenarios on a function of a struct: k·b·Σw² or, of a function with several outputs, k·b·w²
// for each w, of an affine with the weights w, the bias b and k times, maybe times the number of a bound struct.
type structCase struct {
	name      string
	bound     bool
	several   bool
	operators []string
	form      func(plain bool, s *affine[float64]) (*nabla.Func, error)
}

var (
	oneOfStruct     = []string{"pullback", "gradient", "hvp", "hessian"}
	severalOfStruct = []string{"pushforward", "pullback", "jacobian"}
)

var structCases = []structCase{
	{"struct", false, false, oneOfStruct, func(plain bool, s *affine[float64]) (*nabla.Func, error) {
		if plain {
			return funcOf(nabla.StructPlain(affineSum, s))
		}
		return funcOf(nabla.Struct(affineReal, s))
	}},
	{"struct_bound", true, false, oneOfStruct, func(plain bool, s *affine[float64]) (*nabla.Func, error) {
		if plain {
			return funcOf(nabla.BindStructPlain(func(a *affine[float64], g *gain[float64]) float64 {
				return g.K * affineSum(a)
			}, s, &gain[float64]{structGain}))
		}
		return funcOf(nabla.BindStruct(func(a *affine[nabla.Real], g *gain[nabla.Real]) nabla.Real {
			return affineReal(a).Mul(g.K)
		}, s, &gain[nabla.Real]{nabla.Const(structGain)}))
	}},
	{"struct_outputs", false, true, severalOfStruct, func(plain bool, s *affine[float64]) (*nabla.Func, error) {
		if plain {
			return funcOf(nabla.StructPlain(func(a *affine[float64]) []float64 {
				y := make([]float64, len(a.Weights))
				affineSquares(y, a)
				return y
			}, s))
		}
		return funcOf(nabla.Struct(func(a *affine[nabla.Real]) []nabla.Real {
			y := make([]nabla.Real, len(a.Weights))
			affineSquaresReal(y, a)
			return y
		}, s))
	}},
	{"struct_in_place", false, true, severalOfStruct, func(plain bool, s *affine[float64]) (*nabla.Func, error) {
		if plain {
			return funcOf(nabla.StructInPlace(len(s.Weights), affineSquares, s))
		}
		return funcOf(nabla.StructInPlace(len(s.Weights), affineSquaresReal, s))
	}},
	{"struct_bound_in_place", true, true, severalOfStruct, func(plain bool, s *affine[float64]) (*nabla.Func, error) {
		if plain {
			return funcOf(nabla.BindStructInPlaceWithError(len(s.Weights),
				func(y []float64, a *affine[float64], g *gain[float64]) error {
					affineSquares(y, a)
					for i := range y {
						y[i] *= g.K
					}
					return nil
				}, s, &gain[float64]{structGain}))
		}
		return funcOf(nabla.BindStructInPlace(len(s.Weights),
			func(y []nabla.Real, a *affine[nabla.Real], g *gain[nabla.Real]) {
				affineSquaresReal(y, a)
				for i := range y {
					y[i] = y[i].Mul(g.K)
				}
			}, s, &gain[nabla.Real]{nabla.Const(structGain)}))
	}},
}

// funcOf returns the function that a wrapper has returned, without its layout.
func funcOf(f *nabla.Func, _ *nabla.Layout[affine[float64]], err error) (*nabla.Func, error) {
	return f, err
}

// structScenarios returns the scenarios of structCases. Those with several outputs have six numbers and five outputs,
// more than a sweep in vector mode takes.
func structScenarios() []Scenario {
	var all []Scenario
	for _, c := range structCases {
		x, m, exact, outputs := []float64{1.5, -2, 0.5}, 1, exactAffineSum, oneOutput
		if c.several {
			x, m = []float64{1.5, -2, 0.25, 1, -0.5, 0.5}, 5
			exact, outputs = exactAffineSquares, func(n int) int { return n - 1 }
		}
		factor := 3.0
		if c.bound {
			factor *= structGain
		}
		for _, operator := range c.operators {
			s := Scenario{
				Name: "behaviour/" + c.name + "/" + operator + "/out", Group: "behaviour", Operator: operator,
				YShape: Shape{Number: m == 1}, X: x, PrepX: make([]float64, len(x)), m: m,
			}
			for i := range s.PrepX {
				s.PrepX[i] = 1
			}
			switch operator {
			case "hvp", "pushforward":
				s.Tangents = append(s.Tangents, []float64{1, -1, 2, 0.5, -3, 1.5}[:len(x):len(x)])
			case "pullback":
				s.Tangents = append(s.Tangents, []float64{-2, 1, 0.5, 3, -1}[:m:m])
			}
			at := func(x []float64, _ int) exactResults { return exact(x, factor) }
			family{exact: at, outputs: outputs}.complete(&s)
			s.Form, s.Outputs = func(plain bool) any {
				f, err := c.form(plain, &affine[float64]{Weights: make([]float64, len(x)-1), Times: 3})
				if err != nil {
					panic(err) // a mistake in this file
				}
				return f
			}, nil
			all = append(all, s.withExpected())
		}
	}
	return all
}

// exactAffineSum returns the results of k·b·Σw².
func exactAffineSum(x []float64, k float64) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	b := x[n-1]
	for i, w := range x[:n-1] {
		t.y[0] += k * b * w * w
		t.jac[i] = 2 * k * b * w
		t.jac[n-1] += k * w * w
		t.hess[i*n+i] = 2 * k * b
		t.hess[i*n+n-1], t.hess[(n-1)*n+i] = 2*k*w, 2*k*w
	}
	return t
}

// exactAffineSquares returns the results of k·b·w² for each w.
func exactAffineSquares(x []float64, k float64) exactResults {
	n := len(x)
	t := newExactResults(n, n-1)
	b := x[n-1]
	for i, w := range x[:n-1] {
		t.y[i], t.jac[i*n+i], t.jac[i*n+n-1] = k*b*w*w, 2*k*b*w, k*w*w
	}
	return t
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

func affineSquares(y []float64, a *affine[float64]) {
	for i, w := range a.Weights {
		y[i] = w * w * a.Bias * float64(a.Times)
	}
}

func affineSquaresReal(y []nabla.Real, a *affine[nabla.Real]) {
	for i, w := range a.Weights {
		y[i] = w.Sq().Mul(a.Bias).Scale(float64(a.Times))
	}
}

package difftest

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/internal/banded"
)

// bandedSize is the number of inputs of the scenarios with a banded matrix.
const bandedSize = banded.Size

// A bandedMatrix is an upper triangular matrix as a list of diagonals, from the main one on.
type bandedMatrix struct{ diagonals [][]float64 }

// width returns the number of nonzero entries in row i of the matrix for n inputs. They begin in column i.
func (m bandedMatrix) width(i, n int) int { return min(len(m.diagonals), n-i) }

// at returns the entry in row i and column i+k. Entries that a larger size than bandedSize adds are 1.
func (m bandedMatrix) at(i, k int) float64 {
	if d := m.diagonals[k]; i < len(d) {
		return d[i]
	}
	return 1
}

// linear computes y = A·x², with element-wise squares.
func (m bandedMatrix) linear(y, x []nabla.Real) {
	for i := range y {
		var s nabla.Real
		for k := range m.width(i, len(x)) {
			s = s.Add(x[i+k].Sq().Scale(m.at(i, k)))
		}
		y[i] = s
	}
}

// exactLinear returns the value and the Jacobian of linear.
func (m bandedMatrix) exactLinear(x []float64, rows int) exactResults {
	n := len(x)
	t := newExactResults(n, rows)
	for i := range rows {
		for k := range m.width(i, n) {
			a, v := m.at(i, k), x[i+k]
			t.y[i] += a * v * v
			t.jac[i*n+i+k] = 2 * a * v
		}
	}
	return t
}

// quadratic computes (x²)ᵀ·A·x².
func (m bandedMatrix) quadratic(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i, v := range x {
		var r nabla.Real
		for k := range m.width(i, len(x)) {
			r = r.Add(x[i+k].Sq().Scale(m.at(i, k)))
		}
		s = s.Add(v.Sq().Mul(r))
	}
	return s
}

// exactQuadratic returns the value, gradient and Hessian of quadratic.
func (m bandedMatrix) exactQuadratic(x []float64, _ int) exactResults {
	n := len(x)
	t := newExactResults(n, 1)
	for i, v := range x {
		for k := range m.width(i, n) {
			j := i + k
			a, w := m.at(i, k), x[j]
			t.y[0] += a * v * v * w * w
			t.jac[i] += 2 * a * v * w * w
			t.jac[j] += 2 * a * v * v * w
			t.hess[i*n+i] += 2 * a * w * w
			t.hess[j*n+j] += 2 * a * v * v
			t.hess[i*n+j] += 4 * a * v * w
			t.hess[j*n+i] += 4 * a * v * w
		}
	}
	return t
}

// bandedScenarios returns the sparse scenarios with too many reference values for scenarios.json. Their expected
// results are those of the closed forms; TestBanded compares these with a sample of reference values.
func bandedScenarios() []Scenario {
	x, prep := make([]float64, bandedSize), make([]float64, bandedSize)
	for i := range x {
		x[i] = 1 + float64(i)/(bandedSize-1)
		prep[i] = float64((i + 1) * (i + 1) * (i + 1))
	}
	var all []Scenario
	for _, b := range banded.Widths {
		m := bandedMatrix{banded.Diagonals(b)}
		linear := family{into: m.linear, outputs: sameLength, exact: m.exactLinear}
		for _, forms := range [][2]string{{"out", "out"}, {"out", "in"}, {"in", "out"}, {"in", "in"}} {
			s := Scenario{
				Name:  fmt.Sprintf("sparse/squarelinearmap_band%d/jacobian/%s/%s", b, forms[0], forms[1]),
				Group: "sparse", Operator: "jacobian", InPlace: forms[0] == "in",
				X: x, PrepX: prep, m: bandedSize, light: true,
			}
			linear.complete(&s)
			all = append(all, s.withExpected())
		}
		quadratic := ofScalar(m.quadratic, m.exactQuadratic)
		for _, form := range []string{"out", "in"} {
			s := Scenario{
				Name:  fmt.Sprintf("sparse/squarequadraticform_band%d/hessian/out/%s", b, form),
				Group: "sparse", Operator: "hessian", YShape: Shape{Number: true}, X: x, PrepX: prep, light: true,
			}
			quadratic.complete(&s)
			all = append(all, s.withExpected())
		}
	}
	return all
}

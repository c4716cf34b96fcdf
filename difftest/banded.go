package difftest

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/internal/banded"
)

// bandedSize is the number of inputs of the scenarios with a banded matrix.
const bandedSize = banded.Size

// bandedMatrix is an upper triangular matrix, diagonal after diagonal.
type bandedMatrix struct{ diagonals [][]float64 }

// width is how many entries of row i of the matrix for n inputs are not zero, from
// column i on.
func (m bandedMatrix) width(i, n int) int { return min(len(m.diagonals), n-i) }

// at is the entry of row i and column i+k. At sizes other than the usual one what is
// new is 1.
func (m bandedMatrix) at(i, k int) float64 {
	if d := m.diagonals[k]; i < len(d) {
		return d[i]
	}
	return 1
}

// linear is y = A·x² with the squares taken element by element.
func (m bandedMatrix) linear(y, x []nabla.Real) {
	for i := range y {
		var s nabla.Real
		for k := range m.width(i, len(x)) {
			s = s.Add(x[i+k].Sq().Scale(m.at(i, k)))
		}
		y[i] = s
	}
}

func (m bandedMatrix) exactLinear(x []float64, rows int) truth {
	n := len(x)
	t := newTruth(n, rows)
	for i := range rows {
		for k := range m.width(i, n) {
			a, v := m.at(i, k), x[i+k]
			t.y[i] += a * v * v
			t.jac[i*n+i+k] = 2 * a * v
		}
	}
	return t
}

// quadratic is (x²)ᵀ·A·x².
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

func (m bandedMatrix) exactQuadratic(x []float64, _ int) truth {
	n := len(x)
	t := newTruth(n, 1)
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

// bandedScenarios are the sparse scenarios whose numbers are too many for
// scenarios.json. A test compares them with a sample.
func bandedScenarios() []Scenario {
	x, prep := make([]float64, bandedSize), make([]float64, bandedSize)
	for i := range x {
		x[i] = 1 + float64(i)/(bandedSize-1)
		prep[i] = float64((i + 1) * (i + 1) * (i + 1))
	}
	var all []Scenario
	for _, b := range banded.Widths {
		m := bandedMatrix{banded.Diagonals(b)}
		linear := family{into: m.linear, outputs: same, exact: m.exactLinear}
		for _, forms := range [][2]string{{"out", "out"}, {"out", "in"}, {"in", "out"}, {"in", "in"}} {
			s := Scenario{
				Name:  fmt.Sprintf("sparse/squarelinearmap_band%d/jacobian/%s/%s", b, forms[0], forms[1]),
				Group: "sparse", Operator: "jacobian", InPlace: forms[0] == "in",
				X: x, PrepX: prep, m: bandedSize, light: true,
			}
			linear.complete(&s)
			all = append(all, s.expected())
		}
		quadratic := ofScalar(m.quadratic, m.exactQuadratic)
		for _, form := range []string{"out", "in"} {
			s := Scenario{
				Name:  fmt.Sprintf("sparse/squarequadraticform_band%d/hessian/out/%s", b, form),
				Group: "sparse", Operator: "hessian", YShape: Shape{Number: true}, X: x, PrepX: prep, light: true,
			}
			quadratic.complete(&s)
			all = append(all, s.expected())
		}
	}
	return all
}

package gen_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestFD: functions that are passed to package fd get code, and closures a warning; without code the program prints
// gonum's differences, with code the derivatives.
func TestFD(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module m\n\ngo 1.26\n", "main.go": `package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/fd"
)

func f(x []float64) float64 { return math.Exp(x[0]) * x[1] }

func g(x float64) float64 { return math.Sin(x) }

func v(y, x []float64) { y[0], y[1], y[2] = x[0]*x[1], x[1]*x[1], 7 }

func h(x []float64) float64 { return x[0] * x[0] * x[1] }

func main() {
	x := []float64{1, 2}
	coarse := &fd.Settings{Step: 0.5}
	gr := fd.Gradient(nil, f, x, coarse)
	fmt.Printf("%.3f %.3f\n", gr[0]/math.E, gr[1]/math.E)
	fmt.Printf("%.3f\n", fd.Derivative(g, 1, coarse)/math.Cos(1))
	j := mat.NewDense(3, 2, nil)
	fd.Jacobian(j, v, x, &fd.JacobianSettings{Step: 0.5})
	fmt.Printf("%.3f\n", j.RawMatrix().Data)
	var hess mat.SymDense
	fd.Hessian(&hess, h, x, coarse)
	fmt.Printf("%.3f\n", hess.RawSymmetric().Data)
	fmt.Printf("%.3f\n", fd.Gradient(nil, func(x []float64) float64 { return x[0] * x[0] }, []float64{1}, coarse))
}
`})
	r := generate(t, dir, ".")
	if got := problems(r, dir); !strings.Contains(got, "Gradient is passed a function that gets no code") {
		t.Errorf("problems\n%s", got)
	}
	if !longtest.Long() {
		return
	}
	const before = "2.595 1.000\n0.578\n[2.000 1.000 0.000 4.500 0.000 0.000]\n"
	if got := command(t, dir, "run", "."); !strings.HasPrefix(got, before) {
		t.Errorf("before: %s, want %s", got, before)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	const want = "2.000 1.000\n1.000\n[2.000 1.000 0.000 4.000 0.000 0.000]\n[4.000 2.000 2.000 0.000]\n[2.500]\n"
	if got := command(t, dir, "run", "."); got != want {
		t.Errorf("with code: %s, want %s", got, want)
	}
}

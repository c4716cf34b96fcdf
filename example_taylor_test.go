package nabla_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

func ExampleTaylorCoefficients() {
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0].Mul(x[1])) }
	// exp((1+t)·t) = exp(t + t²)
	c, err := nabla.TaylorCoefficients(f, []float64{1, 0}, []float64{1, 1}, 3)
	fmt.Printf("%.4f %v\n", c, err)
	// Output: [1.0000 1.0000 1.5000 1.1667] <nil>
}

func ExampleDerivatives() {
	d, err := nabla.Derivatives(func(x nabla.Real) nabla.Real { return x.PowConst(4) }, 1, 6)
	fmt.Println(d, err)
	// Output: [1 4 12 24 24 0 0] <nil>
}

func ExamplePartialDerivatives() {
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq().Mul(x[1].PowConst(3)) }
	p, err := nabla.PartialDerivatives(f, []float64{1, 2}, 3)
	if err != nil {
		panic(err)
	}
	g, _ := p.Gradient(nil)
	d, _ := p.At(1, 2) // ∂³/∂x0∂x1²
	third, _ := p.Third(0, 1, 1)
	fmt.Println(p.Value(), g, d, third)
	for alpha, d := range p.All() {
		if len(alpha) == 2 && alpha[0]+alpha[1] == 2 {
			fmt.Println(alpha, d)
		}
	}
	// Output:
	// 8 [16 12] 24 24
	// [2 0] 16
	// [1 1] 24
	// [0 2] 12
}

// A taylorODE integrates the autonomous system x' = f(x) by Taylor series, with the order and the step chosen by the
// tolerance (À. Jorba & M. Zou, A software package for the numerical integration of ODEs by means of high-order Taylor
// methods, Exp. Math. 14, 2005).
type taylorODE struct {
	order     int
	tolerance float64
	f         *nabla.VectorTaylorPrep
	x, dx     []*mat.Dense // x[k], dx[k]: k+1 coefficients of x and of f(x)
	Steps     int
}

func newTaylorODE(f func(x []nabla.Real) []nabla.Real, x0 []float64, tolerance float64) (*taylorODE, error) {
	order := int(math.Ceil(-math.Log(tolerance)/2)) + 1
	p, err := nabla.PrepareVectorTaylorCoefficients(f, nil, x0, order-1)
	if err != nil {
		return nil, err
	}
	o := &taylorODE{order: order, tolerance: tolerance, f: p}
	for k := range order + 1 {
		o.x = append(o.x, mat.NewDense(len(x0), k+1, nil))
		o.dx = append(o.dx, mat.NewDense(len(x0), k+1, nil))
	}
	return o, nil
}

// expand computes the coefficients of the solution through x, in o.x[o.order]: coefficient k+1 is coefficient k of
// f(x(t)) divided by k+1.
func (o *taylorODE) expand(x []float64) error {
	all := o.x[o.order]
	all.SetCol(0, x)
	for k := range o.order {
		o.x[k].Copy(all)
		if _, err := o.f.Along(o.dx[k], o.x[k]); err != nil {
			return err
		}
		for i := range x {
			all.Set(i, k+1, o.dx[k].At(i, k)/float64(k+1))
		}
	}
	return nil
}

// step returns the length of a step: the coefficients of the two highest orders show where the series converges, and
// the terms left out are below the tolerance at the part e^-2 of that.
func (o *taylorODE) step(x []float64) float64 {
	norm := func(k int) (m float64) {
		for i := range x {
			m = max(m, math.Abs(o.x[o.order].At(i, k)))
		}
		return m
	}
	size := max(norm(0), 1)
	radius := math.Inf(1)
	for _, k := range []int{o.order - 1, o.order} {
		if n := norm(k); n > 0 {
			radius = min(radius, math.Pow(size/n, 1/float64(k)))
		}
	}
	return radius / (math.E * math.E)
}

// Integrate moves x from time 0 to end.
func (o *taylorODE) Integrate(x []float64, end float64) error {
	for t := 0.0; t < end; o.Steps++ {
		if err := o.expand(x); err != nil {
			return err
		}
		h := min(o.step(x), end-t)
		for i := range x {
			sum := 0.0
			for k := o.order; k >= 0; k-- {
				sum = sum*h + o.x[o.order].At(i, k)
			}
			x[i] = sum
		}
		t += h
	}
	return nil
}

// kepler is the motion of a planet: position and velocity in the plane.
func kepler(x []nabla.Real) []nabla.Real {
	r3 := x[0].Sq().Add(x[1].Sq()).PowConst(-1.5)
	return []nabla.Real{x[2], x[3], x[0].Mul(r3).Neg(), x[1].Mul(r3).Neg()}
}

// keplerStart returns the start of an ellipse of eccentricity e with period 2π, at its pericentre.
func keplerStart(e float64) []float64 { return []float64{1 - e, 0, 0, math.Sqrt((1 + e) / (1 - e))} }

// ExampleVectorTaylorPrep_Along integrates the orbit of a planet for one revolution by Taylor series; taylorODE is in
// the file of the example.
func ExampleVectorTaylorPrep_Along() {
	x := keplerStart(0.5)
	o, err := newTaylorODE(kepler, x, 1e-14)
	if err != nil {
		panic(err)
	}
	if err := o.Integrate(x, 2*math.Pi); err != nil {
		panic(err)
	}
	start := keplerStart(0.5)
	fmt.Printf("order %d, back within 1e-12: %v\n", o.order, math.Hypot(x[0]-start[0], x[1]-start[1]) < 1e-12)
	// Output: order 18, back within 1e-12: true
}

// TestTaylorODE compares the integrator with closed forms, and the energy and the angular momentum of an orbit with
// those at its start, for several tolerances.
func TestTaylorODE(t *testing.T) {
	x := []float64{0.125}
	logistic := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(nabla.Const(1).Sub(x[0]))} }
	o, err := newTaylorODE(logistic, x, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Integrate(x, 3); err != nil {
		t.Fatal(err)
	}
	if want := 1 / (1 + 7*math.Exp(-3)); math.Abs(x[0]-want) > 1e-14 {
		t.Errorf("logistic equation: %v, want %v", x[0], want)
	}
	steps := math.MaxInt
	for _, tol := range []float64{1e-4, 1e-8, 1e-14} {
		const e, revolutions = 0.3, 5
		x := keplerStart(e)
		energy := func() float64 { return (x[2]*x[2]+x[3]*x[3])/2 - 1/math.Hypot(x[0], x[1]) }
		momentum := func() float64 { return x[0]*x[3] - x[1]*x[2] }
		e0, m0 := energy(), momentum()
		o, err := newTaylorODE(kepler, x, tol)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Integrate(x, 2*math.Pi*revolutions); err != nil {
			t.Fatal(err)
		}
		allowed := 50*tol*revolutions + 2e-14
		if d := math.Abs(energy() - e0); d > allowed {
			t.Errorf("tolerance %g: the energy changes by %g", tol, d)
		}
		if d := math.Abs(momentum() - m0); d > allowed {
			t.Errorf("tolerance %g: the angular momentum changes by %g", tol, d)
		}
		start := keplerStart(e)
		if d := math.Hypot(x[0]-start[0], x[1]-start[1]); d > 100*allowed {
			t.Errorf("tolerance %g: the orbit is open by %g", tol, d)
		}
		t.Logf("tolerance %g: order %d, %d steps, energy %g", tol, o.order, o.Steps, energy()-e0)
		if steps = min(steps, o.Steps); o.Steps > 60*revolutions {
			t.Errorf("tolerance %g: %d steps", tol, o.Steps)
		}
	}
}

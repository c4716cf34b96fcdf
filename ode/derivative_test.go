package ode_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/ode"
)

// lorenz is the system of Lorenz with its three parameters.
func lorenz(z []nabla.Real) []nabla.Real {
	x, y, w := z[0], z[1], z[2]
	return []nabla.Real{z[3].Mul(y.Sub(x)), x.Mul(z[4].Sub(w)).Sub(y), x.Mul(y).Sub(z[5].Mul(w))}
}

var lorenzStart, lorenzParameters = []float64{1, 2, 3}, []float64{10, 28, 8. / 3}

// fixed are settings with steps of one size, which do not depend on the data.
func fixed(m ode.Method, h float64) *ode.Settings {
	return &ode.Settings{Method: m, FirstStep: h, LargestStep: h, Relative: 1e6, Absolute: 1e6}
}

// unrolled takes n steps of size h of the classical form of Dormand and Prince over Reals, written out.
func unrolled(x []nabla.Real, n int, h float64) []nabla.Real {
	a := [][]float64{{}, {1. / 5}, {3. / 40, 9. / 40}, {44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}}
	y, p := x[:3], x[3:]
	for range n {
		var k [][]nabla.Real
		for i := range 7 {
			z := append([]nabla.Real(nil), y...)
			for j, c := range a[i] {
				for l := range z {
					z[l] = z[l].Add(k[j][l].Scale(h * c))
				}
			}
			if i == 6 {
				y = z
				break
			}
			k = append(k, lorenz(append(append(z, p...), nabla.Const(0))))
		}
	}
	return y
}

// TestUnrolled: derivatives of the solution are those of all of its operations, over fixed steps.
func TestUnrolled(t *testing.T) {
	const n, h = 40, 0.02
	x := append(append([]float64(nil), lorenzStart...), lorenzParameters...)
	want, err := nabla.Jacobian(func(x []nabla.Real) []nabla.Real {
		return unrolled(x, n, h)
	}, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int{0, 400, 1} { // all states, some, two
		set := fixed(ode.DormandPrince, h)
		set.Bytes = bytes
		q, err := ode.Prepare(lorenz, reversediff.Backend{Compile: true}, x[:3], x[3:], set)
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.Solve(nil, x[:3], x[3:], 0, n*h)
		if err != nil {
			t.Fatal(err)
		}
		if s.Steps != n {
			t.Fatalf("%d steps, want %d", s.Steps, n)
		}
		for i := range 3 {
			xbar, ybar := make([]float64, 6), make([]float64, 3)
			ybar[i] = 1
			if err := q.Pullback(xbar[:3], xbar[3:], s, ybar, 0, nil); err != nil {
				t.Fatal(err)
			}
			for j, v := range xbar {
				if math.Abs(v-want.At(i, j)) > 1e-11*max(1, math.Abs(want.At(i, j))) {
					t.Errorf("%d bytes: derivative of %d by %d is %v, unrolled %v", bytes, i, j, v, want.At(i, j))
				}
			}
		}
	}
}

// TestTranspose: pullbacks are the transpose of pushforwards, through all times, for both methods, whatever the memory.
func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range methods {
		for _, bytes := range []int{0, 300, 1} {
			set := &ode.Settings{Method: m, Times: []float64{0, 0.3, 0.7, 1}, Bytes: bytes}
			q, err := ode.Prepare(lorenz, nil, lorenzStart, lorenzParameters, set)
			if err != nil {
				t.Fatal(err)
			}
			s, err := q.Solve(nil, lorenzStart, lorenzParameters, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			xdot, xbar, ybar := make([]float64, 6), make([]float64, 6), make([]float64, 3)
			states, bars := make([][]float64, 4), make([][]float64, 4)
			fill := func(v []float64) {
				for i := range v {
					v[i] = rng.NormFloat64()
				}
			}
			for k := range states {
				states[k], bars[k] = make([]float64, 3), make([]float64, 3)
				fill(bars[k])
			}
			fill(xdot)
			fill(ybar)
			start := append([]float64(nil), xdot...)
			if _, err := q.Pushforward(xdot[:3], xdot[3:], s, states); err != nil {
				t.Fatal(err)
			}
			if err := q.Pullback(xbar[:3], xbar[3:], s, ybar, 0, bars); err != nil {
				t.Fatal(err)
			}
			left, right, size := 0.0, 0.0, 0.0
			for i, v := range ybar {
				left += v * xdot[i]
				for k := range states {
					left += bars[k][i] * states[k][i]
				}
			}
			for i, v := range start {
				right += v * xbar[i]
				size += math.Abs(v * xbar[i])
			}
			if math.Abs(left-right) > 1e-11*size {
				t.Errorf("%v with %d bytes: ⟨ȳ, Jẋ⟩ = %v, ⟨Jᵀȳ, ẋ⟩ = %v", m, bytes, left, right)
			}
		}
	}
}

// TestRodasDifferences compares cotangents of Rodas, over fixed steps, with differences of its solutions.
func TestRodasDifferences(t *testing.T) {
	x := append(append([]float64(nil), lorenzStart...), lorenzParameters...)
	set := fixed(ode.Rodas, 0.02)
	q, err := ode.Prepare(lorenz, nil, x[:3], x[3:], set)
	if err != nil {
		t.Fatal(err)
	}
	solve := func(x []float64) float64 {
		s, err := q.Solve(nil, x[:3], x[3:], 0, 0.4)
		if err != nil {
			t.Fatal(err)
		}
		return s.Y[0]
	}
	want, err := nabla.Gradient(solve, finitediff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Solve(nil, x[:3], x[3:], 0, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	xbar := make([]float64, 6)
	if err := q.Pullback(xbar[:3], xbar[3:], s, []float64{1, 0, 0}, 0, nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range xbar {
		if math.Abs(v-want[i]) > 1e-8*max(1, math.Abs(want[i])) {
			t.Errorf("derivative %d is %v, differences give %v", i, v, want[i])
		}
	}
}

// TestFlow: a function of the solution has the same derivatives in all engines, to second order.
func TestFlow(t *testing.T) {
	y0, p := []float64{1, 0.5}, []float64{2, 0.3}
	for _, m := range methods {
		set, exact := tight(m), 1e-10
		if m == ode.Rodas { // takes many steps for its order
			set.Relative, set.Absolute, exact = 1e-9, 1e-10, 1e-7
		}
		q, err := ode.Prepare(linear, nil, y0, p, set)
		if err != nil {
			t.Fatal(err)
		}
		flow := q.Flow(0, 2)
		f := func(x []nabla.Real) nabla.Real { return nabla.Sin(flow(x[:2], x[2:])[0].Mul(x[3])) }
		closed := func(x []nabla.Real) nabla.Real {
			a, b, k, d := x[0], x[1], x[2], x[3]
			w := nabla.Sqrt(k.Sub(d.Sq().Scale(0.25)))
			position := nabla.Exp(d.Neg()).Mul(a.Mul(nabla.Cos(w.Scale(2))).
				Add(b.Add(d.Mul(a).Scale(0.5)).Div(w).Mul(nabla.Sin(w.Scale(2)))))
			return nabla.Sin(position.Mul(d))
		}
		x := append(append([]float64(nil), y0...), p...)
		want, err := nabla.Gradient(closed, forwarddiff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		wantH, err := nabla.Hessian(closed, forwarddiff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []nabla.Backend{nil, forwarddiff.Backend{}, reversediff.Backend{},
			reversediff.Backend{Compile: true}, tracker.Backend{}, finitediff.Backend{}} {
			name, tol := "nil", exact
			if b != nil {
				name = b.Name()
			}
			if (b == finitediff.Backend{}) {
				tol = 1e-7
			}
			g, err := nabla.Gradient(f, b, x)
			if err != nil {
				t.Fatalf("%v, %s: %v", m, name, err)
			}
			for i, v := range g {
				if math.Abs(v-want[i]) > tol {
					t.Errorf("%v, %s: derivative %d is %v, want %v", m, name, i, v, want[i])
				}
			}
		}
		pair := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
		h, err := nabla.Hessian(f, pair, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			for j := range x {
				if math.Abs(h.At(i, j)-wantH.At(i, j)) > 10*exact {
					t.Errorf("%v: second derivative %d, %d is %v, want %v", m, i, j, h.At(i, j), wantH.At(i, j))
				}
			}
		}
	}
}

// fall is a ball under gravity z[2], with its height z[0].
func fall(z []nabla.Real) []nabla.Real { return []nabla.Real{z[1], z[2].Neg()} }

// TestEvent: a ball falls for √(2h/g), hits with -√(2gh), and both have their derivatives.
func TestEvent(t *testing.T) {
	y0, p := []float64{3, 0}, []float64{9.81}
	for _, m := range methods {
		ground, err := ode.NewEvent(func(z []nabla.Real) nabla.Real { return z[0] }, nil, y0, p)
		if err != nil {
			t.Fatal(err)
		}
		half, err := ode.NewEvent(func(z []nabla.Real) nabla.Real { return z[0].AddConst(-1.5) }, nil, y0, p)
		if err != nil {
			t.Fatal(err)
		}
		ground.Terminal, half.Direction = true, -1
		set := tight(m)
		set.Events = []*ode.Event{ground, half}
		q, err := ode.Prepare(fall, nil, y0, p, set)
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.Solve(nil, y0, p, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		h, g := y0[0], p[0]
		if want := math.Sqrt(2 * h / g); math.Abs(s.T-want) > 1e-11 || math.Abs(s.Y[0]) > 1e-12 {
			t.Errorf("%v: hits at %v, height %v, want %v", m, s.T, s.Y[0], want)
		}
		if len(s.Crossed) != 2 || s.Crossed[0].Event != 1 || s.Crossed[1].Event != 0 {
			t.Errorf("%v: events %+v", m, s.Crossed)
		} else if want := math.Sqrt(h / g); math.Abs(s.Crossed[0].T-want) > 1e-8 {
			t.Errorf("%v: half at %v, want %v", m, s.Crossed[0].T, want)
		}
		// Of the velocity v = -√(2gh+v₀²) and of the time (v₀-v)/g at v₀ = 0.
		v := -math.Sqrt(2 * g * h)
		for _, c := range []struct {
			ybar []float64
			tbar float64
			want []float64
		}{
			{[]float64{0, 1}, 0, []float64{g / v, 0, h / v}},
			{[]float64{0, 0}, 1, []float64{-1 / v, 1 / g, v/g/g - h/v/g}},
			{[]float64{1, 0}, 0, []float64{0, 0, 0}},
		} {
			xbar := make([]float64, 3)
			if err := q.Pullback(xbar[:2], xbar[2:], s, c.ybar, c.tbar, nil); err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				xdot := make([]float64, 3)
				xdot[i] = 1
				tdot, err := q.Pushforward(xdot[:2], xdot[2:], s, nil)
				if err != nil {
					t.Fatal(err)
				}
				forward := c.ybar[0]*xdot[0] + c.ybar[1]*xdot[1] + c.tbar*tdot
				if math.Abs(xbar[i]-want) > 1e-10 || math.Abs(forward-want) > 1e-10 {
					t.Errorf("%v, %v and %v: derivative %d is %v, forward %v, want %v", m, c.ybar, c.tbar, i, xbar[i],
						forward, want)
				}
			}
		}
	}
}

// TestGrazing: a throw that just reaches a height has no derivative there.
func TestGrazing(t *testing.T) {
	y0, p := []float64{0, 2}, []float64{1}
	top, err := ode.NewEvent(func(z []nabla.Real) nabla.Real { return z[0].AddConst(-2) }, nil, y0, p)
	if err != nil {
		t.Fatal(err)
	}
	top.Terminal = true
	q, err := ode.Prepare(fall, nil, y0, p, &ode.Settings{Events: []*ode.Event{top}, Times: []float64{2}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Solve(nil, y0, p, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.T-2) > 1e-6 {
		t.Fatalf("the event ends the solution at %v, want 2", s.T)
	}
	xbar := make([]float64, 3)
	err = q.Pullback(xbar[:2], xbar[2:], s, []float64{0, 1}, 0, nil)
	if e := new(ode.GrazingError); !errors.As(err, &e) {
		t.Errorf("error %v, want a GrazingError; %v", err, xbar)
	}
}

// TestStiff: Rodas takes few steps for a stiff problem, and its adjoint too: the reaction of Robertson, whose state at
// 40 is known.
func TestStiff(t *testing.T) {
	f := func(z []nabla.Real) []nabla.Real {
		a, b := z[0].Mul(z[3]), z[1].Mul(z[2]).Mul(z[5])
		c := z[1].Sq().Mul(z[4])
		return []nabla.Real{b.Sub(a), a.Sub(b).Sub(c), c}
	}
	y0, p := []float64{1, 0, 0}, []float64{0.04, 3e7, 1e4}
	q, err := ode.Prepare(f, nil, y0, p, &ode.Settings{Method: ode.Rodas, Relative: 1e-8, Absolute: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Solve(nil, y0, p, 0, 40)
	if err != nil {
		t.Fatal(err)
	}
	// From the test set of Mazzia and Magherini (2008), and earlier books.
	want := []float64{0.7158270687193941, 0.9185534764557338e-5, 0.2841637457458413}
	for i, v := range s.Y {
		if math.Abs(v-want[i]) > 1e-6*want[i] {
			t.Errorf("element %d is %v, want %v", i, v, want[i])
		}
	}
	if s.Steps > 600 {
		t.Errorf("%d steps", s.Steps)
	}
	xbar := make([]float64, 6)
	if err := q.Pullback(xbar[:3], xbar[3:], s, []float64{1, 1, 1}, 0, nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range xbar { // the sum of the state stays as it is
		want, size := 1.0, 1.0
		if i >= 3 {
			want, size = 0, p[i-3]
		}
		if math.Abs(v-want)*size > 1e-9 {
			t.Errorf("derivative %d of the sum is %v, want %v", i, v, want)
		}
	}
}

// A decay with its rate as parameter, and the derivative of its end by the start and the rate.
func Example() {
	decay := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[1].Mul(z[0]).Neg()} } // z is y, p, t
	y0, p := []float64{1}, []float64{0.5}
	prob, err := ode.Prepare(decay, nil, y0, p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sol, err := prob.Solve(nil, y0, p, 0, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	middle, err := sol.At(nil, 1)
	fmt.Printf("%.6f %.6f %v\n", sol.Y, middle, err)

	y0bar, pbar := make([]float64, 1), make([]float64, 1)
	err = prob.Pullback(y0bar, pbar, sol, []float64{1}, 0, nil)
	fmt.Printf("%.6f %.6f %v\n", y0bar, pbar, err)
	// Output:
	// [0.367879] [0.606531] <nil>
	// [0.367879] [-0.735759] <nil>
}

// A function of a solution, in an engine of the caller's choice.
func ExampleProblem_Flow() {
	decay := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[1].Mul(z[0]).Neg()} }
	prob, err := ode.Prepare(decay, nil, []float64{1}, []float64{0.5}, &ode.Settings{Times: []float64{1, 2, 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	flow := prob.Flow(0, 3)
	measured := []float64{0.6, 0.4, 0.2}
	misfit := func(x []nabla.Real) nabla.Real { // of the start and the rate
		sum := nabla.Const(0)
		for i, y := range flow(x[:1], x[1:]) {
			sum = sum.Add(y.AddConst(-measured[i]).Sq())
		}
		return sum
	}
	g, err := nabla.Gradient(misfit, nil, []float64{1, 0.5})
	fmt.Printf("%.5f %v\n", g, err)
	// Output: [-0.00539 0.00838] <nil>
}

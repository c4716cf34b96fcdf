package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparsity"
)

// problem compares the traced forms of the problems' plain functions with the reference
// derivatives and with the functions over Reals written by hand.
func problem() {
	for _, e := range problems.Entries() {
		n := e.Sizes[0]
		if e.Free {
			n = 40
		}
		p, err := e.New(n)
		if err != nil {
			fail("%v", err)
			continue
		}
		if p.Twin == nil && p.TwinVector == nil {
			fail("no traced form of %s", p.Name)
			continue
		}
		for i := 0; i < len(p.Cases); i += 97 {
			one(p, i)
		}
		if p.TwinVector != nil {
			patterns(p)
		}
	}
}

func eval(p *problems.Problem, y, x []nabla.Real) {
	if p.Twin != nil {
		y[0] = p.Twin(x)
		return
	}
	p.TwinVector(y, x)
}

func one(p *problems.Problem, i int) {
	c := p.Select(i)
	name := fmt.Sprintf("%s case %d", p.Name, i)
	want, got, xs := make([]float64, p.M), make([]nabla.Real, p.M), make([]nabla.Real, p.N)
	for k, v := range c.X {
		xs[k] = nabla.Const(v)
	}
	p.Eval(want, c.X)
	eval(p, got, xs)
	for k := range want {
		if math.Float64bits(want[k]) != math.Float64bits(got[k].Value()) {
			fail("%s: output %d is %v, want %v", name, k, got[k], want[k])
		}
	}
	ref, size := p.Dense(c), 0.0
	for _, v := range ref {
		size = max(size, math.Abs(v))
	}
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
		gradients++
		check := func(what string, d, ref []float64, tol float64) {
			for k := range ref {
				if !(math.Abs(d[k]-ref[k]) <= tol*size) {
					fail("%s: %s: derivative %d is %v, %s %v", name, b.Name(), k, d[k], what, ref[k])
					return
				}
			}
		}
		a, err := derivative(p.Twin, p.TwinVector, p.M, b, c.X)
		h, err2 := derivative(p.Traced, p.TracedVector, p.M, b, c.X)
		if err != nil || err2 != nil {
			fail("%s: %s: %v, %v", name, b.Name(), err, err2)
			continue
		}
		check("want", a, ref, p.Tolerance)
		check("by hand", a, h, 2*p.Tolerance)
	}
}

func derivative(f func([]nabla.Real) nabla.Real, g func(y, x []nabla.Real), m int, b nabla.Backend, x []float64) ([]float64, error) {
	if f != nil {
		return nabla.Gradient(f, b, x)
	}
	j, err := nabla.Jacobian(nabla.InPlace(m, g), b, x)
	if err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(j).RawMatrix().Data, nil
}

// patterns compares the sparsity with that of the function written by hand.
func patterns(p *problems.Problem) {
	x := p.Select(0).X
	for name, d := range map[string]sparsity.Detector{"local": sparsity.Local{}, "global": sparsity.Global{}} {
		a, err := nabla.JacobianSparsity(nabla.InPlace(p.M, p.TwinVector), d, x)
		b, err2 := nabla.JacobianSparsity(nabla.InPlace(p.M, p.TracedVector), d, x)
		if err != nil || err2 != nil {
			if (err == nil) != (err2 == nil) {
				fmt.Printf("%s: %s: %v, by hand %v\n", p.Name, name, err, err2)
			}
			if p.Name == "T4" {
				failed++
			}
			continue
		}
		if !a.Equal(b) {
			fail("%s: the %s pattern differs: %v, by hand %v", p.Name, name, a.NNZ(), b.NNZ())
		}
	}
}

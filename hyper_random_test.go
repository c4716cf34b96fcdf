package nabla_test

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

var hyperPrograms = flag.Int("hyperprograms", 0,
	"random functions that TestHyperDualsOfRandomFunctions compares; 0 is as many as the length of the tests asks for")

// hyperEngines are hyper-dual numbers with chunks of several sizes behind forward over reverse.
var hyperEngines = []nabla.Backend{
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	forwarddiff.Hyper{}, forwarddiff.Hyper{Chunk: 1}, forwarddiff.Hyper{Chunk: 2},
}

// TestHyperDualsOfRandomFunctions compares Hessians of hyper-dual numbers with those of forward over reverse and with
// the reference of package randfunc, and the products with vectors with the Hessians.
func TestHyperDualsOfRandomFunctions(t *testing.T) {
	longtest.Serial(t)
	n := uint64(longtest.Cases(*hyperPrograms, 200, 500, 3000))
	compared, evaluations := 0, 0
	for seed := range n {
		p, xs, v := fuzzProgram(randomData(seed))
		if p.M > 1 {
			continue
		}
		compared++
		evaluations += len(xs) * len(hyperEngines)
		f, _ := v.scalar(p)
		err := checkHessian(p, f, xs, hyperEngines)
		if err == nil {
			err = checkHyperProducts(p, f, xs)
		}
		if err != nil {
			t.Errorf("seed %d, %+v: %v\n%s%s", seed, v, err, p, randfunc.Points(xs))
		}
	}
	t.Logf("%d programs, %d with one output compared, %d Hessians", n, compared, evaluations)
}

// checkHyperProducts compares the products of Hessians with two vectors with the Hessians, by the same engine.
func checkHyperProducts(p *randfunc.Prog, f func([]nabla.Real) nabla.Real, xs [][]float64) error {
	e := forwarddiff.Hyper{Chunk: 2}
	hessian, err := nabla.PrepareHessian(f, e, xs[0])
	if err != nil {
		return err
	}
	hvp, err := nabla.PrepareHVP(f, e, xs[0])
	if err != nil {
		return err
	}
	for _, x := range xs {
		n, o := len(x), p.Oracle(x)
		if o.Big || !finite(o.Scale[0]) || !finite(o.Scale2[0]) || !knownValue(o, 0) {
			continue
		}
		vs := mat.NewDense(n, 2, nil)
		for i := range n {
			vs.Set(i, 0, float64(1+i))
			vs.Set(i, 1, 0.5-float64(i%2))
		}
		h, err := hessian.Dense(nil, x)
		if err != nil {
			return err
		}
		got, err := hvp.HVPBatch(nil, x, vs)
		if err != nil {
			return err
		}
		for i := range n {
			for k := range 2 {
				want, size := 0.0, 0.0
				if !o.Smooth { // the scale lacks terms
					size = 1e3
				}
				for j := range n {
					want += h.At(i, j) * vs.At(j, k)
					size += math.Abs(vs.At(j, k)) * (o.Scale2[0][i*n+j] + math.Abs(h.At(i, j)))
				}
				if d := got.At(i, k) - want; size < 1e200 && !(math.Abs(d) <= 1e-10*size+1e-200) {
					return fmt.Errorf("product: at %v: element %d of product %d is %v, want %v", x, i, k,
						got.At(i, k), want)
				}
			}
		}
	}
	return nil
}

package nabla_test

import (
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

// hyperEngines are hyper-dual numbers with chunks of several sizes behind forward over reverse.
var hyperEngines = []nabla.Backend{
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	forwarddiff.Hyper{}, forwarddiff.Hyper{Chunk: 1}, forwarddiff.Hyper{Chunk: 2},
}

// TestHyperDualsOfRandomFunctions compares Hessians of hyper-dual numbers with those of forward over reverse and with
// the reference of package randfunc, and the products with vectors with the Hessians.
func TestHyperDualsOfRandomFunctions(t *testing.T) {
	longtest.Serial(t)
	check := func(p *randfunc.Prog, xs [][]float64, v variant) (int, error) {
		f, _ := v.scalar(p)
		compared, err := checkHessian(p, f, xs, hyperEngines)
		if err != nil {
			return compared, err
		}
		products, err := checkHyperProducts(p, f, xs)
		return compared + products, err
	}
	longtest.Search{Few: 200, Usual: 500, Many: 3000, Check: func(seed uint64) (int, error) {
		p, xs, v := fuzzProgram(randomData(seed))
		if p.M > 1 {
			return 0, fmt.Errorf("several outputs have no Hessian: %w", longtest.ErrRefused)
		}
		return check(p, xs, v)
	}, Describe: func(seed uint64, err error) string {
		p, xs, v := fuzzProgram(randomData(seed))
		q, ys := randfunc.Shrink(p, xs, func(p *randfunc.Prog, xs [][]float64) bool {
			_, e := check(p, xs, v)
			return e != nil && failureKind(e) == failureKind(err)
		})
		_, err = check(q, ys, v)
		return fmt.Sprintf("%+v: %v\n%s%s", v, err, q, randfunc.Points(ys))
	}}.Run(t)
}

// checkHyperProducts compares the products of Hessians with two vectors with the Hessians, by the same engine, and
// returns how many elements.
func checkHyperProducts(p *randfunc.Prog, f func([]nabla.Real) nabla.Real, xs [][]float64) (compared int, err error) {
	e := forwarddiff.Hyper{Chunk: 2}
	hessian, err := nabla.PrepareHessian(f, e, xs[0])
	if err != nil {
		return compared, err
	}
	hvp, err := nabla.PrepareHVP(f, e, xs[0])
	if err != nil {
		return compared, err
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
			return compared, err
		}
		got, err := hvp.HVPBatch(nil, x, vs)
		if err != nil {
			return compared, err
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
				if !(size < 1e200) {
					continue
				}
				compared++
				if d := got.At(i, k) - want; !(math.Abs(d) <= 1e-10*size+1e-200) {
					return compared, fmt.Errorf("product: at %v: element %d of product %d is %v, want %v", x, i, k,
						got.At(i, k), want)
				}
			}
		}
	}
	return compared, nil
}

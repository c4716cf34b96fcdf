package nabla_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// TestRandomCaptures multiplies random functions with numbers in a captured slice, and changes them
// before some of many calls, in place or by another slice: the results are those for the data of
// the call, or there is an error.
func TestRandomCaptures(t *testing.T) {
	stale, right := 0, 0
	n := 0
	for seed := range longtest.Seeds(30, 40, 1000) {
		n++
		p, xs := randfunc.New(randomData(seed), 3, randfunc.Options{M: 1})
		r := rand.New(rand.NewPCG(seed, 4))
		w := []float64{1, 1}
		g := p.Real().Scalar
		f := func(x []nabla.Real) nabla.Real { return g(x).Scale(w[0]).Add(x[0].Scale(w[1])) }
		b := replaying[r.IntN(len(replaying))]
		prep, err := nabla.PrepareGradient(f, b, xs[0])
		if err != nil {
			t.Fatalf("seed %d: prepare with %s: %v", seed, b.Name(), err)
		}
		data := [][]float64{slices.Clone(w)} // all that there was
		for call := range 12 {
			x := xs[r.IntN(len(xs))]
			if r.IntN(3) == 0 {
				if r.IntN(2) == 0 {
					w = slices.Clone(w)
				}
				w[r.IntN(2)] = float64(1 + r.IntN(4))
				data = append(data, slices.Clone(w))
			}
			o := p.Oracle(x)
			_, grad, err := prep.ValueAndGradient(nil, x)
			switch {
			case errors.Is(err, nabla.ErrStale):
				stale++
				continue
			case err != nil:
				t.Fatalf("seed %d: gradient with %s: call %d: %v\n%s", seed, b.Name(), call, err, p)
			}
			value := func(w []float64) float64 { return o.Y[0]*w[0] + x[0]*w[1] }
			known := value(w)-value(w) == 0 && !o.Big
			for _, d := range data { // values tell the data apart
				known = known &&
					(slices.Equal(d, w) ||
						math.Abs(value(d)-value(w)) > 1e-290+1e-6*(math.Abs(value(w))+math.Abs(o.Y[0]*w[0])))
			}
			for j := range grad {
				want, s := o.Grad[0][j]*w[0], o.Scale[0][j]*w[0]
				if j == 0 {
					want, s = want+w[1], s+w[1]
				}
				if !known || s-s != 0 || s > 1e200 || grad[j] != grad[j] && strings.HasPrefix(b.Name(), "finitediff") {
					continue // complex steps go through infinities as complex numbers do
				}
				if right++; !(math.Abs(grad[j]-want) <= 1e-6*s+1e-200) {
					t.Errorf("seed %d: gradient with %s: call %d at %v: %v, element %d want %v, captured %v of %v\n%s",
						seed, b.Name(), call, x, grad, j, want, w, data, p)
					break
				}
			}
		}
	}
	t.Logf("%d numbers are right, %d calls an error", right, stale)
	if right < 10*n || stale > right/10 {
		t.Errorf("%d numbers are right, %d calls an error, of %d functions", right, stale, n)
	}
}

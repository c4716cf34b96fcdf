package program

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestUnaryLanes: elementary functions of one argument have the same bits in one lane and in many, in place too.
func TestUnaryLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 710, -710,
		1e-300, 5e-324}
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if op.Arity() != 1 {
			continue
		}
		for range 20 {
			a := make([]float64, 1+rng.IntN(200))
			for i := range a {
				if a[i] = 5 * rng.NormFloat64(); rng.IntN(10) == 0 {
					a[i] = special[rng.IntN(len(special))]
				}
			}
			dst := make([]float64, len(a))
			unary(op, dst, a)
			for i, v := range a {
				if want := rules.Value1(op, v); !sameBits(dst[i], want) {
					t.Fatalf("%v(%v) in lane %d is %v, want %v", op, v, i, dst[i], want)
				}
			}
			unary(op, a, a)
			for i := range a {
				if !sameBits(a[i], dst[i]) {
					t.Fatalf("%v in place in lane %d is %v, want %v", op, i, a[i], dst[i])
				}
			}
		}
	}
}

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
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), 1, -1, 710, -710,
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
				want := rules.Value1(op, v)
				if !sameBits(dst[i], want) {
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

// TestBinaryLanes: the same of functions of two arguments, one of which may be the same in all lanes.
func TestBinaryLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 2, 0.5, -0.5, 3, 300,
		-300, 1e-300, 1e300, 5e-324}
	numbers := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			switch rng.IntN(8) {
			case 0:
				list[i] = special[rng.IntN(len(special))]
			case 1:
				list[i] = 5 * rng.NormFloat64()
			default:
				list[i] = math.Exp(2 * rng.NormFloat64())
			}
		}
		return list
	}
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if op.Arity() != 2 {
			continue
		}
		for range 40 {
			a := numbers(1 + rng.IntN(200))
			b := numbers(len(a))
			runs, left, right := make([]float64, len(a)), make([]float64, len(a)), make([]float64, len(a))
			binaryRuns(op, runs, a, b)
			binaryRunSlot(op, left, a, b[0])
			binarySlotRun(op, right, a[0], b)
			for i, v := range a {
				for _, c := range []struct{ got, x, y float64 }{{runs[i], v, b[i]}, {left[i], v, b[0]},
					{right[i], a[0], b[i]}} {
					if want := rules.Value2(op, c.x, c.y); !sameBits(c.got, want) {
						t.Fatalf("%v(%v, %v) in lane %d is %v, want %v", op, c.x, c.y, i, c.got, want)
					}
				}
			}
			first, second := append([]float64(nil), a...), append([]float64(nil), b...)
			binaryRuns(op, first, first, b)
			binaryRuns(op, second, a, second)
			for i := range a {
				if !sameBits(first[i], runs[i]) || !sameBits(second[i], runs[i]) {
					t.Fatalf("%v in place in lane %d is %v and %v, want %v", op, i, first[i], second[i], runs[i])
				}
			}
		}
	}
}

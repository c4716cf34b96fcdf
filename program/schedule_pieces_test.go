package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// Statements with operands that are progressions in parts are divided there, and compute the same.
func TestPieces(t *testing.T) {
	divided := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		b := derive(&Program{})
		const n = 400
		x := b.input("x", n)
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		lanes := int32(leastPiece + rng.IntN(300))
		list := func() Operand {
			var slots []int32
			for int32(len(slots)) < lanes {
				if rng.IntN(3) == 0 {
					slots = append(slots, x+rng.Int32N(n))
					continue
				}
				step := rng.Int32N(3) - 1
				at := x + n/2
				for range 30 + rng.IntN(120) {
					slots = append(slots, at)
					if at += step; at < x || at >= x+n {
						break
					}
				}
			}
			return b.gather(slots[:lanes])
		}
		y := b.op2(rules.Sub, lanes, list(), list())
		y = b.op3(rules.FMA, lanes, Run(y), list(), Slot(x))
		y = b.op1(rules.Neg, lanes, Operand{Base: y + lanes - 1, Stride: -1})
		guard := Stmt{Op: GuardLt, N: lanes, A: list(), B: list(), C: Operand{Base: 0}}
		for l := range lanes {
			less := values[b.p.at(guard.A, l)-x] < values[b.p.at(guard.B, l)-x]
			b.p.Outcomes = append(b.p.Outcomes, map[bool]uint8{true: 1}[less])
		}
		b.add(guard)
		var outs []int32
		for l := range lanes {
			outs = append(outs, y+l)
		}
		b.output("y", outs)
		p := pieces(b.p)
		mustCheck(t, "divided", p)
		if len(p.Stmts) > len(b.p.Stmts) {
			divided++
		}
		for range 2 {
			want, holds := reference(b.p, [][]float64{values}, nil)
			got, ok := runMachine(p, [][]float64{values}, nil)
			if holds != ok {
				t.Fatalf("seed %d: guards hold: %v, divided %v", seed, holds, ok)
			}
			if ok {
				compare(t, "divided", got, want, sameNumber)
			}
			values = slices.Clone(values)
			values[rng.IntN(n)] += 4
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if divided < 100 {
		t.Errorf("%d programs were divided", divided)
	}
}

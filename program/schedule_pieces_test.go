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

// Additions of many lanes are a chain only where one reads the lanes of another in their order.
func TestChainsOfLanes(t *testing.T) {
	for _, c := range []struct {
		name    string
		operand func(b *builder, d int32) Operand // of the second addition; d is the result of the first
		chained bool
	}{
		{"in order", func(_ *builder, d int32) Operand { return Run(d) }, true},
		{"in another order", func(b *builder, d int32) Operand {
			return b.gather([]int32{d, d + 2, d + 1, d + 4, d + 3, d + 5})
		}, false},
		{"backward", func(_ *builder, d int32) Operand { return Operand{Base: d + 5, Stride: -1} }, false},
		{"one for all", func(_ *builder, d int32) Operand { return Slot(d) }, false},
	} {
		b := derive(&Program{})
		x := b.input("x", 18)
		d := b.op2(rules.Add, 6, Run(x), Run(x+6))
		y := b.op2(rules.Add, 6, c.operand(b, d), Run(x+12))
		b.output("y", []int32{y, y + 1, y + 2, y + 3, y + 4, y + 5})
		p := chains(b.p)
		mustCheck(t, c.name, p)
		if chained := len(p.Stmts) < len(b.p.Stmts); chained != c.chained {
			t.Errorf("%s: one sum: %v, want %v", c.name, chained, c.chained)
		}
		in := make([]float64, 18)
		for i := range in {
			in[i] = 1 / float64(1+i*i)
		}
		want, _ := reference(b.p, [][]float64{in}, nil)
		got, _ := runMachine(p, [][]float64{in}, nil)
		compare(t, c.name, got, want, sameNumber)
	}
}

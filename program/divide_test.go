package program

import (
	"testing"

	"github.com/nabla-ad/nabla/internal/native"
	"github.com/nabla-ad/nabla/rules"
)

// TestCompileFor: workers divide a program if that saves time, and one that calls no rules of the user.
func TestCompileFor(t *testing.T) {
	if !native.Supported() {
		t.Skip("no machine code here")
	}
	long := func(n, exponentials int32, sum, custom bool) *Program {
		b := derive(&Program{})
		x := b.input("x", int(n))
		y := x
		for range exponentials {
			y = b.op1(rules.Exp, n, Run(y))
		}
		y = b.op2(rules.Mul, n, Run(y), Run(x))
		if custom {
			b.p.Customs = []Custom{ruleF(0, 0)}
			y = b.op2(rules.Mul, n, Run(y), Slot(b.add(Stmt{Op: Call, N: 2, A: Run(x), B: Operand{Base: 2}})))
		}
		if sum {
			b.output("y", []int32{b.add(Stmt{Op: Sum, N: 1, K: n, A: Run(y)})})
			return b.p
		}
		slots := make([]int32, n)
		for l := range n {
			slots[l] = y + l
		}
		b.output("y", slots)
		return b.p
	}
	for _, c := range []struct {
		name    string
		p       *Program
		workers int
		divided bool
	}{
		{"exponentials", long(60000, 8, false, false), 2, true},
		{"their sum", long(60000, 8, true, false), 2, true},
		{"one worker", long(60000, 8, false, false), 1, false},
		{"a short program", long(3000, 8, false, false), 2, false},
		{"little but a sum", long(1000000, 0, true, false), 2, false},
		{"a rule", long(60000, 8, false, true), 2, false},
	} {
		x := CompileFor(c.p, c.workers)
		if divided := x.crew != nil; divided != c.divided {
			t.Errorf("%s: %d workers divide the program: %v, want %v", c.name, c.workers, divided, c.divided)
		}
		in := x.Input(0)
		for i := range in {
			in[i] = -5 + float64(i%13)/16
		}
		one := NewMachine(Schedule(c.p))
		copy(one.Input(0), in)
		for range 3 {
			if !x.Run() || !one.Run() {
				t.Fatal("a guard fails")
			}
		}
		got, want := make([]float64, c.p.Outs[0].N), make([]float64, c.p.Outs[0].N)
		x.Output(0, got)
		one.Output(0, want)
		for i, v := range got {
			if !sameBits(v, want[i]) {
				t.Fatalf("%s: output %d is %v, want %v", c.name, i, v, want[i])
			}
		}
	}
}

package program

import (
	"errors"

	"github.com/nabla-ad/nabla/internal/core"
)

// Guards: statements that compare two values and have the outcome that the comparison had when the function was
// recorded. If it has another one, the function took another branch, and the run of the program fails.
//
// A new kind of guard needs an operation before GuardInt, with its name in the text form (program.go, doc.go), the
// operation of recordings at the same place of their list (internal/core/record.go), its outcome in holds, a case in
// run_over_reals.go, and a method of nabla.Real that calls core.Compare or core.Escape (real.go).

// ErrGuard reports that a comparison has another outcome than in the recording.
var ErrGuard = errors.New("the function took another branch than the one that was recorded")

// Guard reports whether o is a guard.
func (o Op) Guard() bool { return o >= GuardLt && o <= GuardInt }

// Guards returns the number of guards, counted per lane.
func (p *Program) Guards() int {
	n := 0
	for i := range p.Stmts {
		if p.Stmts[i].Op.Guard() {
			n += int(p.Stmts[i].N)
		}
	}
	return n
}

// guard reports whether all comparisons of c have the recorded outcome.
func (x *Machine) guard(c *instr) bool {
	for l := range c.n {
		a, b := c.a, c.b
		if c.form != formOne {
			a, b = x.p.Index[a+l], x.p.Index[b+l]
		}
		if holds(c.op, x.m[a], x.m[b]) != (x.p.Outcomes[c.c+l] != 0) {
			return false
		}
	}
	return true
}

// holds returns the outcome of the comparison op for a and b.
func holds(op Op, a, b float64) bool {
	switch op {
	case GuardLt:
		return a < b
	case GuardLe:
		return a <= b
	case GuardEq:
		return a == b
	case GuardBits:
		return sameBits(a, b)
	}
	return int(a) == int(b) // the conversion that the recorded function makes
}

// overGuard records a guard in the trace of its operands, if they belong to one.
func overGuard(op Op, a, b Real) {
	if a.ID|b.ID != 0 {
		core.Compare(uint32(op-GuardLt)+core.OpGuardLt, a, b, holds(op, a.V, b.V))
	}
}

// guardNamed returns the guard called w, or 0.
func guardNamed(w string) Op {
	for o := GuardLt; o <= GuardInt; o++ {
		if o.String() == w {
			return o
		}
	}
	return 0
}

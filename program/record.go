package program

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// FromRecording converts a raw recording to a program with input group "x", a group "captured" if numbers of outer
// traces were captured, and output group "y". outs holds the outputs; constants among them become constants of the
// program. The error reports an output that is not in the recording.
func FromRecording(r Recording, outs []Real) (*Program, error) {
	return FromRecordingFor(r, outs, nil)
}

// FromRecordingFor is FromRecording for a task, which may be nil. A cancelled task ends this conversion, and the
// derivation of further programs from the result, by a panic with a core.Abort.
func FromRecordingFor(r Recording, outs []Real, task *Task) (*Program, error) {
	b := derive(&Program{task: task})
	b.p.Stmts = make([]Stmt, 0, r.Len+len(r.Consts)+len(outs)+8)
	b.p.Params = r.NParam
	first := r.NIn + r.NParam + 1
	slot := make([]int32, first+r.Len) // by id
	base := b.input("x", r.NIn)
	for i := range r.NIn {
		slot[i+1] = base + int32(i)
	}
	if n := len(r.Captures); n > 0 {
		base = b.input("captured", n)
	}
	captured := base
	if r.NParam > 0 {
		base = b.add(Stmt{Op: Param, N: int32(r.NParam)})
		for i := range r.NParam {
			slot[r.NIn+i+1] = base + int32(i)
		}
	}
	b.replay(r, first, slot, captured)
	result := make([]int32, len(outs))
	for i, o := range outs {
		switch {
		case o.ID == 0:
			result[i] = b.constant(o.V)
		case o.ID < 0 || int(o.ID) >= len(slot):
			return nil, fmt.Errorf("program: output %d has id %d of %d", i, o.ID, len(slot))
		default:
			result[i] = slot[o.ID]
		}
	}
	b.output("y", result)
	return b.p, nil
}

// replay appends the operations of r, the first of which has id first. slot maps the ids of inputs and parameters to
// slots, and gets the slots of all other numbers. Captured numbers are in the slots from captured on.
func (b *builder) replay(r Recording, first int, slot []int32, captured int32) {
	customs := int32(len(b.p.Customs))
	b.p.Customs = append(b.p.Customs, r.Customs...)
	consts := make([]int32, len(r.Consts)) // slot+1 by index
	operand := func(a uint32) int32 {
		if a&core.ConstBit == 0 {
			return slot[a]
		}
		k := a &^ core.ConstBit
		if consts[k] == 0 {
			b.p.Consts = append(b.p.Consts, r.Consts[k])
			consts[k] = 1 + b.add(Stmt{Op: Const, N: 1, K: int32(len(b.p.Consts) - 1)})
		}
		return consts[k] - 1
	}
	var args []int32
	var call int32
	id := first
	for _, chunk := range r.Chunks {
		for _, rec := range chunk {
			switch op := rec.Op &^ core.OutcomeBit; {
			case op < uint32(rules.NumOps):
				s := Stmt{Op: Op(op), N: 1}
				switch rules.Op(op).Arity() {
				case 1:
					s.A = Slot(operand(rec.A))
				case 2:
					s.A, s.B = Slot(operand(rec.A)), Slot(operand(rec.B))
				case 3: // an OpArg record before it holds the third argument
					s.A, s.B, s.C = Slot(operand(rec.A)), Slot(operand(rec.B)), Slot(args[0])
					args = args[:0]
				}
				slot[id] = b.add(s)
			case op == core.OpArg:
				args = append(args, operand(rec.A))
			case op == core.OpCapture:
				slot[id] = captured + int32(rec.A)
			case op == core.OpCall:
				n := len(args)
				m := r.Customs[rec.A].Outputs(n)
				call = b.add(Stmt{Op: Call, N: int32(m), K: customs + int32(rec.A), A: b.gather(args),
					B: Operand{Base: int32(n)}})
				args = args[:0]
			case op == core.OpCallOut:
				slot[id] = call + int32(rec.A)
			default:
				s := Stmt{Op: GuardLt + Op(op-core.OpGuardLt), N: 1}
				s.A, s.B = Slot(operand(rec.A)), Slot(operand(rec.B))
				s.C.Base = int32(len(b.p.Outcomes))
				b.p.Outcomes = append(b.p.Outcomes, uint8(rec.Op>>16&1))
				b.add(s)
			}
			id++
		}
	}
}

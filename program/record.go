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
//
// The loops of a long recording become statements with a lane for each iteration.
func FromRecordingFor(r Recording, outs []Real, task *Task) (*Program, error) {
	c := newConverter(derive(&Program{task: task}), r)
	c.p.Params = r.NParam
	if r.Len < rollFrom || !c.roll() {
		c.p.Stmts = make([]Stmt, 0, r.Len+len(r.Consts)+len(outs)+8)
		c.begin()
		c.all()
	}
	result := make([]int32, len(outs))
	for i, o := range outs {
		switch {
		case o.ID == 0:
			result[i] = c.constant(o.V)
		case o.ID < 0 || int(o.ID) >= len(c.slot):
			return nil, fmt.Errorf("program: output %d has id %d of %d", i, o.ID, len(c.slot))
		default:
			result[i] = c.at(uint32(o.ID))
		}
	}
	c.output("y", result)
	if c.loops != nil {
		return withoutIdle(c.p), nil
	}
	return c.p, nil
}

// A converter makes a program of a recording.
type converter struct {
	*builder
	r        Recording
	id       int     // of the next record
	slot     []int32 // id → slot; ^k if it is a partial sum of sums[k] that no statement computes
	captured int32   // the first slot of the captured numbers
	consts   []int32 // constant of the recording → slot, +1; 0 if it has none yet
	customs  int32   // the program's number of rule 0
	args     []int32 // slots of the OpArg records before the next operation
	call     int32   // the first slot of the last call
	loops    *roller // nil if there are none
}

// newConverter returns a converter that appends the operations of r, and adds its rules to the program.
func newConverter(b *builder, r Recording) *converter {
	c := &converter{builder: b, r: r, consts: make([]int32, len(r.Consts)), customs: int32(len(b.p.Customs))}
	b.p.Customs = append(b.p.Customs, r.Customs...)
	return c
}

// all appends all operations as they are.
func (c *converter) all() {
	for _, chunk := range c.r.Chunks {
		c.flat(chunk)
	}
}

// begin appends the inputs and parameters.
func (c *converter) begin() {
	c.id = c.r.NIn + c.r.NParam + 1
	c.slot = make([]int32, c.id+c.r.Len)
	base := c.input("x", c.r.NIn)
	for i := range c.r.NIn {
		c.slot[i+1] = base + int32(i)
	}
	if n := len(c.r.Captures); n > 0 {
		c.captured = c.input("captured", n)
	}
	if c.r.NParam > 0 {
		base = c.add(Stmt{Op: Param, N: int32(c.r.NParam)})
		for i := range c.r.NParam {
			c.slot[c.r.NIn+i+1] = base + int32(i)
		}
	}
}

// at returns the slot of the number with an id.
func (c *converter) at(id uint32) int32 {
	if c.slot[id] < 0 {
		c.loops.sums[^c.slot[id]].unroll(c)
	}
	return c.slot[id]
}

// operand returns the slot of an operand of a record.
func (c *converter) operand(a uint32) int32 {
	if a&core.ConstBit == 0 {
		return c.at(a)
	}
	k := a &^ core.ConstBit
	if c.consts[k] == 0 {
		c.p.Consts = append(c.p.Consts, c.r.Consts[k])
		c.consts[k] = 1 + c.add(Stmt{Op: Const, N: 1, K: int32(len(c.p.Consts) - 1)})
	}
	return c.consts[k] - 1
}

// flat appends a statement for each of the records, which come next in the recording.
func (c *converter) flat(records []core.Record) {
	for _, rec := range records {
		switch op := rec.Op &^ core.OutcomeBit; {
		case op < uint32(rules.NumOps):
			s := Stmt{Op: Op(op), N: 1}
			switch rules.Op(op).Arity() {
			case 1:
				s.A = Slot(c.operand(rec.A))
			case 2:
				s.A, s.B = Slot(c.operand(rec.A)), Slot(c.operand(rec.B))
			case 3: // an OpArg record before it holds the third argument
				s.A, s.B, s.C = Slot(c.operand(rec.A)), Slot(c.operand(rec.B)), Slot(c.args[0])
				c.args = c.args[:0]
			}
			c.slot[c.id] = c.add(s)
		case op == core.OpArg:
			c.args = append(c.args, c.operand(rec.A))
		case op == core.OpCapture:
			c.slot[c.id] = c.captured + int32(rec.A)
		case op == core.OpCall:
			n := len(c.args)
			m := c.r.Customs[rec.A].Outputs(n)
			c.call = c.add(Stmt{Op: Call, N: int32(m), K: c.customs + int32(rec.A), A: c.gather(c.args),
				B: Operand{Base: int32(n)}})
			c.args = c.args[:0]
		case op == core.OpCallOut:
			c.slot[c.id] = c.call + int32(rec.A)
		default:
			s := Stmt{Op: guardOp(op), N: 1}
			s.A, s.B = Slot(c.operand(rec.A)), Slot(c.operand(rec.B))
			s.C.Base = int32(len(c.p.Outcomes))
			c.p.Outcomes = append(c.p.Outcomes, outcome(rec))
			c.add(s)
		}
		c.id++
	}
}

// guardOp returns the operation of a recorded guard.
func guardOp(op uint32) Op { return GuardLt + Op(op-core.OpGuardLt) }

// outcome returns that of a recorded guard.
func outcome(rec core.Record) uint8 { return uint8(rec.Op >> 16 & 1) }

package core

// Guards record the outcomes of comparisons, and values that leave a trace, so that a replay notices that the function
// would take another branch. Their operations are in record.go; package program evaluates them, and program/guard.go
// lists the steps to a new kind of guard.

// Compare records that the guard op of a and b had the outcome holds, if the innermost trace is a recording.
func Compare(op uint32, a, b Rep, holds bool) {
	t := latest(a, b)
	if t == nil || t.owner.Load() != goroutine() {
		strayCompare(t, op, a, b, holds)
		return
	}
	a, b = t.bring(a), t.bring(b)
	if t.kind != kindRecord {
		return
	}
	if t.blind {
		t.refuse()
	}
	if holds {
		op |= OutcomeBit
	}
	t.record(op, t.operand(a), t.operand(b), 0)
}

// Escape records that the value of a left the trace as v. op is OpGuardBits or OpGuardInt.
func Escape(op uint32, a Rep, v float64) {
	t := a.T
	if t == nil || t.owner.Load() != goroutine() {
		strayEscape(op, a, v)
		return
	}
	a.live()
	if t.kind == kindRecord {
		if t.blind {
			t.refuse()
		}
		t.record(op|OutcomeBit, uint32(a.ID), t.Constant(v), 0)
	}
}

package core

import (
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestRecordedOperands: a number of the recording is written as its id, whichever it is, and a
// constant as its place among the constants, which equal neighbours share.
func TestRecordedOperands(t *testing.T) {
	var tr Tracer
	tr.StartRecording(2, 1, RecordOptions{})
	defer tr.Close()
	two, three := Rep{V: 2}, Rep{V: 3}
	a := Apply2(rules.Mul, tr.Input(0, 5), tr.Input(1, 6))
	b := Apply2(rules.Mul, two, tr.Input(2, 7))
	c := Apply2(rules.Mul, a, two)
	d := Apply2(rules.Mul, three, b)
	Compare(OpGuardLt, tr.Input(0, 5), three, false)
	Compare(OpGuardLt, three, d, true)
	r := tr.Recorded()
	op := uint32(rules.Mul)
	want := []Record{
		{op, 1, 2}, {op, 0 | ConstBit, 3}, {op, 4, 0 | ConstBit}, {op, 1 | ConstBit, 5},
		{OpGuardLt, 1, 1 | ConstBit}, {OpGuardLt | OutcomeBit, 1 | ConstBit, uint32(d.ID)},
	}
	if got := slices.Concat(r.Chunks...); !slices.Equal(got, want) || c.ID != 6 || d.ID != 7 {
		t.Errorf("recorded %v, want %v; ids %d and %d, want 6 and 7", got, want, c.ID, d.ID)
	}
	if want := []float64{2, 3}; !slices.Equal(r.Consts, want) {
		t.Errorf("constants %v, want %v", r.Consts, want)
	}
}

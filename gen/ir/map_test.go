package ir_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestMapJump requires that Map drops the statements after one that becomes a panic.
func TestMapJump(t *testing.T) {
	fs, err := ir.Parse(`
func f(x float64) (r float64) exit {
	if x > 0 {
		panic("no")
	}
	r = x
	leave exit
}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		if s, ok := s.(*ir.If); ok {
			return s.Then
		}
		return []ir.Stmt{s}
	}}
	g := m.Func(fs[0])
	if err := ir.Check(g); err != nil || len(g.Body) != 1 {
		t.Errorf("%v\n%v", err, g)
	}
}

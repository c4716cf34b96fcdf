package linalg

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// TestStatements: an operation and its derivatives are few calls in a program, the same number for every size.
func TestStatements(t *testing.T) {
	record := func(n int) *program.Program {
		var tr core.Tracer
		tr.StartRecording(n*n, 0, core.RecordOptions{})
		defer tr.Close()
		x := make([]core.Rep, n*n)
		for i := range x {
			v := 0.1
			if i%(n+1) == 0 {
				v = float64(n)
			}
			x[i] = tr.Input(i, v)
		}
		b := reals(x[:n])
		c := NewCholesky(&Matrix{n, n, reals(x)})
		y := nabla.Dot(b, c.SolveVec(b)).Add(c.LogDet())
		p, err := program.FromRecording(tr.Recorded(), reps([]nabla.Real{y}))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	calls := func(p *program.Program) (k int) {
		p = program.Simplify(p)
		if err := program.Check(p); err != nil {
			t.Error(err)
		}
		for _, s := range p.Stmts {
			if s.Op == program.Call {
				k++
			}
		}
		return k
	}
	for what, c := range map[string]struct {
		derive func(p *program.Program) *program.Program
		want   int // calls
	}{
		"value": {func(p *program.Program) *program.Program { return p }, 3}, // factorise, solve, log det
		"gradient": {func(p *program.Program) *program.Program {
			return program.VJP(p, program.VJPOptions{Unit: true})
		}, 6}, // and solve, outer product, inverse
		"gradient with strong zeros": {func(p *program.Program) *program.Program {
			return program.VJP(p, program.VJPOptions{Unit: true, Strong: true})
		}, 6},
		"tangent": {func(p *program.Program) *program.Program {
			return program.JVP(p, program.JVPOptions{})
		}, 7}, // and product, solve, inverse, scalar product
	} {
		for _, n := range []int{2, 9} {
			if got := calls(c.derive(record(n))); got != c.want {
				t.Errorf("%s for n = %d: %d calls, want %d", what, n, got, c.want)
			}
		}
	}
}

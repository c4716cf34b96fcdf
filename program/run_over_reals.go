package program

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Over runs p over numbers of an open trace and returns the outputs of all groups. ins holds the inputs, group by
// group, and params the parameters. Guards are recorded in the trace. The error wraps [ErrGuard] if a guard fails.
func Over(p *Program, ins [][]Real, params []Real) ([]Real, error) {
	var w Workspace
	return w.Over(p, ins, params)
}

// A Workspace is memory that successive calls of Over reuse. It must not be used concurrently.
type Workspace struct{ m []Real }

// Over is the function Over with the memory of w. The result does not alias w.
func (w *Workspace) Over(p *Program, ins [][]Real, params []Real) ([]Real, error) {
	if cap(w.m) < int(p.Slots) {
		w.m = make([]Real, p.Slots)
	}
	m := w.m[:p.Slots]
	for i := range p.Stmts {
		s := &p.Stmts[i]
		switch s.Op {
		case Input:
			copy(m[s.D:s.D+s.N], ins[s.K])
		case Param:
			copy(m[s.D:s.D+s.N], params)
		case Const:
			for l := range s.N {
				m[s.D+l] = Real{V: p.Consts[s.K+l]}
			}
		case Sum:
			for l := range s.N {
				sum := m[p.at(s.A, l*s.K)]
				for k := int32(1); k < s.K; k++ {
					sum = core.Apply2(rules.Add, sum, m[p.at(s.A, l*s.K+k)])
				}
				m[s.D+l] = sum
			}
		case Call:
			args := make([]Real, s.B.Base)
			for l := range args {
				args[l] = m[p.at(s.A, int32(l))]
			}
			copy(m[s.D:s.D+s.N], core.Call(p.Customs[s.K], args))
		case GuardLt, GuardLe, GuardEq, GuardBits, GuardInt:
			for l := range s.N {
				a, b := m[p.at(s.A, l)], m[p.at(s.B, l)]
				if outcome := p.Outcomes[s.C.Base+l] != 0; holds(s.Op, a.V, b.V) != outcome {
					return nil, fmt.Errorf("program: %w: a run over traced numbers left the recorded branch "+
						"(program.ErrGuard)", ErrGuard)
				}
				overGuard(s.Op, a, b)
			}
		default:
			for l := range s.N {
				a := m[p.at(s.A, l)]
				switch op := rules.Op(s.Op); op.Arity() {
				case 1:
					m[s.D+l] = core.Apply1(op, a)
				case 2:
					m[s.D+l] = core.Apply2(op, a, m[p.at(s.B, l)])
				default:
					m[s.D+l] = core.Apply3(op, a, m[p.at(s.B, l)], m[p.at(s.C, l)])
				}
			}
		}
	}
	out := make([]Real, len(p.Result))
	for i, s := range p.Result {
		out[i] = m[s]
	}
	return out, nil
}

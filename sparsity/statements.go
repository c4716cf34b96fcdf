package sparsity

import (
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// fromProgram returns the dependency graph of a program's first group of outputs as a function of its first group of
// inputs, with one node per element of a vector statement. It is valid wherever the guards of the program hold. The
// error is that with which a custom rule aborts.
func fromProgram(p *program.Program) (g *graph, err error) {
	defer recoverAbort(&err)
	n := 0
	if len(p.Ins) > 0 {
		n = p.Ins[0].N
	}
	g = newGraph(n, p.Operations())
	g.task = p.Task()
	// number maps a slot to the number of its current value; a later statement may overwrite it.
	number := make([]int32, p.Slots)
	// at returns the number of element l of an operand.
	at := func(o program.Operand, l int32) int32 {
		if o.Stride == program.Gather {
			return number[p.Index[o.Base+l]]
		}
		return number[o.Base+l*o.Stride]
	}
	var args []int32
	for i := range p.Stmts {
		s := &p.Stmts[i]
		switch {
		case s.Op == program.Input:
			if s.K == 0 {
				for l := range s.N {
					number[s.D+l] = l + 1
				}
			}
		case s.Op == program.Sum:
			for l := range s.N {
				sum := int32(0)
				for k := range s.K {
					sum = g.apply(linear, sum, at(s.A, l*s.K+k))
				}
				number[s.D+l] = sum
			}
		case s.Op == program.Call:
			args = args[:0]
			for l := range s.B.Base {
				args = append(args, at(s.A, l))
			}
			g.call(p.Customs[s.K], number[s.D:s.D+s.N], args)
		case s.Op.Elementary():
			op := rules.Op(s.Op)
			arity := op.Arity()
			for l := range s.N {
				var x, y, z operand
				x.id = at(s.A, l)
				if arity > 1 {
					y.id = at(s.B, l)
				}
				if arity > 2 {
					z.id = at(s.C, l)
				}
				number[s.D+l] = g.operation(op, false, x, y, z)
			}
		}
	}
	if len(p.Outs) > 0 {
		for _, s := range p.Result[:p.Outs[0].N] {
			g.outs = append(g.outs, number[s])
		}
	}
	return g, nil
}

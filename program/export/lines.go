package export

import (
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// A line is one lane of a statement that the outputs or the guards need.
type line struct {
	op    program.Op
	d     int32   // slot of the result
	args  []int32 // slots of the arguments, or of the terms of a sum
	value float64 // of a constant
	group int     // group of an input
	at    int     // index of an input in its group, or of a parameter
	holds bool    // outcome of a guard
}

// linesOf returns p lane by lane, without lanes that neither outputs nor guards need. The error is that of
// program.Check, a *RuleError, or a *PatternError.
func linesOf(p *program.Program, format string, o Options) ([]line, error) {
	if err := program.Check(p); err != nil {
		return nil, err
	}
	if o.Pattern != nil {
		outs := 0
		if k := len(p.Outs); k > 0 {
			outs = p.Outs[k-1].N
		}
		if o.Pattern.NNZ() != outs {
			return nil, &PatternError{o.Pattern.NNZ(), outs}
		}
	}
	needed := make([]bool, p.Slots)
	for _, s := range p.Result {
		needed[s] = true
	}
	var reversed []line
	var spare []int32 // memory for the arguments of lines
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		s := &p.Stmts[i]
		if s.Op == program.Call {
			return nil, &RuleError{p.Customs[s.K].Name(), format}
		}
		for l := s.N - 1; l >= 0; l-- {
			if !s.Op.Guard() && !needed[s.D+l] {
				continue
			}
			need := 3
			if s.Op == program.Sum {
				need = int(s.K)
			}
			if cap(spare)-len(spare) < need {
				spare = make([]int32, 0, 1024+need)
			}
			x := lane(p, s, l, spare[len(spare):])
			spare = spare[:len(spare)+len(x.args)]
			for _, a := range x.args {
				needed[a] = true
			}
			reversed = append(reversed, x)
		}
	}
	slices.Reverse(reversed)
	return reversed, nil
}

// lane returns lane l of s. Its arguments are appended to args.
func lane(p *program.Program, s *program.Stmt, l int32, args []int32) line {
	x := line{op: s.Op, d: s.D + l, group: int(s.K), at: int(l), args: args}
	switch {
	case s.Op == program.Const:
		x.value = p.Consts[s.K+l]
	case s.Op == program.Sum:
		for k := range s.K {
			x.args = append(x.args, address(p, s.A, l*s.K+k))
		}
	default:
		for _, o := range s.Operands() {
			x.args = append(x.args, address(p, o, l))
		}
	}
	if s.Op.Guard() {
		x.holds = p.Outcomes[s.C.Base+l] != 0
	}
	x.args = x.args[:len(x.args):len(x.args)]
	return x
}

// address returns the slot that address l of o is.
func address(p *program.Program, o program.Operand, l int32) int32 {
	if o.Stride == program.Gather {
		return p.Index[o.Base+l]
	}
	return o.Base + l*o.Stride
}

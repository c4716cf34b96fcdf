package program

import (
	"fmt"
	"math"
)

// Check returns an error that names the first ill-formed statement of p, or nil. A well-formed program runs in a
// Machine without panicking, custom rules aside. Well-formed means:
//
//   - Statements are in order of their slots; the slots have no gaps and
//     Program.Slots is their number.
//   - Operands read slots below those of their statement, and addresses, constants,
//     outcomes and custom rules lie within their tables.
//   - A statement has at least one lane, except inputs and calls, which may have
//     none; a sum has at least one term.
//   - Each group of inputs has one statement, in the order of the groups and of
//     the group's size; there is one param statement, for all parameters, if there
//     are parameters.
//   - Result holds as many slots as the groups of outputs, each of them written.
func Check(p *Program) error {
	slots, ins, params := int32(0), 0, 0
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if err := p.checkStmt(s, slots, &ins, &params); err != nil {
			return fmt.Errorf("program: statement %d, %s: %w", i, p.appendStmt(nil, s), err)
		}
		slots += s.Width()
	}
	switch {
	case slots != p.Slots:
		return fmt.Errorf("program: the statements write %d slots, but Slots is %d", slots, p.Slots)
	case ins != len(p.Ins):
		return fmt.Errorf("program: no statement for input group %d, %q", ins, p.Ins[ins].Name)
	case params != p.Params:
		return fmt.Errorf("program: no statement for the parameters, but Params is %d", p.Params)
	}
	n := 0
	for i, g := range p.Outs {
		if g.N < 0 || g.N > len(p.Result)-n {
			return fmt.Errorf("program: output group %d, %q, has %d slots, but Result has %d left for it", i, g.Name,
				g.N, len(p.Result)-n)
		}
		n += g.N
	}
	if n != len(p.Result) {
		return fmt.Errorf("program: the output groups have %d slots, but Result has %d", n, len(p.Result))
	}
	for i, s := range p.Result {
		if s < 0 || s >= slots {
			return fmt.Errorf("program: output %d is slot %%%d, but there are %d slots", i, s, slots)
		}
	}
	return nil
}

// checkStmt checks s, whose first slot must be d. ins and params count the input groups and parameters defined so far
// and are updated.
func (p *Program) checkStmt(s *Stmt, d int32, ins, params *int) error {
	if s.Op == 0 || s.Op >= numOps {
		return fmt.Errorf("%d is not an operation", uint8(s.Op))
	}
	least := int32(1)
	if s.Op == Input || s.Op == Call {
		least = 0
	}
	switch {
	case !s.Op.Guard() && s.D != d:
		return fmt.Errorf("it writes slot %%%d, but the next one is %%%d", s.D, d)
	case s.N < least:
		return fmt.Errorf("it has %d lanes, want at least %d", s.N, least)
	case int64(d)+int64(s.Width()) > math.MaxInt32:
		return fmt.Errorf("it writes slots beyond %%%d", math.MaxInt32)
	}
	switch s.Op {
	case Input:
		switch {
		case int(s.K) != *ins:
			return fmt.Errorf("it defines input group %d, but the next one is %d of %d", s.K, *ins, len(p.Ins))
		case *ins >= len(p.Ins):
			return fmt.Errorf("there are only %d input groups", len(p.Ins))
		case p.Ins[s.K].N != int(s.N):
			return fmt.Errorf("it has %d lanes, but its group has %d", s.N, p.Ins[s.K].N)
		}
		*ins++
	case Param:
		switch {
		case *params > 0:
			return fmt.Errorf("it is the second param statement")
		case s.K != 0 || int(s.N) != p.Params:
			return fmt.Errorf("it holds parameters %d to %d, want all from 0 to %d", s.K, int(s.K+s.N)-1, p.Params-1)
		}
		*params = p.Params
	case Const:
		if !within(s.K, s.N, len(p.Consts)) {
			return fmt.Errorf("its constants %d to %d are not among the %d of the program", s.K,
				int64(s.K)+int64(s.N)-1, len(p.Consts))
		}
	case Sum:
		if s.K < 1 || int64(s.N)*int64(s.K) > math.MaxInt32 {
			return fmt.Errorf("it has %d terms in each of %d lanes, want from 1 to %d in all", s.K, s.N, math.MaxInt32)
		}
	case Call:
		if s.K < 0 || int(s.K) >= len(p.Customs) || p.Customs[s.K] == nil {
			return fmt.Errorf("it calls custom rule %d of %d", s.K, len(p.Customs))
		}
		if s.B.Base < 0 {
			return fmt.Errorf("it has %d arguments", s.B.Base)
		}
		if m := p.Customs[s.K].Outputs(int(s.B.Base)); m != int(s.N) {
			return fmt.Errorf("it has %d outputs, but the rule has %d for %d arguments", s.N, m, s.B.Base)
		}
	}
	if s.Op.Guard() && !within(s.C.Base, s.N, len(p.Outcomes)) {
		return fmt.Errorf("its outcomes from %d on are not among the %d of the program", s.C.Base, len(p.Outcomes))
	}
	for i, o := range [3]Operand{s.A, s.B, s.C} {
		if i < s.Op.Arity() {
			if err := p.checkOperand(o, s.terms(), d); err != nil {
				return fmt.Errorf("operand %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// checkOperand checks operand o with n addresses, of a statement whose first slot is d.
func (p *Program) checkOperand(o Operand, n, d int32) error {
	if n == 0 {
		if o != (Operand{}) {
			return fmt.Errorf("it has no addresses, but is not the zero operand")
		}
		return nil
	}
	lo, hi := int64(o.Base), int64(o.Base)
	switch {
	case o.Stride != Gather:
		last := lo + int64(n-1)*int64(o.Stride)
		lo, hi = min(lo, last), max(hi, last)
	case !within(o.Base, n, len(p.Index)):
		return fmt.Errorf("its %d addresses from %d on are not among the %d of the program", n, o.Base, len(p.Index))
	default:
		lo, hi = math.MaxInt32, 0
		for _, s := range p.Index[o.Base : o.Base+n] {
			lo, hi = min(lo, int64(s)), max(hi, int64(s))
		}
	}
	if lo < 0 || hi >= int64(d) {
		bad := hi
		if lo < 0 {
			bad = lo
		}
		return fmt.Errorf("it reads slot %%%d, want one from 0 to %%%d", bad, d-1)
	}
	return nil
}

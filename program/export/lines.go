package export

import (
	"fmt"
	"slices"
	"strings"

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
	if o.Pattern != nil && o.Pattern.NNZ() != p.NumOut() {
		return nil, &PatternError{o.Pattern.NNZ(), p.NumOut()}
	}
	needed := make([]bool, p.Slots)
	for _, s := range p.Result {
		needed[s] = true
	}
	var reversed []line
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		s := &p.Stmts[i]
		if s.Op == program.Call {
			return nil, &RuleError{p.Customs[s.K].Name(), format}
		}
		for l := s.N - 1; l >= 0; l-- {
			if !s.Op.Guard() && !needed[s.D+l] {
				continue
			}
			x := lane(p, s, l)
			for _, a := range x.args {
				needed[a] = true
			}
			reversed = append(reversed, x)
		}
	}
	slices.Reverse(reversed)
	return reversed, nil
}

// lane returns lane l of s.
func lane(p *program.Program, s *program.Stmt, l int32) line {
	x := line{op: s.Op, d: s.D + l, group: int(s.K), at: int(l)}
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
	return x
}

// address returns the slot that address l of o is.
func address(p *program.Program, o program.Operand, l int32) int32 {
	if o.Stride == program.Gather {
		return p.Index[o.Base+l]
	}
	return o.Base + l*o.Stride
}

// variable returns the name of the variable for a slot.
func variable(slot int32) string { return fmt.Sprintf("v%d", slot) }

// substituted returns value, an expression of a rule in x, y and z, with the variables args for these and the other
// names mapped by name.
func substituted(value string, args []int32, name func(string) string) string {
	var b strings.Builder
	letter := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z' }
	for i := 0; i < len(value); {
		j := i
		for j < len(value) && letter(value[j]) {
			j++
		}
		word := value[i:j]
		switch k := strings.Index("xyz", word); {
		case word == "":
			j = i + 1
			b.WriteByte(value[i])
		case value[i] >= '0' && value[i] <= '9' || i > 0 && value[i-1] == '.':
			b.WriteString(word)
		case len(word) == 1 && k >= 0 && k < len(args):
			b.WriteString(variable(args[k]))
		default:
			b.WriteString(name(word))
		}
		i = j
	}
	return b.String()
}

// sum returns the terms in their order with a line break after every few.
func sum(terms []int32) string {
	var b strings.Builder
	for i, s := range terms {
		switch {
		case i > 0 && i%12 == 0:
			b.WriteString(" +\n\t\t")
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(variable(s))
	}
	return b.String()
}

// groupNames returns names for the groups of outputs and inputs, and for the parameters, that are identifiers,
// different from each other and from reserved ones.
func groupNames(p *program.Program, reserved func(string) bool) (outs, ins []string, params string) {
	taken := map[string]bool{}
	name := func(s string) string {
		var b strings.Builder
		for i, c := range s {
			if c < 128 && (c == '_' || c|32 >= 'a' && c|32 <= 'z' || i > 0 && c >= '0' && c <= '9') {
				b.WriteRune(c)
			} else {
				b.WriteByte('_')
			}
		}
		s = b.String()
		if s == "" || s == "_" {
			s = "group"
		}
		for reserved(s) || taken[s] || s[0] == 'v' && strings.Trim(s[1:], "0123456789") == "" {
			s += "_"
		}
		taken[s] = true
		return s
	}
	for _, g := range p.Ins {
		ins = append(ins, name(g.Name))
	}
	for _, g := range p.Outs {
		outs = append(outs, name(g.Name))
	}
	return outs, ins, name("params")
}

// sizes describes groups, as "x of length 3, xdot of length 3".
func sizes(names []string, groups []program.Group, numbers bool) string {
	var parts []string
	for i, g := range groups {
		if numbers && g.N == 1 {
			parts = append(parts, names[i]+", a number")
		} else {
			parts = append(parts, fmt.Sprintf("%s of length %d", names[i], g.N))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

package export

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/program"
)

// variable returns the name of the variable for a slot.
func variable(slot int32) string { return fmt.Sprintf("v%d", slot) }

// ownNames reports whether s is a name that exported functions give to what is theirs: a value v7, a loaded value u7, a
// view of memory a7, the counters i and k, and work, the memory.
func ownNames(s string) bool {
	switch s {
	case "i", "k", "work":
		return true
	}
	return strings.IndexByte("vua", s[0]) >= 0 && len(s) > 1 && strings.Trim(s[1:], "0123456789") == ""
}

// substituted returns value, an expression of a rule in x, y and z, with args for these and the other names mapped by
// name.
func substituted(value string, args []string, name func(string) string) string {
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
			b.WriteString(args[k])
		default:
			b.WriteString(name(word))
		}
		i = j
	}
	return b.String()
}

// sum returns the terms in their order with a line break after every few.
func sum(terms []string) string {
	var b strings.Builder
	for i, s := range terms {
		switch {
		case i > 0 && i%12 == 0:
			b.WriteString(" +\n\t\t")
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(s)
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
		for reserved(s) || taken[s] || ownNames(s) {
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

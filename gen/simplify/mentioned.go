package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// mentioned knows what variables statements have to do with, those in their blocks
// included. It holds as long as nothing is changed in place.
type mentioned struct {
	numbers map[*ir.Var]int
	sets    map[ir.Stmt]set
}

func newMentioned() *mentioned {
	return &mentioned{map[*ir.Var]int{}, map[ir.Stmt]set{}}
}

// mentions reports whether s or something in its blocks has to do with v.
func (m *mentioned) mentions(s ir.Stmt, v *ir.Var) bool {
	of := m.of(s)
	n, ok := m.numbers[v]
	return ok && n/64 < len(of) && of[n/64]>>(n%64)&1 != 0
}

func (m *mentioned) of(s ir.Stmt) set {
	if out, ok := m.sets[s]; ok {
		return out
	}
	var out set
	uses(s, func(v *ir.Var, _ use) {
		n, ok := m.numbers[v]
		if !ok {
			n = len(m.numbers)
			m.numbers[v] = n
		}
		for len(out) <= n/64 {
			out = append(out, 0)
		}
		out[n/64] |= 1 << (n % 64)
	})
	for _, b := range ir.Blocks(s) {
		for _, s := range *b {
			for i, w := range m.of(s) {
				if i == len(out) {
					out = append(out, 0)
				}
				out[i] |= w
			}
		}
	}
	m.sets[s] = out
	return out
}

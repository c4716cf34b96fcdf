package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// mentioned knows what variables statements have to do with, those in their blocks
// included. It holds as long as nothing is changed in place.
type occurrences struct {
	numbers map[*ir.Var]int
	sets    map[ir.Stmt]bitSet
}

func newOccurrences() *occurrences {
	return &occurrences{map[*ir.Var]int{}, map[ir.Stmt]bitSet{}}
}

// mentions reports whether s or something in its blocks has to do with v.
func (m *occurrences) contains(s ir.Stmt, v *ir.Var) bool {
	of := m.varsOf(s)
	n, ok := m.numbers[v]
	return ok && n/64 < len(of) && of[n/64]>>(n%64)&1 != 0
}

func (m *occurrences) varsOf(s ir.Stmt) bitSet {
	if out, ok := m.sets[s]; ok {
		return out
	}
	var out bitSet
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
			for i, w := range m.varsOf(s) {
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

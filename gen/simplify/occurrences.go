package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// occurrences is an index that answers in constant time which variables a statement uses, nested blocks included. Sets
// are computed on demand and kept by statement, which is correct as long as statements are replaced and never modified.
type occurrences struct {
	numbers map[*ir.Var]int    // variable → bit
	sets    map[ir.Stmt]bitSet // statement → variables used in it and its blocks
}

// newOccurrences returns an empty index.
func newOccurrences() *occurrences {
	return &occurrences{map[*ir.Var]int{}, map[ir.Stmt]bitSet{}}
}

// contains reports whether s or a statement in its blocks uses v in any way.
func (m *occurrences) contains(s ir.Stmt, v *ir.Var) bool {
	of := m.varsOf(s)
	n, ok := m.numbers[v]
	return ok && n/64 < len(of) && of[n/64]>>(n%64)&1 != 0
}

// varsOf returns the set of variables used in s and its blocks. Sets differ in length, as variables get numbers when
// they are first seen.
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
		// The set grows with the numbers.
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

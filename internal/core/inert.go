package core

import "github.com/nabla-ad/nabla/rules"

// Inert reports whether r carries no derivative: whether it is a constant or computed from constants, parameters and
// results of Stop and other operations without derivative. In a recording, where such numbers have ids, it follows
// operations of one and two operands, and reports false for results of others. A foreign engine does not say which
// numbers carry derivatives, and the answer is true for all of its numbers.
func Inert(r Rep) bool {
	switch {
	case r.ID == 0:
		return true
	case r.T == nil:
		return false
	case r.T.kind == kindHook:
		return true
	case r.T.kind != kindRecord:
		return false // an operation without derivative has a constant as its result
	}
	t := r.T
	seen, todo := map[int32]bool{r.ID: true}, []int32{r.ID}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id < t.first {
			if int(id) <= t.nIn {
				return false
			}
			continue // a parameter
		}
		rec := t.at(id)
		op := rules.Op(rec.Op)
		switch {
		case rec.Op == OpCapture:
			if !Inert(t.captures[rec.A]) {
				return false
			}
			continue
		case rec.Op >= uint32(rules.NumOps), op.Arity() > 2:
			return false
		}
		for i, a := range [2]uint32{rec.A, rec.B} {
			if i < op.Arity() && activeIn[op][i] && a&ConstBit == 0 && !seen[int32(a)] {
				seen[int32(a)] = true
				todo = append(todo, int32(a))
			}
		}
	}
	return true
}

// at returns the record of the number with an id, which is the result of an operation.
func (t *Tracer) at(id int32) Record {
	k := int(id - t.first)
	for _, c := range t.chunks[:t.used] {
		if k < len(c) {
			return c[k]
		}
		k -= len(c)
	}
	panic("core: a number without a record")
}

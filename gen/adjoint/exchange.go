package adjoint

import "github.com/nabla-ad/nabla/gen/ir"

// Exchanges of variables: the buffers of a scheme that advances in time, for example. After
//
//	t = u; u = v; v = t
//
// the old values of u and v are those of v and u: the reverse sweep exchanges them back, and records nothing. A cyclic
// permutation of more variables is undone in the same way.

// A permuted variable is one of a run of successive assignments of variables to variables that permutes their values.
type permuted struct {
	w   *write
	now *ir.Var // has the old value after the run
}

// exchanged returns the variables that the reversal of n, the end of a run, restores.
func (pl *plan) exchanged(n *node) (out []permuted) {
	for _, x := range n.exchange {
		if pl.recorded[x.w] {
			out = append(out, x)
		}
	}
	return out
}

// findExchanges finds the exchanges in list and in nested nodes, and notes them at the nodes at the end of the runs.
func (sp *specialization) findExchanges(list []*node) {
	for len(list) > 0 {
		n := 0
		for n < len(list) && sp.movesVariable(list[n]) {
			n++
		}
		if n == 0 {
			sp.findExchanges(list[0].then)
			sp.findExchanges(list[0].els)
			list = list[1:]
			continue
		}
		sp.findExchange(list[:n])
		list = list[n:]
	}
}

// movesVariable reports whether n assigns a variable, or declares one, with the value of another one. Its adjoint, if
// there is one, reads no values.
func (sp *specialization) movesVariable(n *node) bool {
	v, from := n.moved()
	return from != nil && !sp.mayBeWritten(v) && !sp.mayBeWritten(from)
}

// moved returns the variable that the statement of n assigns or declares and the variable whose value that gets, nil
// for another statement.
func (n *node) moved() (v, from *ir.Var) {
	switch s := n.s.(type) {
	case *ir.Let:
		if s.E != nil {
			return s.V, ir.VarOf(s.E)
		}
	case *ir.Set:
		if len(s.P.Path) == 0 {
			return s.P.Root, ir.VarOf(s.E)
		}
	}
	return nil, nil
}

// mayBeWritten reports whether others may write v than statements that assign to it.
func (sp *specialization) mayBeWritten(v *ir.Var) bool { return v.Kind == ir.Global || sp.addressed[v] }

// findExchange finds the exchange in run, nodes of which each moves a variable.
func (sp *specialization) findExchange(run []*node) {
	old := map[*ir.Var]*ir.Var{} // variable → the one whose value before the run it has
	holds := func(v *ir.Var) *ir.Var {
		if w, ok := old[v]; ok {
			return w
		}
		return v
	}
	sets := map[*ir.Var]*write{} // variable → the only assignment to it apart from its declaration, nil if several
	for _, n := range run {
		v, from := n.moved()
		old[v] = holds(from)
		if _, again := sets[v]; again {
			sets[v] = nil
		} else if _, ok := n.s.(*ir.Set); ok {
			sets[v] = n.writes[0]
		}
	}
	last := run[len(run)-1]
	for _, n := range run {
		v, _ := n.moved()
		if sets[v] != nil && sp.isPermuted(v, old, sets) {
			now := v
			for old[now] != v {
				now = old[now]
			}
			last.exchange = append(last.exchange, permuted{sets[v], now})
			sets[v].exchanged = true
		}
	}
	if last.exchange != nil {
		for _, n := range run {
			n.linked = true
		}
	}
}

// isPermuted reports whether a run of moves exchanges v and others in a cycle, each of which is assigned once.
func (sp *specialization) isPermuted(v *ir.Var, old map[*ir.Var]*ir.Var, sets map[*ir.Var]*write) bool {
	w := old[v]
	for range sets {
		if w == v {
			return true
		}
		if sets[w] == nil {
			return false
		}
		w = old[w]
	}
	return false
}

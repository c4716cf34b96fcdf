package ir

import "fmt"

// Normalize brings f into normal form, in which the control flow of a region, that is of
// the body of the function, a loop or a scope, is a tree. Nothing is copied and nothing
// is decided at run time that was not before. In a function in normal form
//
//   - an if that leaves, with a leave to a label around it in a branch, stands last in
//     its block: what followed it stands where its other branch ends. A panic does not
//     count as leaving, since nothing is differentiated behind it;
//   - so the only statements behind which others stand though they may leave are loops
//     and scopes: what is behind is executed if they end by themselves or by a leave of
//     their own label, and they have one place where they end in that way;
//   - a scope has a leave of its label; or it is a join: its body is one if, which leaves
//     and can end in two or more places, so that what stands behind the scope had to be
//     copied to put it into a branch. No join stands last in a block;
//   - no leave goes to where control comes without it: to the end of what ends where the
//     leave stands. A leave out of a loop that goes to where the loop ends anyway is a
//     leave of the loop;
//   - nothing stands where control does not come.
//
// An iteration is then known by its path from the root of the tree of its region to a
// leaf, which is the end of the region or a leave, and by the paths through the loops and
// scopes that it meets, the last of which ends the iteration if it leaves.
func Normalize(f *Func) {
	n := &normalizer{names: NamerOf(f)}
	for n.changed = true; n.changed; {
		n.changed = false
		f.Body = n.place(f.Body)
		f.Body = n.tails(f.Body, labels{f.Exit: true})
	}
}

// labels are those whose ends are where a block ends.
type labels map[*Label]bool

func (t labels) and(l *Label) labels {
	out := labels{l: true}
	for k := range t {
		out[k] = true
	}
	return out
}

type normalizer struct {
	names   *Namer
	changed bool
}

// place puts what stands behind an if that leaves into its branch, drops what control
// does not reach and dissolves scopes that are neither left nor needed.
func (n *normalizer) place(b Block) Block {
	var out Block
	for i, s := range b {
		rest := b[i+1:]
		switch s := s.(type) {
		case *Leave, *Panic:
			n.changed = n.changed || len(rest) > 0
			return append(out, s)
		case *If:
			branch := &If{s.At, s.Cond, n.place(s.Then), n.place(s.Else)}
			switch ends := endsOf(branch); {
			case ends == 0:
				n.changed = n.changed || len(rest) > 0
				return append(out, branch)
			case len(rest) == 0 || !LeavesBeyond(Block{branch}):
				out = append(out, branch)
			case ends == 1:
				n.changed = true
				n.extend(branch, n.place(rest))
				return append(out, branch)
			default:
				n.changed = true
				out = append(out, &Scope{s.At, &Label{n.names.Name("join")}, Block{branch}})
			}
		case *Scope:
			scope := &Scope{s.At, s.L, n.place(s.Body)}
			if leavesLabel(scope.Body, s.L) {
				out = append(out, scope)
				if !completes(scope) {
					n.changed = n.changed || len(rest) > 0
					return out
				}
				continue
			}
			if len(rest) > 0 && isJoin(scope) {
				out = append(out, scope)
				continue
			}
			// What is placed now is in the order in which it was, so that the if at the end, if
			// it leaves, finds what follows the scope behind it.
			n.changed = true
			all := append(out, scope.Body...)
			return n.place(append(all, rest...))
		case *Loop:
			loop := *s
			loop.Body = n.place(s.Body)
			out = append(out, &loop)
			if !completes(&loop) {
				n.changed = n.changed || len(rest) > 0
				return out
			}
		default:
			out = append(out, s)
		}
	}
	return out
}

// extend puts statements where s, which has one end, ends.
func (n *normalizer) extend(s *If, rest Block) {
	b := &s.Then
	if blockEnds(s.Then) == 0 {
		b = &s.Else
	}
	if k := len(*b); k > 0 {
		if last, ok := (*b)[k-1].(*If); ok && LeavesBeyond(Block{last}) {
			n.extend(last, rest)
			return
		}
	}
	*b = append((*b)[:len(*b):len(*b)], rest...)
}

// isJoin reports whether the scope, which nothing leaves by its label, has a body that
// would have to be followed by more than one copy of what stands behind it.
func isJoin(s *Scope) bool {
	if len(s.Body) != 1 {
		return false
	}
	branch, ok := s.Body[0].(*If)
	return ok && LeavesBeyond(Block{branch}) && endsOf(branch) > 1
}

// tails drops leaves that go to the end of the block b that they stand at the end of, as
// t says, and makes those that go there out of a loop leaves of the loop.
func (n *normalizer) tails(b Block, t labels) Block {
	var out Block
	for i, s := range b {
		end := labels(nil)
		if i == len(b)-1 {
			end = t
		}
		switch s := s.(type) {
		case *Leave:
			if end[s.L] {
				n.changed = true
				continue
			}
			out = append(out, s)
		case *If:
			out = append(out, &If{s.At, s.Cond, n.tails(s.Then, end), n.tails(s.Else, end)})
		case *Scope:
			out = append(out, &Scope{s.At, s.L, n.tails(s.Body, end.and(s.L))})
		case *Loop:
			loop := *s
			loop.Body = n.tails(n.retarget(s.Body, end, s.L), labels{s.Next: true})
			out = append(out, &loop)
		default:
			out = append(out, s)
		}
	}
	// A scope at the end of what has a label is that.
	if k := len(out) - 1; k >= 0 && len(t) > 0 {
		if s, ok := out[k].(*Scope); ok && leavesLabel(s.Body, s.L) {
			n.changed = true
			out = append(out[:k], n.retarget(s.Body, labels{s.L: true}, first(t))...)
		}
	}
	return out
}

// first chooses one of labels that go to one place: the first by name.
func first(t labels) *Label {
	var first *Label
	for l := range t {
		if first == nil || l.Name < first.Name {
			first = l
		}
	}
	return first
}

// retarget makes leaves of labels in from leaves of to.
func (n *normalizer) retarget(b Block, from labels, to *Label) Block {
	if len(from) == 0 {
		return b
	}
	m := &Map{Stmt: func(s Stmt) []Stmt {
		if l, ok := s.(*Leave); ok && from[l.L] {
			n.changed = true
			return []Stmt{&Leave{l.At, to}}
		}
		return []Stmt{s}
	}}
	return m.Block(b)
}

// leavesLabel reports whether b holds a leave of l.
func leavesLabel(b Block, l *Label) bool {
	found := false
	Walk(b, func(s Stmt) bool {
		if s, ok := s.(*Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// completes reports whether control may come to behind s.
func completes(s Stmt) bool {
	switch s := s.(type) {
	case *Leave, *Panic:
		return false
	case *If:
		return blockEnds(s.Then)+blockEnds(s.Else) > 0
	case *Scope:
		return blockEnds(s.Body) > 0 || leavesLabel(s.Body, s.L)
	case *Loop:
		return s.V != nil || leavesLabel(s.Body, s.L)
	}
	return true
}

// blockEnds is the number of places where control comes to the end of b: those of an if
// that leaves and stands at its end, else one or none.
func blockEnds(b Block) int {
	for i, s := range b {
		if branch, ok := s.(*If); ok && i == len(b)-1 {
			return endsOf(branch)
		}
		if !completes(s) {
			return 0
		}
	}
	return 1
}

// endsOf is the number of places where an if ends: one if no branch leaves, as its
// branches join again.
func endsOf(s *If) int {
	ends := blockEnds(s.Then) + blockEnds(s.Else)
	if ends > 1 && !LeavesBeyond(Block{s}) {
		return 1
	}
	return ends
}

// CheckNormal reports where f, which [Check] accepts, is not in normal form.
func CheckNormal(f *Func) error {
	c := &normalChecker{f: f}
	c.block(f.Body, labels{f.Exit: true})
	return c.err
}

type normalChecker struct {
	f   *Func
	err error
}

func (c *normalChecker) fail(s Stmt, rule string) {
	if c.err == nil {
		c.err = &CheckError{Func: c.f.Name, Stmt: stmtText(s), Pos: s.Position(), Rule: "not normal: " + rule}
	}
}

func (c *normalChecker) block(b Block, t labels) {
	for i, s := range b {
		last := i == len(b)-1
		end := labels(nil)
		if last {
			end = t
		} else if !completes(s) {
			c.fail(b[i+1], "control does not come here")
		}
		switch s := s.(type) {
		case *Leave:
			if end[s.L] {
				c.fail(s, "control comes to the end of "+s.L.Name+" anyway")
			}
		case *If:
			if !last && LeavesBeyond(Block{s}) {
				c.fail(s, "statements behind an if that leaves")
			}
			c.block(s.Then, end)
			c.block(s.Else, end)
		case *Scope:
			switch {
			case len(end) > 0:
				c.fail(s, "a scope at the end of what can be left instead")
			case leavesLabel(s.Body, s.L):
			case !isJoin(s):
				c.fail(s, "a scope without a leave of it that is no join")
			case last:
				c.fail(s, "a join with nothing behind it")
			}
			c.block(s.Body, end.and(s.L))
		case *Loop:
			for l := range end {
				if leavesLabel(s.Body, l) {
					c.fail(s, fmt.Sprintf("a leave of %s that could be one of %s", l.Name, s.L.Name))
				}
			}
			c.block(s.Body, labels{s.Next: true})
		}
	}
}

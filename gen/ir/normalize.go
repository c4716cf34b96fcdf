package ir

import "fmt"

// Normal form: after an if that may leave, the rest of the block moves into the branch that
// completes normally, and leaves that are redundant are removed. Blocks are never duplicated; an if
// with several ends is wrapped in a scope, a join, instead.

// Normalize rewrites the body of f into normal form, in which the control flow of a region, that is
// of the body of the function, a loop or a scope, is a tree. No code is duplicated and no condition
// is added. In a function in normal form
//
//   - an if that leaves, with a leave of an enclosing label in a branch, is last in its block: the
//     statements after it are at the end of its other branch. A panic does not count as a leave,
//     since nothing after it is differentiated;
//   - so the only statements that may leave and have statements after them are loops and scopes: the
//     rest runs if they complete or are left by their own label, and that is one place;
//   - a scope has a leave of its label; or it is a join: its body is one if, which leaves and
//     completes in two or more places, so that the code after the scope would have to be duplicated
//     to move into a branch. No join is last in its block;
//   - no leave is redundant, that is to the end of a statement that would end there without it. A
//     leave out of a loop to the place where the loop ends anyway is a leave of the loop;
//   - no code is unreachable.
//
// An iteration is then determined by its path from the root of the tree of its region to a leaf,
// which is the end of the region or a leave, and by the paths through the loops and scopes on it,
// the last of which ends the iteration if it leaves.
//
// It iterates two rewritings to a fixed point; each one that changes something moves code deeper or
// removes a statement, so it terminates.
func Normalize(f *Func) {
	n := &normalizer{names: NamerOf(f)}
	for n.changed = true; n.changed; {
		n.changed = false
		f.Body = n.absorb(f.Body)
		f.Body = n.simplifyLeaves(f.Body, labels{f.Exit: true})
	}
}

// labels is a set of labels that are equivalent at the end of a block: a leave of any of them
// continues where the block ends. Keys have the value true.
type labels map[*Label]bool

// with returns the union of t and l.
func (t labels) with(l *Label) labels {
	out := labels{l: true}
	for k := range t {
		out[k] = true
	}
	return out
}

// A normalizer rewrites one function. changed is set if the current round has rewritten anything.
type normalizer struct {
	names   *Namer
	changed bool
}

// absorb returns b with the statements after an if that leaves moved into its branch, unreachable
// statements removed, and scopes without leaves dissolved that are no joins.
func (n *normalizer) absorb(b Block) Block {
	var out Block
	for i, s := range b {
		rest := b[i+1:]
		switch s := s.(type) {
		case *Leave, *Panic:
			n.changed = n.changed || len(rest) > 0
			return append(out, s)
		case *If:
			branch := &If{s.At, s.Cond, n.absorb(s.Then), n.absorb(s.Else)}
			switch ends := endsOf(branch); {
			case ends == 0:
				n.changed = n.changed || len(rest) > 0
				return append(out, branch)
			case len(rest) == 0 || !LeavesBeyond(Block{branch}):
				out = append(out, branch)
			case ends == 1:
				n.changed = true
				n.appendAtEnd(branch, n.absorb(rest))
				return append(out, branch)
			default:
				n.changed = true
				out = append(out, &Scope{s.At, &Label{n.names.Name("join")}, Block{branch}})
			}
		case *Scope:
			scope := &Scope{s.At, s.L, n.absorb(s.Body)}
			if leavesLabel(scope.Body, s.L) {
				out = append(out, scope)
				if !completesNormally(scope) {
					n.changed = n.changed || len(rest) > 0
					return out
				}
				continue
			}
			if len(rest) > 0 && isJoin(scope) {
				out = append(out, scope)
				continue
			}
			// The statements keep their order, so an if at the end of the scope that leaves is
			// followed by the statements that followed the scope.
			n.changed = true
			all := append(out, scope.Body...)
			return n.absorb(append(all, rest...))
		case *Loop:
			loop := *s
			loop.Body = n.absorb(s.Body)
			out = append(out, &loop)
			if !completesNormally(&loop) {
				n.changed = n.changed || len(rest) > 0
				return out
			}
		default:
			out = append(out, s)
		}
	}
	return out
}

// appendAtEnd appends rest at the one place where s completes normally.
func (n *normalizer) appendAtEnd(s *If, rest Block) {
	b := &s.Then
	if blockEnds(s.Then) == 0 {
		b = &s.Else
	}
	if k := len(*b); k > 0 {
		if last, ok := (*b)[k-1].(*If); ok && LeavesBeyond(Block{last}) {
			n.appendAtEnd(last, rest)
			return
		}
	}
	*b = append((*b)[:len(*b):len(*b)], rest...)
}

// isJoin reports whether s, which has no leave of its label, has a body that completes normally in
// several places, so that the code after s cannot move into it without duplication.
func isJoin(s *Scope) bool {
	if len(s.Body) != 1 {
		return false
	}
	branch, ok := s.Body[0].(*If)
	return ok && LeavesBeyond(Block{branch}) && endsOf(branch) > 1
}

// simplifyLeaves returns b without redundant leaves: those at its end of a label in t, whose leaves
// continue where b ends. Leaves of such labels out of a loop at the end of b become leaves of the
// loop, and a scope at the end of b is dissolved into it.
func (n *normalizer) simplifyLeaves(b Block, t labels) Block {
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
			out = append(out, &If{s.At, s.Cond, n.simplifyLeaves(s.Then, end), n.simplifyLeaves(s.Else, end)})
		case *Scope:
			out = append(out, &Scope{s.At, s.L, n.simplifyLeaves(s.Body, end.with(s.L))})
		case *Loop:
			loop := *s
			loop.Body = n.simplifyLeaves(n.retarget(s.Body, end, s.L), labels{s.Next: true})
			out = append(out, &loop)
		default:
			out = append(out, s)
		}
	}
	// A leave of a scope at the end of b is equivalent to a leave of a label in t.
	if k := len(out) - 1; k >= 0 && len(t) > 0 {
		if s, ok := out[k].(*Scope); ok && leavesLabel(s.Body, s.L) {
			n.changed = true
			out = append(out[:k], n.retarget(s.Body, labels{s.L: true}, first(t))...)
		}
	}
	return out
}

// first returns the label of t that is first by name, which makes the result deterministic.
func first(t labels) *Label {
	var first *Label
	for l := range t {
		if first == nil || l.Name < first.Name {
			first = l
		}
	}
	return first
}

// retarget returns b with leaves of labels in from replaced by leaves of to.
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

// leavesLabel reports whether b contains a leave of l.
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

// completesNormally reports whether control may reach the statement after s. It is conservative: a
// condition may have either value.
func completesNormally(s Stmt) bool {
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

// blockEnds returns the number of places where b completes normally: those of an if at its end,
// otherwise 1 or 0.
func blockEnds(b Block) int {
	for i, s := range b {
		if branch, ok := s.(*If); ok && i == len(b)-1 {
			return endsOf(branch)
		}
		if !completesNormally(s) {
			return 0
		}
	}
	return 1
}

// endsOf returns the number of places where an if completes normally. An if that does not leave has
// at most one, since its branches join.
func endsOf(s *If) int {
	ends := blockEnds(s.Then) + blockEnds(s.Else)
	if ends > 1 && !LeavesBeyond(Block{s}) {
		return 1
	}
	return ends
}

// CheckNormal returns a *[CheckError] for the first violation of normal form in f, which [Check]
// must accept, or nil.
func CheckNormal(f *Func) error {
	c := &normalChecker{f: f}
	c.block(f.Body, labels{f.Exit: true})
	return c.err
}

// A normalChecker holds the first violation found in f.
type normalChecker struct {
	f   *Func
	err error
}

// fail records a violation at s, unless there is one already.
func (c *normalChecker) fail(s Stmt, rule string) {
	if c.err == nil {
		c.err = &CheckError{Func: c.f.Name, Stmt: stmtText(s), Pos: s.Position(), Rule: "not normal: " + rule}
	}
}

// block checks b; t are the labels whose leaves continue where b ends.
func (c *normalChecker) block(b Block, t labels) {
	for i, s := range b {
		last := i == len(b)-1
		end := labels(nil)
		if last {
			end = t
		} else if !completesNormally(s) {
			c.fail(b[i+1], "control does not reach this statement")
		}
		switch s := s.(type) {
		case *Leave:
			if end[s.L] {
				c.fail(s, "control reaches the end of "+s.L.Name+" without it")
			}
		case *If:
			if !last && LeavesBeyond(Block{s}) {
				c.fail(s, "statements after an if with an exit")
			}
			c.block(s.Then, end)
			c.block(s.Else, end)
		case *Scope:
			switch {
			case len(end) > 0:
				c.fail(s, "a scope at the end of a block that can be left instead")
			case leavesLabel(s.Body, s.L):
			case !isJoin(s):
				c.fail(s, "a scope without a leave of it that is no join")
			case last:
				c.fail(s, "a join without statements after it")
			}
			c.block(s.Body, end.with(s.L))
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

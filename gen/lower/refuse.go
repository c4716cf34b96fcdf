package lower

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Refusals: typed errors for constructs that cannot be lowered.

// A Refusal states why a function cannot be lowered.
type Refusal struct {
	Pos    token.Position
	Func   string // function that contains the construct
	What   string // the construct that is refused
	Reason string
	Remedy string // a change of the source that avoids the refusal, may be empty
}

// Error returns file:line:col: construct: reason; remedy.
func (r *Refusal) Error() string {
	s := fmt.Sprintf("%s: %s: %s", r.Pos, r.What, r.Reason)
	if r.Remedy != "" {
		s += "; " + r.Remedy
	}
	return s
}

// Refusals are the refusals of a function and its callees, in the order of the source.
type Refusals []*Refusal

// Error returns one line per refusal.
func (rs Refusals) Error() string {
	lines := make([]string, len(rs))
	for i, r := range rs {
		lines[i] = r.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.As find a [Refusal].
func (rs Refusals) Unwrap() []error {
	out := make([]error, len(rs))
	for i, r := range rs {
		out[i] = r
	}
	return out
}

// sorted sorts rs in place and returns it without duplicates.
func (rs Refusals) sorted() Refusals {
	slices.SortStableFunc(rs, func(a, b *Refusal) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), strings.Compare(a.What, b.What))
	})
	return slices.CompactFunc(rs, func(a, b *Refusal) bool { return a.Pos == b.Pos && a.What == b.What })
}

// comparePositions orders positions by file, line and column.
func comparePositions(a, b token.Position) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Line-b.Line, a.Column-b.Column)
}

// refuse records a refusal at n. Lowering continues, to find others.
func (l *lowerer) refuse(n ast.Node, what, reason, remedy string) {
	pos := l.pos(n)
	l.e.refusals = append(l.e.refusals, &Refusal{pos, l.f.Name, what, reason, remedy})
}

// Remedies of several refusals.
const (
	remedyRule     = "write a rule with //nabla:rule, or call another function"
	remedyIterator = "range over a function literal, a declared function or method, a variable that is bound once " +
		"to one of them, or a call of a function that ends with its only return, of one of them"
	remedyStatic = "call a declared function, a method of a concrete type, or a closure bound to a variable that is " +
		"assigned once"
)

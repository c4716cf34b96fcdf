package adjoint

import (
	"go/token"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Remark is a decision about a statement, reported to the user by -explain.
type Remark struct {
	Pos  token.Position // of the statement
	Text string         // for the user
	// Ignored is set if a directive at Pos has no effect, for the reason in Text.
	Ignored bool
	Remedy  string // change that gives the directive an effect, empty for a change of the memory that iterations use
}

// remarks returns the decisions in sp and its callees, without repetitions, in execution order with callees after their
// first call.
func (sp *specialization) remarks() (out []Remark) {
	seen := map[*specialization]bool{}
	said := map[Remark]bool{}
	var visit func(c *specialization)
	visit = func(c *specialization) {
		if seen[c] {
			return
		}
		seen[c] = true
		// Inlined statements and specialisations repeat remarks.
		add := func(n *node, text string) {
			note := Remark{Pos: n.at.Pos, Text: text}
			if !said[note] {
				said[note] = true
				out = append(out, note)
			}
		}
		for _, n := range c.g.remarks {
			if !said[n] {
				said[n] = true
				out = append(out, n)
			}
		}
		if note, ok := c.loopRemark(); ok && !said[note] {
			said[note] = true
			out = append(out, note)
		}
		each(c.plan.body, func(n *node) {
			if c.plan.isFused(n) {
				add(n, "each iteration is reversed right after it ran")
			}
			if l, ok := n.s.(*ir.Let); ok && c.plan.recomputed[l.V] && l.V.Object != nil {
				add(n, "computes "+sourceName(l.V)+" again")
			}
			for _, w := range n.writes {
				if text := c.describe(w); text != "" {
					add(n, text)
				}
			}
			if n.callee != nil {
				visit(n.callee.of)
			}
		})
		if c.checkpointed != nil {
			visit(c.checkpointed.segment)
		}
	}
	visit(sp)
	return out
}

// loopRemark returns the remark about a marked loop, if sp is one.
func (sp *specialization) loopRemark() (Remark, bool) {
	switch g := sp.g; {
	case g.segment == nil:
	case sp.checkpointed != nil:
		return Remark{Pos: g.f.Pos, Text: sp.checkpointed.snapshot.describe(g.f.Checkpoint)}, true
	case sp.spec.mode == modeSplit:
		note := ignored(g.f.Pos, g.segment.notCheckpointed)
		if g.segment.notCheckpointed == notRepeatable {
			note.Remedy = "move the call out of the loop"
		}
		return note, true
	}
	return Remark{}, false
}

// ignored returns the remark that a checkpointing directive has no effect.
func ignored(pos token.Position, why string) Remark {
	return Remark{Pos: pos, Text: "is not checkpointed: " + why, Ignored: true}
}

// describe returns how the value that w overwrites is kept, or "" if it is not, or belongs to a shadow.
func (sp *specialization) describe(w *write) string {
	root := w.slice
	if root == nil {
		root = w.place.Root
	}
	switch {
	case !sp.plan.recorded[w] || sp.locations.isShadow(root):
		return ""
	case w.exchanged:
		return "exchanges " + sourceName(root) + " back"
	case w.inverse != nil:
		return "computes the old " + sourceName(root) + " from the new one"
	case w.slice != nil || w.place.Indirect():
		return "records the overwritten memory of " + sourceName(root)
	}
	if root.Object == nil { // a temporary, declared in each iteration
		return "records " + sourceName(root)
	}
	return "records the old " + sourceName(root)
}

// sourceName returns the name of v in the source, or the one that the compiler gave to a temporary, without its number.
func sourceName(v *ir.Var) string {
	if v.Object != nil && v.Object.Name() != "" {
		return v.Object.Name()
	}
	return strings.TrimRight(v.Name, "0123456789")
}

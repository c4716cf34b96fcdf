package adjoint

import (
	"go/token"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Note is what an adjoint does about something at a position in the source.
type Note struct {
	Pos  token.Position
	Text string
}

// plan is what was decided for a function and what it calls.
func (b *builder) plan() (out []Note) {
	seen := map[*builder]bool{}
	said := map[Note]bool{}
	var visit func(c *builder)
	visit = func(c *builder) {
		if seen[c] {
			return
		}
		seen[c] = true
		add := func(n *node, text string) {
			note := Note{n.at.Pos, text}
			if !said[note] {
				said[note] = true
				out = append(out, note)
			}
		}
		each(c.body, func(n *node) {
			if n.fused {
				add(n, "each iteration is reversed at once")
			}
			if l, ok := n.s.(*ir.Let); ok && c.flow.reruns[l.V] && l.V.Object != nil {
				add(n, "computes "+called(l.V)+" again")
			}
			for _, w := range n.writes {
				if text := c.said(w); text != "" {
					add(n, text)
				}
			}
			if n.callee != nil {
				visit(n.callee)
			}
		})
	}
	visit(b)
	return out
}

// said is what is done about an old value, empty for nothing or for that of a shadow.
func (b *builder) said(w *write) string {
	root := w.window
	if root == nil {
		root = w.place.Root
	}
	switch {
	case !w.keep || b.flow.isShadow(root):
		return ""
	case w.inverse != nil:
		return "finds the old " + called(root) + " from the new"
	case w.window != nil || w.place.Behind():
		return "keeps what it overwrites behind " + called(root)
	}
	if root.Object == nil { // declared in each iteration
		return "keeps " + called(root)
	}
	return "keeps the old " + called(root)
}

// called is the name of a variable in the source, or what the stages call it.
func called(v *ir.Var) string {
	if v.Object != nil && v.Object.Name() != "" {
		return v.Object.Name()
	}
	return strings.TrimRight(v.Name, "0123456789")
}

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
	// Ignored says that a directive there has no effect, for the reason in Text.
	Ignored bool
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
			note := Note{Pos: n.at.Pos, Text: text}
			if !said[note] {
				said[note] = true
				out = append(out, note)
			}
		}
		for _, n := range c.g.notes {
			if !said[n] {
				said[n] = true
				out = append(out, n)
			}
		}
		if note, ok := c.loopNote(); ok && !said[note] {
			said[note] = true
			out = append(out, note)
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
		if c.chain != nil {
			visit(c.chain.segment)
		}
	}
	visit(b)
	return out
}

// loopNote is what becomes of a marked loop.
func (b *builder) loopNote() (Note, bool) {
	switch g := b.g; {
	case g.segment == nil:
	case b.chain != nil:
		return Note{Pos: g.f.Pos, Text: b.chain.snapshot.said(g.f.Checkpoint)}, true
	case b.key.mode == split:
		return ignored(g.f.Pos, g.segment.slow), true
	}
	return Note{}, false
}

func ignored(pos token.Position, why string) Note {
	return Note{Pos: pos, Text: "is not checkpointed: " + why, Ignored: true}
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
	case w.window != nil || w.place.Indirect():
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

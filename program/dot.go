package program

import (
	"fmt"
	"strings"
)

// DOT returns p as a graph in the language of Graphviz. Nodes are the statements, with their text, and the groups of
// outputs. Edges lead from the statement that writes a value to those that read it, labelled with the slots if it
// writes several. Guards are dashed diamonds, custom rules octagons. For a program that Check rejects, edges with
// undefined ends are omitted.
func (p *Program) DOT() string {
	var b strings.Builder
	b.WriteString("digraph program {\n\trankdir=TB;\n\tnode [shape=box, fontname=\"monospace\"];\n\tedge " +
		"[fontname=\"monospace\", fontsize=10];\n")
	own := map[int32]int{} // slot → statement that writes it
	for i := range p.lines() {
		fmt.Fprintf(&b, "\tn%d [label=%s%s];\n", i, dotString(clipped(string(p.appendLine(nil, i)))), p.look(i))
		p.edges(&b, own, i)
		if i < len(p.Stmts) {
			s := &p.Stmts[i]
			for l := range s.Width() {
				own[s.D+l] = i
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// look returns the DOT attributes of the node of line i.
func (p *Program) look(i int) string {
	if i >= len(p.Stmts) {
		return ", style=bold, peripheries=2"
	}
	switch op := p.Stmts[i].Op; {
	case op == Input:
		return ", style=bold"
	case op == Param:
		return ", style=rounded"
	case op == Const:
		return ", shape=plaintext"
	case op == Call:
		return ", shape=octagon"
	case op.Guard():
		return ", shape=diamond, style=dashed"
	}
	return ""
}

// edges writes the edges to the node of line i. own maps a slot to the statement that writes it.
func (p *Program) edges(b *strings.Builder, own map[int32]int, i int) {
	from := map[int][]int32{} // statement → its slots that line i reads
	var order []int
	seen := map[int32]bool{}
	read := func(slot int32) {
		j, ok := own[slot]
		if !ok {
			return
		}
		if from[j] == nil {
			order = append(order, j)
		}
		if !seen[slot] {
			seen[slot] = true
			from[j] = append(from[j], slot)
		}
	}
	if i < len(p.Stmts) {
		s := &p.Stmts[i]
		for _, o := range s.Operands() {
			n := s.terms()
			if o.Stride == Gather && !within(o.Base, n, len(p.Index)) {
				continue
			}
			if o.Stride == 0 {
				n = min(n, 1)
			}
			for l := range n {
				read(p.at(o, l))
			}
		}
	} else {
		at, n := total(p.Outs[:i-len(p.Stmts)]), p.Outs[i-len(p.Stmts)].N
		if at >= 0 && n >= 0 && at <= len(p.Result)-n {
			for _, slot := range p.Result[at : at+n] {
				read(slot)
			}
		}
	}
	for _, j := range order {
		fmt.Fprintf(b, "\tn%d -> n%d", j, i)
		if p.Stmts[j].Width() > 1 {
			fmt.Fprintf(b, " [label=%s]", dotString(slotsLabel(from[j])))
		}
		b.WriteString(";\n")
	}
}

// slotsLabel lists slots, or counts them if there are more than four.
func slotsLabel(s []int32) string {
	if len(s) > 4 {
		return fmt.Sprintf("%d slots", len(s))
	}
	var b []byte
	for i, slot := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendSlot(b, slot)
	}
	return string(b)
}

// clipped returns s, shortened to the length that fits into a node.
func clipped(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// dotString returns s as a quoted DOT string. Graphviz unescapes \" when it reads a string, and \\ when it sets a
// label.
func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

package randprog

import (
	"strings"
)

// A Node is a piece of a program: text with holes for its kids, $0 to $9. A hole may occur twice or not at all. @ is
// replaced by the mark of the program.
type Node struct {
	Kind  Kind
	Text  string
	Kids  []*Node
	Alts  []string // simpler texts with the same holes, for shrinking
	Label string   // of a loop or a switch; printed if a statement in it refers to it
}

// A Kind is the syntactic kind of a node: a type for an expression.
type Kind string

// The kinds of pieces.
const (
	Block   Kind = "block" // a list of statements
	Stmt    Kind = "stmt"
	Decl    Kind = "func"
	Float   Kind = "float64"
	Small   Kind = "float32"
	Int     Kind = "int"
	Bool    Kind = "bool"
	Slice   Kind = "slice"
	Array   Kind = "array"
	Struct  Kind = "struct"
	Pointer Kind = "pointer" // to a struct
	Wide    Kind = "wide"    // a struct with a struct in it
	Ref     Kind = "ref"     // a pointer to a float
	Rows    Kind = "rows"    // a slice of slices
	Mine    Kind = "mine"    // pointer to a float of a defined type
)

// node returns a node.
func node(kind Kind, text string, kids ...*Node) *Node {
	return &Node{Kind: kind, Text: text, Kids: kids}
}

// stmt returns a statement.
func stmt(text string, kids ...*Node) *Node { return node(Stmt, text, kids...) }

// or adds simpler texts.
func (n *Node) or(alts ...string) *Node {
	n.Alts = append(n.Alts, alts...)
	return n
}

// braced puts a statement in a block.
func (n *Node) braced() *Node {
	n.Text = "{\n" + n.Text + "\n}"
	return n
}

// print writes the node with the given mark.
func (n *Node) print(b *strings.Builder, mark string) {
	if n.Kind == Block {
		for _, k := range n.Kids {
			k.print(b, mark)
			b.WriteByte('\n')
		}
		return
	}
	if n.Label != "" && n.names(n.Label) {
		b.WriteString(n.Label + ":\n")
	}
	text := n.Text
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '@':
			b.WriteString(mark)
		case c == '$' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			i++
			n.Kids[text[i]-'0'].print(b, mark)
		default:
			b.WriteByte(c)
		}
	}
}

// names reports whether a statement in the node refers to a label.
func (n *Node) names(label string) bool {
	if f := strings.Fields(n.Text); len(f) == 2 && f[1] == label {
		return true
	}
	for _, k := range n.Kids {
		if k.names(label) {
			return true
		}
	}
	return false
}

// clone returns a deep copy.
func (n *Node) clone() *Node {
	c := *n
	c.Kids = make([]*Node, len(n.Kids))
	for i, k := range n.Kids {
		c.Kids[i] = k.clone()
	}
	return &c
}

// walk visits the node and all its descendants.
func (n *Node) walk(visit func(*Node)) {
	visit(n)
	for _, k := range n.Kids {
		k.walk(visit)
	}
}

// size returns the number of nodes.
func (n *Node) size() (size int) {
	n.walk(func(*Node) { size++ })
	return size
}

package lower

import (
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The memory of package variables as cells, and the cells that references lead to.

// A cell is memory of scratch: a number, or the elements of an array or a slice. Its path holds the fields and the
// elements that lead to it, each with a '/' before it: a field as its index, the element with a constant index of an
// array as "#3", elements with other indices, and those of slices, as "#".
//
// A cell may have a parameter that is a reference as its root, and be part of the memory that the argument leads to. If
// current is set, it is part of the memory that the local variable root leads to at the moment. A cell without root is
// memory that is not followed.
type cell struct {
	root    *ir.Var
	path    string
	current bool
}

// anyElement is the step of a path to an element whose index is not constant.
const anyElement = "/#"

// in returns the part of c at a path.
func (c cell) in(path string) cell { return cell{c.root, c.path + path, c.current} }

// matches reports whether two cells may be the same memory.
func (c cell) matches(d cell) bool {
	if c.root != d.root || c.current != d.current {
		return false
	}
	if c.path == d.path {
		return true
	}
	p, q := strings.Split(c.path, "/"), strings.Split(d.path, "/")
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] && (p[i] != "#" || !strings.HasPrefix(q[i], "#")) &&
			(q[i] != "#" || !strings.HasPrefix(p[i], "#")) {
			return false
		}
	}
	return true
}

// widened returns c with elements of any index in place of those with a constant one.
func (c cell) widened() cell {
	list := strings.Split(c.path, "/")
	for i, s := range list {
		if strings.HasPrefix(s, "#") {
			list[i] = "#"
		}
	}
	return cell{c.root, strings.Join(list, "/"), c.current}
}

// isElement reports whether c is part of an element.
func (c cell) isElement() bool { return strings.Contains(c.path, "#") }

// describe returns the name of c without the elements on its path, and its type.
func (c cell) describe() (name string, t types.Type) {
	name, t = c.root.Name, c.root.Type
	for _, s := range strings.Split(c.path, "/")[1:] {
		if strings.HasPrefix(s, "#") {
			t = elementOf(t)
			continue
		}
		i, _ := strconv.Atoi(s)
		f := t.Underlying().(*types.Struct).Field(i)
		name, t = name+"."+f.Name(), f.Type()
	}
	return name, t
}

// elementOf returns the type of the elements of an array or a slice, nil for other types.
func elementOf(t types.Type) types.Type {
	if a, ok := t.Underlying().(*types.Array); ok {
		return a.Elem()
	}
	return ir.ElemOf(t)
}

// numbers calls visit for the paths of the numbers, strings and other values without parts in a value of type t. A
// reference has none: the header of a slice is no number.
func numbers(path string, t types.Type, visit func(path string)) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			numbers(path+"/"+strconv.Itoa(i), u.Field(i).Type(), visit)
		}
	case *types.Array:
		numbers(path+anyElement, u.Elem(), visit)
	case *types.Slice, *types.Pointer:
	default:
		visit(path)
	}
}

// cellSet is a set of cells.
type cellSet map[cell]bool

// has reports whether s has a cell that may be c.
func (s cellSet) has(c cell) bool {
	if s[c] {
		return true
	}
	for d := range s {
		if d.root == c.root && d.matches(c) {
			return true
		}
	}
	return false
}

// covers reports whether s has c, or for an element with a constant index elements with any index.
func (s cellSet) covers(c cell) bool { return s[c] || s[c.widened()] }

// A memoryState is the knowledge at a point of a function. Nil is a point that is not reached.
type memoryState struct {
	stored cellSet             // something has been stored there
	refs   map[*ir.Var]cellSet // the memory that a local variable may lead to
}

func (m *memoryState) clone() *memoryState {
	if m == nil {
		return nil
	}
	out := &memoryState{maps.Clone(m.stored), maps.Clone(m.refs)}
	return out
}

// meet returns the knowledge after a point that is reached from two others.
func (m *memoryState) meet(n *memoryState) *memoryState {
	if m == nil || n == nil {
		if m == nil {
			m = n
		}
		return m.clone()
	}
	out := &memoryState{cellSet{}, maps.Clone(m.refs)}
	for c := range m.stored {
		if n.stored.covers(c) {
			out.stored[c] = true
		}
	}
	for c := range n.stored {
		if m.stored.covers(c) {
			out.stored[c] = true
		}
	}
	for v, cells := range n.refs {
		if old := out.refs[v]; old == nil {
			out.refs[v] = cells
		} else if !containsAll(old, cells) {
			all := maps.Clone(old)
			maps.Copy(all, cells)
			out.refs[v] = all
		}
	}
	return out
}

func containsAll(s, t cellSet) bool {
	for c := range t {
		if !s[c] {
			return false
		}
	}
	return true
}

func (m *memoryState) equal(n *memoryState) bool {
	if m == nil || n == nil {
		return m == n
	}
	same := func(s, t cellSet) bool { return maps.Equal(s, t) }
	return maps.Equal(m.stored, n.stored) && maps.EqualFunc(m.refs, n.refs, same)
}

// forget drops what is known about the memory that v leads to.
func (m *memoryState) forget(v *ir.Var) {
	maps.DeleteFunc(m.stored, func(c cell, _ bool) bool { return c.current && c.root == v })
}

// A region is the memory of a place or behind a reference.
type region struct {
	cells cellSet
	// current is the cell by way of the variable that leads there; its root is nil if no single variable does.
	current cell
}

// in returns the part of t at a path.
func (t region) in(path string) region {
	out := region{cellSet{}, t.current.in(path)}
	for c := range t.cells {
		out.cells[c.in(path)] = true
	}
	return out
}

// isStored reports whether something is stored in all memory that t may be.
func (m *memoryState) isStored(t region) bool {
	if t.current.root != nil && m.stored.has(t.current) {
		return true
	}
	for c := range t.cells {
		if c.root != nil && !m.stored.has(c) {
			return false
		}
	}
	return true
}

// store notes that something is stored in t.
func (m *memoryState) store(t region) {
	if t.current.root != nil {
		m.stored[t.current] = true
	}
	if len(t.cells) == 1 {
		for c := range t.cells {
			if c.root != nil {
				m.stored[c] = true
				if c != c.widened() {
					m.complete(c)
				}
			}
		}
	}
}

// complete notes that all elements of an array are stored if those with constant indices are, of which c is one.
func (m *memoryState) complete(c cell) {
	list := strings.Split(c.path, "/")
	t := c.root.Type
	for i, s := range list[1:] {
		if f, err := strconv.Atoi(s); err == nil {
			t = t.Underlying().(*types.Struct).Field(f).Type()
			continue
		}
		array, ok := t.Underlying().(*types.Array)
		if t = elementOf(t); s == "#" || !ok {
			continue
		}
		one := slices.Clone(list)
		for k := range array.Len() {
			if one[i+1] = "#" + strconv.FormatInt(k, 10); !m.stored[cell{c.root, strings.Join(one, "/"), false}] {
				return
			}
		}
		one[i+1] = "#"
		all := cell{c.root, strings.Join(one, "/"), false}
		m.stored[all] = true
		if all != all.widened() {
			m.complete(all)
		}
		return
	}
}

// place returns the memory at p, and whether it is followed at all: p is scratch, or behind a reference.
func (a *readAnalysis) place(p *ir.Place, m *memoryState) (region, bool) {
	t, path, last, tracked := p.Root.Type, "", -1, a.tracked[p.Root]
	for i, s := range p.Path {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			path += "/" + strconv.Itoa(s.Field)
			t = u.Field(s.Field).Type()
			continue
		case *types.Pointer:
			path, last, t = "", i, u.Elem()
			continue
		case *types.Array:
			if c, ok := s.Index.(*ir.Const); ok && tracked && c.Val != nil {
				path += "/#" + c.Val.ExactString()
			} else {
				path += anyElement
			}
		case *types.Slice:
			if !tracked {
				path, last = "", i
			}
			path += anyElement
		}
		if t = elementOf(t); t == nil {
			return region{}, false // a byte of a string
		}
	}
	switch {
	case tracked:
		return region{cellSet{{root: p.Root, path: path}: true}, cell{}}, true
	case last < 0:
		return region{}, false
	}
	out := region{cells: cellSet{}}
	for c := range m.refs[p.Root] {
		out.cells[c.in(path)] = true
	}
	if last == 0 && p.Root.Kind != ir.Global {
		out.current = cell{p.Root, path, true}
	}
	return out, true
}

// refersTo returns the memory that the reference e leads to. For a slice it is the array, so that an element has one
// more step. A value with several references leads to all of their memory.
func (a *readAnalysis) refersTo(e ir.Expr, m *memoryState) region {
	out := region{cells: cellSet{}}
	if e == nil || !hasReferences(e.Type()) {
		return out
	}
	switch e := e.(type) {
	case *ir.Addr, *ir.SliceAt:
		if t, ok := a.place(ir.PlaceOf(e), m); ok {
			return t
		}
	case *ir.Load:
		if a.tracked[e.P.Root] {
			out.cells[cell{root: e.P.Root}] = true
			return out
		}
		if len(e.P.Path) == 0 {
			out.current = cell{e.P.Root, "", true}
		}
		if cells := m.refs[e.P.Root]; len(cells) > 0 {
			out.cells = cells
			return out
		}
	case *ir.Slice:
		return a.refersTo(e.X, m)
	case *ir.Convert:
		return a.refersTo(e.X, m)
	case *ir.Literal:
		for _, x := range e.Elems {
			maps.Copy(out.cells, a.refersTo(x, m).cells)
		}
	case *ir.Const:
		return out // nil
	}
	if len(out.cells) == 0 {
		out.cells[cell{}] = true
	}
	return out
}

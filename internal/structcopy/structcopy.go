// Package structcopy copies structs for use by another goroutine, with all memory reachable from them that may be
// written.
//
// A function over plain numbers may write to the struct that is bound to it and to anything reachable from there, so
// two
// goroutines that call it must not share such memory. A [Copy] is brought up to date before each call; memory is
// allocated again only if the shape of the reachable memory has changed. Updating has these steps:
//
//  1. Reach: a traversal collects the extents reachable from the struct. First those that may be written, through all
//     fields but the read-only ones; then those only reached through read-only fields.
//  2. Allocate, if the extents differ from those of the update before: every extent that may be written is copied, and
//     every other extent that overlaps a copied one or refers to one, iterated to a fixed point. Overlapping extents
//
// are
//
//	   merged into one block, so that the copies overlap as the originals do.
//	3. Copy the contents of the blocks.
//	4. Redirect: references in copied memory to copied memory are replaced by references to the copies.
//
// Everything else is shared: strings, memory only reached through read-only fields, fields with the tag nabla:"fixed".
// Function values, channels, unsafe pointers and maps with references cannot be copied.
package structcopy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
)

// A Copy is a copy of a struct and of the memory reachable from it that may be written. The zero Copy is ready for use
// and takes all memory for writable. A Copy must not be used by several goroutines at a time.
type Copy struct {
	// ReadOnly names the fields of the struct that are only read, with all memory reachable from them. It must not
	// change after the first Update.
	ReadOnly []string

	inReadOnly   []bool // for each reference of the struct: is it part of a read-only field?
	types        map[reflect.Type]*shape
	visited      map[extent]bool // extents with references that the traversal has entered
	reading      bool            // the traversal is behind a read-only field
	reached      []extent        // the original memory, in order of traversal, the struct first
	writable     int             // the first writable of reached may be written
	prevReached  []extent        // reached and writable when memory was last allocated
	prevWritable int
	owned        []bool                           // for each of reached: is it copied?
	blocks       []block                          // sorted by address, disjoint
	maps         map[unsafe.Pointer]reflect.Value // original map → copy
}

// An extent is memory at an address that holds n consecutive values of a type.
type extent struct {
	at    unsafe.Pointer
	shape *shape
	n     int
}

func (e extent) start() uintptr { return uintptr(e.at) }
func (e extent) end() uintptr   { return e.start() + uintptr(e.n)*e.shape.typ.Size() }

// A block is a maximal copied extent and its copy.
type block struct {
	extent
	to       unsafe.Pointer // the copy, nil until it is allocated
	dst, src reflect.Value  // copy and original as slices
}

// A shape lists the references in a value of a type.
type shape struct {
	typ  reflect.Type
	refs []reference
	flat bool // no references
}

// A reference is a slice, pointer, interface, map, channel, function or unsafe pointer at an offset within a value.
type reference struct {
	off  uintptr
	kind reflect.Kind
	typ  reflect.Type
	to   *shape // of the element of a slice or pointer
	path string // field names and indices from the value to the reference, for errors
}

// Update brings the copy of the struct of type t at an address up to date and returns its address, nil if all of it is
// shared. It returns a *[engine.ContextError] that names the field if memory that may be written holds a value that
// cannot be copied, or if extents of different types overlap partly. Update does not allocate if the memory reachable
// from the struct has the addresses and lengths of the update before, maps apart. Its time is linear in the size of
// that memory.
func (p *Copy) Update(at unsafe.Pointer, t reflect.Type) (unsafe.Pointer, error) {
	if p.types == nil {
		p.types, p.visited = map[reflect.Type]*shape{}, map[extent]bool{}
		p.maps = map[unsafe.Pointer]reflect.Value{}
	}
	clear(p.visited)
	root := extent{at, p.shape(t), 1}
	if p.inReadOnly == nil {
		p.inReadOnly = referencesIn(root.shape, p.ReadOnly)
	}
	p.reached = append(p.reached[:0], root)
	if len(p.ReadOnly) == 0 {
		p.visited[root] = true
	}
	for k := range root.shape.refs { // may reach the struct itself, and through it all its fields
		if w := &root.shape.refs[k]; !p.inReadOnly[k] {
			if err := p.follow(w, unsafe.Add(at, w.off)); err != nil {
				err.Field = w.field(err.Field)
				return nil, err
			}
		}
	}
	p.writable = len(p.reached)
	if !p.visited[root] {
		p.visited[root], p.reading = true, true
		for k := range root.shape.refs {
			if w := &root.shape.refs[k]; p.inReadOnly[k] {
				_ = p.follow(w, unsafe.Add(at, w.off)) // never fails: nothing has to be copied
			}
		}
		p.reading = false
	}
	if !slices.Equal(p.reached, p.prevReached) || p.writable != p.prevWritable || p.sharedReachesCopy() {
		if err := p.allocate(); err != nil {
			return nil, err
		}
	}
	for _, b := range p.blocks {
		reflect.Copy(b.dst, b.src)
	}
	for i, e := range p.reached {
		if p.owned[i] {
			p.redirectAll(e, i < p.writable, i == 0)
		}
	}
	return p.copyOf(at), nil
}

// referencesIn reports for each reference in s whether it is part of one of the named fields.
func referencesIn(s *shape, names []string) []bool {
	in := make([]bool, len(s.refs), len(s.refs)+1) // not nil
	for _, name := range names {
		f, ok := s.typ.FieldByName(name)
		for k := range s.refs {
			off := s.refs[k].off
			in[k] = in[k] || ok && len(f.Index) == 1 && f.Offset <= off && off < f.Offset+f.Type.Size()
		}
	}
	return in
}

// OnlyReads reports whether names has all fields of the struct type t that are not tagged nabla:"fixed", so that a
// function that only reads these fields needs no copy.
func OnlyReads(t reflect.Type, names []string) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name != "_" && f.Tag.Get("nabla") != "fixed" && !slices.Contains(names, f.Name) {
			return false
		}
	}
	return true
}

// field returns the path of a field reachable through w, given its path from the target of w.
func (w *reference) field(behind string) string {
	return strings.Trim(strings.TrimPrefix(w.path, ".")+"."+behind, ".")
}

// shape returns the shape of type t.
func (p *Copy) shape(t reflect.Type) *shape {
	if s := p.types[t]; s != nil {
		return s
	}
	s := &shape{typ: t}
	p.types[t] = s // before its parts, which may refer back to t
	p.addReferences(s, t, 0, "")
	s.flat = len(s.refs) == 0
	return s
}

// addReferences adds to s the references in its part of type t at offset off.
func (p *Copy) addReferences(s *shape, t reflect.Type, off uintptr, path string) {
	w := reference{off: off, kind: t.Kind(), typ: t, path: path}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("nabla") != "fixed" {
				p.addReferences(s, f.Type, off+f.Offset, path+"."+f.Name)
			}
		}
		return
	case reflect.Array:
		for i := range t.Len() {
			before := len(s.refs)
			p.addReferences(s, t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", path, i))
			if len(s.refs) == before { // elements have no references
				return
			}
		}
		return
	case reflect.Slice, reflect.Pointer:
		w.to = p.shape(t.Elem())
	case reflect.Interface, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
	default:
		return
	}
	s.refs = append(s.refs, w)
}

// add adds e and the extents reachable from it to p.reached.
func (p *Copy) add(e extent) error {
	if e.n == 0 || e.shape.typ.Size() == 0 {
		return nil
	}
	if e.shape.flat { // not worth a map entry: duplicates are merged later
		p.reached = append(p.reached, e)
		return nil
	}
	if p.visited[e] {
		return nil
	}
	p.visited[e] = true
	p.reached = append(p.reached, e)
	for i := range e.n {
		for k := range e.shape.refs {
			w := &e.shape.refs[k]
			if err := p.follow(w, unsafe.Add(e.at, uintptr(i)*e.shape.typ.Size()+w.off)); err != nil {
				err.Field = w.field(err.Field)
				return err
			}
		}
	}
	return nil
}

// follow adds the extents reachable through the reference w at an address. In its error Field is the path from the
// target of w.
func (p *Copy) follow(w *reference, at unsafe.Pointer) *engine.ContextError {
	var err error
	switch w.kind {
	case reflect.Slice:
		h := *(*[]byte)(at)
		err = p.add(extent{unsafe.Pointer(unsafe.SliceData(h)), w.to, cap(h)})
	case reflect.Pointer:
		if to := *(*unsafe.Pointer)(at); to != nil {
			err = p.add(extent{to, w.to, 1})
		}
	case reflect.Interface:
		if v := reflect.NewAt(w.typ, at).Elem(); !v.IsNil() {
			err = p.followInterface(v.Elem().Type(), at)
		}
	case reflect.Map:
		if m := reflect.NewAt(w.typ, at).Elem(); !m.IsNil() && !(p.isFlat(w.typ.Key()) && p.isFlat(w.typ.Elem())) {
			return p.uncopyable(w.typ)
		}
	default:
		if *(*unsafe.Pointer)(at) != nil {
			return p.uncopyable(w.typ)
		}
	}
	c, _ := err.(*engine.ContextError)
	return c
}

// uncopyable returns the error for a value of type t, which cannot be copied; nil while only read memory is traversed.
func (p *Copy) uncopyable(t reflect.Type) *engine.ContextError {
	if p.reading {
		return nil
	}
	return &engine.ContextError{Type: t.String(), Uncopied: true}
}

// isFlat reports whether values of type t have no references.
func (p *Copy) isFlat(t reflect.Type) bool { return p.shape(t).flat }

// followInterface adds the extents reachable through the interface at an address, which holds a value of type t.
func (p *Copy) followInterface(t reflect.Type, at unsafe.Pointer) error {
	data := (*[2]unsafe.Pointer)(at)[1]
	switch {
	case data == nil:
		return nil
	case t.Kind() == reflect.Pointer:
		return p.add(extent{data, p.shape(t.Elem()), 1})
	case p.isFlat(t): // immutable: an interface value is only replaced as a whole
		return nil
	case pointerShaped(t):
		if err := p.uncopyable(t); err != nil {
			return err
		}
		return nil
	}
	return p.add(extent{data, p.shape(t), 1})
}

// pointerShaped reports whether the data word of an interface holds a value of type t itself, rather than its address.
func pointerShaped(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && pointerShaped(t.Field(0).Type)
	case reflect.Array:
		return t.Len() == 1 && pointerShaped(t.Elem())
	}
	return false
}

// allocate decides which of the reached extents are copied and allocates the blocks. The set of copied extents starts
// with the writable ones and only grows, so the iteration terminates.
func (p *Copy) allocate() error {
	p.prevReached, p.owned = p.prevReached[:0], slices.Grow(p.owned[:0], len(p.reached))[:len(p.reached)]
	for i := range p.owned {
		p.owned[i] = i < p.writable
	}
	for again := true; again; {
		if err := p.mergeExtents(); err != nil {
			return err
		}
		again = false
		for i, e := range p.reached {
			if !p.owned[i] && (p.overlaps(e) || p.reachesCopy(e)) {
				p.owned[i], again = true, true
			}
		}
	}
	clear(p.maps)
	for i := range p.blocks {
		b := &p.blocks[i]
		b.dst, b.src = reflect.MakeSlice(reflect.SliceOf(b.shape.typ), b.n,
			b.n), reflect.SliceAt(b.shape.typ, b.at, b.n)
		b.to = b.dst.UnsafePointer()
	}
	p.prevReached, p.prevWritable = append(p.prevReached, p.reached...), p.writable
	return nil
}

// sharedReachesCopy reports whether memory that was shared so far refers to copied memory now. The extents are those of
// the last allocation.
func (p *Copy) sharedReachesCopy() bool {
	for i, e := range p.reached {
		if !p.owned[i] && p.reachesCopy(e) {
			return true
		}
	}
	return false
}

// overlaps reports whether e overlaps a block.
func (p *Copy) overlaps(e extent) bool {
	i := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].end() > e.start() })
	return i < len(p.blocks) && p.blocks[i].start() < e.end()
}

// reachesCopy reports whether e contains a reference to copied memory.
func (p *Copy) reachesCopy(e extent) bool {
	if e.shape.flat {
		return false
	}
	for i := range e.n {
		for k := range e.shape.refs {
			w := &e.shape.refs[k]
			at := unsafe.Add(e.at, uintptr(i)*e.shape.typ.Size()+w.off)
			var to unsafe.Pointer
			switch w.kind {
			case reflect.Slice:
				if h := *(*[]byte)(at); cap(h) > 0 && w.to.typ.Size() > 0 {
					to = unsafe.Pointer(unsafe.SliceData(h))
				}
			case reflect.Pointer:
				to = *(*unsafe.Pointer)(at)
			case reflect.Interface:
				to = (*[2]unsafe.Pointer)(at)[1]
			}
			if to != nil && p.copyOf(to) != nil {
				return true
			}
		}
	}
	return false
}

// mergeExtents sets p.blocks to the copied extents, merging those that overlap.
func (p *Copy) mergeExtents() error {
	var list []extent
	for i, e := range p.reached {
		if p.owned[i] {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()),
			cmp.Compare(len(b.shape.refs), len(a.shape.refs)))
	})
	p.blocks = p.blocks[:0]
	for _, e := range list {
		if n := len(p.blocks); n > 0 {
			last := &p.blocks[n-1]
			switch {
			case e.end() <= last.end():
				continue
			case e.start() < last.end() && e.shape != last.shape:
				return &engine.ContextError{Type: fmt.Sprintf("%s and %s at overlapping addresses", last.shape.typ,
					e.shape.typ),
					Uncopied: true}
			case e.start() < last.end():
				last.n = int((e.end() - last.start()) / e.shape.typ.Size())
				continue
			}
		}
		p.blocks = append(p.blocks, block{extent: e})
	}
	return nil
}

// copyOf returns the address of the copy of an address, nil if it is shared. Within a block without memory yet it
// returns some other address than nil.
func (p *Copy) copyOf(at unsafe.Pointer) unsafe.Pointer {
	i := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].start() > uintptr(at) }) - 1
	if i < 0 || uintptr(at) >= p.blocks[i].end() {
		return nil
	}
	b := &p.blocks[i]
	if b.to == nil {
		return at
	}
	return unsafe.Add(b.to, uintptr(at)-b.start())
}

// redirectAll redirects the references in the copy of e. Maps are copied if they may be written: if e is, apart from
// read-only fields if e is the struct itself.
func (p *Copy) redirectAll(e extent, writable, isStruct bool) {
	if e.shape.flat {
		return
	}
	size, to := e.shape.typ.Size(), p.copyOf(e.at)
	for i := range e.n {
		for k := range e.shape.refs {
			w := &e.shape.refs[k]
			off := uintptr(i)*size + w.off
			if w.kind != reflect.Map || writable && !(isStruct && p.inReadOnly[k]) {
				p.redirect(w, unsafe.Add(e.at, off), unsafe.Add(to, off))
			}
		}
	}
}

// redirect replaces the reference w at to, in copied memory, by one to the copy of the target of the original at from.
func (p *Copy) redirect(w *reference, from, to unsafe.Pointer) {
	switch w.kind {
	case reflect.Slice:
		h := *(*[]byte)(from)
		if cap(h) > 0 && w.to.typ.Size() > 0 {
			if owned := p.copyOf(unsafe.Pointer(unsafe.SliceData(h))); owned != nil {
				*(*[]byte)(to) = unsafe.Slice((*byte)(owned), cap(h))[:len(h)]
			}
		}
	case reflect.Pointer:
		if at := *(*unsafe.Pointer)(from); at != nil && w.to.typ.Size() > 0 {
			if owned := p.copyOf(at); owned != nil {
				*(*unsafe.Pointer)(to) = owned
			}
		}
	case reflect.Interface:
		v := reflect.NewAt(w.typ, from).Elem()
		if v.IsNil() {
			return
		}
		t, data := v.Elem().Type(), (*[2]unsafe.Pointer)(from)[1]
		if t.Kind() == reflect.Pointer {
			if t = t.Elem(); t.Size() == 0 {
				return
			}
		} else if p.isFlat(t) {
			return
		}
		if owned := p.copyOf(data); data != nil && owned != nil {
			(*[2]unsafe.Pointer)(to)[1] = owned
		}
	case reflect.Map:
		if m := reflect.NewAt(w.typ, from).Elem(); !m.IsNil() {
			reflect.NewAt(w.typ, to).Elem().Set(p.entries(m))
		}
	}
}

// entries returns the copy of map m, brought up to date.
func (p *Copy) entries(m reflect.Value) reflect.Value {
	c, ok := p.maps[m.UnsafePointer()]
	if !ok {
		c = reflect.MakeMapWithSize(m.Type(), m.Len())
		p.maps[m.UnsafePointer()] = c
	}
	c.Clear()
	for it := m.MapRange(); it.Next(); {
		c.SetMapIndex(it.Key(), it.Value())
	}
	return c
}

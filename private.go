package nabla

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unsafe"
)

// A function over plain numbers may write to its bound struct: to workspace in it, and
// to anything that it leads to. So what two goroutines work with must not share what is
// written. Generated code says which fields are only read.

// private is a copy of a struct and of memory that it leads to, brought up to date before
// each call. Parts overlap as those of the struct do. It has all that may be written, which
// is what fields lead to that are not only read; the struct itself; and what overlaps that
// or leads to it, as the copies must lead to copies. All else, strings, and fields with the
// tag fixed are shared.
type private struct {
	readOnly []string // the fields
	reads    []bool   // which of the references in the struct are in one of them
	types    map[reflect.Type]*form
	known    map[extent]bool
	reading  bool     // what is met is only read
	spans    []extent // of the user's memory, in the order in which they were met
	written  int      // how many of them may be written, the first ones
	before   []extent // those of the copy as it is
	wrote    int      // how many of those
	own      []bool   // which of before have a copy
	blocks   []copied // by address, none overlapping another
	maps     map[unsafe.Pointer]reflect.Value
}

// extent is memory that holds n values of a type.
type extent struct {
	at   unsafe.Pointer
	form *form
	n    int
}

func (e extent) start() uintptr { return uintptr(e.at) }
func (e extent) end() uintptr   { return e.start() + uintptr(e.n)*e.form.typ.Size() }

// copied is an extent that is part of no other, and its copy.
type copied struct {
	extent
	to       unsafe.Pointer
	dst, src reflect.Value // both as slices
}

// form is where in a value of a type something leads elsewhere.
type form struct {
	typ   reflect.Type
	links []way
	flat  bool // leads nowhere, also not to what cannot be copied
}

// way is a reference at an offset.
type way struct {
	off  uintptr
	kind reflect.Kind
	typ  reflect.Type
	to   *form // of a slice or a pointer
	path string
}

// update brings the copy up to date and returns it; at is a value of type t.
func (p *private) update(at unsafe.Pointer, t reflect.Type) (unsafe.Pointer, error) {
	if p.types == nil {
		p.types, p.known = map[reflect.Type]*form{}, map[extent]bool{}
		p.maps = map[unsafe.Pointer]reflect.Value{}
	}
	clear(p.known)
	root := extent{at, p.form(t), 1}
	if p.reads == nil {
		p.reads = readBy(root.form, p.readOnly)
	}
	p.spans = append(p.spans[:0], root)
	if len(p.readOnly) == 0 {
		p.known[root] = true
	}
	for k := range root.form.links { // which may lead to the struct itself, and by that to all of it
		if w := &root.form.links[k]; !p.reads[k] {
			if err := p.follow(w, unsafe.Add(at, w.off)); err != nil {
				err.Field = w.field(err.Field)
				return nil, err
			}
		}
	}
	p.written = len(p.spans)
	if !p.known[root] {
		p.known[root], p.reading = true, true
		for k := range root.form.links {
			if w := &root.form.links[k]; p.reads[k] {
				_ = p.follow(w, unsafe.Add(at, w.off)) // nothing need be copied
			}
		}
		p.reading = false
	}
	if !slices.Equal(p.spans, p.before) || p.written != p.wrote || p.moved() {
		if err := p.allocate(); err != nil {
			return nil, err
		}
	}
	for _, b := range p.blocks {
		reflect.Copy(b.dst, b.src)
	}
	for i, e := range p.spans {
		if p.own[i] {
			p.lead(e, i < p.written, i == 0)
		}
	}
	return p.find(at), nil
}

// readBy says of each reference in a struct whether it is in one of the fields with names.
func readBy(s *form, names []string) []bool {
	in := make([]bool, len(s.links), len(s.links)+1) // not nil
	for _, name := range names {
		f, ok := s.typ.FieldByName(name)
		for k := range s.links {
			off := s.links[k].off
			in[k] = in[k] || ok && len(f.Index) == 1 && f.Offset <= off && off < f.Offset+f.Type.Size()
		}
	}
	return in
}

// onlyReads reports whether all fields of the struct type t that are not tagged fixed are
// among names.
func onlyReads(t reflect.Type, names []string) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name != "_" && f.Tag.Get("nabla") != "fixed" && !slices.Contains(names, f.Name) {
			return false
		}
	}
	return true
}

// field is the path of a field behind w.
func (w *way) field(behind string) string {
	return strings.Trim(strings.TrimPrefix(w.path, ".")+"."+behind, ".")
}

// form is that of type t.
func (p *private) form(t reflect.Type) *form {
	if s := p.types[t]; s != nil {
		return s
	}
	s := &form{typ: t}
	p.types[t] = s // before its parts, which may lead back to it
	p.ways(s, t, 0, "")
	s.flat = len(s.links) == 0
	return s
}

// ways adds what leads elsewhere in the part of s at offset off, of type t.
func (p *private) ways(s *form, t reflect.Type, off uintptr, path string) {
	w := way{off: off, kind: t.Kind(), typ: t, path: path}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("nabla") != "fixed" {
				p.ways(s, f.Type, off+f.Offset, path+"."+f.Name)
			}
		}
		return
	case reflect.Array:
		for i := range t.Len() {
			before := len(s.links)
			p.ways(s, t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", path, i))
			if len(s.links) == before { // an element leads nowhere
				return
			}
		}
		return
	case reflect.Slice, reflect.Pointer:
		w.to = p.form(t.Elem())
	case reflect.Interface, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
	default:
		return
	}
	s.links = append(s.links, w)
}

// add notes memory and all that it leads to.
func (p *private) add(e extent) error {
	if e.n == 0 || e.form.typ.Size() == 0 {
		return nil
	}
	if e.form.flat { // what leads nowhere may be noted twice
		p.spans = append(p.spans, e)
		return nil
	}
	if p.known[e] {
		return nil
	}
	p.known[e] = true
	p.spans = append(p.spans, e)
	for i := range e.n {
		for k := range e.form.links {
			w := &e.form.links[k]
			if err := p.follow(w, unsafe.Add(e.at, uintptr(i)*e.form.typ.Size()+w.off)); err != nil {
				err.Field = w.field(err.Field)
				return err
			}
		}
	}
	return nil
}

// follow notes what the reference w at an address leads to.
func (p *private) follow(w *way, at unsafe.Pointer) *ContextError {
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
			err = p.boxed(v.Elem().Type(), at)
		}
	case reflect.Map:
		if m := reflect.NewAt(w.typ, at).Elem(); !m.IsNil() && !(p.simple(w.typ.Key()) && p.simple(w.typ.Elem())) {
			return p.uncopied(w.typ)
		}
	default:
		if *(*unsafe.Pointer)(at) != nil {
			return p.uncopied(w.typ)
		}
	}
	c, _ := err.(*ContextError)
	return c
}

// uncopied says that there is no copy of a value of type t, where one is wanted.
func (p *private) uncopied(t reflect.Type) *ContextError {
	if p.reading {
		return nil
	}
	return &ContextError{Type: t.String(), Uncopied: true}
}

// simple reports whether a value of type t leads nowhere.
func (p *private) simple(t reflect.Type) bool { return p.form(t).flat }

// boxed notes the value of type t in the interface at an address.
func (p *private) boxed(t reflect.Type, at unsafe.Pointer) error {
	data := (*[2]unsafe.Pointer)(at)[1]
	switch {
	case data == nil:
		return nil
	case t.Kind() == reflect.Pointer:
		return p.add(extent{data, p.form(t.Elem()), 1})
	case p.simple(t): // nobody can write to it
		return nil
	case direct(t):
		if err := p.uncopied(t); err != nil {
			return err
		}
		return nil
	}
	return p.add(extent{data, p.form(t), 1})
}

// direct reports whether an interface holds a value of type t itself, not its address.
func direct(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && direct(t.Field(0).Type)
	case reflect.Array:
		return t.Len() == 1 && direct(t.Elem())
	}
	return false
}

// allocate finds out which spans to copy, and makes memory for each of the largest ones, and
// one for those that overlap.
func (p *private) allocate() error {
	p.before, p.own = p.before[:0], slices.Grow(p.own[:0], len(p.spans))[:len(p.spans)]
	for i := range p.own {
		p.own[i] = i < p.written
	}
	for again := true; again; {
		if err := p.blocksOf(); err != nil {
			return err
		}
		again = false
		for i, e := range p.spans {
			if !p.own[i] && (p.overlaps(e) || p.leadsToCopy(e)) {
				p.own[i], again = true, true
			}
		}
	}
	clear(p.maps)
	for i := range p.blocks {
		b := &p.blocks[i]
		b.dst, b.src = reflect.MakeSlice(reflect.SliceOf(b.form.typ), b.n, b.n), reflect.SliceAt(b.form.typ, b.at, b.n)
		b.to = b.dst.UnsafePointer()
	}
	p.before, p.wrote = append(p.before, p.spans...), p.written
	return nil
}

// moved reports whether shared memory, of which the spans are those of the copy as it is,
// leads to copied memory now.
func (p *private) moved() bool {
	for i, e := range p.spans {
		if !p.own[i] && p.leadsToCopy(e) {
			return true
		}
	}
	return false
}

// overlaps reports whether part of e is copied.
func (p *private) overlaps(e extent) bool {
	i := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].end() > e.start() })
	return i < len(p.blocks) && p.blocks[i].start() < e.end()
}

// leadsToCopy reports whether a reference in e is to what is copied.
func (p *private) leadsToCopy(e extent) bool {
	if e.form.flat {
		return false
	}
	for i := range e.n {
		for k := range e.form.links {
			w := &e.form.links[k]
			at := unsafe.Add(e.at, uintptr(i)*e.form.typ.Size()+w.off)
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
			if to != nil && p.find(to) != nil {
				return true
			}
		}
	}
	return false
}

// blocksOf are the largest of the spans that are copied.
func (p *private) blocksOf() error {
	var list []extent
	for i, e := range p.spans {
		if p.own[i] {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()),
			cmp.Compare(len(b.form.links), len(a.form.links)))
	})
	p.blocks = p.blocks[:0]
	for _, e := range list {
		if n := len(p.blocks); n > 0 {
			last := &p.blocks[n-1]
			switch {
			case e.end() <= last.end():
				continue
			case e.start() < last.end() && e.form != last.form:
				return &ContextError{Type: fmt.Sprintf("%s and %s at overlapping addresses", last.form.typ, e.form.typ),
					Uncopied: true}
			case e.start() < last.end():
				last.n = int((e.end() - last.start()) / e.form.typ.Size())
				continue
			}
		}
		p.blocks = append(p.blocks, copied{extent: e})
	}
	return nil
}

// find is the copy of what is at an address, nil if it is shared. Of blocks without memory
// yet it is just not nil.
func (p *private) find(at unsafe.Pointer) unsafe.Pointer {
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

// lead makes the references in the copy of e lead to copies, where there are some. Maps
// are copied where they may be written; root says that e is the struct, of which some
// fields may be.
func (p *private) lead(e extent, written, root bool) {
	if e.form.flat {
		return
	}
	size, to := e.form.typ.Size(), p.find(e.at)
	for i := range e.n {
		for k := range e.form.links {
			w := &e.form.links[k]
			off := uintptr(i)*size + w.off
			if w.kind != reflect.Map || written && !(root && p.reads[k]) {
				p.redirect(w, unsafe.Add(e.at, off), unsafe.Add(to, off))
			}
		}
	}
}

// redirect makes the reference w at to lead to the copy of what that at from leads to.
func (p *private) redirect(w *way, from, to unsafe.Pointer) {
	switch w.kind {
	case reflect.Slice:
		h := *(*[]byte)(from)
		if cap(h) > 0 && w.to.typ.Size() > 0 {
			if own := p.find(unsafe.Pointer(unsafe.SliceData(h))); own != nil {
				*(*[]byte)(to) = unsafe.Slice((*byte)(own), cap(h))[:len(h)]
			}
		}
	case reflect.Pointer:
		if at := *(*unsafe.Pointer)(from); at != nil && w.to.typ.Size() > 0 {
			if own := p.find(at); own != nil {
				*(*unsafe.Pointer)(to) = own
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
		} else if p.simple(t) {
			return
		}
		if own := p.find(data); data != nil && own != nil {
			(*[2]unsafe.Pointer)(to)[1] = own
		}
	case reflect.Map:
		if m := reflect.NewAt(w.typ, from).Elem(); !m.IsNil() {
			reflect.NewAt(w.typ, to).Elem().Set(p.entries(m))
		}
	}
}

// entries is the copy of a map.
func (p *private) entries(m reflect.Value) reflect.Value {
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

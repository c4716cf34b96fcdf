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
// to anything that it leads to. So what two goroutines work with must not share it.

// private is a copy of a struct and of all memory that it leads to, brought up to date
// before each call. Parts overlap as those of the struct do. Strings, and fields with
// the tag fixed, are shared.
type private struct {
	types  map[reflect.Type]*form
	known  map[extent]bool
	spans  []extent // of the user's memory, in the order in which they were met
	before []extent // those of the copy as it is
	blocks []copied // by address, none overlapping another
	maps   map[unsafe.Pointer]reflect.Value
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
	p.spans = p.spans[:0]
	if err := p.add(extent{at, p.form(t), 1}); err != nil {
		return nil, err
	}
	if !slices.Equal(p.spans, p.before) {
		if err := p.allocate(); err != nil {
			return nil, err
		}
		p.before = append(p.before[:0], p.spans...)
	}
	for _, b := range p.blocks {
		reflect.Copy(b.dst, b.src)
	}
	for _, e := range p.spans {
		p.lead(e)
	}
	return p.find(at), nil
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
				err.Field = strings.Trim(strings.TrimPrefix(w.path, ".")+"."+err.Field, ".")
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
			return uncopied(w.typ)
		}
	default:
		if *(*unsafe.Pointer)(at) != nil {
			return uncopied(w.typ)
		}
	}
	c, _ := err.(*ContextError)
	return c
}

func uncopied(t reflect.Type) *ContextError { return &ContextError{Type: t.String(), Uncopied: true} }

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
		return uncopied(t)
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

// allocate makes memory for each of the largest extents, and one for those that overlap.
func (p *private) allocate() error {
	list := slices.Clone(p.spans)
	slices.SortFunc(list, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()), cmp.Compare(len(b.form.links), len(a.form.links)))
	})
	p.blocks, p.before = p.blocks[:0], p.before[:0]
	clear(p.maps)
	for _, e := range list {
		if n := len(p.blocks); n > 0 {
			last := &p.blocks[n-1]
			switch {
			case e.end() <= last.end():
				continue
			case e.start() < last.end() && e.form != last.form:
				return &ContextError{Type: fmt.Sprintf("%s and %s at overlapping addresses", last.form.typ, e.form.typ), Uncopied: true}
			case e.start() < last.end():
				last.n = int((e.end() - last.start()) / e.form.typ.Size())
				continue
			}
		}
		p.blocks = append(p.blocks, copied{extent: e})
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		b.dst, b.src = reflect.MakeSlice(reflect.SliceOf(b.form.typ), b.n, b.n), reflect.SliceAt(b.form.typ, b.at, b.n)
		b.to = b.dst.UnsafePointer()
	}
	return nil
}

// find is the copy of what is at an address.
func (p *private) find(at unsafe.Pointer) unsafe.Pointer {
	i := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].start() > uintptr(at) }) - 1
	b := &p.blocks[i]
	return unsafe.Add(b.to, uintptr(at)-b.start())
}

// lead makes the references in the copy of e lead to copies.
func (p *private) lead(e extent) {
	if e.form.flat {
		return
	}
	size, to := e.form.typ.Size(), p.find(e.at)
	for i := range e.n {
		for k := range e.form.links {
			w := &e.form.links[k]
			off := uintptr(i)*size + w.off
			p.redirect(w, unsafe.Add(e.at, off), unsafe.Add(to, off))
		}
	}
}

// redirect makes the reference w at to lead to the copy of what that at from leads to.
func (p *private) redirect(w *way, from, to unsafe.Pointer) {
	switch w.kind {
	case reflect.Slice:
		h := *(*[]byte)(from)
		if cap(h) > 0 && w.to.typ.Size() > 0 {
			*(*[]byte)(to) = unsafe.Slice((*byte)(p.find(unsafe.Pointer(unsafe.SliceData(h)))), cap(h))[:len(h)]
		}
	case reflect.Pointer:
		if at := *(*unsafe.Pointer)(from); at != nil && w.to.typ.Size() > 0 {
			*(*unsafe.Pointer)(to) = p.find(at)
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
		if data != nil {
			(*[2]unsafe.Pointer)(to)[1] = p.find(data)
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

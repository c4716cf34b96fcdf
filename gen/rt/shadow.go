package rt

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"unsafe"
)

// Shadow memory: a traversal collects the spans of memory reachable from a value that can hold
// floats, blocks of shadow memory are allocated for their unions, and references in the shadow are
// set to the corresponding addresses. Spans that overlap share a block, so shadows alias as their
// primals do.

// A Shadow holds memory for the derivative of a struct: a value of the same type whose references
// refer to memory of its own. The zero value is ready to use.
type Shadow[T any] struct{ s shadows }

// Of returns the shadow of *p, with the same shape and aliases, set to zero; nil for nil. It is
// valid until the next call. A call allocates only if references in *p have changed since the last
// one.
func (s *Shadow[T]) Of(p *T) *T {
	if p == nil {
		return nil
	}
	at, t := unsafe.Pointer(p), reflect.TypeFor[T]()
	s.s.update(at, t, t)
	return (*T)(s.s.find(at))
}

// Lanes is Shadow for several derivatives at a time: S has an array of floats for each float of T,
// and lacks fields without floats.
type Lanes[T, S any] struct{ s shadows }

// Of returns the shadow of *p, like [Shadow.Of].
func (s *Lanes[T, S]) Of(p *T) *S {
	if p == nil {
		return nil
	}
	at := unsafe.Pointer(p)
	s.s.update(at, reflect.TypeFor[T](), reflect.TypeFor[S]())
	return (*S)(s.s.find(at))
}

// A shadows holds shadow memory for one value.
type shadows struct {
	// spans is the memory reachable from the value that can hold floats, before that of the last
	// update.
	spans, before []span
	// known holds the spans with references that were added.
	known   map[span]bool
	layouts map[[2]reflect.Type]*typeLayout
	blocks  []block // sorted by address, disjoint
	// boxes are copies of values in interfaces, and boxOf has the copy for the interface value at an address.
	boxes map[reflect.Type][]box
	boxOf map[unsafe.Pointer]unsafe.Pointer
}

// A span is memory that holds n values of a type that is not an array.
type span struct {
	at     unsafe.Pointer
	layout *typeLayout
	n      int
}

// start and end are the addresses of the first byte and of that after the last.
func (s span) start() uintptr { return uintptr(s.at) }
func (s span) end() uintptr   { return s.start() + uintptr(s.n)*s.layout.size }

// A block is a maximal span with its shadow.
type block struct {
	span
	shadow reflect.Value // slice of shadow values
}

// A typeLayout is the memory layout of a type of values and of its shadow type: their sizes and the references
// through which floats can be reached.
type typeLayout struct {
	of, like reflect.Type
	size     uintptr
	// links are the references, like the type of shadows.
	links  []link
	inside map[uintptr]uintptr // offset in a value → offset in its shadow, filled on demand
}

// A link is a slice, a pointer or an interface in a value and its shadow. It refers, per element, to n values: arrays
// of
// arrays are flattened. Where an interface leads to depends on its value.
type link struct {
	offset, to uintptr
	slice      bool
	layout     *typeLayout
	n          int
	held       reflect.Type // the type of the interface, nil for the others
}

// update makes the shadow of the value at an address current. If the spans are those of the last
// update, the memory is cleared and reused.
func (s *shadows) update(at unsafe.Pointer, t, like reflect.Type) {
	if s.layouts == nil {
		s.layouts, s.known = map[[2]reflect.Type]*typeLayout{}, map[span]bool{}
	}
	clear(s.known)
	s.releaseBoxes()
	s.spans = s.spans[:0]
	s.add(span{at, s.layout(t, like), 1})
	if slices.Equal(s.spans, s.before) {
		for i := range s.blocks {
			s.blocks[i].shadow.Clear()
		}
	} else {
		s.before = append(s.before[:0], s.spans...)
		s.allocate()
	}
	for _, p := range s.spans {
		s.fill(p)
	}
}

// add adds a span and all spans that it refers to.
func (s *shadows) add(p span) {
	size := p.layout.size
	if p.n == 0 || size == 0 {
		return
	}
	if len(p.layout.links) == 0 { // a span without references may be added twice
		s.spans = append(s.spans, p)
		return
	}
	if s.known[p] {
		return
	}
	s.known[p] = true
	s.spans = append(s.spans, p)
	for i := range p.n {
		for _, l := range p.layout.links {
			at := unsafe.Add(p.at, uintptr(i)*size+l.offset)
			if l.held != nil {
				if to, layout, n := s.below(at, l.held); to != nil {
					s.add(span{to, layout, n})
				}
			} else if l.slice {
				header := *(*[]byte)(at)
				s.add(span{unsafe.Pointer(unsafe.SliceData(header)), l.layout, l.n * cap(header)})
			} else if to := *(*unsafe.Pointer)(at); to != nil {
				s.add(span{to, l.layout, l.n})
			}
		}
	}
}

// allocate makes a block for each union of overlapping spans. It panics if spans of different types
// overlap and neither contains the other.
func (s *shadows) allocate() {
	list := slices.Clone(s.spans)
	slices.SortFunc(list, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()))
	})
	s.blocks = s.blocks[:0]
	for _, p := range list {
		if n := len(s.blocks); n > 0 {
			last := &s.blocks[n-1]
			if p.end() <= last.end() {
				continue
			}
			if p.start() < last.end() {
				if p.layout != last.layout {
					panic(fmt.Sprintf("rt: memory of %v overlaps memory of %v", p.layout.of, last.layout.of))
				}
				last.n = int((p.end() - last.start()) / p.layout.size)
				continue
			}
		}
		s.blocks = append(s.blocks, block{span: p})
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.shadow = reflect.MakeSlice(reflect.SliceOf(b.layout.like), b.n, b.n)
	}
}

// find returns the shadow of the memory at an address, which belongs to a block.
func (s *shadows) find(at unsafe.Pointer) unsafe.Pointer {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].start() > uintptr(at) }) - 1
	b := &s.blocks[i]
	offset := uintptr(at) - b.start()
	if b.layout.of == b.layout.like {
		return unsafe.Add(b.shadow.UnsafePointer(), offset)
	}
	k, rest := offset/b.layout.size, offset%b.layout.size
	return unsafe.Add(b.shadow.UnsafePointer(), k*b.layout.like.Size()+b.layout.there(rest))
}

// there returns the offset in a shadow that corresponds to an offset in a value.
func (p *typeLayout) there(offset uintptr) uintptr {
	if offset == 0 {
		return 0
	}
	to, ok := p.inside[offset]
	if !ok {
		to = within(p.of, p.like, offset)
		p.inside[offset] = to
	}
	return to
}

// within computes [typeLayout.there] for a value of type t, by descending into fields and elements.
func within(t, like reflect.Type, offset uintptr) uintptr {
	switch t.Kind() {
	case reflect.Struct:
		k := 0
		for i := range t.NumField() {
			f := t.Field(i)
			if !leads(f.Type, false) {
				continue
			}
			if offset >= f.Offset && offset < f.Offset+f.Type.Size() {
				g := like.Field(k)
				return g.Offset + within(f.Type, g.Type, offset-f.Offset)
			}
			k++
		}
	case reflect.Array:
		size := t.Elem().Size()
		return offset/size*like.Elem().Size() + within(t.Elem(), like.Elem(), offset%size)
	}
	return 0
}

// fill sets the references in the shadow of p.
func (s *shadows) fill(p span) {
	if len(p.layout.links) == 0 {
		return
	}
	size, shadow, sizeThere := p.layout.size, s.find(p.at), p.layout.like.Size()
	for i := range p.n {
		for _, l := range p.layout.links {
			from, to := unsafe.Add(p.at, uintptr(i)*size+l.offset), unsafe.Add(shadow, uintptr(i)*sizeThere+l.to)
			if l.held != nil {
				var there unsafe.Pointer
				if at, layout, n := s.below(from, l.held); at != nil && n > 0 && layout.size > 0 {
					there = s.find(at)
				}
				setHeld(from, to, l.held, there)
			} else if l.slice {
				header := *(*[]byte)(from)
				if cap(header) > 0 && l.n > 0 && l.layout.size > 0 {
					data := (*byte)(s.find(unsafe.Pointer(unsafe.SliceData(header))))
					*(*[]byte)(to) = unsafe.Slice(data, cap(header))[:len(header)]
				} else {
					*(*[]byte)(to) = header
				}
			} else if at := *(*unsafe.Pointer)(from); at != nil && l.n > 0 && l.layout.size > 0 {
				*(*unsafe.Pointer)(to) = s.find(at)
			} else {
				*(*unsafe.Pointer)(to) = at
			}
		}
	}
}

// layout returns the layout of a type, computing it once.
func (s *shadows) layout(t, like reflect.Type) *typeLayout {
	key := [2]reflect.Type{t, like}
	if p := s.layouts[key]; p != nil {
		return p
	}
	p := &typeLayout{of: t, like: like, size: t.Size(), inside: map[uintptr]uintptr{}}
	s.layouts[key] = p // before the links, as types may be recursive
	s.links(p, t, like, 0, 0)
	return p
}

// links adds the links in the part of type t at an offset in a value and at to in its shadow. If
// the types are equal, fields correspond by index, otherwise fields without floats are missing in
// the shadow.
func (s *shadows) links(p *typeLayout, t, like reflect.Type, offset, to uintptr) {
	if !leads(t, t == like) {
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		p.links = append(p.links, link{offset: offset, to: to, held: t, n: 1})
	case reflect.Struct:
		k := 0
		for i := range t.NumField() {
			f := t.Field(i)
			if t == like {
				k = i
			}
			if leads(f.Type, t == like) {
				g := like.Field(k)
				s.links(p, f.Type, g.Type, offset+f.Offset, to+g.Offset)
				k++
			}
		}
	case reflect.Array:
		for i := range uintptr(t.Len()) {
			s.links(p, t.Elem(), like.Elem(), offset+i*t.Elem().Size(), to+i*like.Elem().Size())
		}
	case reflect.Slice, reflect.Pointer:
		l := link{offset: offset, to: to, slice: t.Kind() == reflect.Slice, n: 1}
		of, there := t.Elem(), like.Elem()
		for of.Kind() == reflect.Array {
			l.n *= of.Len()
			of, there = of.Elem(), there.Elem()
		}
		l.layout = s.layout(of, there)
		p.links = append(p.links, l)
	}
}

// has reports whether floats are in a value of type t or reachable from it, perhaps through an interface.
func has(t reflect.Type) bool { return leads(t, true) }

// leads reports whether floats are in a value of type t or reachable from it, through interfaces too if these have
// shadows. A shadow type other than that of the values has none.
func leads(t reflect.Type, interfaces bool) bool {
	return floats(t, interfaces, map[reflect.Type]bool{})
}

// floats is leads; seen holds the types visited, which ends the recursion for recursive types.
func floats(t reflect.Type, interfaces bool, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Interface:
		return interfaces && holds(t)
	case reflect.Slice, reflect.Pointer, reflect.Array:
		return floats(t.Elem(), interfaces, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if floats(t.Field(i).Type, interfaces, seen) {
				return true
			}
		}
	}
	return false
}

// ShadowOf returns a shadow of x: zeros, with references to zeros in the shape of the memory that x refers to.
func ShadowOf[T any](x T) T {
	var s Shadow[T]
	return *s.Of(&x)
}

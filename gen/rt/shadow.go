package rt

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"unsafe"
)

// Shadow keeps memory for the derivative of a struct: a value of the same type, whose
// slices and pointers to floats lead to memory of its own. The zero value is ready.
type Shadow[T any] struct{ s shadows }

// Of is the shadow of *p: of the same shape, overlapping where the memory of *p does, and
// zero; nil for nil. It is valid until the next call, which allocates only if slices or
// pointers in *p lead somewhere else than at this one.
func (s *Shadow[T]) Of(p *T) *T {
	if p == nil {
		return nil
	}
	at := unsafe.Pointer(p)
	s.s.update(at, reflect.TypeFor[T]())
	return (*T)(s.s.find(at))
}

// shadows finds the memory that a value leads to, as far as there are floats in it, and
// has its like.
type shadows struct {
	spans, before []span
	known         map[span]bool
	plans         map[reflect.Type]*plan
	blocks        []block // by address, none overlapping another
}

// span is memory that holds n values of a type that is no array.
type span struct {
	at   unsafe.Pointer
	plan *plan
	n    int
}

func (s span) start() uintptr { return uintptr(s.at) }
func (s span) end() uintptr   { return s.start() + uintptr(s.n)*s.plan.size }

// block is a span that is part of no other, and its shadow.
type block struct {
	span
	shadow reflect.Value // a slice
}

// plan is where in a value of a type something leads to floats.
type plan struct {
	of    reflect.Type
	size  uintptr
	links []link
}

// link is a slice or a pointer at an offset. What it leads to are, for each element, n
// values of a type.
type link struct {
	offset uintptr
	slice  bool
	to     *plan
	n      int
}

func (s *shadows) update(at unsafe.Pointer, t reflect.Type) {
	if s.plans == nil {
		s.plans, s.known = map[reflect.Type]*plan{}, map[span]bool{}
	}
	clear(s.known)
	s.spans = s.spans[:0]
	s.add(span{at, s.plan(t), 1})
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

// add notes memory and all that it leads to.
func (s *shadows) add(p span) {
	size := p.plan.size
	if p.n == 0 || size == 0 {
		return
	}
	if len(p.plan.links) == 0 { // what leads nowhere may be noted twice
		s.spans = append(s.spans, p)
		return
	}
	if s.known[p] {
		return
	}
	s.known[p] = true
	s.spans = append(s.spans, p)
	for i := range p.n {
		for _, l := range p.plan.links {
			at := unsafe.Add(p.at, uintptr(i)*size+l.offset)
			if l.slice {
				header := *(*[]byte)(at)
				s.add(span{unsafe.Pointer(unsafe.SliceData(header)), l.to, l.n * cap(header)})
			} else if to := *(*unsafe.Pointer)(at); to != nil {
				s.add(span{to, l.to, l.n})
			}
		}
	}
}

// allocate makes a shadow for each of the largest spans, and one for those that overlap.
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
				if p.plan != last.plan {
					panic(fmt.Sprintf("rt: memory of %v overlaps memory of %v", p.plan.of, last.plan.of))
				}
				last.n = int((p.end() - last.start()) / p.plan.size)
				continue
			}
		}
		s.blocks = append(s.blocks, block{span: p})
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.shadow = reflect.MakeSlice(reflect.SliceOf(b.plan.of), b.n, b.n)
	}
}

// find is the shadow of what is at an address.
func (s *shadows) find(at unsafe.Pointer) unsafe.Pointer {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].start() > uintptr(at) }) - 1
	b := &s.blocks[i]
	return unsafe.Add(b.shadow.UnsafePointer(), uintptr(at)-b.start())
}

// fill makes the slices and pointers in the shadow of p.
func (s *shadows) fill(p span) {
	if len(p.plan.links) == 0 {
		return
	}
	size, shadow := p.plan.size, s.find(p.at)
	for i := range p.n {
		for _, l := range p.plan.links {
			offset := uintptr(i)*size + l.offset
			from, to := unsafe.Add(p.at, offset), unsafe.Add(shadow, offset)
			if l.slice {
				header := *(*[]byte)(from)
				if cap(header) > 0 && l.n > 0 && l.to.size > 0 {
					data := (*byte)(s.find(unsafe.Pointer(unsafe.SliceData(header))))
					*(*[]byte)(to) = unsafe.Slice(data, cap(header))[:len(header)]
				} else {
					*(*[]byte)(to) = header
				}
			} else if at := *(*unsafe.Pointer)(from); at != nil && l.n > 0 && l.to.size > 0 {
				*(*unsafe.Pointer)(to) = s.find(at)
			} else {
				*(*unsafe.Pointer)(to) = at
			}
		}
	}
}

// plan is that of a type, with arrays in it taken apart.
func (s *shadows) plan(t reflect.Type) *plan {
	if p := s.plans[t]; p != nil {
		return p
	}
	p := &plan{of: t, size: t.Size()}
	s.plans[t] = p // types may lead to themselves
	s.links(p, t, 0)
	return p
}

func (s *shadows) links(p *plan, t reflect.Type, offset uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			s.links(p, f.Type, offset+f.Offset)
		}
	case reflect.Array:
		for i := range t.Len() {
			s.links(p, t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Slice, reflect.Pointer:
		if !floats(t.Elem(), map[reflect.Type]bool{}) {
			return
		}
		l := link{offset: offset, slice: t.Kind() == reflect.Slice, n: 1}
		of := t.Elem()
		for of.Kind() == reflect.Array {
			l.n *= of.Len()
			of = of.Elem()
		}
		l.to = s.plan(of)
		p.links = append(p.links, l)
	}
}

// floats reports whether a value of type t holds floats or leads to some.
func floats(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return true
	case reflect.Slice, reflect.Pointer, reflect.Array:
		return floats(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if floats(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

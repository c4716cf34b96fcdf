package rt

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Completion of shadows that are partly nil. Generated functions ask Hollow whether parts are
// missing; if so, Complete builds whole shadows, the function runs on these, and the given parts
// are updated afterwards. The traversals follow layouts, which are computed once per type.

// Hollow reports whether shadow, or a slice or pointer reachable from it, is nil although its
// primal in *p refers to memory. S is the shadow type of T.
func Hollow[T, S any](p *T, shadow *S) bool {
	if p == nil || shadow == nil {
		return p != nil
	}
	return hollowLayout(reflect.TypeFor[T](), reflect.TypeFor[S]()).hollow(unsafe.Pointer(p), unsafe.Pointer(shadow), 1)
}

// HollowSlice is [Hollow] for slices. Only elements that both slices have are examined.
func HollowSlice[T, S any](p []T, shadow []S) bool {
	if p == nil || shadow == nil {
		return p != nil
	}
	n := min(len(p), len(shadow))
	return hollowLayout(reflect.TypeFor[T](), reflect.TypeFor[S]()).hollow(unsafe.Pointer(unsafe.SliceData(p)),
		unsafe.Pointer(unsafe.SliceData(shadow)), n)
}

// HollowRows is [HollowSlice] for elements without references in them.
func HollowRows[T, S any](p [][]T, shadow [][]S) bool {
	if p == nil || shadow == nil {
		return p != nil
	}
	for i, s := range shadow[:min(len(p), len(shadow))] {
		if s == nil && p[i] != nil {
			return true
		}
	}
	return false
}

// hollow is [Hollow] for n values. It does not allocate once the pool has a map.
func (p walkLayout) hollow(at, shadow unsafe.Pointer, n int) bool {
	if !p.loops {
		return hollow(at, shadow, p.typeLayout, n, nil)
	}
	seen := visited.Get().(map[visit]bool)
	defer func() {
		clear(seen)
		visited.Put(seen)
	}()
	return hollow(at, shadow, p.typeLayout, n, seen)
}

// hollow reports whether a reference in n values is missing in their shadows. seen holds the pairs
// of memory visited, which ends cycles; it is nil if the type is not recursive.
func hollow(at, shadow unsafe.Pointer, p *typeLayout, n int, seen map[visit]bool) bool {
	if seen != nil {
		v := visit{at, shadow, p, n}
		if seen[v] {
			return false
		}
		seen[v] = true
	}
	for i := range n {
		for j := range p.links {
			if l := &p.links[j]; l.held != nil {
				if l.hollow(at, shadow, p, i, seen) {
					return true
				}
				continue
			}
			of, given, n := p.links[j].from(at, shadow, p, i)
			below := p.links[j].layout
			if n > 0 && (given == nil || len(below.links) > 0 && hollow(of, given, below, n, seen)) {
				return true
			}
		}
	}
	return false
}

// hollow is the function hollow for the interface l of value i.
func (l *link) hollow(at, shadow unsafe.Pointer, p *typeLayout, i int, seen map[visit]bool) bool {
	a, b := unsafe.Add(at, uintptr(i)*p.size+l.offset), unsafe.Add(shadow, uintptr(i)*p.like.Size()+l.to)
	v, to := held(a, l.held)
	if to == nil {
		return false
	}
	given := givenHeld(a, b, l.held)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return !reflect.NewAt(l.held, b).Elem().Elem().IsValid() // which would have no type
	}
	if given == nil {
		return true
	}
	below := hollowLayout(to, to)
	if len(below.links) == 0 {
		return false
	}
	of := v
	if v.Kind() != reflect.Pointer {
		of = reflect.New(to)
		of.Elem().Set(v)
	}
	return hollow(of.UnsafePointer(), given, below.typeLayout, 1, seen)
}

// from returns the memory that the reference l of value i refers to, that of its shadow, which may
// be nil, and the number of values that both have; 0 if there are none.
func (l *link) from(at, shadow unsafe.Pointer, p *typeLayout, i int) (of, given unsafe.Pointer, n int) {
	a, b := unsafe.Add(at, uintptr(i)*p.size+l.offset), unsafe.Add(shadow, uintptr(i)*p.like.Size()+l.to)
	if !l.slice {
		if of, given, n = *(*unsafe.Pointer)(a), *(*unsafe.Pointer)(b), l.n; of == nil {
			n = 0
		}
		return of, given, n
	}
	s, t := *(*[]byte)(a), *(*[]byte)(b)
	n = len(s)
	if t != nil {
		n = min(n, len(t))
	}
	return unsafe.Pointer(unsafe.SliceData(s)), unsafe.Pointer(unsafe.SliceData(t)), n * l.n
}

// hollowLayouts maps pairs of a type and its shadow type to layouts. The map is immutable: it is copied
// when a layout is added, so that looking one up needs no lock and does not allocate.
var hollowLayouts atomic.Pointer[map[[2]reflect.Type]walkLayout]

// A walkLayout is a typeLayout, and whether its type is recursive, so that values may be cyclic.
type walkLayout struct {
	*typeLayout
	loops bool
}

// visited holds cleared maps for cyclic values.
var visited = sync.Pool{New: func() any { return map[visit]bool{} }}

// hollowLayout returns the layout of t with shadow type like, adding it if necessary.
func hollowLayout(t, like reflect.Type) walkLayout {
	key := [2]reflect.Type{t, like}
	for {
		old := hollowLayouts.Load()
		if old != nil {
			if p, ok := (*old)[key]; ok {
				return p
			}
		}
		var s shadows
		p := walkLayout{typeLayout: s.rootLayout(t, like)}
		p.loops = p.typeLayout.within(nil)
		next := map[[2]reflect.Type]walkLayout{key: p}
		if old != nil {
			maps.Copy(next, *old)
		}
		if hollowLayouts.CompareAndSwap(old, &next) {
			return p
		}
	}
}

// within reports whether a layout refers to itself or to one of those above it: whether the type is
// recursive.
func (p *typeLayout) within(above []*typeLayout) bool {
	if slices.Contains(above, p) {
		return true
	}
	for _, l := range p.links {
		if l.held != nil { // it may lead to any type
			return true
		}
		if l.layout.within(append(above, p)) {
			return true
		}
	}
	return false
}

// A Pair is a value from which floats can be reached, with its shadow, of which parts may be
// missing.
type Pair interface {
	root() (at, given unsafe.Pointer, t, like reflect.Type)
	take(shadow unsafe.Pointer)
}

// Missing is the Pair of a value and its shadow, whose type may have several numbers for each
// float.
type Missing[T, S any] struct {
	of    T
	given S
	// Shadow is the complete shadow, set by [Complete].
	Shadow S
}

// MissingOf returns the pair of p and its shadow.
func MissingOf[T, S any](p T, shadow S) *Missing[T, S] { return &Missing[T, S]{of: p, given: shadow} }

// root returns the addresses and types of the value and of the given shadow.
func (m *Missing[T, S]) root() (at, given unsafe.Pointer, t, like reflect.Type) {
	return unsafe.Pointer(&m.of), unsafe.Pointer(&m.given), reflect.TypeFor[T](), reflect.TypeFor[S]()
}

// take stores the complete shadow.
func (m *Missing[T, S]) take(shadow unsafe.Pointer) { m.Shadow = *(*S)(shadow) }

// Complete sets the complete shadows of pairs. They alias as the values do and start with the
// contents of the given parts, zero elsewhere. The returned function copies their contents back to
// the given parts, whose slices and pointers stay unchanged.
func Complete(pairs ...Pair) func() {
	s := &shadows{}
	var roots []span
	for _, p := range pairs {
		at, _, t, like := p.root()
		r := span{at, s.rootLayout(t, like), 1}
		roots = append(roots, r)
		s.add(r)
	}
	s.allocate()
	each := func(move func(given, whole unsafe.Pointer, p *typeLayout, n int)) {
		seen := map[visit]bool{}
		for i, p := range pairs {
			_, given, _, _ := p.root()
			s.given(roots[i].at, given, roots[i].layout, 1, seen, move)
		}
	}
	each(func(given, whole unsafe.Pointer, p *typeLayout, n int) { copyValues(whole, given, p, n) })
	for _, p := range s.spans {
		s.fill(p)
	}
	for i, p := range pairs {
		p.take(s.find(roots[i].at))
	}
	return func() {
		each(func(given, whole unsafe.Pointer, p *typeLayout, n int) {
			kept := keepLinks(given, p, n)
			copyValues(given, whole, p, n)
			for i := range kept {
				kept[i].restore()
			}
		})
	}
}

// A visit is memory with its shadow, as a key of visited memory.
type visit struct {
	at, shadow unsafe.Pointer
	layout     *typeLayout
	n          int
}

// rootLayout returns the layout of a type, for a shadows that may be zero.
func (s *shadows) rootLayout(t, like reflect.Type) *typeLayout {
	if s.layouts == nil {
		s.layouts, s.known = map[[2]reflect.Type]*typeLayout{}, map[span]bool{}
	}
	return s.layout(t, like)
}

// given calls move for each given part of a shadow with its counterpart in the complete one.
func (s *shadows) given(at, given unsafe.Pointer, p *typeLayout, n int, seen map[visit]bool,
	move func(given, whole unsafe.Pointer, p *typeLayout, n int)) {
	v := visit{at, given, p, n}
	if given == nil || n == 0 || p.size == 0 || seen[v] {
		return
	}
	seen[v] = true
	move(given, s.find(at), p, n)
	for i := range n {
		for j := range p.links {
			if l := &p.links[j]; l.held != nil {
				a := unsafe.Add(at, uintptr(i)*p.size+l.offset)
				if of, layout, n := s.below(a, l.held); of != nil {
					b := unsafe.Add(given, uintptr(i)*p.like.Size()+l.to)
					s.given(of, givenHeld(a, b, l.held), layout, n, seen, move)
				}
				continue
			}
			of, below, n := p.links[j].from(at, given, p, i)
			s.given(of, below, p.links[j].layout, n, seen, move)
		}
	}
}

// copyValues copies n values of a shadow type.
func copyValues(dst, src unsafe.Pointer, p *typeLayout, n int) {
	reflect.Copy(reflect.SliceAt(p.like, dst, n), reflect.SliceAt(p.like, src, n))
}

// A kept is the content of a reference in a given shadow while values are copied over it.
type kept struct {
	at      unsafe.Pointer
	slice   bool
	header  []byte
	pointer unsafe.Pointer
	held    bool
	words   words
}

// restore writes the reference back.
func (k *kept) restore() {
	if k.held {
		*(*words)(k.at) = k.words
	} else if k.slice {
		*(*[]byte)(k.at) = k.header
	} else {
		*(*unsafe.Pointer)(k.at) = k.pointer
	}
}

// keepLinks returns the references in n values of a shadow.
func keepLinks(at unsafe.Pointer, p *typeLayout, n int) (out []kept) {
	for i := range n {
		for _, l := range p.links {
			k := kept{at: unsafe.Add(at, uintptr(i)*p.like.Size()+l.to), slice: l.slice}
			if k.held = l.held != nil; k.held {
				k.words = *(*words)(k.at)
			} else if l.slice {
				k.header = *(*[]byte)(k.at)
			} else {
				k.pointer = *(*unsafe.Pointer)(k.at)
			}
			out = append(out, k)
		}
	}
	return out
}

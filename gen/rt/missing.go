package rt

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Hollow reports whether shadow, or a slice or a pointer in what it points to, is nil where that of p leads to
// something. T is
// a type whose floats S has derivatives for.
func Hollow[T, S any](p *T, shadow *S) bool {
	if p == nil || shadow == nil {
		return p != nil
	}
	return hollowPlan(reflect.TypeFor[T](), reflect.TypeFor[S]()).hollow(unsafe.Pointer(p), unsafe.Pointer(shadow), 1)
}

// HollowSlice is [Hollow] for slices.
func HollowSlice[T, S any](p []T, shadow []S) bool {
	if p == nil || shadow == nil {
		return p != nil
	}
	n := min(len(p), len(shadow))
	return hollowPlan(reflect.TypeFor[T](), reflect.TypeFor[S]()).hollow(unsafe.Pointer(unsafe.SliceData(p)),
		unsafe.Pointer(unsafe.SliceData(shadow)), n)
}

// HollowRows is [HollowSlice] where what is in the slices leads nowhere.
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

func (p walkPlan) hollow(at, shadow unsafe.Pointer, n int) bool {
	if !p.loops {
		return hollow(at, shadow, p.plan, n, nil)
	}
	seen := visited.Get().(map[visit]bool)
	defer func() {
		clear(seen)
		visited.Put(seen)
	}()
	return hollow(at, shadow, p.plan, n, seen)
}

// hollow is [Hollow] of n values. Seen is nil if no value leads to itself.
func hollow(at, shadow unsafe.Pointer, p *plan, n int, seen map[visit]bool) bool {
	if seen != nil {
		v := visit{at, shadow, p, n}
		if seen[v] {
			return false
		}
		seen[v] = true
	}
	for i := range n {
		for j := range p.links {
			of, given, n := p.links[j].from(at, shadow, p, i)
			below := p.links[j].plan
			if n > 0 && (given == nil || len(below.links) > 0 && hollow(of, given, below, n, seen)) {
				return true
			}
		}
	}
	return false
}

// from is the memory that a slice or a pointer of value i leads to, beside that of its shadow, which may be nil, and
// the
// number of values that both have up to the length of slices; 0 if there are none.
func (l *link) from(at, shadow unsafe.Pointer, p *plan, i int) (of, given unsafe.Pointer, n int) {
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

// hollowPlans has the plans of types, which do not change. They are copied when one is added, as looking one up must
// not
// allocate.
var hollowPlans atomic.Pointer[map[[2]reflect.Type]walkPlan]

// walkPlan is a plan, and whether values lead to others of their type.
type walkPlan struct {
	*plan
	loops bool
}

var visited = sync.Pool{New: func() any { return map[visit]bool{} }}

func hollowPlan(t, like reflect.Type) walkPlan {
	key := [2]reflect.Type{t, like}
	for {
		old := hollowPlans.Load()
		if old != nil {
			if p, ok := (*old)[key]; ok {
				return p
			}
		}
		var s shadows
		p := walkPlan{plan: s.rootPlan(t, like)}
		p.loops = p.plan.within(nil)
		next := map[[2]reflect.Type]walkPlan{key: p}
		if old != nil {
			maps.Copy(next, *old)
		}
		if hollowPlans.CompareAndSwap(old, &next) {
			return p
		}
	}
}

// within reports whether a plan leads to itself or to one of those above.
func (p *plan) within(above []*plan) bool {
	if slices.Contains(above, p) {
		return true
	}
	for _, l := range p.links {
		if l.plan.within(append(above, p)) {
			return true
		}
	}
	return false
}

// A Pair is a value that leads to floats, and a shadow of which parts are missing: slices or pointers in it are nil.
type Pair interface {
	root() (at, given unsafe.Pointer, t, like reflect.Type)
	take(shadow unsafe.Pointer)
}

// Missing is the Pair of a value and a shadow of a type that may have several numbers for a float.
type Missing[T, S any] struct {
	of    T
	given S
	// Shadow is the whole shadow, after a call of [Complete].
	Shadow S
}

// MissingOf returns the pair of p and its shadow.
func MissingOf[T, S any](p T, shadow S) *Missing[T, S] { return &Missing[T, S]{of: p, given: shadow} }

func (m *Missing[T, S]) root() (at, given unsafe.Pointer, t, like reflect.Type) {
	return unsafe.Pointer(&m.of), unsafe.Pointer(&m.given), reflect.TypeFor[T](), reflect.TypeFor[S]()
}

func (m *Missing[T, S]) take(shadow unsafe.Pointer) { m.Shadow = *(*S)(shadow) }

// Complete gives the pairs whole shadows, in memory that overlaps as that of the values does and holds what the shadows
// held.
// The function that it returns writes to the parts that were not missing what is there by then.
func Complete(pairs ...Pair) func() {
	s := &shadows{}
	var roots []span
	for _, p := range pairs {
		at, _, t, like := p.root()
		r := span{at, s.rootPlan(t, like), 1}
		roots = append(roots, r)
		s.add(r)
	}
	s.allocate()
	each := func(move func(given, whole unsafe.Pointer, p *plan, n int)) {
		seen := map[visit]bool{}
		for i, p := range pairs {
			_, given, _, _ := p.root()
			s.given(roots[i].at, given, roots[i].plan, 1, seen, move)
		}
	}
	each(func(given, whole unsafe.Pointer, p *plan, n int) { copyValues(whole, given, p, n) })
	for _, p := range s.spans {
		s.fill(p)
	}
	for i, p := range pairs {
		p.take(s.find(roots[i].at))
	}
	return func() {
		each(func(given, whole unsafe.Pointer, p *plan, n int) {
			kept := keepLinks(given, p, n)
			copyValues(given, whole, p, n)
			for i := range kept {
				kept[i].restore()
			}
		})
	}
}

// visit is memory beside its shadow.
type visit struct {
	at, shadow unsafe.Pointer
	plan       *plan
	n          int
}

func (s *shadows) rootPlan(t, like reflect.Type) *plan {
	if s.plans == nil {
		s.plans, s.known = map[[2]reflect.Type]*plan{}, map[span]bool{}
	}
	return s.plan(t, like)
}

// given calls move for the memory of a shadow that is there, beside the whole one.
func (s *shadows) given(at, given unsafe.Pointer, p *plan, n int, seen map[visit]bool,
	move func(given, whole unsafe.Pointer, p *plan, n int)) {
	v := visit{at, given, p, n}
	if given == nil || n == 0 || p.size == 0 || seen[v] {
		return
	}
	seen[v] = true
	move(given, s.find(at), p, n)
	for i := range n {
		for j := range p.links {
			of, below, n := p.links[j].from(at, given, p, i)
			s.given(of, below, p.links[j].plan, n, seen, move)
		}
	}
}

// copyValues copies n values of a shadow.
func copyValues(dst, src unsafe.Pointer, p *plan, n int) {
	reflect.Copy(reflect.SliceAt(p.like, dst, n), reflect.SliceAt(p.like, src, n))
}

// kept is a slice or a pointer that stays where others are copied.
type kept struct {
	at      unsafe.Pointer
	slice   bool
	header  []byte
	pointer unsafe.Pointer
}

func (k *kept) restore() {
	if k.slice {
		*(*[]byte)(k.at) = k.header
	} else {
		*(*unsafe.Pointer)(k.at) = k.pointer
	}
}

func keepLinks(at unsafe.Pointer, p *plan, n int) (out []kept) {
	for i := range n {
		for _, l := range p.links {
			k := kept{at: unsafe.Add(at, uintptr(i)*p.like.Size()+l.to), slice: l.slice}
			if l.slice {
				k.header = *(*[]byte)(k.at)
			} else {
				k.pointer = *(*unsafe.Pointer)(k.at)
			}
			out = append(out, k)
		}
	}
	return out
}

package layout

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
)

// A View is a struct whose numbers, of type T, are those of a vector. Slices of numbers in it are parts of the vector
// itself; only the other numbers are copied.
type View[T any] struct {
	ptr     any // pointer to the struct
	vectors []vector[T]
	runs    []run // the numbers that are copied
	blocks  []saved
}

// A vector is the address of a slice of n numbers, which have the positions first, first+1, ….
type vector[T any] struct {
	at       *[]T
	first, n int
}

// View returns a new struct of the user's type with the structure of the template, to be bound to vectors.
func (l *Layout) View() *View[float64] { return newView[float64](l, false) }

// Shadow returns a new struct for derivatives, of the type that [Layout.InLanes] was given if l comes from there, and
// otherwise of the user's type. T is the type of its numbers. Of the structure it has the lengths of slices and the
// pointers to numbers only. Other memory that may hold floats, such as an interface, is nil or zero in it.
func Shadow[T any](l *Layout) *View[T] { return newView[T](l, true) }

// newView returns a new struct, without structure that is not needed to reach numbers if shadow is set.
func newView[T any](l *Layout, shadow bool) *View[T] {
	v := reflect.New(l.param).Elem()
	b := &View[T]{ptr: v.Addr().Interface()}
	var blocks []reflect.Value
	first, firsts := 0, map[memory]int{}
	w := walker{
		grow: true, zero: shadow,
		emit: func(p unsafe.Pointer, n int, _ *place, _ bool) {
			b.runs = append(b.runs, run{at: p, first: first, n: n})
			first += n
		},
		block: func(v reflect.Value) { blocks = append(blocks, v) },
		vector: func(m memory, v reflect.Value) {
			at, ok := firsts[m]
			if !ok {
				at = first
				firsts[m] = at
				first += m.n
			}
			b.vectors = append(b.vectors, vector[T]{(*[]T)(v.Addr().UnsafePointer()), at, m.n})
		},
	}
	w.start(l.root, l.template, v, true)
	b.blocks = save(append(blocks, v))
	return b
}

// Ptr returns the pointer to the struct.
func (b *View[T]) Ptr() any { return b.ptr }

// Bind makes the numbers of the struct those of x, of the length of the layout, and restores its structure, which the
// last function that used it may have changed. The struct shares memory with x until the next Bind. Bind does not
// allocate.
func (b *View[T]) Bind(x []T) {
	restore(b.blocks)
	for _, v := range b.vectors {
		end := v.first + v.n
		*v.at = x[v.first:end:end]
	}
	for _, r := range b.runs {
		copy(unsafe.Slice((*T)(r.at), r.n), x[r.first:])
	}
}

// Store writes the numbers of the struct that Bind has copied to x, the vector it is bound to.
func (b *View[T]) Store(x []T) {
	for _, r := range b.runs {
		copy(x[r.first:], unsafe.Slice((*T)(r.at), r.n))
	}
}

// Over returns the layout of the same struct for functions of another type of struct, param, which has numbers of type
// number where the user's has floats. An error is an *[engine.FuncError].
func (l *Layout) Over(op, function string, param, number reflect.Type) (*Layout, error) {
	return l.over(op, function, param, pairer{real: number})
}

// InLanes is Over for a struct of derivatives in several directions. It may lack fields without numbers.
func (l *Layout) InLanes(op, function string, param, number reflect.Type) (*Layout, error) {
	return l.over(op, function, param, pairer{real: number, lacks: true})
}

// over returns the layout of the same struct for functions of another type of struct, by the pairing of p.
func (l *Layout) over(op, function string, param reflect.Type, p pairer) (*Layout, error) {
	p.seen = map[[2]reflect.Type]*pairing{}
	root, diff := p.pair(l.template.Type(), param, "")
	if diff != nil {
		return nil, &engine.FuncError{Op: op, Function: function,
			Problem: fmt.Sprintf("%s in the struct does not match %s at %q", diff.s, diff.r, diff.path)}
	}
	n := 0
	w := walker{grow: true, emit: func(_ unsafe.Pointer, k int, _ *place, _ bool) { n += k }}
	w.start(root, l.template, reflect.New(param).Elem(), true)
	if n != l.n {
		return nil, &engine.FuncError{Op: op, Function: function,
			Problem: fmt.Sprintf("the struct has %d numbers, and %d of them are numbers of %s", l.n, n, param)}
	}
	return &Layout{root: root, param: param, template: l.template, runs: l.runs, n: l.n, shares: l.shares || p.shares},
		nil
}

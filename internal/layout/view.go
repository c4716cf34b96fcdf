package layout

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
)

// A View is a struct of the user's type whose numbers are those of a vector. Slices of numbers in it are parts of the
// vector itself; only the other numbers are copied.
type View struct {
	ptr     any // pointer to the struct
	vectors []vector
	runs    []run // the numbers that are copied
	blocks  []saved
}

// A vector is the address of a slice of n numbers, which have the positions first, first+1, ….
type vector struct {
	at       *[]float64
	first, n int
}

// View returns a new struct of the user's type with the structure of the template, to be bound to vectors.
func (l *Layout) View() *View { return l.view(false) }

// Shadow is View for derivatives: of the structure the new struct has the lengths of slices and the pointers to numbers
// only. Other memory that may hold floats, such as an interface, is nil or zero in it.
func (l *Layout) Shadow() *View { return l.view(true) }

// view returns a new struct, without structure that is not needed to reach numbers if shadow is set.
func (l *Layout) view(shadow bool) *View {
	v := reflect.New(l.template.Type()).Elem()
	b := &View{ptr: v.Addr().Interface()}
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
			b.vectors = append(b.vectors, vector{(*[]float64)(v.Addr().UnsafePointer()), at, m.n})
		},
	}
	w.start(l.root, l.template, v, true)
	b.blocks = save(append(blocks, v))
	return b
}

// Ptr returns the pointer to the struct.
func (b *View) Ptr() any { return b.ptr }

// Bind makes the numbers of the struct those of x, of the length of the layout, and restores its structure, which the
// last function that used it may have changed. The struct shares memory with x until the next Bind. Bind does not
// allocate.
func (b *View) Bind(x []float64) {
	restore(b.blocks)
	for _, v := range b.vectors {
		end := v.first + v.n
		*v.at = x[v.first:end:end]
	}
	for _, r := range b.runs {
		copy(unsafe.Slice((*float64)(r.at), r.n), x[r.first:])
	}
}

// Store writes the numbers of the struct that Bind has copied to x, the vector it is bound to.
func (b *View) Store(x []float64) {
	for _, r := range b.runs {
		copy(x[r.first:], unsafe.Slice((*float64)(r.at), r.n))
	}
}

// Over returns the layout of the same struct for functions of another type of struct, param, which has numbers of type
// number where the user's has floats. An error is an *[engine.FuncError].
func (l *Layout) Over(op, function string, param, number reflect.Type) (*Layout, error) {
	p := pairer{real: number, seen: map[[2]reflect.Type]*pairing{}}
	root, diff := p.pair(l.template.Type(), param, "")
	if diff != nil {
		return nil, &engine.FuncError{Op: op, Function: function,
			Problem: fmt.Sprintf("%s in the struct does not match %s at %q", diff.s, diff.r, diff.path)}
	}
	n := 0
	w := walker{emit: func(_ unsafe.Pointer, k int, _ *place, _ bool) { n += k }}
	w.start(root, l.template, l.template, false)
	if n != l.n {
		return nil, &engine.FuncError{Op: op, Function: function,
			Problem: fmt.Sprintf("the struct has %d numbers, and %d of them are numbers of %s", l.n, n, param)}
	}
	return &Layout{root: root, template: l.template, runs: l.runs, n: l.n, shares: l.shares || p.shares}, nil
}

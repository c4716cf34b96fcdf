// Package layout copies the numbers of a struct to a vector and back, by reflection.
//
// A function of a struct is differentiated as a function of the numbers in the struct. The user's struct has float64s
// where that of the function has numbers of package nabla; the rest of the two types, their structure, is the same. The
// input of [New] is a struct of the user, a value of the first type, and the second type. The output is a [Layout],
// which gives each number of the struct a position in a vector, and makes an [Instance] of the second type that is
// filled from vectors. Terms:
//
//   - pairing: a type of the user's struct with its counterpart in the struct of the function;
//   - template: a private copy of the user's struct, whose structure, such as lengths of slices, others get;
//   - run: numbers that are contiguous in memory, with positions that follow each other;
//   - view: a struct of float64s whose slices of numbers are parts of a vector, so that they need not be copied.
//
// Memory that is reached by two pointers, or by two equal slices, is visited once.
package layout

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
)

// A Layout maps the numbers of a struct to positions in a vector. It does not change.
type Layout struct {
	root     *pairing
	param    reflect.Type  // the type of the function's struct
	template reflect.Value // a private copy of the struct, for its structure
	runs     []run
	n        int
	shares   bool // part of the structure is shared with the user's struct
}

// A Source holds the arguments of [New]: the user's struct, whose float64s get positions in the vector, and the types
// that the function sees instead.
type Source struct {
	Op, Function string        // names of the operator and of the function, for errors
	Struct       reflect.Value // the user's struct; it is addressable
	Param        reflect.Type  // the type of the function's struct
	Real         reflect.Type  // the type of the numbers in Param
	// Plain is set for functions over float64, whose struct has the type of the user's struct. Every float64 in it is
	// a number then.
	Plain bool
}

// New returns the layout of a struct. An error is a *[engine.FuncError].
func New(s Source) (*Layout, error) {
	ts := s.Struct.Type()
	if ts == s.Param && !s.Plain {
		return nil, &engine.FuncError{Op: s.Op, Function: s.Function,
			Problem: fmt.Sprintf("the function and the struct have one type, %s; want two that differ in their "+
				"numbers, as Params[nabla.Real] and Params[float64]", ts)}
	}
	if path := tagged(ts, "", map[reflect.Type]bool{}); path != "" {
		return nil, &engine.FuncError{Op: s.Op, Function: s.Function,
			Problem: fmt.Sprintf("%s has a nabla tag, which has a meaning in bound structs only, and its numbers "+
				"would be parameters; move it to the struct of data, as BindStructPlain takes", path)}
	}
	p := pairer{real: s.Real, plain: s.Plain, seen: map[[2]reflect.Type]*pairing{}}
	root, diff := p.pair(ts, s.Param, "")
	if diff != nil {
		return nil, &engine.FuncError{Op: s.Op, Function: s.Function,
			Problem: fmt.Sprintf("%s in the struct does not match %s in the function's struct at %q; only float64 and "+
				"nabla.Real, in structs, arrays, slices and behind pointers, may differ", diff.s, diff.r, diff.path)}
	}
	l := &Layout{root: root, param: s.Param, template: reflect.New(ts).Elem(), shares: p.shares}
	if err := l.measure(s.Op, s.Function, s.Struct); err != nil {
		return nil, err
	}
	w := walker{grow: true, emit: func(unsafe.Pointer, int, *place, bool) {}}
	w.start(root, s.Struct, l.template, true)
	return l, nil
}

// Len returns the number of numbers.
func (l *Layout) Len() int { return l.n }

// Shares reports whether instances share a part of the structure, such as a map, with the user's struct.
func (l *Layout) Shares() bool { return l.shares }

// Name returns the path of number i, which is below Len, in the struct, such as "Layers[0].W[3]".
func (l *Layout) Name(i int) string {
	r := l.runs[sort.Search(len(l.runs), func(k int) bool { return l.runs[k].first+l.runs[k].n > i })]
	if r.indexed {
		return fmt.Sprintf("%s[%d]", r.path, i-r.first)
	}
	return r.path
}

// Flatten writes the numbers of s, a struct of the user's type, to dst, of length Len. It panics with a
// *[engine.ShapeError] if a slice of s has another length than that of the template, and with a *[engine.FuncError] if
// a pointer of one of the two is nil and not the other. op is for these errors.
func (l *Layout) Flatten(op string, dst []float64, s reflect.Value) {
	at := 0
	w := walker{op: op, emit: func(p unsafe.Pointer, n int, _ *place, _ bool) {
		at += copy(dst[at:], unsafe.Slice((*float64)(p), n))
	}}
	w.start(l.root, l.template, s, false)
}

// Unflatten writes the numbers in x, of length Len, to their places in s. Slices of another length than that of the
// template and nil pointers are replaced by new ones, with its structure; the rest of s is not modified.
func (l *Layout) Unflatten(s reflect.Value, x []float64) {
	w := walker{grow: true, emit: func(p unsafe.Pointer, n int, _ *place, _ bool) {
		copy(unsafe.Slice((*float64)(p), n), x)
		x = x[n:]
	}}
	w.start(l.root, l.template, s, false)
}

// A run is a sequence of n numbers contiguous in memory. They have the positions first, first+1, …
// in the vector; path is that of the first one or, if indexed, of the array or slice.
type run struct {
	at      unsafe.Pointer
	first   int
	n       int
	path    string
	indexed bool
}

// A pairing relates a type of the user's struct to its counterpart in the struct passed to the
// function.
type pairing struct {
	kind   pairKind
	fields []pairedField
	elem   *pairing
}

type pairedField struct {
	index, of int // in the user's struct and in that of the function
	name      string
	pair      *pairing
}

type pairKind uint8

const (
	pairSame    pairKind = iota // structure: copied
	pairNumber                  // a number to differentiate
	pairComplex                 // a complex number, whose parts are two numbers
	pairStruct
	pairArray
	pairSlice
	pairPointer
)

// A pairer compares two types. seen maps pairs of types to their pairings, since types may be
// recursive.
type pairer struct {
	real   reflect.Type
	plain  bool
	lacks  bool // the second type may lack fields of the first
	shares bool // a value that is not copied has been found
	seen   map[[2]reflect.Type]*pairing
}

// A mismatch holds the path at which two types differ in more than their numbers.
type mismatch struct {
	path string
	s, r reflect.Type
}

// pair returns the pairing of the types s and r at a path, or where they differ.
func (p *pairer) pair(s, r reflect.Type, path string) (*pairing, *mismatch) {
	if out, ok := p.seen[[2]reflect.Type{s, r}]; ok {
		return out, nil
	}
	out := new(pairing)
	p.seen[[2]reflect.Type{s, r}] = out
	var err *mismatch
	number := s.Kind() == reflect.Float64 && (r == p.real || p.plain)
	switch k := s.Kind(); {
	case number:
		out.kind = pairNumber
	case s.Kind() == reflect.Complex128 && (p.plain || p.isComplex(r)):
		out.kind = pairComplex
	case k != r.Kind() || k == reflect.Array && s.Len() != r.Len():
		return nil, &mismatch{path, s, r}
	case s == r && s == p.real: // a number in both types is not differentiated
	case k == reflect.Struct:
		out.kind = pairStruct
		out.fields, err = p.fields(s, r, path)
	case k == reflect.Array:
		out.kind = pairArray
		out.elem, err = p.pair(s.Elem(), r.Elem(), path+"[]")
	case k == reflect.Slice:
		out.kind = pairSlice
		out.elem, err = p.pair(s.Elem(), r.Elem(), path+"[]")
	case k == reflect.Pointer && s == r && !(p.plain && holdsNumbers(s.Elem(), map[reflect.Type]bool{})):
		p.shares = true // objects such as locks and loaders are identified by their address
	case k == reflect.Pointer:
		out.kind = pairPointer
		out.elem, err = p.pair(s.Elem(), r.Elem(), path)
	case s != r:
		return nil, &mismatch{path, s, r}
	case k == reflect.Map || k == reflect.Chan || k == reflect.Func || k == reflect.Interface ||
		k == reflect.UnsafePointer:
		p.shares = true
	}
	return out, err
}

// fields returns the pairings of the fields of the structs s and r at a path, or where they differ.
func (p *pairer) fields(s, r reflect.Type, path string) (list []pairedField, _ *mismatch) {
	if !p.lacks && s.NumField() != r.NumField() {
		return nil, &mismatch{path, s, r}
	}
	of := 0
	for i := range s.NumField() {
		a := s.Field(i)
		switch {
		case of < r.NumField() && r.Field(of).Name == a.Name:
			of++
		case p.lacks:
			continue
		default:
			return nil, &mismatch{join(path, a.Name), s, r}
		}
		if a.Name == "_" {
			continue
		}
		f, err := p.pair(a.Type, r.Field(of-1).Type, join(path, a.Name))
		if err != nil {
			return nil, err
		}
		list = append(list, pairedField{i, of - 1, a.Name, f})
	}
	return list, nil
}

// isComplex reports whether r is a struct of two numbers, the parts of a complex one.
func (p *pairer) isComplex(r reflect.Type) bool {
	return r.Kind() == reflect.Struct && r.NumField() == 2 && r.Field(0).Type == p.real && r.Field(1).Type == p.real
}

// holdsNumbers reports whether a number may be reachable from a value of type t by other means than
// maps and interfaces.
func holdsNumbers(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Float64, reflect.Complex128:
		return true
	case reflect.Array, reflect.Slice, reflect.Pointer:
		return holdsNumbers(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" && holdsNumbers(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// tagged returns the path of a field with numbers and a nabla tag in the struct type t, or "".
func tagged(t reflect.Type, path string, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Array, reflect.Slice, reflect.Pointer:
		return tagged(t.Elem(), path, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			at := join(path, f.Name)
			if f.Tag.Get("nabla") != "" && holdsNumbers(f.Type, map[reflect.Type]bool{}) {
				return at
			}
			if found := tagged(f.Type, at, seen); found != "" {
				return found
			}
		}
	}
	return ""
}

// join appends the name of a field to a path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// A place is a path to a value within a struct, linked from the last step to the first.
type place struct {
	up    *place
	name  string
	index int
}

func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.name == "":
		return fmt.Sprintf("%s[%d]", p.up, p.index)
	}
	return join(p.up.String(), p.name)
}

// A walker visits the struct v along the template t, whose numbers may differ from those of v.
type walker struct {
	op   string
	grow bool // allocate slices and pointers that v lacks, instead of a panic
	// emit is called for each run of contiguous numbers.
	emit func(p unsafe.Pointer, n int, at *place, indexed bool)
	// block, unless nil, is called for each piece of memory that holds structure.
	block func(v reflect.Value)
	// vector, unless nil, is called for each slice v of numbers of the template, instead of a visit of its elements.
	vector func(m memory, v reflect.Value)
	// zero leaves structure other than lengths and pointers to numbers at its zero value in fresh memory.
	zero bool
	seen map[memory]reflect.Value
}

// A memory identifies memory reached through a pointer (n is -1) or a slice of n elements of the
// template.
type memory struct {
	p    unsafe.Pointer
	n    int
	pair *pairing
}

// start visits all of v. The template may refer to itself.
func (w *walker) start(p *pairing, t, v reflect.Value, fresh bool) {
	w.first(memory{t.Addr().UnsafePointer(), -1, p}, v.Addr())
	w.walk(p, t, v, fresh, nil)
}

// walk visits v. If v is fresh, it holds nothing of the template yet, and structure is copied.
func (w *walker) walk(p *pairing, t, v reflect.Value, fresh bool, at *place) {
	switch p.kind {
	case pairNumber:
		w.emit(v.Addr().UnsafePointer(), 1, at, false)
	case pairComplex:
		re := v.Addr().UnsafePointer()
		w.emit(re, 1, &place{up: at, name: "Re"}, false)
		w.emit(unsafe.Add(re, v.Type().Size()/2), 1, &place{up: at, name: "Im"}, false)
	case pairSame:
		if fresh && !w.zero {
			v.Set(t)
		}
	case pairStruct:
		for _, f := range p.fields {
			w.walk(f.pair, open(t.Field(f.index)), open(v.Field(f.of)), fresh, &place{up: at, name: f.name})
		}
	case pairArray:
		w.elements(p.elem, t, v, v.Addr().UnsafePointer(), fresh, at)
	case pairSlice:
		w.slice(p, t, v, fresh, at)
	case pairPointer:
		w.pointer(p, t, v, fresh, at)
	}
}

// open returns the struct field v, which may be unexported, as a value for reading and writing.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// elements visits the elements of an array or slice v, which begin at p.
func (w *walker) elements(elem *pairing, t, v reflect.Value, p unsafe.Pointer, fresh bool, at *place) {
	switch {
	case elem.kind == pairNumber:
		if n := v.Len(); n > 0 {
			w.emit(p, n, at, true)
		}
	case elem.kind == pairSame:
		if fresh && !w.zero {
			reflect.Copy(v, t)
		}
	default:
		for i := range v.Len() {
			w.walk(elem, t.Index(i), v.Index(i), fresh, &place{up: at, index: i})
		}
	}
}

// slice visits the slice v, which gets the length of the template if it has another one and w grows it.
func (w *walker) slice(p *pairing, t, v reflect.Value, fresh bool, at *place) {
	n := t.Len()
	if n == 0 {
		if !w.grow && v.Len() != 0 {
			panic(&engine.ShapeError{Op: w.op, Arg: "len(" + at.String() + ")", Got: v.Len(), Want: 0})
		}
		if fresh && !t.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		return
	}
	if w.vector != nil && p.elem.kind == pairNumber {
		w.vector(memory{t.UnsafePointer(), n, p}, v)
		return
	}
	if w.again(memory{t.UnsafePointer(), n, p}, v) {
		return
	}
	if fresh || v.Len() != n {
		if !w.grow {
			panic(&engine.ShapeError{Op: w.op, Arg: "len(" + at.String() + ")", Got: v.Len(), Want: n})
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fresh = true
	}
	w.first(memory{t.UnsafePointer(), n, p}, v.Slice(0, n))
	w.elements(p.elem, t, v, v.UnsafePointer(), fresh, at)
	if w.block != nil && p.elem.kind != pairNumber {
		w.block(v.Slice(0, n))
	}
}

// pointer visits the memory that v points to, which is new if v is nil and w grows it.
func (w *walker) pointer(p *pairing, t, v reflect.Value, fresh bool, at *place) {
	if t.IsNil() {
		if !w.grow && !v.IsNil() {
			panic(&engine.FuncError{Op: w.op,
				Problem: fmt.Sprintf("field %s is a pointer, want nil as in the struct that Struct was given", at)})
		}
		return
	}
	if w.again(memory{t.UnsafePointer(), -1, p.elem}, v) {
		return
	}
	if fresh || v.IsNil() {
		if !w.grow {
			panic(&engine.FuncError{Op: w.op,
				Problem: fmt.Sprintf("field %s is nil, want a pointer as in the struct that Struct was given", at)})
		}
		v.Set(reflect.New(v.Type().Elem()).Convert(v.Type()))
		fresh = true
	}
	w.first(memory{t.UnsafePointer(), -1, p.elem}, v.Elem().Addr())
	w.walk(p.elem, t.Elem(), v.Elem(), fresh, at)
	if w.block != nil {
		w.block(v.Elem())
	}
}

// again reports whether this memory of the template was visited before. If so and w grows v, v is
// set to the memory visited then.
func (w *walker) again(m memory, v reflect.Value) bool {
	first, ok := w.seen[m]
	if ok && w.grow {
		v.Set(first)
	}
	return ok
}

// first notes that the memory m of the template is that of v.
func (w *walker) first(m memory, v reflect.Value) {
	if w.seen == nil {
		w.seen = map[memory]reflect.Value{}
	}
	w.seen[m] = v
}

// measure finds the runs of numbers of s. Overlapping memory that is not the same pointer or slice
// is an error.
func (l *Layout) measure(op, name string, s reflect.Value) error {
	w := walker{op: op, emit: func(p unsafe.Pointer, n int, at *place, indexed bool) {
		l.runs = append(l.runs, run{at: p, first: l.n, n: n, path: at.String(), indexed: indexed})
		l.n += n
	}}
	w.start(l.root, s, s, false)
	byAddress := slices.Clone(l.runs)
	slices.SortFunc(byAddress, func(a, b run) int { return cmp.Compare(uintptr(a.at), uintptr(b.at)) })
	for i := 1; i < len(byAddress); i++ {
		if a, b := byAddress[i-1], byAddress[i]; uintptr(a.at)+8*uintptr(a.n) > uintptr(b.at) {
			return &engine.FuncError{Op: op, Function: name,
				Problem: fmt.Sprintf("fields %s and %s of the struct share memory without being the same; want "+
					"numbers that "+
					"stand in one place each", a.path, b.path)}
		}
	}
	for i := range l.runs {
		l.runs[i].at = nil
	}
	return nil
}

// An Instance is a struct passed to a function, filled with new numbers for each call.
type Instance struct {
	runs   []run
	blocks []saved
}

// A saved is memory that holds structure, with a copy of its contents before a call.
type saved struct{ v, was reflect.Value }

// Instance makes v, a struct of the function's type that is zero, a copy of the template.
func (l *Layout) Instance(v reflect.Value) *Instance {
	in := new(Instance)
	var blocks []reflect.Value
	first := 0
	w := walker{
		grow: true,
		emit: func(p unsafe.Pointer, n int, _ *place, _ bool) {
			in.runs = append(in.runs, run{at: p, first: first, n: n})
			first += n
		},
		block: func(v reflect.Value) { blocks = append(blocks, v) },
	}
	w.start(l.root, l.template, v, true)
	in.blocks = save(append(blocks, v))
	return in
}

// save returns copies of the contents of blocks.
func save(blocks []reflect.Value) (list []saved) {
	for _, b := range blocks {
		s := saved{v: b}
		if b.Kind() == reflect.Slice && !b.CanAddr() {
			s.was = reflect.MakeSlice(b.Type(), b.Len(), b.Len())
			reflect.Copy(s.was, b)
		} else {
			s.was = reflect.New(b.Type()).Elem()
			s.was.Set(b)
		}
		list = append(list, s)
	}
	return list
}

// restore writes the saved contents back.
func restore(blocks []saved) {
	for _, b := range blocks {
		if b.v.CanSet() {
			b.v.Set(b.was)
		} else {
			reflect.Copy(b.v, b.was)
		}
	}
}

// Load writes the numbers x, of the type of numbers in the struct, to the struct and restores its structure, which the
// function may have changed.
func Load[T any](in *Instance, x []T) {
	restore(in.blocks)
	for _, r := range in.runs {
		copy(unsafe.Slice((*T)(r.at), r.n), x[r.first:])
	}
}

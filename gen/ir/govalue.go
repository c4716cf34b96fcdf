package ir

import (
	"fmt"
	"go/types"
	"math"
	"reflect"
	"sort"
	"unsafe"
)

// Conversion between Go values and values of the evaluator by reflection. Memory that several
// slices or pointers of the input share is found by address, so that the result has the same
// aliases.

// ValueOf returns x as a value of the evaluator, in new memory.
func ValueOf(x any) Value { return ValuesOf(x)[0] }

// ValuesOf returns the list as values of the evaluator, in new memory. Slices and pointers to the
// same elements or variables share them in the result too, except that a pointer to a field or to
// an element of an array points to a copy. It panics for values that the evaluator does not
// support: maps, channels, functions, and interfaces with dynamic types other than numbers, bool and
// string.
func ValuesOf(list ...any) []Value {
	c := &importer{seen: make(map[region]bool), regions: make(map[reflect.Type][]*region)}
	for _, x := range list {
		c.collect(reflect.ValueOf(x))
	}
	c.merge()
	out := make([]Value, len(list))
	for i, x := range list {
		out[i] = c.value(reflect.ValueOf(x))
	}
	return out
}

// An importer finds the memory that Go values refer to and copies it.
type importer struct {
	// seen holds the regions that were collected, as found.
	seen    map[region]bool
	regions map[reflect.Type][]*region // element type → regions, after merge sorted by address and disjoint
}

// A region is memory that holds n values of one type.
type region struct {
	of     reflect.Type
	base   unsafe.Pointer
	n      int
	values *slice // its copy, nil until find creates it
}

// end returns the address after the region.
func (r *region) end() uintptr { return uintptr(r.base) + uintptr(r.n)*r.of.Size() }

// collect adds the regions that v refers to, directly or not.
func (c *importer) collect(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.Cap() > 0 {
			c.add(region{of: v.Type().Elem(), base: v.UnsafePointer(), n: v.Cap()})
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.add(region{of: v.Type().Elem(), base: v.UnsafePointer(), n: 1})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.collect(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			c.collect(v.Index(i))
		}
	}
}

// add adds r, unless it is known, and the regions that its values refer to.
func (c *importer) add(r region) {
	if c.seen[r] {
		return
	}
	c.seen[r] = true
	c.regions[r.of] = append(c.regions[r.of], &r)
	for i := range r.n {
		c.collect(r.at(i))
	}
}

// at returns the i-th value of the region.
func (r *region) at(i int) reflect.Value {
	return reflect.NewAt(r.of, unsafe.Add(r.base, uintptr(i)*r.of.Size())).Elem()
}

// merge replaces overlapping regions of one type by their union.
func (c *importer) merge() {
	for t, list := range c.regions {
		sort.Slice(list, func(i, j int) bool { return uintptr(list[i].base) < uintptr(list[j].base) })
		var out []*region
		for _, r := range list {
			if k := len(out) - 1; k >= 0 && (uintptr(r.base) < out[k].end() || r.base == out[k].base) {
				if t.Size() > 0 && r.end() > out[k].end() {
					out[k].n = int((r.end() - uintptr(out[k].base)) / t.Size())
				} else if t.Size() == 0 {
					out[k].n = max(out[k].n, r.n)
				}
				continue
			}
			out = append(out, r)
		}
		c.regions[t] = out
	}
}

// find returns the copy of the n values at an address, which belong to a merged region.
func (c *importer) find(t reflect.Type, base unsafe.Pointer, n int) slice {
	list := c.regions[t]
	k := sort.Search(len(list), func(i int) bool { return uintptr(list[i].base) > uintptr(base) }) - 1
	r := list[k]
	if r.values == nil {
		s := make(slice, r.n)
		r.values = &s // set before its values are converted, as memory may be cyclic
		for i := range s {
			s[i] = c.value(r.at(i))
		}
	}
	from := 0
	if t.Size() > 0 {
		from = int((uintptr(base) - uintptr(r.base)) / t.Size())
	}
	return (*r.values)[from : from+n : from+n]
}

// value converts v; references become references to the copies.
func (c *importer) value(v reflect.Value) Value {
	switch v.Kind() {
	case reflect.Bool:
		return boolValue(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return intValue(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Value{num: v.Uint()}
	case reflect.Float32, reflect.Float64:
		return floatValue(v.Float())
	case reflect.Complex64, reflect.Complex128:
		return complexValue(v.Complex())
	case reflect.String:
		return stringValue(v.String())
	case reflect.Slice:
		switch {
		case v.IsNil():
			return Value{}
		case v.Cap() == 0:
			return sliceValue(slice{})
		}
		return sliceValue(c.find(v.Type().Elem(), v.UnsafePointer(), v.Cap())[:v.Len()])
	case reflect.Pointer:
		if v.IsNil() {
			return Value{}
		}
		return pointerTo(&c.find(v.Type().Elem(), v.UnsafePointer(), 1)[0])
	case reflect.Struct:
		p := make(parts, v.NumField())
		for i := range p {
			p[i] = c.value(v.Field(i))
		}
		return Value{ref: p}
	case reflect.Array:
		p := make(parts, v.Len())
		for i := range p {
			p[i] = c.value(v.Index(i))
		}
		return Value{ref: p}
	case reflect.Interface:
		if v.IsNil() {
			return Value{}
		}
		if t := types.Universe.Lookup(v.Elem().Type().String()); t != nil {
			return Value{ref: boxed{t.Type(), c.value(v.Elem())}}
		}
	}
	panic(fmt.Sprintf("ir: no value for a %s", v.Type()))
}

// As returns v as a value of the Go type T, in new memory. Equal pointers stay equal; slices that
// share elements do not share them in the result.
func As[T any](v Value) T {
	var out T
	v.Into(&out)
	return out
}

// Into stores v in the variable that pointer points to, as [As] converts it.
func (v Value) Into(pointer any) {
	e := &exporter{memo: make(map[memoKey]reflect.Value)}
	e.set(reflect.ValueOf(pointer).Elem(), v)
}

// An exporter converts values of the evaluator to Go values. memo maps converted pointers to their
// results, which preserves aliases and ends cycles.
type exporter struct{ memo map[memoKey]reflect.Value }

// A memoKey is a pointer with the Go type that it is converted to.
type memoKey struct {
	p *Value
	t reflect.Type
}

// set converts v and stores it in dst.
func (e *exporter) set(dst reflect.Value, v Value) {
	if !dst.CanSet() { // an unexported field
		dst = reflect.NewAt(dst.Type(), unsafe.Pointer(dst.UnsafeAddr())).Elem()
	}
	switch dst.Kind() {
	case reflect.Bool:
		dst.SetBool(v.bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		dst.SetInt(v.int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		dst.SetUint(v.num)
	case reflect.Float32:
		dst.SetFloat(v.float())
	case reflect.Float64:
		dst.Set(reflect.ValueOf(math.Float64frombits(v.num)).Convert(dst.Type()))
	case reflect.Complex64, reflect.Complex128:
		dst.SetComplex(v.complex())
	case reflect.String:
		dst.SetString(v.string())
	case reflect.Slice:
		s := v.slice()
		if s == nil {
			dst.SetZero()
			return
		}
		all := s[:cap(s)]
		out := reflect.MakeSlice(dst.Type(), len(all), len(all))
		for i := range all {
			e.set(out.Index(i), all[i])
		}
		dst.Set(out.Slice(0, len(s)))
	case reflect.Pointer:
		p := v.pointer()
		if p == nil {
			dst.SetZero()
			return
		}
		key := memoKey{p, dst.Type()}
		if q, ok := e.memo[key]; ok {
			dst.Set(q)
			return
		}
		q := reflect.New(dst.Type().Elem())
		e.memo[key] = q
		e.set(q.Elem(), *p)
		dst.Set(q)
	case reflect.Struct:
		for i, p := range v.parts() {
			e.set(dst.Field(i), p)
		}
	case reflect.Array:
		for i, p := range v.parts() {
			e.set(dst.Index(i), p)
		}
	case reflect.Interface:
		b, ok := v.ref.(boxed)
		if !ok {
			dst.SetZero()
			return
		}
		x := b.v.show(b.t, 4)
		dst.Set(reflect.ValueOf(goNumber(x, b.t)))
	default:
		panic(fmt.Sprintf("ir: no value of a %s", dst.Type()))
	}
}

// goNumber converts a number to the dynamic type t that an interface holds it with.
func goNumber(x any, t types.Type) any {
	kinds := map[types.BasicKind]reflect.Type{
		types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
		types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
		types.Uint:  reflect.TypeFor[uint](),
		types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
		types.Uint32: reflect.TypeFor[uint32](),
		types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	}
	if b := basic(t); b != nil && kinds[b.Kind()] != nil {
		return reflect.ValueOf(x).Convert(kinds[b.Kind()]).Interface()
	}
	if s, ok := x.(verbatim); ok {
		return string(s)
	}
	return x
}

// NewValue returns a pointer of type t to a new zero variable.
func NewValue(t types.Type) Value {
	x := zeroValue(pointee(t))
	return pointerTo(&x)
}

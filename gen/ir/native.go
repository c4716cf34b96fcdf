package ir

import (
	"fmt"
	"go/types"
	"reflect"
	"runtime"
	"slices"
	"unsafe"
)

// Calls from the evaluator into Go functions by reflection. Memory reachable from the arguments is
// copied to Go memory before the call and back after it, with the same aliases.

// Native returns a function for [Machine].Rules that calls the Go function fn. Slices and pointers
// among the arguments alias in the call as they do in the evaluation, and the function's writes to
// them are visible afterwards. Its panics become *[PanicError]s. It panics if fn is not a function
// or has parameters or results of types that [ValuesOf] does not support.
func Native(fn any) func(args []Value) []Value {
	f := reflect.ValueOf(fn)
	t := f.Type()
	return func(args []Value) []Value {
		m := &nativeCall{}
		for i, v := range args {
			m.collect(v, t.In(i))
		}
		m.merge()
		for _, r := range m.regions {
			r.memory = reflect.MakeSlice(reflect.SliceOf(r.of), len(r.values), len(r.values))
		}
		for _, r := range m.regions {
			for i, v := range r.values {
				m.export(r.memory.Index(i), v)
			}
		}
		in := make([]reflect.Value, len(args))
		for i, v := range args {
			in[i] = reflect.New(t.In(i)).Elem()
			m.export(in[i], v)
		}
		results := callNative(f, in)
		for _, r := range m.regions {
			for i := range r.values {
				r.values[i].assign(m.value(r.memory.Index(i)))
			}
		}
		out := make([]Value, len(results))
		for i, v := range results {
			out[i] = m.value(v)
		}
		return out
	}
}

// callNative calls f; a panic becomes a *PanicError.
func callNative(f reflect.Value, in []reflect.Value) []reflect.Value {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case runtime.Error:
			panic(&PanicError{Text: e.Error()})
		case string:
			panic(&PanicError{Value: ValueOf(e), Type: types.Typ[types.String], Text: e})
		default:
			panic(&PanicError{Type: types.NewInterfaceType(nil, nil), Text: fmt.Sprint(e)})
		}
	}()
	if f.Type().IsVariadic() {
		return f.CallSlice(in)
	}
	return f.Call(in)
}

// A nativeCall holds the regions of evaluator memory that a call can reach, and their Go copies.
type nativeCall struct{ regions []*nativeRegion }

// A nativeRegion is contiguous evaluator memory of one Go type with its copy.
type nativeRegion struct {
	of     reflect.Type
	values slice
	memory reflect.Value
}

// base returns the address of the first element of s.
func base(s slice) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// end returns the address after the region.
func (r *nativeRegion) end() uintptr {
	return base(r.values) + uintptr(len(r.values))*unsafe.Sizeof(Value{})
}

// collect adds the regions reachable from v, whose Go type is t.
func (m *nativeCall) collect(v Value, t reflect.Type) {
	switch t.Kind() {
	case reflect.Slice:
		s := v.slice()
		m.add(s[:cap(s)], t.Elem())
	case reflect.Pointer:
		if p := v.pointer(); p != nil {
			m.add(unsafe.Slice(p, 1), t.Elem())
		}
	case reflect.Struct:
		for i, p := range v.parts() {
			m.collect(p, t.Field(i).Type)
		}
	case reflect.Array:
		for _, p := range v.parts() {
			m.collect(p, t.Elem())
		}
	}
}

// add adds a region, unless it is known, and those its values refer to.
func (m *nativeCall) add(s slice, of reflect.Type) {
	if len(s) == 0 {
		return
	}
	for _, r := range m.regions {
		if r.of == of && base(r.values) == base(s) && len(r.values) == len(s) {
			return
		}
	}
	m.regions = append(m.regions, &nativeRegion{of: of, values: s})
	for _, v := range s {
		m.collect(v, of)
	}
}

// merge sorts the regions by address and joins overlapping ones of one type.
func (m *nativeCall) merge() {
	slices.SortStableFunc(m.regions, func(a, b *nativeRegion) int {
		switch x, y := base(a.values), base(b.values); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	var out []*nativeRegion
	for _, r := range m.regions {
		if k := len(out) - 1; k >= 0 && out[k].of == r.of && base(r.values) < out[k].end() {
			if r.end() > out[k].end() {
				n := (r.end() - base(out[k].values)) / unsafe.Sizeof(Value{})
				out[k].values = unsafe.Slice(unsafe.SliceData(out[k].values), n)
			}
			continue
		}
		out = append(out, r)
	}
	m.regions = out
}

// find returns the region of type of that contains the first value of s, and its index there.
func (m *nativeCall) find(s slice, of reflect.Type) (*nativeRegion, int) {
	for _, r := range m.regions {
		if r.of == of && base(r.values) <= base(s) && base(s) < r.end() {
			return r, int((base(s) - base(r.values)) / unsafe.Sizeof(Value{}))
		}
	}
	return nil, 0
}

// export stores v in a Go variable; references become references to the copies.
func (m *nativeCall) export(dst reflect.Value, v Value) {
	switch dst.Kind() {
	case reflect.Slice:
		s := v.slice()
		switch {
		case s == nil:
			dst.SetZero()
		case cap(s) == 0:
			dst.Set(reflect.MakeSlice(dst.Type(), 0, 0))
		default:
			r, i := m.find(s[:cap(s)], dst.Type().Elem())
			dst.Set(r.memory.Slice3(i, i+len(s), i+cap(s)).Convert(dst.Type()))
		}
	case reflect.Pointer:
		p := v.pointer()
		if p == nil {
			dst.SetZero()
			return
		}
		r, i := m.find(unsafe.Slice(p, 1), dst.Type().Elem())
		dst.Set(r.memory.Index(i).Addr().Convert(dst.Type()))
	case reflect.Struct:
		for i, p := range v.parts() {
			m.export(dst.Field(i), p)
		}
	case reflect.Array:
		for i, p := range v.parts() {
			m.export(dst.Index(i), p)
		}
	default:
		(&exporter{}).set(dst, v)
	}
}

// value returns a Go value as one of the evaluator. A reference into a copied region becomes a
// reference to its original; other memory is converted to new values.
func (m *nativeCall) value(v reflect.Value) Value {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() || v.Cap() == 0 {
			return ValueOf(v.Interface())
		}
		if r, i := m.at(v.Type().Elem(), v.Pointer()); r != nil {
			return sliceValue(r.values[i : i+v.Len() : i+v.Cap()])
		}
	case reflect.Pointer:
		if v.IsNil() {
			return Value{}
		}
		if r, i := m.at(v.Type().Elem(), v.Pointer()); r != nil {
			return pointerTo(&r.values[i])
		}
	case reflect.Struct:
		p := make(parts, v.NumField())
		for i := range p {
			p[i] = m.value(v.Field(i))
		}
		return Value{ref: p}
	case reflect.Array:
		p := make(parts, v.Len())
		for i := range p {
			p[i] = m.value(v.Index(i))
		}
		return Value{ref: p}
	}
	return ValueOf(v.Interface())
}

// at returns the region whose Go memory contains addr, and the index of the element there, or nil.
func (m *nativeCall) at(of reflect.Type, addr uintptr) (*nativeRegion, int) {
	for _, r := range m.regions {
		if r.of != of || of.Size() == 0 {
			continue
		}
		if d := addr - r.memory.Pointer(); addr >= r.memory.Pointer() && d < uintptr(r.memory.Len())*of.Size() {
			return r, int(d / of.Size())
		}
	}
	return nil, 0
}

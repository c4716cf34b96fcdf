// Package binding binds structs to functions: it reads their parameters, makes the copies that functions get, and finds
// changes that make recordings invalid. Package nabla describes the meaning of fields at Bind.
package binding

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/snapshot"
	"github.com/nabla-ad/nabla/internal/structcopy"
)

// A Binding is a struct bound to a function, an [engine.Context]. A plain function gets the struct itself or, for use
// beside other goroutines, a deep copy. A traced function gets a private copy, made again at every call, in which
// parameters are numbers of the trace and workspace belongs to the Binding.
type Binding struct {
	fields   *Fields // nil for a plain function
	ptr      reflect.Type
	arg      any            // the argument of the function: the bound struct or the copy
	user     unsafe.Pointer // the bound struct
	own      unsafe.Pointer // the copy
	userElem reflect.Value
	ownElem  reflect.Value
	bufs     [][]core.Rep // workspace of the copy
	tracer   *core.Tracer // of the call under way
	first    int32
	shot     snapshot.Writer  // of a plain function's struct
	deep     *structcopy.Copy // of a plain function's struct, nil if the function gets the struct itself
	readOnly []string         // fields that a plain function only reads, with all memory reachable from them
}

// New binds p, a pointer to a struct that is not nil, to a traced function, or to a plain one if fields is nil.
func New(fields *Fields, p any) *Binding {
	b := &Binding{fields: fields, ptr: reflect.TypeOf(p)}
	if fields != nil {
		own := reflect.New(b.ptr.Elem())
		b.ownElem, b.own = own.Elem(), own.UnsafePointer()
		b.bufs = make([][]core.Rep, len(fields.scratch))
		b.arg = own.Convert(b.ptr).Interface()
	}
	b.bind(p)
	return b
}

// SetReadOnly tells that a plain function only reads the named fields, with all memory reachable from them: clones
// share
// that memory.
func (b *Binding) SetReadOnly(fields []string) { b.readOnly = fields }

// bind makes p the bound struct.
func (b *Binding) bind(p any) {
	v := reflect.ValueOf(p)
	b.userElem, b.user = v.Elem(), v.UnsafePointer()
	if b.fields == nil && b.deep == nil {
		b.arg = p
	}
}

// Params implements [engine.Context]: it returns the number of parameters.
func (b *Binding) Params() int {
	if b.fields == nil {
		return 0
	}
	n := 0
	for i := range b.fields.params {
		if f := &b.fields.params[i]; f.kind == fieldVec {
			n += len(at[Vec](b.user, f).Data)
		} else {
			n++
		}
	}
	return n
}

// Read implements [engine.Context]: it stores the values of the parameters in dst.
func (b *Binding) Read(dst []float64) {
	if b.fields == nil {
		return
	}
	for i := range b.fields.params {
		if f := &b.fields.params[i]; f.kind == fieldVec {
			dst = dst[copy(dst, at[Vec](b.user, f).Data):]
		} else {
			dst[0] = at[core.Rep](b.user, f).V
			dst = dst[1:]
		}
	}
}

// Enter implements [engine.Context]: it makes the copy for a call under t, whose parameters have the ids from first on,
// or are constants if first is 0. A number of an outer trace stays as it is. Workspace is set to zero.
func (b *Binding) Enter(t *engine.Tracer, first int32) error {
	if b.fields == nil {
		return nil
	}
	b.ownElem.Set(b.userElem)
	b.tracer, b.first = t, first
	id := first
	for i := range b.fields.params {
		switch f := &b.fields.params[i]; f.kind {
		case fieldVec:
			v := at[Vec](b.own, f)
			*v = b.entered(*v, id)
			id = b.after(id, len(v.Data))
		default:
			r := at[core.Rep](b.own, f)
			*r = b.number(*r, id)
			id = b.after(id, 1)
		}
	}
	for i := range b.fields.scratch {
		s := at[Scratch](b.own, &b.fields.scratch[i])
		n := len(s.Buf)
		if cap(b.bufs[i]) < n {
			b.bufs[i] = make([]core.Rep, n)
		}
		b.bufs[i] = b.bufs[i][:n]
		clear(b.bufs[i])
		s.Buf = b.bufs[i][:n:n]
	}
	return nil
}

// after returns the id of the parameter that follows the n parameters from id on.
func (b *Binding) after(id int32, n int) int32 {
	if b.first == 0 {
		return 0
	}
	return id + int32(n)
}

// number returns r as the function sees it, the parameter id of the trace.
func (b *Binding) number(r core.Rep, id int32) core.Rep {
	if r.ID != 0 || id == 0 {
		return r
	}
	return b.tracer.Number(r.V, id)
}

// entered returns v as the function sees it, the parameters of the trace from id on.
func (b *Binding) entered(v Vec, id int32) Vec {
	if v.T != nil || id == 0 {
		return v
	}
	r := b.tracer.Number(0, id)
	return Vec{Data: v.Data, T: r.T, Gen: r.Gen, Base: id}
}

// Leave implements [engine.Context]: it returns an error if the function wrote to a field that it may only read.
func (b *Binding) Leave() error {
	if b.fields == nil {
		return nil
	}
	id := b.first
	for i := range b.fields.params {
		switch f := &b.fields.params[i]; f.kind {
		case fieldVec:
			user, got := at[Vec](b.user, f), at[Vec](b.own, f)
			want := b.entered(*user, id)
			if unsafe.SliceData(got.Data) != unsafe.SliceData(want.Data) || len(got.Data) != len(want.Data) ||
				got.T != want.T || got.Gen != want.Gen || got.Base != want.Base {
				return f.changed()
			}
			id = b.after(id, len(user.Data))
		default:
			got, want := at[core.Rep](b.own, f), b.number(*at[core.Rep](b.user, f), id)
			if math.Float64bits(got.V) != math.Float64bits(want.V) || got.Mark != want.Mark || got.T != want.T {
				return f.changed()
			}
			id = b.after(id, 1)
		}
	}
	for i := range b.fields.scratch {
		f := &b.fields.scratch[i]
		got, want := at[Scratch](b.own, f).Buf, b.bufs[i]
		if len(got) != len(want) || unsafe.SliceData(got) != unsafe.SliceData(want) {
			return f.changed()
		}
	}
	for i := range b.fields.opaque {
		if f := &b.fields.opaque[i]; !b.same(f) {
			return f.changed()
		}
	}
	for i := range b.fields.fixed {
		if f := &b.fields.fixed[i]; !b.same(f) {
			return f.changed()
		}
	}
	return nil
}

// same reports whether f is the same in the bound struct and in the copy.
func (b *Binding) same(f *field) bool {
	if f.kind == fieldString {
		return *at[string](b.own, f) == *at[string](b.user, f)
	}
	return string(bits(b.own, f)) == string(bits(b.user, f))
}

// Snapshot implements [engine.Context]: it appends everything on which the operations of the function depend. Of a
// traced function these are lengths and the fields that are no parameters, of a plain one all memory reachable from the
// struct.
func (b *Binding) Snapshot(dst []byte) []byte {
	if b.fields == nil {
		return b.shot.Append(dst, b.userElem)
	}
	for i := range b.fields.params {
		if f := &b.fields.params[i]; f.kind == fieldVec {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(len(at[Vec](b.user, f).Data)))
		}
	}
	for i := range b.fields.scratch {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(len(at[Scratch](b.user, &b.fields.scratch[i]).Buf)))
	}
	for i := range b.fields.opaque {
		if f := &b.fields.opaque[i]; f.kind == fieldString {
			s := *at[string](b.user, f)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(len(s)))
			dst = append(dst, s...)
		} else {
			dst = append(dst, bits(b.user, f)...)
		}
	}
	return dst
}

// Arg implements [engine.Context]: it returns the argument of the function, a pointer of the type given to [New].
func (b *Binding) Arg() any { return b.arg }

// Clone implements [engine.Context]: it binds the same struct, for another goroutine.
func (b *Binding) Clone() (engine.Context, error) {
	c := b.newOfUserStruct()
	return c, c.Own()
}

// Beside implements [engine.Context]: it binds the same struct, with a copy of its own if b has one.
func (b *Binding) Beside() engine.Context {
	c := b.newOfUserStruct()
	if b.deep != nil {
		_ = c.Own() // cannot fail where b.Own did not
	}
	return c
}

// Bound implements [engine.Context]: it returns a pointer to the user's struct, of the type given to [New].
func (b *Binding) Bound() any { return b.userElem.Addr().Convert(b.ptr).Interface() }

// newOfUserStruct returns a new binding of the user's struct, without copies of it.
func (b *Binding) newOfUserStruct() *Binding {
	c := New(b.fields, b.Bound())
	c.readOnly = b.readOnly
	return c
}

// Own implements [engine.Context]: from now on a plain function gets a copy of the struct, unless it only reads it.
func (b *Binding) Own() error {
	if b.fields != nil || b.deep != nil || structcopy.OnlyReads(b.ptr.Elem(), b.readOnly) {
		return nil
	}
	b.deep = &structcopy.Copy{ReadOnly: b.readOnly}
	err := b.Refresh()
	if err != nil {
		b.deep = nil
	}
	return err
}

// Refresh implements [engine.Context]: it brings the copy for a plain function up to date.
func (b *Binding) Refresh() error {
	if b.deep == nil {
		return nil
	}
	own, err := b.deep.Update(b.user, b.ptr.Elem())
	if err == nil && own != b.own {
		b.own = own
		b.arg = reflect.NewAt(b.ptr.Elem(), own).Convert(b.ptr).Interface()
	}
	return err
}

// Rebind implements [engine.Context]: it binds q, a pointer of the type given to [New], instead of the struct. If that
// fails, the old struct stays bound.
func (b *Binding) Rebind(q any) error {
	switch {
	case reflect.TypeOf(q) != b.ptr:
		return &engine.FuncError{Op: "Rebind",
			Problem: fmt.Sprintf("the struct is a %T, want a %s as at Prepare", q, b.ptr)}
	case reflect.ValueOf(q).IsNil():
		return &engine.FuncError{Op: "Rebind", Problem: fmt.Sprintf("the struct is nil (a %s)", b.ptr)}
	}
	old := b.Bound()
	b.bind(q)
	err := b.Refresh()
	if err != nil {
		b.bind(old)
	}
	return err
}

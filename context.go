package nabla

import (
	le "encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
)

// plan says what the fields of a struct are to a traced function. Fields are
// found once, by reflection, and reached by their offsets from then on.
type plan struct {
	params  []field // Real and Vec, in the order of the struct
	scratch []field
	opaque  []field // compared with the recording
	fixed   []field // tagged: only watched for writes
}

type field struct {
	kind fieldKind
	off  uintptr
	size uintptr
	path string
	typ  reflect.Type
}

type fieldKind uint8

const (
	fieldReal fieldKind = iota
	fieldVec
	fieldScratch
	fieldBits // plain memory
	fieldString
)

var (
	realType    = reflect.TypeFor[Real]()
	vecType     = reflect.TypeFor[Vec]()
	scratchType = reflect.TypeFor[Scratch]()
)

// planOf sorts the fields of struct type t.
func planOf(t reflect.Type) (*plan, error) {
	p := new(plan)
	if err := p.structure(t, 0, ""); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *plan) structure(t reflect.Type, off uintptr, path string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, at := path+f.Name, off+f.Offset
		switch tag := f.Tag.Get("nabla"); {
		case f.Type.Size() == 0 || f.Name == "_":
		case tag == "fixed":
			p.fixed = append(p.fixed, field{fieldBits, at, f.Type.Size(), name, f.Type})
		case tag != "":
			return &FuncError{Op: "Bind",
				Problem: fmt.Sprintf("field %s of the bound struct has the tag nabla:%q, want nabla:\"fixed\" or none",
					name, tag)}
		default:
			if err := p.value(f.Type, at, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plan) value(t reflect.Type, off uintptr, path string) error {
	f := field{off: off, size: t.Size(), path: path, typ: t}
	switch {
	case t == vecType:
		f.kind = fieldVec
		p.params = append(p.params, f)
		return nil
	case t == scratchType:
		f.kind = fieldScratch
		p.scratch = append(p.scratch, f)
		return nil
	case t == realType:
		f.kind = fieldReal
		p.params = append(p.params, f)
		return nil
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		f.kind = fieldString
		p.opaque = append(p.opaque, f)
		return nil
	case isBits(k), k == reflect.Array && isBits(t.Elem().Kind()):
		f.kind = fieldBits
		p.opaque = append(p.opaque, f)
		return nil
	case k == reflect.Struct:
		return p.structure(t, off, path+".")
	case k == reflect.Array:
		for i := range t.Len() {
			if err := p.value(t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	return &ContextError{Field: path, Type: t.String()}
}

// isBits reports whether two values of kind k are the same where their memory is.
func isBits(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128
}

// binding is a struct bound to a function. A plain function gets the struct
// itself, or for use beside other goroutines a deep copy. A traced one gets a private
// copy, made anew for every call, in which parameters are numbers of the trace and
// scratch is the binding's own.
type binding struct {
	plan     *plan // nil for a plain function
	ptr      reflect.Type
	arg      any // what the function gets: the struct bound or the private copy
	user     unsafe.Pointer
	own      unsafe.Pointer
	userElem reflect.Value
	ownElem  reflect.Value
	bufs     [][]Real
	tracer   *engine.Tracer // of the call under way
	first    int32
	shot     snapshot // of a plain function's struct
	deep     *private // the copy that a plain function gets; nil where it gets the struct itself
	readOnly []string // fields that a plain function leaves alone, with what they lead to
}

// newBinding binds p, a pointer to a struct that is not nil.
func newBinding(pl *plan, p any) *binding {
	b := &binding{plan: pl, ptr: reflect.TypeOf(p)}
	if pl != nil {
		own := reflect.New(b.ptr.Elem())
		b.ownElem, b.own = own.Elem(), own.UnsafePointer()
		b.bufs = make([][]Real, len(pl.scratch))
		b.arg = own.Convert(b.ptr).Interface()
	}
	b.bind(p)
	return b
}

func (b *binding) bind(p any) {
	v := reflect.ValueOf(p)
	b.userElem, b.user = v.Elem(), v.UnsafePointer()
	if b.plan == nil && b.deep == nil {
		b.arg = p
	}
}

// argOf is what the function bound to c gets.
func argOf[P any](c engine.Context) P { return c.(*binding).arg.(P) }

func at[T any](p unsafe.Pointer, f *field) *T { return (*T)(unsafe.Add(p, f.off)) }

func bits(p unsafe.Pointer, f *field) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, f.off)), f.size)
}

// Params implements [engine.Context].
func (b *binding) Params() int {
	if b.plan == nil {
		return 0
	}
	n := 0
	for i := range b.plan.params {
		if f := &b.plan.params[i]; f.kind == fieldVec {
			n += len(at[Vec](b.user, f).data)
		} else {
			n++
		}
	}
	return n
}

// Read implements [engine.Context].
func (b *binding) Read(dst []float64) {
	if b.plan == nil {
		return
	}
	for i := range b.plan.params {
		if f := &b.plan.params[i]; f.kind == fieldVec {
			dst = dst[copy(dst, at[Vec](b.user, f).data):]
		} else {
			dst[0] = at[Real](b.user, f).v
			dst = dst[1:]
		}
	}
}

// Enter implements [engine.Context]. A number that belongs to a trace already,
// which is an outer one, is left as it is.
func (b *binding) Enter(t *engine.Tracer, first int32) error {
	if b.plan == nil {
		return nil
	}
	b.ownElem.Set(b.userElem)
	b.tracer, b.first = t, first
	id := first
	for i := range b.plan.params {
		switch f := &b.plan.params[i]; f.kind {
		case fieldVec:
			v := at[Vec](b.own, f)
			*v = b.entered(*v, id)
			id = b.after(id, len(v.data))
		default:
			r := at[Real](b.own, f)
			*r = b.number(*r, id)
			id = b.after(id, 1)
		}
	}
	for i := range b.plan.scratch {
		s := at[Scratch](b.own, &b.plan.scratch[i])
		n := len(s.buf)
		if cap(b.bufs[i]) < n {
			b.bufs[i] = make([]Real, n)
		}
		b.bufs[i] = b.bufs[i][:n]
		clear(b.bufs[i])
		s.buf = b.bufs[i][:n:n]
	}
	return nil
}

// after is the id of the parameter that follows n parameters from id on.
func (b *binding) after(id int32, n int) int32 {
	if b.first == 0 {
		return 0
	}
	return id + int32(n)
}

// number is what the function finds in a field of the user's that holds r.
func (b *binding) number(r Real, id int32) Real {
	if r.id != 0 || id == 0 {
		return r
	}
	return real(b.tracer.Number(r.v, id))
}

func (b *binding) entered(v Vec, id int32) Vec {
	if v.t != nil || id == 0 {
		return v
	}
	r := b.tracer.Number(0, id)
	return Vec{data: v.data, t: r.T, gen: r.Gen, base: id}
}

// Leave implements [engine.Context].
func (b *binding) Leave() error {
	if b.plan == nil {
		return nil
	}
	id := b.first
	for i := range b.plan.params {
		switch f := &b.plan.params[i]; f.kind {
		case fieldVec:
			user, got := at[Vec](b.user, f), at[Vec](b.own, f)
			want := b.entered(*user, id)
			if unsafe.SliceData(got.data) != unsafe.SliceData(want.data) || len(got.data) != len(want.data) ||
				got.t != want.t || got.gen != want.gen || got.base != want.base {
				return f.changed()
			}
			id = b.after(id, len(user.data))
		default:
			got, want := at[Real](b.own, f), b.number(*at[Real](b.user, f), id)
			if math.Float64bits(got.v) != math.Float64bits(want.v) || got.id != want.id || got.gen != want.gen ||
				got.t != want.t {
				return f.changed()
			}
			id = b.after(id, 1)
		}
	}
	for i := range b.plan.scratch {
		f := &b.plan.scratch[i]
		got, want := at[Scratch](b.own, f).buf, b.bufs[i]
		if len(got) != len(want) || unsafe.SliceData(got) != unsafe.SliceData(want) {
			return f.changed()
		}
	}
	for i := range b.plan.opaque {
		if f := &b.plan.opaque[i]; !b.same(f) {
			return f.changed()
		}
	}
	for i := range b.plan.fixed {
		if f := &b.plan.fixed[i]; !b.same(f) {
			return f.changed()
		}
	}
	return nil
}

func (b *binding) same(f *field) bool {
	if f.kind == fieldString {
		return *at[string](b.own, f) == *at[string](b.user, f)
	}
	return string(bits(b.own, f)) == string(bits(b.user, f))
}

func (f *field) changed() error {
	return &ContextError{Field: f.path, Type: f.typ.String(), Changed: true}
}

// Snapshot implements [engine.Context].
func (b *binding) Snapshot(dst []byte) []byte {
	if b.plan == nil {
		return b.shot.of(dst, b.userElem)
	}
	for i := range b.plan.params {
		if f := &b.plan.params[i]; f.kind == fieldVec {
			dst = le.LittleEndian.AppendUint64(dst, uint64(len(at[Vec](b.user, f).data)))
		}
	}
	for i := range b.plan.scratch {
		dst = le.LittleEndian.AppendUint64(dst, uint64(len(at[Scratch](b.user, &b.plan.scratch[i]).buf)))
	}
	for i := range b.plan.opaque {
		if f := &b.plan.opaque[i]; f.kind == fieldString {
			s := *at[string](b.user, f)
			dst = le.LittleEndian.AppendUint64(dst, uint64(len(s)))
			dst = append(dst, s...)
		} else {
			dst = append(dst, bits(b.user, f)...)
		}
	}
	return dst
}

// Arg implements [engine.Context].
func (b *binding) Arg() any { return b.arg }

// Clone implements [engine.Context].
func (b *binding) Clone() (engine.Context, error) {
	c := b.beside()
	return c, c.Own()
}

// Beside implements [engine.Context].
func (b *binding) Beside() engine.Context {
	c := b.beside()
	if b.deep != nil {
		_ = c.Own() // b could
	}
	return c
}

func (b *binding) beside() *binding {
	c := newBinding(b.plan, b.userElem.Addr().Convert(b.ptr).Interface())
	c.readOnly = b.readOnly
	return c
}

// Own implements [engine.Context].
func (b *binding) Own() error {
	if b.plan != nil || b.deep != nil || onlyReads(b.ptr.Elem(), b.readOnly) {
		return nil
	}
	b.deep = &private{readOnly: b.readOnly}
	err := b.Refresh()
	if err != nil {
		b.deep = nil
	}
	return err
}

// Refresh implements [engine.Context].
func (b *binding) Refresh() error {
	if b.deep == nil {
		return nil
	}
	own, err := b.deep.update(b.user, b.ptr.Elem())
	if err == nil && own != b.own {
		b.own = own
		b.arg = reflect.NewAt(b.ptr.Elem(), own).Convert(b.ptr).Interface()
	}
	return err
}

// Rebind implements [engine.Context].
func (b *binding) Rebind(q any) error {
	switch {
	case reflect.TypeOf(q) != b.ptr:
		return &FuncError{Op: "Rebind", Problem: fmt.Sprintf("the struct is a %T, want a %s as at Prepare", q, b.ptr)}
	case reflect.ValueOf(q).IsNil():
		return &FuncError{Op: "Rebind", Problem: fmt.Sprintf("the struct is nil (a %s)", b.ptr)}
	}
	old := b.userElem.Addr().Convert(b.ptr).Interface()
	b.bind(q)
	err := b.Refresh()
	if err != nil {
		b.bind(old)
	}
	return err
}

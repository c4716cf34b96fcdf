package main

import (
	"fmt"
	"go/constant"
	"go/types"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// maker makes arguments of functions. What an integer or a slice is for it reads off its
// name, and where it is wrong the function panics and the next one is made.
type maker struct {
	r      *rand.Rand
	n      int  // sizes
	matrix bool // slices hold n×n numbers
	sorted bool // slices are in order
	mood   int  // of what size numbers are
}

// reflected is the type of Go values that the evaluator takes for values of type t. What
// there are no such values for, as interfaces and maps, is nil.
func reflected(t types.Type, busy map[types.Type]bool) (reflect.Type, error) {
	nothing := reflect.TypeFor[any]()
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if busy[n] {
			return nothing, nil // a type that leads to itself ends here
		}
		busy[n] = true
		defer delete(busy, n)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if r, ok := basics[u.Kind()]; ok {
			return r, nil
		}
	case *types.Interface, *types.Map, *types.Signature, *types.Chan:
		return nothing, nil
	case *types.Slice:
		e, err := reflected(u.Elem(), busy)
		if err != nil || e == nothing {
			return nothing, err
		}
		return reflect.SliceOf(e), nil
	case *types.Pointer:
		e, err := reflected(u.Elem(), busy)
		if err != nil || e == nothing {
			return nothing, err
		}
		return reflect.PointerTo(e), nil
	case *types.Array:
		e, err := reflected(u.Elem(), busy)
		if err != nil {
			return nil, err
		}
		return reflect.ArrayOf(int(u.Len()), e), nil
	case *types.Struct:
		var fields []reflect.StructField
		for i := range u.NumFields() {
			e, err := reflected(u.Field(i).Type(), busy)
			if err != nil {
				return nil, err
			}
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: e})
		}
		return reflect.StructOf(fields), nil
	}
	return nil, fmt.Errorf("no values of type %v", t)
}

var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](),
	types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](),
	types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
}

// fill gives a variable of type t a value.
func (m *maker) fill(v reflect.Value, t types.Type, name string) {
	if v.Kind() == reflect.Interface {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if list := constantsOf(t); len(list) > 0 {
			setConstant(v, list[m.r.IntN(len(list))])
			return
		}
		switch {
		case v.Kind() == reflect.Bool:
			v.SetBool(m.r.IntN(2) == 0)
		case v.CanFloat():
			v.SetFloat(m.number())
		case v.CanInt():
			v.SetInt(int64(m.integer(name)))
		case v.CanUint():
			v.SetUint(uint64(max(0, m.integer(name))))
		}
	case *types.Slice:
		n := m.length(name)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			if v.Index(i).CanInt() && constantsOf(u.Elem()) == nil {
				v.Index(i).SetInt(int64(i % max(1, m.n))) // indices
				continue
			}
			m.fill(v.Index(i), u.Elem(), "")
		}
		if list, ok := v.Interface().([]float64); ok && m.sorted {
			slices.Sort(list)
		}
	case *types.Array:
		for i := range v.Len() {
			m.fill(v.Index(i), u.Elem(), "")
		}
	case *types.Struct:
		for i := range v.NumField() {
			m.fill(v.Field(i), u.Field(i).Type(), u.Field(i).Name())
		}
		if m.r.IntN(10) == 0 {
			empty(v)
		}
	case *types.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), u.Elem(), name)
	}
}

// empty takes the slices and the sizes out of a struct, as of a matrix without elements.
// Its floats stay: many functions treat zero as a case of its own, with a derivative of
// its own.
func empty(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Slice, reflect.Int:
			f.SetZero()
		case reflect.Struct:
			empty(f)
		}
	}
}

func (m *maker) number() float64 {
	switch m.mood {
	case 0:
		return 0.1 + 0.8*m.r.Float64()
	case 1:
		return m.r.NormFloat64()
	case 2:
		return 1 + 3*m.r.Float64()
	default:
		return 0.2 + 5*m.r.Float64()
	}
}

// integer is an integer that a parameter or a field of this name may be.
func (m *maker) integer(name string) int {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "ld"), name == "stride":
		return m.n
	case strings.HasPrefix(name, "inc"):
		if m.r.IntN(8) == 0 {
			return 2
		}
		return 1
	case name == "m", name == "n", name == "r", name == "c", strings.HasPrefix(name, "rows"),
		strings.HasPrefix(name, "cols"),
		strings.HasPrefix(name, "cap"), name == "dim", name == "nrhs":
		return m.n
	case name == "i", name == "j", name == "ilo":
		return m.r.IntN(m.n)
	case name == "kl", name == "ku", name == "kd":
		return 1
	case name == "lwork":
		return 40 * m.n
	}
	return m.r.IntN(m.n + 1)
}

func (m *maker) length(name string) int {
	switch {
	case strings.Contains(strings.ToLower(name), "work"):
		return 40 * m.n
	case name == "data", name == "Data", m.matrix && m.r.IntN(3) > 0:
		return m.n * m.n
	case m.r.IntN(20) == 0:
		return m.n - 1
	}
	return m.n
}

// constantsOf are the constants of a type that a package gives a name: what its values
// are to be chosen from.
func constantsOf(t types.Type) (out []constant.Value) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil
	}
	if _, ok := n.Underlying().(*types.Basic); !ok {
		return nil
	}
	scope := n.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), t) {
			out = append(out, c.Val())
		}
	}
	return out
}

// setConstant assigns a constant to a variable of basic type.
func setConstant(v reflect.Value, c constant.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(constant.BoolVal(c))
	case v.Kind() == reflect.String:
		v.SetString(constant.StringVal(c))
	case v.CanFloat():
		x, _ := constant.Float64Val(constant.ToFloat(c))
		v.SetFloat(x)
	case v.CanInt():
		i, _ := constant.Int64Val(constant.ToInt(c))
		v.SetInt(i)
	case v.CanUint():
		i, _ := constant.Uint64Val(constant.ToInt(c))
		v.SetUint(i)
	}
}

// instance is arguments of a function.
type instance struct {
	args   []reflect.Value // pointers to them
	direct [][]reflect.Value
	memory []reflect.Value // slices, and pointers, that they lead to
	behind [][]reflect.Value
}

// instance makes arguments of f.
func (m *maker) instance(f *ir.Func) (*instance, error) {
	in := &instance{}
	for _, p := range f.Params {
		t, err := reflected(p.Type, map[types.Type]bool{})
		if err != nil {
			return nil, err
		}
		v := reflect.New(t)
		name := ""
		if p.Object != nil {
			name = p.Object.Name()
		}
		m.fill(v.Elem(), p.Type, name)
		in.args = append(in.args, v)
	}
	in.gather()
	return in, nil
}

// gather finds the floats in the arguments and in the memory that they lead to.
func (in *instance) gather() {
	for _, v := range in.args {
		var list []reflect.Value
		in.floats(v.Elem(), &list)
		in.direct = append(in.direct, list)
	}
	for i := 0; i < len(in.memory); i++ { // which grows
		var list []reflect.Value
		switch v := in.memory[i]; v.Kind() {
		case reflect.Pointer:
			in.floats(v.Elem(), &list)
		default:
			for k := range v.Len() {
				in.floats(v.Index(k), &list)
			}
		}
		in.behind = append(in.behind, list)
	}
}

// with is the first argument with the numbers x.
func (in *instance) with(x []float64) ir.Value {
	args, _ := in.values(x)
	return args[0]
}

// floats lists the floats of a value and notes the memory that it leads to.
func (in *instance) floats(v reflect.Value, list *[]reflect.Value) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		*list = append(*list, v)
	case reflect.Slice, reflect.Pointer:
		if !v.IsNil() {
			in.memory = append(in.memory, v)
		}
	case reflect.Array:
		for i := range v.Len() {
			in.floats(v.Index(i), list)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			in.floats(v.Field(i), list)
		}
	}
}

// all are the floats of the arguments, those of values first.
func (in *instance) all() (out []reflect.Value) {
	return append(slices.Concat(in.direct...), slices.Concat(in.behind...)...)
}

func (in *instance) numbers() (x []float64) {
	for _, v := range in.all() {
		x = append(x, v.Float())
	}
	return x
}

// values are the arguments with the numbers x, and the memory that they lead to.
func (in *instance) values(x []float64) (args, memory []ir.Value) {
	for i, v := range in.all() {
		v.SetFloat(x[i])
	}
	var list []any
	for _, v := range in.args {
		x := v.Elem().Interface()
		if x == nil {
			x = false // whose value is that of a nil interface
		}
		list = append(list, x)
	}
	for _, v := range in.memory {
		list = append(list, v.Interface())
	}
	all := ir.ValuesOf(list...)
	return all[:len(in.args)], all[len(in.args):]
}

// read are the numbers in the memory that arguments led to at first.
func (in *instance) read(memory []ir.Value) (out []float64) {
	for i, v := range memory {
		p := reflect.New(in.memory[i].Type())
		v.Into(p.Interface())
		var list []reflect.Value
		copied := &instance{}
		switch u := p.Elem(); u.Kind() {
		case reflect.Pointer:
			copied.floats(u.Elem(), &list)
		default:
			for k := range u.Len() {
				copied.floats(u.Index(k), &list)
			}
		}
		for _, v := range list {
			out = append(out, v.Float())
		}
	}
	return out
}

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

// An argMaker makes random arguments of functions. It guesses the meaning of integers and slices from their names. If
// it guesses wrong, the function panics, and another set of arguments is tried.
type argMaker struct {
	r         *rand.Rand
	n         int  // dimension of vectors and matrices
	matrix    bool // slices hold n×n numbers
	sorted    bool // slices are in order
	magnitude int  // selects the distribution of numbers
}

// goType returns the Go type of the values that the evaluator accepts for type t. It is any for types without such
// values, such as interfaces and maps, and for a type within itself. busy holds the named types being converted.
func goType(t types.Type, busy map[types.Type]bool) (reflect.Type, error) {
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
		e, err := goType(u.Elem(), busy)
		if err != nil || e == nothing {
			return nothing, err
		}
		return reflect.SliceOf(e), nil
	case *types.Pointer:
		e, err := goType(u.Elem(), busy)
		if err != nil || e == nothing {
			return nothing, err
		}
		return reflect.PointerTo(e), nil
	case *types.Array:
		e, err := goType(u.Elem(), busy)
		if err != nil {
			return nil, err
		}
		return reflect.ArrayOf(int(u.Len()), e), nil
	case *types.Struct:
		var fields []reflect.StructField
		for i := range u.NumFields() {
			e, err := goType(u.Field(i).Type(), busy)
			if err != nil {
				return nil, err
			}
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: e})
		}
		return reflect.StructOf(fields), nil
	}
	return nil, fmt.Errorf("no values of type %v", t)
}

// basics maps basic types to Go types.
var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](),
	types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](),
	types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
}

// fill assigns a random value to a variable of type t. name is that of the parameter or field.
func (m *argMaker) fill(v reflect.Value, t types.Type, name string) {
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
		case v.CanComplex():
			v.SetComplex(complex(m.number(), m.number()))
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

// empty clears the slices and integers of a struct, as in a matrix without elements. Floats remain: many functions have
// a special case for zero, with another derivative.
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

// number returns a random number.
func (m *argMaker) number() float64 {
	switch m.magnitude {
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

// integer returns a plausible value for a parameter or field of this name.
func (m *argMaker) integer(name string) int {
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

// length returns a plausible length for a slice of this name.
func (m *argMaker) length(name string) int {
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

// constantsOf returns the named constants of a type, from which its values are chosen.
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
	case v.CanComplex():
		re, _ := constant.Float64Val(constant.Real(c))
		im, _ := constant.Float64Val(constant.Imag(c))
		v.SetComplex(complex(re, im))
	case v.CanInt():
		i, _ := constant.Int64Val(constant.ToInt(c))
		v.SetInt(i)
	case v.CanUint():
		i, _ := constant.Uint64Val(constant.ToInt(c))
		v.SetUint(i)
	}
}

// A number is a float, or a part of a complex number.
type number struct {
	v    reflect.Value
	part part
}

// A part says which real number of a value is meant.
type part int

const (
	whole part = iota // of a float
	realPart
	imaginaryPart
)

// get returns the number.
func (n number) get() float64 {
	switch n.part {
	case realPart:
		return real(n.v.Complex())
	case imaginaryPart:
		return imag(n.v.Complex())
	}
	return n.v.Float()
}

// set assigns the number.
func (n number) set(x float64) {
	switch n.part {
	case realPart:
		n.v.SetComplex(complex(x, imag(n.v.Complex())))
	case imaginaryPart:
		n.v.SetComplex(complex(real(n.v.Complex()), x))
	default:
		n.v.SetFloat(x)
	}
}

// An instance is a set of arguments of a function, with all numbers reachable from them. A complex number is two.
type instance struct {
	args []reflect.Value // pointers to the arguments
	// numbers of each argument that no reference leads to
	direct [][]number
	memory []reflect.Value // slices and pointers reachable from the arguments
	// numbers of each element of memory
	inMemory [][]number
}

// instance makes arguments of f.
func (m *argMaker) instance(f *ir.Func) (*instance, error) {
	in := &instance{}
	for _, p := range f.Params {
		t, err := goType(p.Type, map[types.Type]bool{})
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

// gather finds the numbers in the arguments and in memory reachable from them.
func (in *instance) gather() {
	for _, v := range in.args {
		var list []number
		in.find(v.Elem(), &list)
		in.direct = append(in.direct, list)
	}
	for i := 0; i < len(in.memory); i++ { // find appends to in.memory
		var list []number
		switch v := in.memory[i]; v.Kind() {
		case reflect.Pointer:
			in.find(v.Elem(), &list)
		default:
			for k := range v.Len() {
				in.find(v.Index(k), &list)
			}
		}
		in.inMemory = append(in.inMemory, list)
	}
}

// withNumbers returns the first argument, with the numbers x.
func (in *instance) withNumbers(x []float64) ir.Value {
	args, _ := in.values(x)
	return args[0]
}

// find appends the numbers of v to list and the memory that v refers to to in.memory.
func (in *instance) find(v reflect.Value, list *[]number) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		*list = append(*list, number{v, whole})
	case reflect.Complex128, reflect.Complex64:
		*list = append(*list, number{v, realPart}, number{v, imaginaryPart})
	case reflect.Slice, reflect.Pointer:
		if !v.IsNil() {
			in.memory = append(in.memory, v)
		}
	case reflect.Array:
		for i := range v.Len() {
			in.find(v.Index(i), list)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			in.find(v.Field(i), list)
		}
	}
}

// all returns the numbers of the arguments, those in memory last.
func (in *instance) all() (out []number) {
	return append(slices.Concat(in.direct...), slices.Concat(in.inMemory...)...)
}

// numbers returns the values of all numbers of the arguments, in the order of all.
func (in *instance) numbers() (x []float64) {
	for _, n := range in.all() {
		x = append(x, n.get())
	}
	return x
}

// values returns the arguments with the numbers x, and the memory reachable from them.
func (in *instance) values(x []float64) (args, memory []ir.Value) {
	for i, n := range in.all() {
		n.set(x[i])
	}
	var list []any
	for _, v := range in.args {
		x := v.Elem().Interface()
		if x == nil {
			x = false // which the evaluator represents like a nil interface
		}
		list = append(list, x)
	}
	for _, v := range in.memory {
		list = append(list, v.Interface())
	}
	all := ir.ValuesOf(list...)
	return all[:len(in.args)], all[len(in.args):]
}

// read returns the numbers in the memory that was reachable from the arguments initially.
func (in *instance) read(memory []ir.Value) (out []float64) {
	for i, v := range memory {
		p := reflect.New(in.memory[i].Type())
		v.Into(p.Interface())
		var list []number
		copied := &instance{}
		switch u := p.Elem(); u.Kind() {
		case reflect.Pointer:
			copied.find(u.Elem(), &list)
		default:
			for k := range u.Len() {
				copied.find(u.Index(k), &list)
			}
		}
		for _, n := range list {
			out = append(out, n.get())
		}
	}
	return out
}

package binding

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/snapshot"
)

// Types are the types of package nabla that have a meaning as fields of a bound struct. Their memory is that of
// [core.Rep], [Vec] and [Scratch].
type Types struct{ Real, Vec, Scratch reflect.Type }

// Vec is the memory of a nabla.Vec: numbers that are parameters of a recording.
type Vec struct {
	Data []float64
	T    *core.Tracer // nil if the numbers are constants
	Gen  uint32
	Base int32 // the id of Data[0] in the trace
}

// Scratch is the memory of a nabla.Scratch: workspace of a traced function.
type Scratch struct{ Buf []core.Rep }

// Fields gives the role of each field of a struct in a traced function. Fields are found once, by reflection, and
// accessed by their offsets from then on.
type Fields struct {
	params  []field // Real and Vec, in the order of the struct
	scratch []field
	opaque  []field // structure: a change makes the recording invalid
	fixed   []field // tagged nabla:"fixed": only watched for writes
}

// A field is a field of a struct that is copied or restored as a unit.
type field struct {
	kind fieldKind
	off  uintptr
	size uintptr
	path string // field names and indices from the struct, for errors
	typ  reflect.Type
}

// A fieldKind is the role of a field for a traced function.
type fieldKind uint8

const (
	fieldReal fieldKind = iota
	fieldVec
	fieldScratch
	fieldBits // memory without references
	fieldString
)

// FieldsOf classifies the fields of struct type t, those of nested structs and arrays included. The error is a
// *[engine.ContextError] for a field that a recording would freeze, or a *[engine.FuncError] for an unknown tag.
func FieldsOf(t reflect.Type, types Types) (*Fields, error) {
	f := new(Fields)
	if err := f.addStruct(t, 0, "", types); err != nil {
		return nil, err
	}
	return f, nil
}

// addStruct classifies the fields of a struct at offset off, whose path ends with a dot or is empty.
func (fs *Fields) addStruct(t reflect.Type, off uintptr, path string, types Types) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, at := path+f.Name, off+f.Offset
		switch tag := f.Tag.Get("nabla"); {
		case f.Type.Size() == 0 || f.Name == "_":
		case tag == "fixed":
			fs.fixed = append(fs.fixed, field{fieldBits, at, f.Type.Size(), name, f.Type})
		case tag != "":
			return &engine.FuncError{Op: "Bind",
				Problem: fmt.Sprintf("field %s of the bound struct has the tag nabla:%q, want nabla:\"fixed\" or none",
					name, tag)}
		default:
			if err := fs.addValue(f.Type, at, name, types); err != nil {
				return err
			}
		}
	}
	return nil
}

// addValue classifies a value of type t at offset off. The error is a *[engine.ContextError] for a type that a
// recording would freeze.
func (fs *Fields) addValue(t reflect.Type, off uintptr, path string, types Types) error {
	f := field{off: off, size: t.Size(), path: path, typ: t}
	switch t {
	case types.Vec:
		f.kind = fieldVec
		fs.params = append(fs.params, f)
		return nil
	case types.Scratch:
		f.kind = fieldScratch
		fs.scratch = append(fs.scratch, f)
		return nil
	case types.Real:
		f.kind = fieldReal
		fs.params = append(fs.params, f)
		return nil
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		f.kind = fieldString
		fs.opaque = append(fs.opaque, f)
		return nil
	case snapshot.PlainMemory(k), k == reflect.Array && snapshot.PlainMemory(t.Elem().Kind()):
		f.kind = fieldBits
		fs.opaque = append(fs.opaque, f)
		return nil
	case k == reflect.Struct:
		return fs.addStruct(t, off, path+".", types)
	case k == reflect.Array:
		for i := range t.Len() {
			elem := fmt.Sprintf("%s[%d]", path, i)
			if err := fs.addValue(t.Elem(), off+uintptr(i)*t.Elem().Size(), elem, types); err != nil {
				return err
			}
		}
		return nil
	}
	return &engine.ContextError{Field: path, Type: t.String()}
}

// changed is the error for a traced function that wrote to f.
func (f *field) changed() error {
	return &engine.ContextError{Field: f.path, Type: f.typ.String(), Changed: true}
}

// at returns the field f of the struct at p.
func at[T any](p unsafe.Pointer, f *field) *T { return (*T)(unsafe.Add(p, f.off)) }

// bits returns the memory of the field f of the struct at p.
func bits(p unsafe.Pointer, f *field) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, f.off)), f.size)
}

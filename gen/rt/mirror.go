package rt

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/page"
)

// Comparison of the layouts of types with those of their private copies in generated code, which reads unexported
// fields of other packages through the copies. The layouts are the same unless another version of the package is used
// than code was generated for.

// A LayoutError says that a type differs from the one that code was generated for. Generated functions that depend on
// the type panic with it.
type LayoutError struct {
	Type   string // the type of the other package
	Change string // the difference
}

// Error names the type, the difference and the remedy.
func (e *LayoutError) Error() string {
	return page.Namef("rt.LayoutError",
		"nabla: %s is not as it was when derivatives were generated: %s; run nabla gen again with the "+
			"version of the module in use", e.Type, e.Change)
}

// Mirror compares the layout of T with that of M, the private struct that generated code uses in its place, and returns
// nil if names, order, offsets and kinds of all fields agree, also behind pointers and slices. In M an unsafe.Pointer
// stands for any pointer, map, channel or function, and an array of two for an interface. The arguments only carry the
// types; they may be nil.
func Mirror[T, M any](*T, *M) *LayoutError {
	t, m := reflect.TypeFor[T](), reflect.TypeFor[M]()
	c := comparison{home: m, seen: map[[2]reflect.Type]bool{}}
	for c.home.Name() == "" && c.home.Kind() == reflect.Pointer {
		c.home = c.home.Elem()
	}
	if change := c.compare(t.String(), t, m); change != "" {
		return &LayoutError{t.String(), change}
	}
	return nil
}

// SameLayouts panics with the first of the errors that is not nil.
func SameLayouts(errors ...*LayoutError) {
	for _, e := range errors {
		if e != nil {
			panic(e)
		}
	}
}

// A comparison compares types. home is the private type with which it began.
type comparison struct {
	home reflect.Type
	seen map[[2]reflect.Type]bool
}

// compare returns the first difference between t, at the given path, and m, or "".
func (c *comparison) compare(path string, t, m reflect.Type) string {
	pair := [2]reflect.Type{t, m}
	if t == m || c.seen[pair] || isWord(t, m) {
		return ""
	}
	c.seen[pair] = true
	switch {
	case t.Kind() != m.Kind():
		return fmt.Sprintf("%s is of kind %s, not %s", path, t.Kind(), m.Kind())
	case t.Size() != m.Size():
		return fmt.Sprintf("%s has %d bytes, not %d", path, t.Size(), m.Size())
	case m.PkgPath() != "" && m.PkgPath() != c.home.PkgPath():
		return fmt.Sprintf("%s is of type %s, not %s", path, t, m)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return c.compare(path+"[]", t.Elem(), m.Elem())
	case reflect.Struct:
		return c.fields(path, t, m)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return fmt.Sprintf("%s is of type %s, not %s", path, t, m)
	}
	return ""
}

// fields returns the first difference between two structs, or "".
func (c *comparison) fields(path string, t, m reflect.Type) string {
	if t.NumField() != m.NumField() {
		return fmt.Sprintf("%s has %d fields, not %d", path, t.NumField(), m.NumField())
	}
	for i := range t.NumField() {
		a, b := t.Field(i), m.Field(i)
		if a.Name != b.Name || a.Offset != b.Offset {
			return fmt.Sprintf("field %d of %s is %s at offset %d, not %s at %d", i, path, a.Name, a.Offset, b.Name,
				b.Offset)
		}
		if change := c.compare(path+"."+a.Name, a.Type, b.Type); change != "" {
			return change
		}
	}
	return ""
}

// isWord reports whether m is made of the words that stand for a value of type t whose contents generated code does not
// use.
func isWord(t, m reflect.Type) bool {
	word := reflect.TypeFor[unsafe.Pointer]()
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
		return m == word
	case reflect.Interface:
		return m == reflect.TypeFor[[2]unsafe.Pointer]()
	case reflect.Slice:
		return m.Kind() == reflect.Struct && m.Name() == "" && m.NumField() == 3 && m.Field(0).Type == word
	}
	return false
}

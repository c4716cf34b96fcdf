package nabla

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
)

// Code holds the derivatives that `nabla gen` generates from one function over float64, as functions
// in plain Go: its tangent, its adjoint, and variants of them. Those that were not generated are nil.
type Code = engine.Code

// CodeVersion is the version of generated code that this module runs.
const CodeVersion = engine.CodeVersion

// Generated describes the generated code of one function. See [Register].
type Generated struct {
	Name    string // the function, in messages
	Version int    // CodeVersion when it was generated

	// New returns code with a workspace of its own. It is called for each prepared object and each
	// clone.
	New func() Code

	// Traced is the function over Reals, for all other engines; nil if it was not generated. p is
	// as in Code.
	Traced func(y, x []Real, p any) int

	// TracedStruct is a nil pointer to the struct over Reals that Traced takes, for functions of a struct of numbers,
	// such as [StructPlain] takes. The code of these gets a [*StructArg] as p.
	TracedStruct any

	// LanesStruct is a nil pointer to the struct for derivatives in vector mode, for functions of a struct of numbers
	// with such code. It has a [4]float64 in place of each number, and may lack fields without numbers.
	LanesStruct any

	// TracedBound is a nil pointer to the struct over Reals that Traced takes in place of the bound struct, nil if it
	// takes the bound struct itself. It is a copy with constants in place of the floats, made again when the bound
	// struct has changed.
	TracedBound any

	// WritesX reports that the function, and therefore its code, writes to x.
	WritesX bool

	// ReadOnly names fields of the bound struct that neither the function nor its code ever writes,
	// directly or through references in them. Clones and workers share these fields; see [Bind].
	// Other fields may be written.
	ReadOnly []string

	// Refused is the reason why there is no reverse code, RefusedTangent why there is no forward
	// code, RefusedSecond why there are no second derivatives, and RefusedTraced why there is no
	// Traced: the position in the source, the reason and the remedy. If New and Traced are nil,
	// Refused is the reason why no code was generated at all.
	Refused, RefusedTangent, RefusedSecond, RefusedTraced string
}

// registry holds the registered code by function entry. It has at most one entry for each function
// of the program; entries are never removed.
var registry = struct {
	sync.RWMutex
	entries map[uintptr]*registration
}{entries: map[uintptr]*registration{}}

type registration struct {
	Generated
	typ reflect.Type
}

// Register registers g as the generated code of function f; Prepare uses it wherever f is passed from then on.
// Generated files call it when the program starts. f is a function over float64 of one of the types that operators,
// [InPlace], [Bind], [BindInPlace], [BindMethod], [StructPlain], [StructInPlace], [BindStructPlain] or
// [BindStructInPlace] take, with or without an error: a plain function, an instance of a generic one, or a method
// expression. Of function literals, those that capture no variable may be registered, as generated files do with those
// in package variables; the others cannot be told from those made at the same place, nor can method values, and their
// registration has no meaning.
//
// Code of another version is kept, so that Prepare reports it. Register panics if f is no such
// function, if g is empty, or if code is registered for f already: of two files generated from one
// function at most one is current.
func Register(f any, g Generated) {
	name, fn, err := namedFunc("Register", f)
	if err != nil {
		panic(err)
	}
	o := originOf(fn)
	if !shaped(o.typ) {
		panic(fmt.Sprintf("nabla: Register(%s): its type %T does not fit; want a function over float64 such as "+
			"func([]float64) float64, with or without a pointer to a struct", name, f))
	}
	if g.New == nil && g.Traced == nil && g.Refused == "" && g.Version == CodeVersion {
		panic(fmt.Sprintf("nabla: Register(%s): New and Traced are nil, and Refused has no reason", name))
	}
	if g.Name == "" {
		g.Name = name
	}
	registry.Lock()
	defer registry.Unlock()
	if old := registry.entries[o.entry]; old != nil {
		panic(fmt.Sprintf("nabla: Register(%s): the function has generated code already, registered as %s; remove "+
			"one of the two files", name, old.Name))
	}
	registry.entries[o.entry] = &registration{g, o.typ}
}

// shaped reports whether a function of type t computes with float64 and may be passed to an
// operator or a wrapper.
func shaped(t reflect.Type) bool {
	number, numbers := reflect.TypeFor[float64](), reflect.TypeFor[[]float64]()
	structure := func(t reflect.Type) bool { return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct }
	outputs := t.NumOut()
	if outputs > 0 && t.Out(outputs-1) == reflect.TypeFor[error]() {
		outputs--
	}
	if t.IsVariadic() || outputs > 1 {
		return false
	}
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	if outputs == 0 { // in place
		return len(in) >= 2 && in[0] == numbers && (in[1] == numbers || structure(in[1])) &&
			(len(in) == 2 || len(in) == 3 && structure(in[2]))
	}
	if out := t.Out(0); out != number && out != numbers {
		return false
	}
	switch len(in) {
	case 1:
		return in[0] == number || in[0] == numbers || structure(in[0])
	case 2:
		return in[0] == numbers && structure(in[1]) || structure(in[0]) && (in[1] == numbers || structure(in[1]))
	}
	return false
}

// registered returns the registration of the function with that entry, or nil.
func registered(entry uintptr) *registration {
	registry.RLock()
	defer registry.RUnlock()
	return registry.entries[entry]
}

// An origin identifies the function that a Func was made from.
type origin struct {
	entry uintptr
	typ   reflect.Type
}

func originOf(g any) origin {
	return origin{reflect.ValueOf(g).Pointer(), reflect.TypeOf(g)}
}

// generate adds the generated code of f, if there is any, to d, the definition of f over float64.
// The registry is searched when an operator is prepared: a package variable may hold a Func made
// before the package's generated files have registered theirs.
func (f *Func) generate(op string, d *engine.Def) {
	r := registered(f.origin.entry)
	switch {
	case r == nil:
		d.Ungenerated = f.origin.missing(f.name)
		return
	case r.typ != f.origin.typ:
		d.Ungenerated = &UnsupportedError{
			What: fmt.Sprintf("the code of %s was generated for type %v, and the function is a %v", f.name, r.typ,
				f.origin.typ),
			Remedy: "run " + genCommand,
		}
		return
	case r.Version != CodeVersion:
		d.Ungenerated = &UnsupportedError{
			What: fmt.Sprintf("the generated code of %s is of version %d, and this module runs version %d", f.name,
				r.Version, CodeVersion),
			Remedy: "run " + genCommand,
		}
		return
	}
	if r.New == nil && r.Traced == nil {
		d.Ungenerated = &UnsupportedError{
			What:   fmt.Sprintf("nabla gen refused function %s: %s", f.name, r.Refused),
			Remedy: "change it and run " + genCommand,
		}
		return
	}
	d.Generated = &engine.Generated{
		Name: f.name, New: r.New, WritesX: r.WritesX, InPlace: f.inPlace,
		Refused: r.Refused, RefusedTangent: r.RefusedTangent, RefusedSecond: r.RefusedSecond,
		RefusedTraced: r.RefusedTraced,
	}
	if f.layout != nil && r.New != nil {
		lanes := f.lanesOf(&r.Generated)
		d.Generated.New = func() Code { return structCode(f.layout, lanes, r.New()) }
	}
	run, err := f.tracedForm(r.Generated)
	if err != nil {
		d.Generated.RefusedTraced = err.Error()
	}
	if b, ok := d.Context.(*binding.Binding); ok {
		b.SetReadOnly(r.ReadOnly)
	}
	if run == nil {
		return
	}
	d.TracedPlain = true
	d.Traced = func(y, x []engine.Real, c engine.Context) error {
		got, err := run(reals(y[:len(y):len(y)]), reals(x[:len(x):len(x)]), c)
		switch {
		case err != nil:
			return err
		case got != len(y):
			return &ShapeError{Op: op, Arg: "outputs of f", Got: got, Want: len(y)}
		}
		return nil
	}
}

// genCommand is the command that generates code again, for messages.
const genCommand = "go tool nabla gen (or go generate) in its package, and build again"

// missing returns an error that gives the reason why no code is found for a function, and the
// remedy.
func (o origin) missing(name string) error {
	full := ""
	if fn := runtime.FuncForPC(o.entry); fn != nil {
		full = fn.Name()
	}
	switch {
	case strings.HasSuffix(full, "-fm"):
		return &UnsupportedError{
			What:   fmt.Sprintf("%s is a method value, whose receiver generated code cannot reach", name),
			Remedy: "pass the method expression: nabla.BindMethod((*T).Method, receiver)",
		}
	case literal(full):
		bind := "nabla.Bind"
		if o.takesStruct() {
			bind = "nabla.BindStructPlain"
			if o.typ.In(0).Kind() != reflect.Pointer {
				bind = "nabla.BindStructInPlace"
			}
		}
		return &UnsupportedError{
			What: fmt.Sprintf("%s is a function literal, to which generated code cannot be matched", name),
			Remedy: "declare it at package level, with captured variables in a struct that " + bind + " binds, as " +
				"nabla gen -fix does, and run " + genCommand,
		}
	}
	return &UnsupportedError{
		What: fmt.Sprintf("function %s computes with float64 and has no generated derivative code", name),
		Remedy: "run " + genCommand + "; if nabla gen does not see it reach an operator, as through a map, a field " +
			"or a test, write //nabla:differentiate above it first",
	}
}

// takesStruct reports whether the function takes a struct of numbers, and maybe a slice for the outputs before it and
// another struct after it.
func (o *origin) takesStruct() bool {
	first := 0
	if outputs := o.typ.NumOut(); outputs == 0 || o.typ.Out(0) == reflect.TypeFor[error]() {
		first = 1
	}
	pointers := true
	for i := first; i < o.typ.NumIn(); i++ {
		pointers = pointers && o.typ.In(i).Kind() == reflect.Pointer
	}
	return pointers
}

// literal reports whether name is that of a function literal: its last part is func and a number,
// or a number alone for a literal inside another.
func literal(name string) bool {
	name = withoutArguments(name)
	parts := strings.Split(name[strings.LastIndexByte(name, '/')+1:], ".")
	number := strings.TrimPrefix(parts[len(parts)-1], "func")
	return len(parts) > 2 && number != "" && strings.Trim(number, "0123456789") == ""
}

// withoutArguments returns the name of a function without its type arguments, which contain dots of
// their own.
func withoutArguments(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		if j := strings.LastIndexByte(name, ']'); j > i {
			return name[:i] + name[j+1:]
		}
	}
	return name
}

package print

import (
	"go/format"
	"go/types"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/gen/ir"
)

// VectorConstraint is the build constraint of forms with kernels: they are for amd64. From amd64.v3 on, Go fuses
// products and sums, which the kernels do not.
const VectorConstraint = "amd64 && !amd64.v3 && !purego"

// A VectorForm is a form of a function with loops in assembly: Func has its parameters and results, and calls Kernels.
// See package simplify, [simplify.Vectors].
type VectorForm struct {
	Func    *ir.Func
	Kernels []*ir.Func
}

// nameForms names the declarations for functions with a VectorForm, unless they have a SIMD variant.
// Kernels of the same shape are one.
func (f *file) nameForms(form func(*ir.Func) *VectorForm) {
	shapes := map[string]*ir.Func{}
	for _, fn := range f.list {
		v := form(fn.Func)
		if v == nil || f.dispatch[fn.Func] != "" {
			continue
		}
		base := unexported(f.names[fn.Func])
		f.vectorForms = append(f.vectorForms, fn)
		f.dispatch[fn.Func] = f.freshName(base + "Twin")
		f.names[v.Func] = f.freshName(base + "Vectors")
		for i, k := range v.Kernels {
			key := shape(k)
			if shapes[key] == nil {
				shapes[key], f.kernels[k] = k, true
				f.names[k] = f.freshName(base + "Loop" + strconv.Itoa(i+1))
			}
			f.names[k] = f.names[shapes[key]]
		}
	}
}

// unexported returns name with a lower-case letter first.
func unexported(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[n:]
}

// assemblyName returns name if it is no register in assembly and has no letters that go vet does not know there, and a
// similar one otherwise. No register but g begins with a small letter.
func assemblyName(name string) string {
	name = unexported(strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '_'
		}
		return r
	}, name))
	if name == "g" || name[0] == '_' {
		name = "v" + name
	}
	return name
}

// shape returns the text of a function without its names.
func shape(k *ir.Func) string {
	k, _ = ir.Clone(k, nil)
	k.Name = ""
	for i, v := range ir.Vars(k) {
		v.Name = "v" + strconv.Itoa(i)
	}
	for i, l := range ir.Labels(k) {
		l.Name = "l" + strconv.Itoa(i)
	}
	return k.String()
}

// vectors returns the file with the forms of functions that have kernels, and that with the kernels.
func (s Source) vectors(f *file) (forms, assembled []byte, err error) {
	defer func() { recovered(recover(), &err) }()
	// The file has its own imports and is printed twice for the same reason as the first.
	f.part, f.packages = "", map[string]map[string]*types.Package{}
	f.nameImports()
	f.formsBody(s.Vectors)
	f.nameImports()
	body, kernels := f.formsBody(s.Vectors)
	constraint := VectorConstraint
	if s.Constraint != "" {
		constraint = "(" + s.Constraint + ") && " + constraint
	}
	forms, err = format.Source([]byte(s.head(constraint) + f.imports() + body))
	head, _, _ := strings.Cut(s.head(constraint), "package ")
	return forms, []byte(head + "#include \"textflag.h\"\n" + kernels), err
}

// formsBody returns the file with forms after its imports, and the kernels.
func (f *file) formsBody(form func(*ir.Func) *VectorForm) (body, kernels string) {
	var b, set strings.Builder
	a := &assembly{name: "kernelNumbers"} // a symbol of the file, apart from names of the package
	for _, fn := range f.vectorForms {
		v := form(fn.Func)
		name := f.names[v.Func]
		set.WriteString(f.dispatch[fn.Func] + " = " + name + "\n")
		p := &printer{file: f, f: v.Func}
		p.function()
		b.WriteString("\n// " + name + " is " + f.names[fn.Func] + " with loops in assembly.\n" + p.b.String())
		for _, k := range v.Kernels {
			if !f.kernels[k] {
				continue
			}
			p := &printer{file: f, f: k, names: ir.NamerOf(k), vars: map[*ir.Var]string{}}
			p.names.Avoid(p.reserved)
			for _, v := range k.Params {
				if name := assemblyName(v.Name); name != v.Name {
					p.vars[v] = p.names.Name(name)
				}
			}
			head := "(" + p.signature(k.Params, false) + ")"
			b.WriteString("\n// " + f.names[k] + " does n iterations of a loop, a multiple of four.\n//\n" +
				"//go:noescape\nfunc " + f.names[k] + head + "\n")
			a.kernel(f.names[k], k, p.name)
		}
	}
	ready := f.qualified(types.NewPackage(runtimePath, "rt"), "Vectors")
	return "func init() {\nif !" + ready + "() {\nreturn\n}\n" + set.String() + "}\n" + b.String(),
		a.constants() + a.text.String()
}

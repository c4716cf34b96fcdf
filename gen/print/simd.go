package print

import (
	"go/format"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// SIMD variants (function multiversioning): a function asks a dispatch variable for its variant,
// which the second file sets at initialisation if the processor has the instructions.

// SIMDConstraint is the build constraint of SIMD variants. From amd64.v3 on, Go fuses products and
// sums of numbers but not of vectors, which would then round differently.
const SIMDConstraint = "goexperiment.simd && amd64 && !amd64.v3"

// A SIMDVariant is the SIMD variant of a function: Func has its parameters and results and calls
// Kernel, whose last parameter points to rows of four numbers, of which the last is scratch memory.
type SIMDVariant struct{ Func, Kernel *ir.Func }

// PrintSIMD is [Source.Print], and also returns a second file with SIMD variants, nil if there are
// none. That file is compiled under [SIMDConstraint] and sets the dispatch variables of the first
// one if the processor supports the variants.
func (s Source) PrintSIMD() (text, simd []byte, err error) {
	files, err := s.PrintParts()
	if err != nil {
		return nil, nil, err
	}
	return files.Parts[""], files.SIMD, nil
}

// simd returns the file with the SIMD variants of the functions of f, which has been printed.
func (s Source) simd(f *file) (simd []byte, err error) {
	defer func() { recovered(recover(), &err) }()
	// The file has its own imports and is printed twice for the same reason as the first.
	f.part, f.packages = "", map[string]map[string]*types.Package{}
	f.nameImports()
	f.simdBody(s.SIMD)
	f.nameImports()
	body := f.simdBody(s.SIMD)
	constraint := SIMDConstraint
	if s.Constraint != "" {
		constraint = "(" + s.Constraint + ") && " + constraint
	}
	return format.Source([]byte(s.head(constraint) + f.imports() + body))
}

// nameVariants names the declarations for functions with SIMD variants.
func (f *file) nameVariants(vector func(*ir.Func) *SIMDVariant) {
	for _, fn := range f.list {
		v := vector(fn.Func)
		if v == nil {
			continue
		}
		base := unexported(f.names[fn.Func])
		f.variants = append(f.variants, fn)
		f.dispatch[fn.Func] = f.freshName(base + "Twin")
		f.names[v.Func], f.names[v.Kernel] = f.freshName(base+"Vector"), f.freshName(base+"Kernel")
		f.consts[v.Kernel] = f.freshName(base + "Consts")
	}
}

// printDispatch prints the call of the SIMD variant of the function, if there is one.
func (p *printer) printDispatch() {
	hook, ok := p.dispatch[p.f]
	if !ok {
		return
	}
	var args []string
	for _, v := range p.f.Params {
		args = append(args, p.name(v))
	}
	call := hook + "(" + strings.Join(args, ", ") + ")"
	if len(p.f.Results) > 0 {
		p.line("if %s != nil {\nreturn %s\n}", hook, call)
	} else {
		p.line("if %s != nil {\n%s\nreturn\n}", hook, call)
	}
}

// declareDispatch declares the dispatch variable, whose type is func with head.
func (p *printer) declareDispatch(head string) {
	if hook, ok := p.dispatch[p.f]; ok {
		p.line("\n// %s is a form of %s with vectors, nil if the processor does not support it.\nvar %s func%s", hook,
			p.file.names[p.f], hook, head)
	}
}

// kernelBody prints the body of a kernel. It clears the upper halves of the vector registers at the
// end, since mixing them with other instructions would be slow.
func (p *printer) kernelBody(body ir.Block) {
	before := p.b.String()
	p.b.Reset()
	p.block(body, map[*ir.Label]bool{p.f.Exit: true}, false)
	p.line("%s()", p.archsimd("ClearAVXUpperBits"))
	text := p.b.String()
	p.b.Reset()
	p.b.WriteString(before)
	if p.scratch != "" {
		p.declareScratch()
	}
	p.b.WriteString(text)
}

// simdBody returns the second file after its imports.
func (f *file) simdBody(vector func(*ir.Func) *SIMDVariant) string {
	var b, set strings.Builder
	for _, fn := range f.variants {
		hook := f.dispatch[fn.Func]
		v := vector(fn.Func)
		name, kernel := f.names[fn.Func], f.names[v.Kernel]
		set.WriteString(hook + " = " + f.names[v.Func] + "\n")
		p := &printer{file: f, f: v.Func}
		p.function()
		b.WriteString("\n// " + f.names[v.Func] + " is " + name + " with SIMD instructions.\n" + p.b.String())
		p = &printer{file: f, f: v.Kernel, kernel: true}
		p.function()
		b.WriteString("\n// " + kernel + " is the kernel of " + f.names[v.Func] +
			". Arguments and\n// results that are not in slices are in rows.\n//\n//go:noinline\n" +
			p.b.String())
		if len(p.consts) > 0 {
			b.WriteString("\nvar " + f.consts[v.Kernel] + " = [...]float64{" + strings.Join(p.consts, ", ") + "}\n")
		}
	}
	ready := f.qualified(types.NewPackage(avxPath, "avx"), "Ready")
	return "func init() {\nif !" + ready + "() {\nreturn\n}\n" + set.String() + "}\n" + b.String()
}

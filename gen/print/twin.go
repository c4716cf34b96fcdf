package print

import (
	"go/format"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// SIMDConstraint says when a twin is compiled. From version 3 on of amd64 Go fuses products
// and sums of numbers and not of vectors, which would round otherwise.
const SIMDConstraint = "goexperiment.simd && amd64 && !amd64.v3"

// SIMDVariant is what a function is in vectors: Func has its parameters and results and calls
// Kernel, whose last parameter points to rows of four numbers, the last for its own use.
type SIMDVariant struct{ Func, Kernel *ir.Func }

// PrintSIMD is [Source.Print], and a second file with what functions are in vectors, nil if
// none is. That is compiled under [SIMDConstraint] and puts its functions into variables of
// the first, if the processor is fit for them: functions there ask these first.
func (s Source) PrintSIMD() (text, twin []byte, err error) {
	f := s.file()
	if text, err = s.print(f); err != nil || len(f.hooks) == 0 {
		return text, nil, err
	}
	defer func() { recovered(recover(), &err) }()
	f.packages = map[string]*types.Package{}
	f.nameImports()
	f.twin(s.SIMD)
	f.nameImports()
	body := f.twin(s.SIMD)
	constraint := SIMDConstraint
	if s.Constraint != "" {
		constraint = "(" + s.Constraint + ") && " + constraint
	}
	out := s.head(constraint) + f.imports() + body
	twin, err = format.Source([]byte(out))
	return text, twin, err
}

// nameHooks names what is declared for functions that have vectors.
func (f *file) nameHooks(vector func(*ir.Func) *SIMDVariant) {
	for _, fn := range f.list {
		v := vector(fn.Func)
		if v == nil {
			continue
		}
		base := f.names[fn.Func]
		base = strings.ToLower(base[:1]) + base[1:]
		f.hooks[fn.Func] = f.free(base + "Twin")
		f.names[v.Func], f.names[v.Kernel] = f.free(base+"Vector"), f.free(base+"Kernel")
		f.consts[v.Kernel] = f.free(base + "Consts")
	}
}

// hooked prints that the function that is printed leaves its work to its twin if there is
// one.
func (p *printer) hooked() {
	hook, ok := p.hooks[p.f]
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

// hook declares the variable of a twin of the type that head says.
func (p *printer) hook(head string) {
	if hook, ok := p.hooks[p.f]; ok {
		p.line("\n// %s is %s in vectors, nil where the processor has none.\nvar %s func%s", hook, p.file.names[p.f],
			hook, head)
	}
}

// inVectors prints the body of a kernel.
func (p *printer) inVectors(body ir.Block) {
	before := p.b.String()
	p.b.Reset()
	p.block(body, map[*ir.Label]bool{p.f.Exit: true}, false)
	p.line("%s()", p.archsimd("ClearAVXUpperBits"))
	text := p.b.String()
	p.b.Reset()
	p.b.WriteString(before)
	if p.viaName != "" {
		p.setVia()
	}
	p.b.WriteString(text)
}

// twin is the body of the second file.
func (f *file) twin(vector func(*ir.Func) *SIMDVariant) string {
	var b, set strings.Builder
	for _, fn := range f.list {
		hook, ok := f.hooks[fn.Func]
		if !ok {
			continue
		}
		v := vector(fn.Func)
		name, kernel := f.names[fn.Func], f.names[v.Kernel]
		set.WriteString(hook + " = " + f.names[v.Func] + "\n")
		p := &printer{file: f, f: v.Func}
		p.function()
		b.WriteString("\n// " + f.names[v.Func] + " is " + name + " in vectors.\n" + p.b.String())
		p = &printer{file: f, f: v.Kernel, kernel: true}
		p.function()
		b.WriteString("\n// " + kernel + " does the work of " + f.names[v.Func] +
			". What of the numbers that\n// it takes and gives is not in slices is in rows.\n//\n//go:noinline\n" +
			p.b.String())
		if len(p.consts) > 0 {
			b.WriteString("\nvar " + f.consts[v.Kernel] + " = [...]float64{" + strings.Join(p.consts, ", ") + "}\n")
		}
	}
	ready := f.qualified(types.NewPackage(avxPath, "avx"), "Ready")
	return "func init() {\nif !" + ready + "() {\nreturn\n}\n" + set.String() + "}\n" + b.String()
}

package gen

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/entries"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
)

// A target is a function whose derivatives are generated.
type target struct {
	lower.Target
	f *ir.Func
	// simple holds simplified copies of f and of its complete forms, made on demand by unit.simple.
	simple map[*ir.Func]*ir.Func
	pos    token.Position // of the declaration of f
	of     string         // F, (*T).M or F[float64]
	base   string         // prefix of the names of its derivatives
	marked bool           // it has a directive
	// variable reports whether it is a function literal in a package variable, by whose name it is known.
	variable bool
	wrt      activity.Mask // parameters that the directive lists, empty without a list
	mask     activity.Mask // parameters that carry derivatives
	shape    *shape        // nil if operators do not accept the function, or not with these parameters
	demand   demand        // derivatives that are asked for
	called   []string      // suffixes of further ones that the package calls
	words    []string      // operators that the directive lists
	built    []*built
	entries  []*built                    // functions for the entries of sparse derivatives
	plans    map[string]*entries.Entries // of entries, by the field of nabla.Code for the plan function
	shadow   string                      // name of the function that returns shadows, empty if there is none
	why      map[string]string           // name of a field of nabla.Code, or Traced → why it is missing
}

// severity returns the severity of a refusal of t.
func (t *target) severity() Severity {
	if t.marked {
		return Error
	}
	return Warning
}

// where returns the position of the declaration for comments.
func (t *target) where() string {
	return fmt.Sprintf("%s:%d", filepath.Base(t.pos.Filename), t.pos.Line)
}

// add lowers a function and appends it to the targets, or adds the reason why it is not differentiated to the problems.
func (u *home) add(found lower.Target) {
	fn := found.Func
	t := &target{
		Target: found, pos: found.Pos, marked: found.Operator == "", of: u.calledAs(fn, found.TypeArgs),
		base: u.baseName(fn, found.TypeArgs), variable: u.program.lower.Variable(fn) != nil,
	}
	if fn.Pkg() != u.pkg.Types {
		u.foreign(t)
		return
	}
	switch {
	case u.passive(fn):
		if !t.marked { // otherwise misplaced has reported it
			u.nothing(t, &Problem{t.pos, t.of, "it is passive, and " + found.Operator + " asks for its derivative",
				"remove //nabla:passive", Error})
		}
		return
	case fn.Name() == "_" || fn.Name() == "init":
		u.problem(&Problem{t.pos, fn.Name(), "nothing can call it", "give it another name", Error})
		return
	}
	var f *ir.Func
	err := u.program.contain(t, "lowering", func() (err error) {
		f, err = u.program.lower.Func(fn, found.TypeArgs...)
		return err
	})
	if err != nil {
		u.nothing(t, problemsOf(t, t.severity(), err)...)
		return
	}
	t.f, t.pos = f, f.Pos
	u.program.tidy(f)
	var listed demand
	if t.marked {
		var list []*Problem
		if t.wrt, listed, list = u.arguments(t); len(list) > 0 {
			u.nothing(t, list...)
			return
		}
	}
	u.choose(t)
	u.ask(t, listed)
	if t.mask.Empty() {
		u.problem(&Problem{t.pos, t.of, "it has no parameter with floats, so there is nothing to differentiate by",
			"pass the data that it depends on as an argument", t.severity()})
		return
	}
	u.targets = append(u.targets, t)
}

// nothing adds the reasons why a function has no derivatives at all to the problems. If operators accept its type, it
// is registered with them, for the error at run time; its form is then made from the signature alone.
func (u *home) nothing(t *target, list ...*Problem) {
	u.out.Problems = append(u.out.Problems, list...)
	sig := t.Func.Signature()
	if len(t.TypeArgs) > 0 && sig.Recv() == nil {
		if in, err := types.Instantiate(nil, sig, t.TypeArgs, false); err == nil {
			sig = in.(*types.Signature)
		}
	}
	t.f = &ir.Func{Name: t.of, Object: t.Func, Pos: u.pkg.Fset.Position(t.Func.Pos()), Variadic: sig.Variadic(),
		Recv: sig.Recv() != nil}
	if r := sig.Recv(); r != nil {
		t.f.Params = append(t.f.Params, &ir.Var{Type: r.Type()})
	}
	for v := range sig.Params().Variables() {
		t.f.Params = append(t.f.Params, &ir.Var{Type: v.Type()})
	}
	for v := range sig.Results().Variables() {
		t.f.Results = append(t.f.Results, &ir.Var{Type: v.Type()})
	}
	t.shape = shapeOf(t.f)
	named := !slices.ContainsFunc(t.TypeArgs, func(a types.Type) bool { return !nameable(a) })
	if !t.registers() || !named || sig.RecvTypeParams().Len() > 0 ||
		u.program.lower.Generated(t.Func) {
		return
	}
	t.pos = t.f.Pos
	t.why = map[string]string{"Adjoint": words(list)}
	u.ungenerated = append(u.ungenerated, t)
}

// nameable reports whether a type argument is predeclared or an exported, package-level type without type arguments.
func nameable(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return true
	case *types.Named:
		o := t.Obj()
		return t.TypeArgs().Len() == 0 && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && o.Exported()
	}
	return false
}

// foreign warns about a function of another package, for which no code is generated here: derivatives are generated
// once, next to the primal. It is silent if the function is a target in its own package, unless it is an instance of a
// generic function.
func (u *home) foreign(t *target) {
	home, own := u.program.lower.IsTarget(t.Func)
	generic := len(t.TypeArgs) > 0
	if home && !generic {
		return
	}
	p := &Problem{t.pos, t.of,
		"it is declared in package " + t.Func.Pkg().Path() + ", and derivatives are generated next to a function", "",
		Warning}
	if own && !generic {
		p.Remedy = "write //nabla:differentiate above its declaration and run nabla gen there, or pass a function " +
			"of this package that calls it"
	} else {
		p.Remedy = "pass a function of this package that calls it"
	}
	u.problem(p)
}

// passive reports whether a function has the directive //nabla:passive.
func (u *home) passive(fn *types.Func) bool {
	for _, d := range u.program.lower.Directives() {
		if d.Name == "passive" && d.Func == fn.Origin() {
			return true
		}
	}
	return false
}

// generic reports whether a function or its receiver has type parameters.
func generic(fn *types.Func) bool {
	sig := fn.Signature()
	return sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0
}

// calledAs returns the name of a function as the source of the package refers to it: F, pkg.F, (*T).M or F[float64].
func (u *home) calledAs(fn *types.Func, args []types.Type) string {
	qualifier := types.RelativeTo(u.pkg.Types)
	list := ""
	if len(args) > 0 {
		var texts []string
		for _, t := range args {
			texts = append(texts, types.TypeString(t, (*types.Package).Name))
		}
		list = "[" + strings.Join(texts, ", ") + "]"
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		if fn.Pkg() != u.pkg.Types {
			return fn.Pkg().Name() + "." + fn.Name() + list
		}
		return fn.Name() + list
	}
	t, star := recv.Type(), ""
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t, star = p.Elem(), "*"
	}
	name := types.TypeString(t, qualifier)
	if n, ok := types.Unalias(t).(*types.Named); ok {
		name = n.Obj().Name()
	}
	name += list
	if star != "" {
		name = "(*" + name + ")"
	}
	return name + "." + fn.Name()
}

// baseName returns the prefix of the names of derivatives. It is exported if users of the package can name the
// function.
func (u *home) baseName(fn *types.Func, args []types.Type) string {
	name, exported := fn.Name(), fn.Exported()
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok {
			name, exported = n.Obj().Name()+capital(name), exported && n.Obj().Exported()
		}
	}
	for _, t := range args {
		words := strings.FieldsFunc(types.TypeString(t, types.RelativeTo(u.pkg.Types)),
			func(r rune) bool { return !token.IsIdentifier("a" + string(r)) })
		for _, w := range words {
			name += capital(w)
		}
	}
	if exported {
		return name
	}
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[n:]
}

// capital returns s with its first letter in upper case.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

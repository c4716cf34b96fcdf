package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/shortcut"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// A transformed is a function with its derivatives or the reason that it has none.
type transformed struct {
	fn        *types.Func
	f         *ir.Func
	tangent   *ir.Func
	facts     *activity.Facts // of the tangent
	adjoint   *adjoint.Adjoint
	shortcuts *shortcut.Program
	refused   string // stage that refuses it, empty if none does
	err       error
	written   bool // its derivatives were printed and pass the type checker
	// reason that they were not printed
	printErr error
	verdict  *verdict     // nil if it was not checked
	made     bool         // it makes arguments as users do, see made
	exported bool         // another package can call it
	called   *transformed // a function that calls it as users do, if it has no derivatives itself or made; or nil
}

// ok reports whether a function has both derivatives.
func (t *transformed) ok() bool { return t.adjoint != nil && t.tangent != nil }

// A broken is a mistake of nabla gen: a panic, or a function or file that is not well-formed.
type broken struct {
	fn   *types.Func
	what string
	err  error
}

func (b *broken) Error() string { return fmt.Sprintf("%s: %s: %v", b.fn.FullName(), b.what, b.err) }

// transform lowers a function and builds its tangent and adjoint. The error is a mistake of nabla gen, not a refusal.
func transform(p *lower.Program, fn *types.Func, user *types.Package) (t *transformed, err error) {
	t = &transformed{fn: fn}
	defer func() {
		if r := recover(); r != nil {
			err = &broken{fn, "it crashes", fmt.Errorf("%v\n%s", r, debug.Stack())}
		}
	}()
	f, err := p.Func(fn)
	if err != nil {
		var rs lower.Refusals
		if !errors.As(err, &rs) {
			return t, &broken{fn, "lowering", err}
		}
		t.refused, t.err = "lower", err
		return t, nil
	}
	t.f = f
	for _, g := range reachable(f) {
		if err := ir.Check(g); err != nil {
			return t, &broken{fn, "lowered", err}
		}
	}
	var mask activity.Mask
	for i, v := range f.Params {
		if activity.HasFloats(v.Type) {
			mask = mask.With(i)
		}
	}
	t.shortcuts = shortcut.New(nil, library.SkipsZeros)
	if f, err = t.shortcuts.Complete(f, mask); err != nil {
		t.refused, t.err = "adjoint", err
		return t, nil
	}
	t.tangent, t.facts, err = tangent.New().Build(f, mask)
	if err != nil {
		t.tangent, t.refused, t.err = nil, "tangent", err
	} else {
		for _, g := range reachable(t.tangent) {
			if err := ir.Check(g); err != nil {
				return t, &broken{fn, "tangent", err}
			}
		}
	}
	t.adjoint, err = adjoint.New(user, "Work", adjoint.Options{}).Of(f, mask)
	if err != nil {
		t.adjoint, t.refused, t.err = nil, "adjoint", err
	} else {
		for _, g := range reachable(t.adjoint.Func) {
			if err := ir.Check(g); err != nil {
				return t, &broken{fn, "adjoint", err}
			}
		}
	}
	return t, nil
}

// reachable returns f and all functions that it calls, directly or indirectly.
func reachable(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	seen := map[*ir.Func]bool{f: true}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !seen[c.Callee.Func] {
				seen[c.Callee.Func] = true
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// write prints the derivatives of a function as a file of pkg and type-checks it.
func (t *transformed) write(pkg *packages.Package, all map[string]*types.Package) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &broken{t.fn, "printing crashes", fmt.Errorf("%v\n%s", r, debug.Stack())}
		}
	}()
	values := shortcut.Values{Programs: []*shortcut.Program{t.shortcuts}}
	text, err := print.File(pkg.Types, print.Func{Func: values.Of(t.tangent)},
		print.Func{Func: values.Of(t.adjoint.Func)})
	if err != nil {
		var e *print.Error
		if !errors.As(err, &e) {
			return &broken{t.fn, "printing", err}
		}
		t.printErr = err
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, lower.Output, text, parser.SkipObjectResolution)
	if err != nil {
		return &broken{t.fn, "printed", fmt.Errorf("%w\n%s", err, text)}
	}
	// The file is checked as a package of its own, with the objects of pkg in its scope, so that pkg stays unchanged
	// for the next function.
	own := types.NewPackage(pkg.Types.Path(), pkg.Types.Name())
	for _, name := range pkg.Types.Scope().Names() {
		own.Scope().Insert(pkg.Types.Scope().Lookup(name))
	}
	var errs []string
	conf := types.Config{
		Importer: importer(all), Sizes: pkg.TypesSizes, GoVersion: "go1.26",
		Error: func(err error) { errs = append(errs, err.Error()) },
	}
	types.NewChecker(&conf, fset, own, nil).Files([]*ast.File{f}) // its errors are in errs
	if len(errs) > 0 {
		return &broken{t.fn, "printed", fmt.Errorf("%s\n%s", strings.Join(errs[:min(3, len(errs))], "\n"), text)}
	}
	t.written = true
	return nil
}

// An importer returns loaded packages by path.
type importer map[string]*types.Package

func (m importer) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// reasons returns the reasons of a refusal without the names in them, each once.
func (t *transformed) reasons() (out []string) {
	if t.refused == "" {
		return nil
	}
	var rs lower.Refusals
	if !errors.As(t.err, &rs) {
		text := t.err.Error()
		if _, rest, ok := strings.Cut(text, ": "); ok {
			text = rest
		}
		return []string{t.refused + ": " + text}
	}
	for _, r := range rs {
		k := reasonKind(r)
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// reasonKind returns the kind of construct that is refused, without names.
func reasonKind(r *lower.Refusal) string {
	w := strings.Fields(r.What)
	switch {
	case strings.HasPrefix(r.What, "call of interface method"):
		return "call of an interface method"
	case w[0] == "variable" && strings.Contains(r.Reason, "cannot be copied"):
		return "variable that cannot be named or copied"
	case slices.Contains([]string{"variable", "parameter"}, w[0]):
		return w[0] + ": " + r.Reason
	case w[0] == "function" && len(w) > 1:
		return "function: " + r.Reason
	case strings.HasPrefix(r.What, "call of ") && strings.Contains(r.Reason, "not known"):
		return "call of a function value that is not known"
	case strings.HasPrefix(r.What, "assignment to function variable"):
		return "assignment to a function variable"
	}
	return r.What
}

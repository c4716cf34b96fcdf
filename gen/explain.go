package gen

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
)

// find looks the function called name up in the loaded packages, as F, T.M or (*T).M, lowers it, and returns it with a
// unit of its own. Of a generic function it takes the first instance that is a target. The error holds the problems if
// the function is refused.
func (p *Program) find(name string) (*unit, *target, error) {
	plain := strings.NewReplacer("(*", "", ")", "").Replace(name)
	plain, _, _ = strings.Cut(plain, "[")
	for _, pkg := range p.pkgs {
		fn := p.lower.Lookup(pkg.PkgPath, plain)
		if fn == nil {
			continue
		}
		h, err := p.home(pkg)
		if err != nil {
			return nil, nil, err
		}
		found := lower.Target{Func: fn, In: pkg.Types, Pos: pkg.Fset.Position(fn.Pos())}
		if generic(fn) {
			known := false
			for _, t := range p.lower.Targets() { // take the first requested instance
				if t.Func == fn && t.In == pkg.Types && !known {
					found, known = t, true
				}
			}
			if !known {
				return nil, nil,
					fmt.Errorf("function %s is generic, and no instance of it is passed to an operator", name)
			}
			found.Operator = ""
		}
		h.add(found)
		if len(h.targets) == 0 {
			var all []error
			for _, e := range sortedProblems(h.out.Problems) {
				all = append(all, e)
			}
			return nil, nil, errors.Join(all...)
		}
		u, err := h.unit("", h.targets)
		return u, h.targets[0], err
	}
	return nil, nil, fmt.Errorf("no function %s in the packages; want F, T.Method or (*T).Method", name)
}

// Explain writes the source of a function and of its active callees to w, annotated with remarks: the active variables
// of each line, and the decisions of the adjoint, such as the values it records or recomputes and the loops whose
// sweeps it fuses.
func (p *Program) Explain(w io.Writer, function string) error {
	return p.withRestarts(func() error { return p.explainAll(w, function) })
}

func (p *Program) explainAll(w io.Writer, function string) error {
	u, t, err := p.find(function)
	if err != nil {
		return err
	}
	var remarks []adjoint.Remark
	f, err := u.complete(t, false)
	if err != nil {
		return err
	}
	if a, err := adjoint.New(u.scope, workspaceName, adjoint.Options{}).Of(f, t.mask); err == nil {
		remarks = a.Remarks
	}
	facts, err := activity.New().Analyze(t.f, t.mask)
	if err != nil {
		return err
	}
	list := []*activity.Facts{facts}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Func.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok {
				if f := list[i].Callee(c); f != nil && !f.Params.Empty() && !slices.Contains(list, f) {
					list = append(list, f)
				}
			}
			return true
		})
	}
	for i, f := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := p.explain(w, f, remarks); err != nil {
			return err
		}
	}
	return nil
}

// A note is a remark on a line of source.
type note struct {
	line int
	text string
}

// notes returns the remarks of the activity analysis of a function, in the order of its lines.
func notes(f *activity.Facts) []note {
	active := map[int][]string{}
	add := func(line int, v *ir.Var) {
		if v == nil || v.Object == nil || !f.Active(v) {
			return
		}
		name := v.Object.Name()
		if name == "" {
			name = "the result"
		}
		if !slices.Contains(active[line], name) {
			active[line] = append(active[line], name)
		}
	}
	for _, v := range slices.Concat(f.Func.Params, f.Func.Results) {
		add(f.Func.Pos.Line, v)
	}
	ir.Walk(f.Func.Body, func(s ir.Stmt) bool {
		if s.Position().Filename != f.Func.Pos.Filename {
			return true // part of an inlined iterator
		}
		line := s.Position().Line
		for _, v := range assigned(s) {
			add(line, v)
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					add(line, p.Root)
				}
				return true
			})
		}
		return true
	})
	var out []note
	for line, names := range active {
		out = append(out, note{line, "active: " + strings.Join(names, ", ")})
	}
	slices.SortFunc(out, func(a, b note) int { return cmp.Or(a.line-b.line, strings.Compare(a.text, b.text)) })
	return out
}

// assigned returns the variables that statement s assigns to, entirely or in part.
func assigned(s ir.Stmt) []*ir.Var {
	switch s := s.(type) {
	case *ir.Let:
		return []*ir.Var{s.V}
	case *ir.Set:
		return []*ir.Var{s.P.Root}
	case *ir.Add:
		return []*ir.Var{s.P.Root}
	case *ir.Append:
		return []*ir.Var{s.P.Root}
	case *ir.Call:
		return s.Results
	}
	return nil
}

// explain writes the annotated source of one function.
func (p *Program) explain(w io.Writer, f *activity.Facts, remarks []adjoint.Remark) error {
	pos := f.Func.Pos
	text, ok := p.opts.Load.Overlay[pos.Filename]
	if !ok {
		var err error
		if text, err = os.ReadFile(pos.Filename); err != nil {
			return err
		}
	}
	source := strings.Split(string(text), "\n")
	last := min(p.end(f.Func), len(source))
	said := map[int][]string{}
	for _, n := range notes(f) {
		said[n.line] = append(said[n.line], n.text)
	}
	for _, n := range remarks {
		if n.Pos.Filename == pos.Filename && pos.Line <= n.Pos.Line && n.Pos.Line <= last {
			said[n.Pos.Line] = append(said[n.Pos.Line], n.Text)
		}
	}
	fmt.Fprintf(w, "%s:%d: %s\n", filepath.Base(pos.Filename), pos.Line, f.Func.Name)
	width := 0
	for line := pos.Line; line <= last; line++ {
		width = max(width, len([]rune(expanded(source[line-1]))))
	}
	for line := pos.Line; line <= last; line++ {
		text := fmt.Sprintf("%5d  %-*s", line, width, expanded(source[line-1]))
		if notes := said[line]; notes != nil {
			text += "  // " + strings.Join(notes, "; ")
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	return nil
}

// expanded returns s with tabs expanded and without a carriage return at the end.
func expanded(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\r"), "\t", "    ") }

// end returns the last line of the declaration or literal of f.
func (p *Program) end(f *ir.Func) int {
	last := f.Pos.Line
	packages.Visit(p.pkgs, nil, func(pkg *packages.Package) {
		for _, file := range pkg.Syntax {
			if pkg.Fset.Position(file.Package).Filename != f.Pos.Filename {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.FuncDecl, *ast.FuncLit:
					if pkg.Fset.Position(n.Pos()) == f.Pos {
						last = pkg.Fset.Position(n.End()).Line
					}
				}
				return true
			})
		}
	})
	return last
}

// Stages returns the names of the stages that Dump accepts.
func (p *Program) Stages() []string { return stagesOf(p.builds) }

// Stages returns the names of the stages that Dump of a program with default options accepts.
func Stages() []string { return stagesOf(builds()) }

func stagesOf(list []*build) []string {
	names := []string{"lowered", "complete", "normal"}
	for _, b := range list {
		names = append(names, b.name)
	}
	return names
}

// Dump writes the intermediate representation of a function and of its callees to w. The stage is lowered, complete,
// normal or the name of a build.
func (p *Program) Dump(w io.Writer, stage, function string) error {
	if !slices.Contains(p.Stages(), stage) {
		return fmt.Errorf("no stage %q; stages: %s", stage, strings.Join(p.Stages(), ", "))
	}
	return p.withRestarts(func() error { return p.dump(w, stage, function) })
}

func (p *Program) dump(w io.Writer, stage, function string) error {
	u, t, err := p.find(function)
	if err != nil {
		return err
	}
	switch stage {
	case "lowered":
		return ir.Print(w, reached(t.f)...)
	case "complete":
		f, err := u.complete(t, false)
		if err != nil {
			return err
		}
		return ir.Print(w, reached(f)...)
	case "normal":
		var list []*ir.Func
		for _, f := range reached(t.f) {
			g, _ := ir.Clone(f, nil)
			ir.Normalize(g)
			list = append(list, g)
		}
		return ir.Print(w, list...)
	}
	for _, b := range p.builds {
		if b.name == stage {
			built, err := b.make(u, t)
			if err != nil {
				return err
			}
			return ir.Print(w, reached(built.fn)...)
		}
	}
	return nil
}

package print

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Functions and blocks as Go source.

// A printer prints one function.
type printer struct {
	*file
	// f is the function being printed.
	f *ir.Func
	b strings.Builder
	// names generates names of local variables that the function does not use yet.
	names *ir.Namer
	// vars maps variables to their Go names.
	vars      map[*ir.Var]string
	addressed map[*ir.Var]bool // variables whose address is taken, which may be written through aliases
	enclosing []*target        // enclosing loops and scopes, innermost last
	// disjoint, shadows and workspaces are the fields of [Func].
	disjoint   []DisjointCheck
	shadows    []Shadows
	workspaces []*ir.Var
	requested  bool     // whether it is a function that the file was asked for, which other code calls
	kernel     bool     // whether it is a kernel, which computes with vectors
	scratch    string   // name of the scratch row, see scratchRow
	form       *form    // its lines, for a function over Reals in a file with a table of them
	consts     []string // constants of a kernel, which are loaded from a variable
}

// refuse panics with an Error for the current function.
func (p *printer) refuse(format string, args ...any) {
	panic(&Error{Func: p.f.Name, Reason: fmt.Sprintf(format, args...)})
}

// line prints a line.
func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// function prints the function with the code at its beginning.
func (p *printer) function() {
	p.names, p.vars, p.addressed = ir.NamerOf(p.f), map[*ir.Var]string{}, map[*ir.Var]bool{}
	p.names.Avoid(p.reserved)
	body := removeUnread(clean(p.f.Body))
	// Go requires a terminating statement in a function with results.
	if completesNormally(body) {
		body = append(body, &ir.Leave{L: p.f.Exit})
	}
	p.addresses(body)
	head := "(" + p.signature(p.f.Params, p.f.Variadic) + ") "
	if len(p.f.Results) > 0 {
		head += "(" + p.signature(errorLast(p.f.Results, p.f.Results), false) + ") "
	}
	p.line("func %s%s{", p.file.names[p.f], head)
	if list := p.layoutsOf(p.f); p.requested && len(list) > 0 {
		p.line("%s(%s)", p.runtime("SameLayouts"), strings.Join(list, ", "))
	}
	for _, a := range p.disjoint {
		p.disjointCheck(a)
	}
	for _, w := range p.workspaces {
		p.line("if %s == nil {\n%s = new(%s)\n}", p.name(w), p.name(w),
			p.typ(w.Type.Underlying().(*types.Pointer).Elem()))
	}
	for _, s := range p.shadows {
		p.completeShadows(s, body)
	}
	p.printDispatch()
	tail := map[*ir.Label]bool{}
	if len(p.f.Results) == 0 {
		tail[p.f.Exit] = true
	}
	if p.kernel {
		p.kernelBody(body)
	} else {
		p.block(body, tail, false)
	}
	p.line("}")
	p.declareDispatch(head)
	p.declareOperation()
}

// errorLast returns list, which belongs to results, in the order in which the results are printed: errors after all
// others, as is the custom in Go, though the derivatives of a function come after its own results.
func errorLast[T any](list []T, results []*ir.Var) []T {
	isError := func(i int) bool { return types.Identical(results[i].Type, types.Universe.Lookup("error").Type()) }
	var out, errs []T
	for i, e := range list {
		if isError(i) {
			errs = append(errs, e)
		} else {
			out = append(out, e)
		}
	}
	return append(out, errs...)
}

// signature returns a parameter list, with a type only after the last of several variables that
// share it.
func (p *printer) signature(list []*ir.Var, variadic bool) string {
	var out []string
	for i, v := range list {
		switch last := i == len(list)-1; {
		case last && variadic:
			out = append(out, p.name(v)+" ..."+p.typ(v.Type.Underlying().(*types.Slice).Elem()))
		case !last && !(variadic && i == len(list)-2) && types.Identical(v.Type, list[i+1].Type):
			out = append(out, p.name(v))
		default:
			out = append(out, p.name(v)+" "+p.typ(v.Type))
		}
	}
	return strings.Join(out, ", ")
}

// addresses collects the variables whose address is taken.
func (p *printer) addresses(b ir.Block) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e := e.(type) {
				case *ir.Addr:
					p.addressed[e.P.Root] = true
				case *ir.SliceAt:
					p.addressed[e.P.Root] = true
				}
				return true
			})
		}
		return true
	})
}

// name returns the Go name of a variable: its own, unless the file refers to something else by it.
func (p *printer) name(v *ir.Var) string {
	if v.Kind == ir.Global {
		o := v.Object
		if name := p.copies[o]; name != "" {
			return name
		}
		if o == nil || o.Pkg() == nil || !p.visible(o) {
			p.refuse("the variable %s cannot be named in package %s", v.Name, p.pkg.Name())
		}
		return p.qualified(o.Pkg(), o.Name())
	}
	if v == blank {
		return "_"
	}
	name, ok := p.vars[v]
	if !ok {
		name = v.Name
		if p.reserved(name) || !token.IsIdentifier(name) ||
			types.Universe.Lookup(name) != nil {
			name = p.names.Name(name)
		}
		p.vars[v] = name
	}
	return name
}

// block prints b. A leave of a label in tail is redundant at the end of b. The only statement of a
// branch is printed even if it is such a leave.
func (p *printer) block(b ir.Block, tail map[*ir.Label]bool, branch bool) {
	for i := 0; i < len(b); i++ {
		if n := p.returned(b[i:]); n > 0 {
			i += n - 1
			continue
		}
		if n := p.declared(b[i:]); n > 0 {
			i += n - 1
			continue
		}
		inner := tail
		if i < len(b)-1 {
			inner = nil
		}
		p.begin(b[i])
		switch s := b[i].(type) {
		case *ir.Leave:
			if !inner[s.L] || branch && len(b) == 1 {
				p.leave(s.L)
			}
		case *ir.If:
			p.branches(s, inner)
		case *ir.Scope:
			p.withLabel(&target{scope: s}, s.L, func() {
				p.line("switch {\ndefault:")
				p.block(s.Body, nil, false)
				p.line("}")
			})
		case *ir.Loop:
			marks := ""
			if s.Marked {
				marks = p.names.Name("iter")
				p.line("var %s %s", marks, p.runtime("Loop"))
			}
			p.withLabel(&target{loop: s}, s.L, func() { p.loop(s, marks) })
		default:
			p.simple(s)
		}
	}
}

// returned prints assignments to all results and a return as one return statement, if b is of this
// form, and returns the number of statements printed.
func (p *printer) returned(b ir.Block) int {
	n := len(p.f.Results)
	if n == 0 || len(b) != n+1 {
		return 0
	}
	if l, ok := b[n].(*ir.Leave); !ok || l.L != p.f.Exit {
		return 0
	}
	values := make([]string, n)
	for _, s := range b[:n] {
		set, ok := s.(*ir.Set)
		if !ok || len(set.P.Path) > 0 {
			return 0
		}
		// Operations of several lines of the source stay on several lines.
		if p.form != nil && set.Pos.Line != b[0].Position().Line {
			return 0
		}
		// In a return statement all operands are evaluated before any result is assigned.
		if n > 1 && p.mentionsResult(set.E) {
			return 0
		}
		at := -1
		for k, v := range p.f.Results {
			// A result whose address is taken may be read through a pointer in between.
			if v == set.P.Root && !p.addressed[v] {
				at = k
			}
		}
		if at < 0 || values[at] != "" {
			return 0
		}
		values[at] = p.expr(set.E, set.P.Type())
	}
	p.begin(b[0])
	p.line("return %s", strings.Join(errorLast(values, p.f.Results), ", "))
	return n + 1
}

// mentionsResult reports whether e reads a result.
func (p *printer) mentionsResult(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if at := ir.PlaceOf(e); at != nil {
			found = found || at.Root.Kind == ir.Result
		}
		return !found
	})
	return found
}

// declared prints declarations of variables and the call that assigns them as one statement, if b
// begins with these, and returns the number of statements printed.
func (p *printer) declared(b ir.Block) int {
	n := 0
	lets := map[*ir.Var]bool{}
	for n < len(b) {
		l, ok := b[n].(*ir.Let)
		if !ok || l.E != nil {
			break
		}
		lets[l.V] = true
		n++
	}
	if n == 0 || n == len(b) {
		return 0
	}
	c, ok := b[n].(*ir.Call)
	if !ok {
		return 0
	}
	results := resultTypes(c.Callee)
	for _, a := range c.Args {
		read := false
		ir.WalkExpr(a, func(e ir.Expr) bool {
			at := ir.PlaceOf(e)
			read = read || at != nil && lets[at.Root]
			return !read
		})
		if read {
			return 0
		}
	}
	for i, v := range c.Results {
		if v == nil {
			continue
		}
		if !lets[v] || i >= len(results) || !types.Identical(v.Type, results[i]) {
			return 0
		}
		delete(lets, v)
	}
	if len(lets) > 0 {
		return 0
	}
	p.begin(c)
	p.call(c, ":=")
	return n + 1
}

// resultTypes returns the types of the results of a callee.
func resultTypes(c *ir.Callee) (list []types.Type) {
	if c.Func != nil {
		for _, v := range c.Func.Results {
			list = append(list, v.Type)
		}
	} else if c.Rule.Object != nil {
		for v := range c.Rule.Object.Signature().Results().Variables() {
			list = append(list, v.Type())
		}
	}
	return list
}

// branches prints an if, with else-if chains flattened.
func (p *printer) branches(s *ir.If, tail map[*ir.Label]bool) {
	p.line("if %s {", p.expr(s.Cond, types.Typ[types.Bool]))
	p.block(s.Then, tail, true)
	for len(s.Else) == 1 {
		next, ok := s.Else[0].(*ir.If)
		if !ok {
			break
		}
		s = next
		p.begin(s)
		p.line("} else if %s {", p.expr(s.Cond, types.Typ[types.Bool]))
		p.block(s.Then, tail, true)
	}
	if len(s.Else) > 0 {
		p.line("} else {")
		p.block(s.Else, tail, true)
	}
	p.line("}")
}

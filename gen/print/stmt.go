package print

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// printer prints a function.
type printer struct {
	*file
	f       *ir.Func
	b       strings.Builder
	names   *ir.Namer
	vars    map[*ir.Var]string
	written map[*ir.Var]bool // whose address is taken, so that anybody may write them
	around  []*target        // innermost last
	// separate are slices that must not share memory.
	separate   []DisjointCheck
	shadows    []Shadows
	workspaces []*ir.Var
	kernel     bool     // it computes in vectors
	viaName    string   // see via
	consts     []string // of a kernel
}

func (p *printer) refuse(format string, args ...any) {
	panic(&Error{p.f.Name, fmt.Sprintf(format, args...)})
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *printer) function() {
	p.names, p.vars, p.written = ir.NamerOf(p.f), map[*ir.Var]string{}, map[*ir.Var]bool{}
	p.reserve(p.names)
	body := live(clean(p.f.Body))
	if completes(body) {
		body = append(body, &ir.Leave{L: p.f.Exit})
	}
	p.addresses(body)
	head := "(" + p.signature(p.f.Params, p.f.Variadic) + ") "
	if len(p.f.Results) > 0 {
		head += "(" + p.signature(p.f.Results, false) + ") "
	}
	p.line("func %s%s{", p.file.names[p.f], head)
	for _, a := range p.separate {
		p.apart(a)
	}
	for _, w := range p.workspaces {
		p.line("if %s == nil {\n%s = new(%s)\n}", p.name(w), p.name(w),
			p.typ(w.Type.Underlying().(*types.Pointer).Elem()))
	}
	for _, s := range p.shadows {
		p.missing(s, body)
	}
	p.hooked()
	tail := map[*ir.Label]bool{}
	if len(p.f.Results) == 0 {
		tail[p.f.Exit] = true
	}
	if p.kernel {
		p.inVectors(body)
	} else {
		p.block(body, tail, false)
	}
	p.line("}")
	p.hook(head)
}

// signature lists variables, the type only behind the last of those that share it.
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

// addresses finds the variables whose memory has another name.
func (p *printer) addresses(b ir.Block) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e := e.(type) {
				case *ir.Addr:
					p.written[e.P.Root] = true
				case *ir.SliceAt:
					p.written[e.P.Root] = true
				}
				return true
			})
		}
		return true
	})
}

// name is the Go name of a variable: its own, if nothing else that the file names has it.
func (p *printer) name(v *ir.Var) string {
	if v.Kind == ir.Global {
		o := v.Object
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
		if p.taken[name] || p.inPackage(name) || p.others[name] || !token.IsIdentifier(name) ||
			types.Universe.Lookup(name) != nil {
			name = p.names.Name(name)
		}
		p.vars[v] = name
	}
	return name
}

// block prints b. Control comes to the end of what is in tail at the end of b. The only
// statement of a branch stays even if it leaves for there.
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
		switch s := b[i].(type) {
		case *ir.Leave:
			if !inner[s.L] || branch && len(b) == 1 {
				p.leave(s.L)
			}
		case *ir.If:
			p.branches(s, inner)
		case *ir.Scope:
			p.labelled(&target{scope: s}, s.L, func() {
				p.line("switch {\ndefault:")
				p.block(s.Body, nil, false)
				p.line("}")
			})
		case *ir.Loop:
			p.labelled(&target{loop: s}, s.L, func() { p.loop(s) })
		default:
			p.simple(s)
		}
	}
}

// returned prints assignments to all results and a return as one statement. It says how
// many statements those are.
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
		if n > 1 && p.mentionsResult(set.E) {
			return 0
		}
		at := -1
		for k, v := range p.f.Results {
			if v == set.P.Root && !p.written[v] {
				at = k
			}
		}
		if at < 0 || values[at] != "" {
			return 0
		}
		values[at] = p.expr(set.E, set.P.Type())
	}
	p.line("return %s", strings.Join(values, ", "))
	return n + 1
}

func (p *printer) mentionsResult(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if at := ir.PlaceOf(e); at != nil {
			found = found || at.Root.Kind == ir.Result
		}
		return !found
	})
	return found
}

// declared prints declarations of variables and the call that gives them their values
// as one statement. It says how many statements those are.
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
	p.call(c, ":=")
	return n + 1
}

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

func (p *printer) branches(s *ir.If, tail map[*ir.Label]bool) {
	p.line("if %s {", p.expr(s.Cond, types.Typ[types.Bool]))
	p.block(s.Then, tail, true)
	for len(s.Else) == 1 {
		next, ok := s.Else[0].(*ir.If)
		if !ok {
			break
		}
		s = next
		p.line("} else if %s {", p.expr(s.Cond, types.Typ[types.Bool]))
		p.block(s.Then, tail, true)
	}
	if len(s.Else) > 0 {
		p.line("} else {")
		p.block(s.Else, tail, true)
	}
	p.line("}")
}

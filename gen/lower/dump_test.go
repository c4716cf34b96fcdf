package lower_test

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// dump prints f and all it calls, for people and for golden files.
func dump(f *ir.Func) string {
	var d dumper
	for _, g := range reach(f) {
		d.function(g)
	}
	return d.String()
}

type dumper struct {
	strings.Builder
	depth int
}

func (d *dumper) line(format string, args ...any) {
	fmt.Fprintf(d, "%s%s\n", strings.Repeat("\t", d.depth), fmt.Sprintf(format, args...))
}

func typ(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

func vars(vs []*ir.Var) string {
	var s []string
	for _, v := range vs {
		s = append(s, v.Name+" "+typ(v.Type))
	}
	return strings.Join(s, ", ")
}

func (d *dumper) function(f *ir.Func) {
	d.line("func %s(%s) (%s) %s {", f.Name, vars(f.Params), vars(f.Results), f.Exit.Name)
	d.block(f.Body)
	d.line("}")
}

func (d *dumper) block(b ir.Block) {
	d.depth++
	for _, s := range b {
		d.stmt(s)
	}
	d.depth--
}

func (d *dumper) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		if s.E == nil {
			d.line("let %s %s", s.V.Name, typ(s.V.Type))
			return
		}
		d.line("let %s %s = %s", s.V.Name, typ(s.V.Type), expr(s.E))
	case *ir.Set:
		d.line("%s = %s", place(s.P), expr(s.E))
	case *ir.Add:
		d.line("%s += %s", place(s.P), expr(s.E))
	case *ir.Call:
		var rs []string
		for _, v := range s.Results {
			name := "_"
			if v != nil {
				name = v.Name
			}
			rs = append(rs, name)
		}
		name := ""
		if s.Callee.Rule != nil {
			name = "rule " + s.Callee.Rule.Name
		} else {
			name = s.Callee.Func.Name
		}
		d.line("%s = call %s(%s)", strings.Join(rs, ", "), name, exprs(s.Args))
	case *ir.Append:
		dots := ""
		if s.Spread {
			dots = "..."
		}
		d.line("%s = append(%s)%s", place(s.P), exprs(append([]ir.Expr{s.S}, s.Elems...)), dots)
	case *ir.Copy:
		if s.N != nil {
			d.line("%s = copy(%s, %s)", s.N.Name, expr(s.Dst), expr(s.Src))
			return
		}
		d.line("copy(%s, %s)", expr(s.Dst), expr(s.Src))
	case *ir.Clear:
		d.line("clear(%s)", expr(s.S))
	case *ir.If:
		d.line("if %s {", expr(s.Cond))
		d.block(s.Then)
		if len(s.Else) > 0 {
			d.line("} else {")
			d.block(s.Else)
		}
		d.line("}")
	case *ir.Scope:
		d.line("scope %s {", s.L.Name)
		d.block(s.Body)
		d.line("}")
	case *ir.Loop:
		if s.V == nil {
			d.line("for %s, %s {", s.L.Name, s.Next.Name)
		} else {
			d.line("for %s, %s %s %s = %s to %s by %d {", s.L.Name, s.Next.Name, s.V.Name, typ(s.V.Type), expr(s.Lo), expr(s.Hi), s.Step)
		}
		d.block(s.Body)
		d.line("}")
	case *ir.Leave:
		d.line("leave %s", s.L.Name)
	case *ir.Panic:
		d.line("panic(%s)", expr(s.E))
	default:
		d.line("%T", s)
	}
}

func exprs(es []ir.Expr) string {
	var s []string
	for _, e := range es {
		s = append(s, expr(e))
	}
	return strings.Join(s, ", ")
}

func place(p *ir.Place) string {
	s := p.Root.Name
	t := p.Root.Type
	for _, st := range p.Path {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			s += "." + u.Field(st.Field).Name()
			t = u.Field(st.Field).Type()
		case *types.Pointer:
			if !st.IsDeref() {
				panic("not a dereference in " + s)
			}
			s += ".*"
			t = u.Elem()
		case *types.Slice:
			s += "[" + expr(st.Index) + "]"
			t = u.Elem()
		case *types.Array:
			s += "[" + expr(st.Index) + "]"
			t = u.Elem()
		default:
			panic("no step from " + s)
		}
	}
	return s
}

func expr(e ir.Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *ir.Const:
		switch {
		case e.Val == nil:
			return "zero(" + typ(e.T) + ")"
		case e.Text != "":
			return "‹" + e.Text + "›"
		}
		return e.Val.String()
	case *ir.Load:
		return place(e.P)
	case *ir.Unary:
		return e.Op.String() + expr(e.X)
	case *ir.Binary:
		return "(" + expr(e.X) + " " + e.Op.String() + " " + expr(e.Y) + ")"
	case *ir.Math:
		return e.Name + "(" + exprs(e.Args) + ")"
	case *ir.Convert:
		return typ(e.T) + "(" + expr(e.X) + ")"
	case *ir.Len:
		if e.Cap {
			return "cap(" + expr(e.X) + ")"
		}
		return "len(" + expr(e.X) + ")"
	case *ir.Slice:
		return bounds(expr(e.X), e.Lo, e.Hi, e.Max)
	case *ir.SliceAt:
		return bounds("@"+place(e.P), e.Lo, e.Hi, e.Max)
	case *ir.Addr:
		return "&" + place(e.P)
	case *ir.Make:
		return "make(" + typ(e.T) + ", " + exprs([]ir.Expr{e.N, e.Cap}) + ")"
	case *ir.New:
		return "new " + typ(e.T)
	case *ir.Literal:
		var s []string
		for i, k := range e.Keys {
			s = append(s, strconv.Itoa(k)+": "+expr(e.Elems[i]))
		}
		n := ""
		if e.Len > 0 {
			n = "|" + strconv.Itoa(e.Len)
		}
		return typ(e.T) + n + "{" + strings.Join(s, ", ") + "}"
	case *ir.Opaque:
		args := make([]any, len(e.Args))
		for i, a := range e.Args {
			args[i] = expr(a)
		}
		return "opaque<" + fmt.Sprintf(e.Format, args...) + ">"
	}
	return fmt.Sprintf("%T", e)
}

func bounds(x string, lo, hi, top ir.Expr) string {
	s := x + "[" + expr(lo) + ":" + expr(hi)
	if top != nil {
		s += ":" + expr(top)
	}
	return s + "]"
}

package adjoint

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// prepared is a function in the shape that a reverse sweep can be made of:
//
//   - no variable has an address: those that had one are behind a pointer;
//   - elementary functions and divisions of floats, their arguments and the float
//     arguments of calls are variables;
//   - bounds and conditions are variables, and so is all that the reverse sweep has to
//     know of the path that was taken.
type normalForm struct {
	f      *ir.Func
	source *ir.Func // what it was made of
	conds  map[*ir.If]*ir.Var
	loops  map[*ir.Loop]*loopInfo
	// left says of a loop or a scope whether it was left for somewhere behind its end.
	exited  map[ir.Stmt]*ir.Var
	names   *ir.Namer
	remarks []Remark
	// segment is set for iterations of a loop.
	segment *segment
}

type loopInfo struct {
	lo, hi  ir.Expr // what the bounds are for the reverse sweep
	entered *ir.Var // how often the body was entered, nil where the bounds tell
}

// prepare prepares f and what it calls, each once.
func (p *Program) normalize(f *ir.Func) *normalForm {
	if g := p.normalized[f]; g != nil {
		return g
	}
	clone, _ := ir.Clone(f, nil)
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		c, ok := s.(*ir.Call)
		p.matter.NoInline = p.matter.NoInline || ok && c.Callee.Func != nil
		return true
	})
	var notes []Remark
	if hasCheckpoint(clone) {
		g := &normalForm{f: clone, names: ir.NamerOf(clone)}
		g.boxAddressTaken()
		p.outline(g, f)
		notes = g.remarks
	}
	switch {
	case p.opts.NoSimplify:
	case p.opts.NoInline:
		simplify.Body(clone, p.work.pkg)
	default:
		simplify.Primal(clone, p.work.pkg)
	}
	names := ir.NamerOf(clone)
	g := &normalForm{
		f: clone, source: f, names: names, remarks: notes, segment: p.segments[f],
		conds: map[*ir.If]*ir.Var{}, loops: map[*ir.Loop]*loopInfo{}, exited: map[ir.Stmt]*ir.Var{},
	}
	p.normalized[f] = g
	pairs := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		if c, ok := s.(*ir.Call); ok {
			if list := c.Expand(names); list != nil {
				return list
			}
		}
		return []ir.Stmt{s}
	}}
	clone.Body = pairs.Block(clone.Body)
	g.boxAddressTaken()
	ir.Normalize(clone)
	clone.Body = (&flattener{g: g}).block(clone.Body)
	m := &ir.Map{Stmt: func(s ir.Stmt) []ir.Stmt {
		c, ok := s.(*ir.Call)
		if !ok {
			return []ir.Stmt{s}
		}
		d := *c
		switch r := c.Callee.Rule; {
		case r == nil:
			d.Callee = &ir.Callee{Func: p.normalize(c.Callee.Func).f}
		case r.Source != nil && slices.Contains(r.Fixed, true): // it may be looked into
			rule := *r
			rule.Source = p.normalize(r.Source).f
			d.Callee = &ir.Callee{Rule: &rule}
		}
		return []ir.Stmt{&d}
	}}
	clone.Body = m.Block(clone.Body)
	clone.Body = g.control(clone.Body)
	return g
}

// preparedOf is the prepared function that g.f is.
func (p *Program) normalFormOf(f *ir.Func) *normalForm {
	for _, g := range p.normalized {
		if g.f == f {
			return g
		}
	}
	panic(&Error{Func: f.Name, What: "it is not prepared"})
}

func (g *normalForm) local(base string, t types.Type) *ir.Var {
	return &ir.Var{Name: g.names.Name(base), Type: t}
}

func (g *normalForm) addRemark(s ir.Stmt, why string) {
	g.remarks = append(g.remarks, ignored(s.Position(), why))
}

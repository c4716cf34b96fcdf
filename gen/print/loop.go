package print

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Structured control flow as Go source: loops, scopes as switches with one case, and leaves as
// break, continue or return, with labels only if needed.

// A target is a statement that break or continue may refer to: a loop, or the switch of a scope.
type target struct {
	// loop or scope is set, the other is nil.
	loop  *ir.Loop
	scope *ir.Scope
	used  bool // whether its label is used
}

// withLabel prints a statement by print, preceded by its label if a leave inside used it.
func (p *printer) withLabel(t *target, l *ir.Label, print func()) {
	// Whether the label is needed is known only once the body is printed.
	outer := p.b.String()
	p.b.Reset()
	p.enclosing = append(p.enclosing, t)
	print()
	p.enclosing = p.enclosing[:len(p.enclosing)-1]
	text := p.b.String()
	p.b.Reset()
	p.b.WriteString(outer)
	if t.used {
		p.line("%s:", l.Name)
	}
	p.b.WriteString(text)
}

// leave prints a leave of l.
func (p *printer) leave(l *ir.Label) {
	if l == p.f.Exit {
		p.line("return")
		return
	}
	broken, continued := true, true // break, continue without a label would refer to the label so far
	for i := len(p.enclosing) - 1; i >= 0; i-- {
		t := p.enclosing[i]
		word, bare, label := "break", false, l.Name
		switch {
		case t.scope != nil && t.scope.L == l:
		case t.loop != nil && t.loop.L == l:
			bare = broken
		case t.loop != nil && t.loop.Next == l:
			word, bare, label = "continue", continued, t.loop.L.Name
		default:
			broken, continued = false, continued && t.loop == nil
			continue
		}
		if bare {
			p.line("%s", word)
			return
		}
		t.used = true
		p.line("%s %s", word, label)
		return
	}
	p.refuse("a leave of %s, which is not around it", l.Name)
}

// loop prints a loop. A leading exit test becomes the condition of the for statement. marks is the variable that is
// told where the iterations begin, if there is one.
func (p *printer) loop(s *ir.Loop, marks string) {
	body := s.Body
	if v := s.V; v == nil {
		cond := ""
		if len(body) > 1 {
			if first, ok := body[0].(*ir.If); ok && len(first.Then) == 1 && len(first.Else) == 0 {
				not, isNot := first.Cond.(*ir.Unary)
				l, isLeave := first.Then[0].(*ir.Leave)
				if isNot && not.Op == token.NOT && isLeave && l.L == s.L {
					cond, body = p.expr(not.X, types.Typ[types.Bool])+" ", body[1:]
				}
			}
		}
		p.line("for %s{", cond)
	} else {
		i, lo, hi := p.name(v), p.expr(s.Lo, nil), p.expr(s.Hi, v.Type)
		head := i + " := " + lo
		// The bound is evaluated once, before the loop.
		if !p.invariant(s.Hi, s.Body) {
			end := p.names.Name(v.Name + "End")
			head, hi = i+", "+end+" := "+lo+", "+p.expr(s.Hi, nil), end
		}
		less, step := "<", " += "+strconv.FormatInt(s.Step, 10)
		if s.Step < 0 {
			less, step = ">", " -= "+strconv.FormatInt(-s.Step, 10)
		}
		switch s.Step {
		case 1:
			step = "++"
		case -1:
			step = "--"
		}
		p.line("for %s; %s %s %s; %s%s {", head, i, less, hi, i, step)
	}
	if s.Marked {
		p.line("%s.Next()", marks)
	}
	// The end of the body is the end of the iteration, so a final continue is redundant.
	p.block(body, map[*ir.Label]bool{s.Next: true}, false)
	p.line("}")
}

// invariant reports whether e, evaluated before each iteration, has the same value in all of them
// and is cheap: a constant, or made of variables that the body does not assign and whose address is
// not taken.
func (p *printer) invariant(e ir.Expr, body ir.Block) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Load:
		return len(e.P.Path) == 0 && !p.addressed[e.P.Root] && !assigns(body, e.P.Root)
	case *ir.Len:
		return p.invariant(e.X, body)
	case *ir.Binary:
		return (e.Op == token.ADD || e.Op == token.SUB) && p.invariant(e.X, body) && p.invariant(e.Y, body)
	}
	return false
}

// assigns reports whether b assigns to v or to a part of it directly.
func assigns(b ir.Block, v *ir.Var) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, w := range ir.EffectOf(s).Writes {
			found = found || w.Root == v && !w.Indirect()
		}
		return !found
	})
	return found
}

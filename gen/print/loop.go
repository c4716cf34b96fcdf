package print

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// target is what a break or a continue goes to: a loop, or a switch in place of a scope.
type target struct {
	loop  *ir.Loop
	scope *ir.Scope
	used  bool // its label
}

func (p *printer) labelled(t *target, l *ir.Label, print func()) {
	outer := p.b.String()
	p.b.Reset()
	p.around = append(p.around, t)
	print()
	p.around = p.around[:len(p.around)-1]
	text := p.b.String()
	p.b.Reset()
	p.b.WriteString(outer)
	if t.used {
		p.line("%s:", l.Name)
	}
	p.b.WriteString(text)
}

func (p *printer) leave(l *ir.Label) {
	if l == p.f.Exit {
		p.line("return")
		return
	}
	broken, continued := true, true // nothing lies between that the word alone would mean
	for i := len(p.around) - 1; i >= 0; i-- {
		t := p.around[i]
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

func (p *printer) loop(s *ir.Loop) {
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
		if !p.stable(s.Hi, s.Body) {
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
	p.block(body, map[*ir.Label]bool{s.Next: true}, false)
	p.line("}")
}

// stable reports whether e, evaluated before each iteration, has one value throughout
// and costs nothing: it is a constant or made of variables that the body does not assign.
func (p *printer) stable(e ir.Expr, body ir.Block) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Load:
		return len(e.P.Path) == 0 && !p.written[e.P.Root] && !assigns(body, e.P.Root)
	case *ir.Len:
		return p.stable(e.X, body)
	case *ir.Binary:
		return (e.Op == token.ADD || e.Op == token.SUB) && p.stable(e.X, body) && p.stable(e.Y, body)
	}
	return false
}

// assigns reports whether b assigns to v or to a part of it.
func assigns(b ir.Block, v *ir.Var) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, w := range ir.EffectOf(s).Writes {
			found = found || w.Root == v && !w.Indirect()
		}
		return !found
	})
	return found
}

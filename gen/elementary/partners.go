package elementary

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// partners are the functions of package math whose derivatives are each other, up to signs.
var partners = map[string]string{
	"math.Sin": "math.Cos", "math.Cos": "math.Sin", "math.Sinh": "math.Cosh", "math.Cosh": "math.Sinh",
}

// ofVariable returns the function and the variable if s declares a number as a function with a partner of a variable.
func ofVariable(s ir.Stmt) (name string, x *ir.Var) {
	l, ok := s.(*ir.Let)
	if !ok {
		return "", nil
	}
	e, ok := l.E.(*ir.Math)
	if !ok || partners[e.Name] == "" {
		return "", nil
	}
	return e.Name, ir.VarOf(e.Args[0])
}

// JoinPartners returns b with declarations moved forward so that one of the sine of a variable and one of its cosine
// follow one another, in either order, if the variable keeps its value in between; the same for the hyperbolic
// functions. Addressed are the variables that pointers may write, see [Addressed].
func JoinPartners(b ir.Block, addressed map[*ir.Var]bool) (out ir.Block) {
	moved := map[int]bool{}
	for i, s := range b {
		if moved[i] {
			continue
		}
		out = append(out, s)
		name, x := ofVariable(s)
		if x == nil || x.Kind == ir.Global || addressed[x] {
			continue
		}
		for j := i + 1; j < len(b); j++ {
			if other, y := ofVariable(b[j]); y == x && other == partners[name] && !moved[j] {
				moved[j] = true
				out = append(out, b[j])
				break
			}
			if assigns(b[j], x) {
				break
			}
		}
	}
	return out
}

// assigns reports whether s or a statement in its blocks assigns to x.
func assigns(s ir.Stmt, x *ir.Var) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		for _, p := range ir.EffectOf(s).Writes {
			found = found || p.Root == x && !p.Indirect()
		}
		return !found
	})
	return found
}

// Addressed returns the variables whose address b takes, so that pointers may write them.
func Addressed(b ir.Block) map[*ir.Var]bool {
	out := map[*ir.Var]bool{}
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if _, load := e.(*ir.Load); !load {
					if p := ir.PlaceOf(e); p != nil && !p.Indirect() {
						out[p.Root] = true
					}
				}
				return true
			})
		})
		return true
	})
	return out
}

// Partners returns a map that replaces the functions that s and t call by the variables that they declare, if these are
// the sine of a variable and its cosine or the like, so that the derivative of each is the value of the other. It
// returns nil for other statements.
func Partners(s, t ir.Stmt) *ir.Map {
	name, x := ofVariable(s)
	other, y := ofVariable(t)
	if x == nil || x != y || other != partners[name] {
		return nil
	}
	values := map[string]*ir.Var{name: s.(*ir.Let).V, other: t.(*ir.Let).V}
	return &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if f, ok := e.(*ir.Math); ok && values[f.Name] != nil && ir.VarOf(f.Args[0]) == x {
			return values[f.Name].Load()
		}
		return e
	}}
}

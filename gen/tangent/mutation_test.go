package tangent_test

import (
	"fmt"
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// isShadow reports whether v is a shadow, by its name.
func isShadow(v *ir.Var) bool { return v != nil && strings.Contains(v.Name, "Dot") }

// shadowExpr reports whether e reads a shadow.
func shadowExpr(e ir.Expr) bool {
	found := false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && isShadow(p.Root) {
			found = true
		}
		return !found
	})
	return found
}

// fresh returns new memory of the length of slice e.
func fresh(e ir.Expr) ir.Expr {
	return &ir.Make{Typed: ir.Typed{T: e.Type()}, N: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: e}}
}

// target returns the place that s assigns to and the value.
func target(s ir.Stmt) (*ir.Place, ir.Expr) {
	switch s := s.(type) {
	case *ir.Let:
		return s.V.Place(), s.E
	case *ir.Set:
		return s.P, s.E
	}
	return nil, nil
}

// mutations are rules of tangents, broken: each changes a block.
var mutations = map[string]func(b ir.Block) ir.Block{
	"views have shadows of their own": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if p, e := target(s); p != nil && isShadow(p.Root) {
				switch e.(type) {
				case *ir.Slice, *ir.SliceAt:
					setValue(s, fresh(e))
				}
			}
			return true
		})
	},
	"shadows have no room": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if p, e := target(s); p != nil && isShadow(p.Root) {
				if m, ok := e.(*ir.Make); ok {
					setValue(s, &ir.Make{Typed: m.Typed, N: m.N})
				}
			}
			return true
		})
	},
	"structs are copied without their shadows": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			p, e := target(s)
			_, load := e.(*ir.Load)
			_, set := s.(*ir.Set)
			if !set || !load || !isShadow(p.Root) {
				return true
			}
			_, structure := e.Type().Underlying().(*types.Struct)
			return !structure
		})
	},
	"headers are assigned without their shadows": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			p, e := target(s)
			_, load := e.(*ir.Load)
			_, set := s.(*ir.Set)
			return !(set && load && isShadow(p.Root) && ir.HasRefs(p.Type()))
		})
	},
	"pointers move without their shadows": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			p, e := target(s)
			if x, ok := e.(*ir.Addr); ok && isShadow(p.Root) {
				setValue(s, &ir.New{Typed: x.Typed})
			}
			return true
		})
	},
	"a value is changed before its shadow": func(b ir.Block) ir.Block {
		b = each(b, func(ir.Stmt) bool { return true })
		for i := 0; i+1 < len(b); i++ {
			p, _ := target(b[i])
			q, _ := target(b[i+1])
			_, set := b[i+1].(*ir.Set)
			if set && p != nil && isShadow(p.Root) && strings.HasPrefix(p.Root.Name, q.Root.Name+"Dot") {
				b[i], b[i+1] = b[i+1], b[i]
				i++
			}
		}
		return b
	},
	"copies have no shadow":   dropped[*ir.Copy](func(s *ir.Copy) bool { return shadowExpr(s.Dst) }),
	"clearing leaves shadows": dropped[*ir.Clear](func(s *ir.Clear) bool { return shadowExpr(s.S) }),
	"sums have no shadow":     dropped[*ir.Add](func(s *ir.Add) bool { return isShadow(s.P.Root) }),
	"partial derivatives are not": dropped[*ir.Add](func(s *ir.Add) bool {
		return strings.HasPrefix(s.P.Root.Name, "d") && !isShadow(s.P.Root)
	}),
	"appended shadows are zero": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Append); ok && isShadow(s.P.Root) && !s.Spread {
				for i, e := range s.Elems {
					s.Elems[i] = &ir.Const{Typed: ir.Typed{T: e.Type()}}
				}
			}
			return true
		})
	},
	"appended slices have no shadow": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Append); ok && isShadow(s.P.Root) && s.Spread {
				s.S = &ir.Const{Typed: ir.Typed{T: s.S.Type()}}
			}
			return true
		})
	},
	"shadows of results are dropped": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Call); ok {
				for i, r := range s.Results {
					if isShadow(r) && !ir.HasRefs(r.Type) {
						s.Results[i] = nil
					}
				}
			}
			return true
		})
	},
	"shadows of arguments are zero": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Call); ok {
				for i, a := range s.Args {
					if shadowExpr(a) && ir.IsFloat(a.Type()) {
						s.Args[i] = &ir.Const{Typed: ir.Typed{T: a.Type()}}
					}
				}
			}
			return true
		})
	},
	"functions write to shadows of their own": func(b ir.Block) ir.Block {
		var out ir.Block
		for _, s := range b {
			if s, ok := s.(*ir.Call); ok {
				for i, a := range s.Args {
					if _, slice := a.Type().Underlying().(*types.Slice); slice && shadowExpr(a) {
						v := &ir.Var{Name: fmt.Sprintf("own%d_%p", i, s), Type: a.Type()}
						out = append(out, &ir.Let{V: v},
							&ir.Append{P: v.Place(), S: v.Load(), Elems: []ir.Expr{a}, Spread: true})
						s.Args[i] = v.Load()
					}
				}
			}
			out = append(out, s)
		}
		return out
	},
}

// containerMutations are rules about maps, interface values, package variables and sorting, broken.
var containerMutations = map[string]func(b ir.Block) ir.Block{
	"interface values are assigned without their shadows": dropped[*ir.Set](func(s *ir.Set) bool {
		return isShadow(s.P.Root) && isMade(s.P.Type(), "union")
	}),
	"elements are added to maps without their shadows": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Append); ok && isShadow(s.P.Root) && through(s.P, "slotMap") {
				for i, e := range s.Elems {
					if ir.IsFloat(e.Type()) {
						s.Elems[i] = &ir.Const{Typed: ir.Typed{T: e.Type()}}
					}
				}
			}
			return true
		})
	},
	"elements of maps are replaced without their shadows": dropped[*ir.Set](func(s *ir.Set) bool {
		return isShadow(s.P.Root) && through(s.P, "slotMap") && s.P.Path[len(s.P.Path)-1].Index != nil
	}),
	"maps are emptied without their shadows": dropped[*ir.Set](func(s *ir.Set) bool {
		_, zero := s.E.(*ir.Const)
		return isShadow(s.P.Root) && through(s.P, "slotMap") && zero
	}),
	"package variables are written without their shadows": dropped[*ir.Set](func(s *ir.Set) bool {
		return isShadow(s.P.Root) && (strings.HasPrefix(s.P.Root.Name, "level") ||
			strings.HasPrefix(s.P.Root.Name, "pad") || strings.HasPrefix(s.P.Root.Name, "state"))
	}),
	"sorted elements leave their shadows": func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Set); ok && isShadow(s.P.Root) {
				l, ok := s.E.(*ir.Load)
				if ok && strings.HasPrefix(l.P.Root.Name, "old") && len(l.P.Path) > 0 && len(s.P.Path) > 0 {
					s.E = ir.LoadOf(ir.Extend(l.P.Root.Place(), s.P.Path[len(s.P.Path)-1]), l.Type())
				}
			}
			return true
		})
	},
}

// isMade reports whether t is one of the types that package lower makes under a name.
func isMade(t types.Type, name string) bool {
	n, ok := t.(*types.Named)
	return ok && strings.HasPrefix(n.Obj().Name(), name)
}

// through reports whether p is a part of a value of such a type.
func through(p *ir.Place, name string) bool {
	for i := range p.Path {
		if isMade((&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type(), name) {
			return true
		}
	}
	return false
}

// each returns the statements of b for which f is true.
func each(b ir.Block, f func(s ir.Stmt) bool) ir.Block {
	var out ir.Block
	for _, s := range b {
		if f(s) {
			out = append(out, s)
		}
	}
	return out
}

func dropped[S ir.Stmt](drop func(s S) bool) func(b ir.Block) ir.Block {
	return func(b ir.Block) ir.Block {
		return each(b, func(s ir.Stmt) bool {
			t, ok := s.(S)
			return !ok || !drop(t)
		})
	}
}

func setValue(s ir.Stmt, e ir.Expr) {
	switch s := s.(type) {
	case *ir.Let:
		s.E = e
	case *ir.Set:
		s.E = e
	}
}

// mutated applies a mutation to all blocks of a tangent and of the tangents it calls.
func mutated(f *ir.Func, mutation func(b ir.Block) ir.Block, done map[*ir.Func]bool) {
	if done[f] {
		return
	}
	done[f] = true
	var change func(b ir.Block) ir.Block
	change = func(b ir.Block) ir.Block {
		for _, s := range b {
			switch s := s.(type) {
			case *ir.If:
				s.Then, s.Else = change(s.Then), change(s.Else)
			case *ir.Scope:
				s.Body = change(s.Body)
			case *ir.Loop:
				s.Body = change(s.Body)
			case *ir.Call:
				if g := s.Callee.Func; g != nil && strings.Contains(g.Name, "_tangent_") {
					mutated(g, mutation, done)
				}
			}
		}
		return mutation(b)
	}
	f.Body = change(f.Body)
}

// TestMutations requires that some random program detects each broken differentiation rule.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("differentiates many programs")
	}
	for name, mutation := range mutations {
		testMutation(t, name, randprog.Options{}, mutation)
	}
	for name, mutation := range containerMutations {
		testMutation(t, name, randprog.Options{Containers: true}, mutation)
	}
}

// likely are the first seeds that detect mutations which few programs do; the long form of the tests finds them anew.
var likely = map[string]uint64{
	"shadows have no room": 18, "a value is changed before its shadow": 38,
	"maps are emptied without their shadows": 21, "package variables are written without their shadows": 16,
}

// testMutation requires that some random program detects a broken rule.
func testMutation(t *testing.T, name string, o randprog.Options, mutation func(b ir.Block) ir.Block) {
	t.Run(name, func(t *testing.T) {
		first := likely[name]
		if longtest.Long() {
			first = 0
		}
		seed, failure, err := randprog.CatchesWith(o, 1000, first, func(c *randprog.Case, tally *randprog.Tally) error {
			p, done := tangent.New(), map[*ir.Func]bool{}
			return c.Check(func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
				t, facts, err := p.Build(f, activity.Bits(mask))
				if err != nil {
					return randprog.Tangent{}, err
				}
				mutated(t, mutation, done)
				return randprog.Tangent{F: t, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}, nil
			}, tally)
		})
		if err != nil {
			t.Fatal(err)
		}
		if failure == nil {
			t.Fatal("no program of 1000 fails")
		}
		t.Logf("found by seed %d: %.120v", seed, failure)
	})
}

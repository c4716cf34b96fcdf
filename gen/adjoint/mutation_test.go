package adjoint_test

import (
	"go/constant"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// A mutation reports whether a statement stays in an adjoint; it removes statements that some rule requires.
type mutation func(s ir.Stmt) bool

// isBar reports whether p is a cotangent or shadow.
func isBar(p *ir.Place) bool { return strings.Contains(p.Root.Name, "Bar") }

// constantAssigned returns the assigned place and the constant if s assigns one.
func constantAssigned(s ir.Stmt) (*ir.Place, constant.Value) {
	if s, ok := s.(*ir.Set); ok {
		if c, ok := s.E.(*ir.Const); ok {
			return s.P, c.Val
		}
	}
	return nil, nil
}

// isZero reports whether e is a constant 0.
func isZero(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && constant.Sign(c.Val) == 0
}

// poppedPlace returns the place to which s assigns a recorded value, or nil.
func poppedPlace(s ir.Stmt) *ir.Place {
	set, ok := s.(*ir.Set)
	if !ok {
		return nil
	}
	l, ok := set.E.(*ir.Load)
	if !ok {
		return nil
	}
	if n := len(l.P.Path); l.P.Root.Name == "ws" && n > 0 {
		if b, ok := l.P.Path[n-1].Index.(*ir.Binary); ok {
			if _, ok := b.X.(*ir.Len); ok {
				return set.P
			}
		}
	}
	if strings.HasPrefix(l.P.Root.Name, "old") && len(l.P.Path) == 0 {
		return set.P
	}
	return nil
}

// mutations maps the effect of a mutation to the mutation.
var mutations = map[string]mutation{
	"elements are not restored": func(s ir.Stmt) bool {
		p := poppedPlace(s)
		return p == nil || !p.Indirect() || isBar(p)
	},
	"variables are not restored": func(s ir.Stmt) bool {
		p := poppedPlace(s)
		return p == nil || p.Indirect() || isBar(p)
	},
	"what is in frames is not restored": func(s ir.Stmt) bool {
		set, ok := s.(*ir.Set)
		if !ok {
			return true
		}
		l, ok := set.E.(*ir.Load)
		return !ok || !strings.HasPrefix(l.P.Root.Name, "top")
	},
	"frames stay on their stacks": func(s ir.Stmt) bool {
		set, ok := s.(*ir.Set)
		if !ok || set.P.Root.Name != "ws" {
			return true
		}
		cut, ok := set.E.(*ir.Slice)
		return !ok || cut.Hi == nil || !strings.Contains(fieldName(set.P), "Frames") || isZero(cut.Hi)
	},
	"headers of shadows are not restored": func(s ir.Stmt) bool {
		p := poppedPlace(s)
		return p == nil || !isBar(p)
	},
	"adjoints of what is overwritten stay": func(s ir.Stmt) bool {
		p, v := constantAssigned(s)
		return p == nil || v == nil || !isBar(p) || v.Kind() == constant.Bool
	},
	"adjoints of copied elements stay": func(s ir.Stmt) bool {
		c, ok := s.(*ir.Clear)
		if !ok {
			return true
		}
		p := ir.PlaceOf(c.S)
		return p == nil || !isBar(p)
	},
	"no exit is noticed": func(s ir.Stmt) bool {
		p, v := constantAssigned(s)
		return p == nil || !strings.HasPrefix(p.Root.Name, "left") || v == nil || !constant.BoolVal(v)
	},
	"iterations are not counted": func(s ir.Stmt) bool {
		a, ok := s.(*ir.Add)
		return !ok || !strings.HasPrefix(a.P.Root.Name, "n") || len(a.P.Path) > 0
	},
	"memory that append leaves gets nothing back": func(s ir.Stmt) bool {
		b, ok := s.(*ir.If)
		if !ok {
			return true
		}
		c, ok := b.Cond.(*ir.Load)
		if !ok || !strings.HasPrefix(c.P.Root.Name, "moved") || len(b.Then) != 1 {
			return true
		}
		_, loop := b.Then[0].(*ir.Loop)
		return !loop
	},
	"arguments get no adjoints": func(s ir.Stmt) bool {
		a, ok := s.(*ir.Add)
		if !ok {
			return true
		}
		l, ok := a.E.(*ir.Load)
		return !ok || !strings.HasPrefix(l.P.Root.Name, "t") || !strings.HasPrefix(a.P.Root.Name, "arg")
	},
	"what was left is not brought back": func(s ir.Stmt) bool {
		c, ok := s.(*ir.Copy)
		if !ok {
			return true
		}
		p := ir.PlaceOf(c.Src)
		return p == nil || p.Root.Name != "ws"
	},
}

// mistakes maps names to mistakes of a Program.
var mistakes = map[string]struct {
	make   func(p *adjoint.Program)
	likely uint64 // the first seed that detects it
}{
	"memory is told apart by the names of types": {(*adjoint.Program).NameCells, 58},
	"prepared functions are lent":                {(*adjoint.Program).LendPrepared, 142},
}

// TestMistakesDetected checks that some random program detects each mistake.
func TestMistakesDetected(t *testing.T) {
	if testing.Short() {
		t.Skip("differentiates many programs")
	}
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			likely := mistake.likely
			if longtest.Long() {
				likely = 0
			}
			seed, failure, err := randprog.Catches(1000, likely, func(c *randprog.Case, tally *randprog.Tally) error {
				s := c.Adjoints(tangents())
				for k := range c.Inputs {
					a, _, err := buildWithMistake(c, 0, k, mistake.make)
					if err == nil {
						err = s.Check(a, tally)
					}
					if err != nil {
						return err
					}
				}
				return nil
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
}

// mutated removes the statements that m rejects from f and its callees.
func mutated(f *ir.Func, m mutation, done map[*ir.Func]bool) {
	if done[f] {
		return
	}
	done[f] = true
	var change func(b ir.Block) ir.Block
	change = func(b ir.Block) (out ir.Block) {
		for _, s := range b {
			for _, c := range ir.Blocks(s) {
				*c = change(*c)
			}
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
				mutated(c.Callee.Func, m, done)
			}
			if m(s) {
				out = append(out, s)
			}
		}
		return out
	}
	f.Body = change(f.Body)
}

// TestMutationsDetected checks that some random program detects each mutation.
func TestMutationsDetected(t *testing.T) {
	if testing.Short() {
		t.Skip("differentiates many programs")
	}
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			seed, failure, err := randprog.Catches(1000, 0, func(c *randprog.Case, tally *randprog.Tally) error {
				s := c.Adjoints(tangents())
				for k := range c.Inputs {
					a, _, err := buildAdjoint(c, adjoint.Optimizations["simplification"], k)
					if err != nil {
						return err
					}
					mutated(a.F, m, map[*ir.Func]bool{})
					if err := s.Check(a, tally); err != nil {
						return err
					}
				}
				return nil
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
}

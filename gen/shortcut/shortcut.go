package shortcut

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A Program completes functions that call one another and keeps those it has completed. It must not be used by several
// goroutines at once.
type Program struct {
	activity   *activity.Program
	strict     func(path string) bool
	needed     map[*activity.Facts]bool
	done       map[*activity.Facts]*ir.Func
	factsOf    map[*ir.Func]*activity.Facts // facts of a function as it is called, complete or not
	variants   map[variantKey]*variant
	variantOf  map[*ir.Func]*variant
	errs       map[*activity.Facts]*Error // the first branch of a function that strict refuses
	origin     map[*ir.Var]*ir.Var        // a variable → the one that it is a copy of
	unfinished map[*ir.Func]bool          // functions that are being completed
	changed    map[*activity.Facts]bool   // a branch of the function is redundant
	tried      map[*activity.Facts]bool   // needed is final
}

// New returns an empty Program. Source returns the function that is differentiated in place of a rule, or nil, as for
// [activity.NewFollowing]; it may be nil itself. In packages with paths for which strict holds, a branch on whether a
// number with derivatives equals a constant is an error if nothing shows that it is redundant. Elsewhere it stays as it
// is.
func New(source func(*ir.Rule) *ir.Func, strict func(path string) bool) *Program {
	return &Program{activity: activity.NewFollowing(source), strict: strict, needed: map[*activity.Facts]bool{},
		done: map[*activity.Facts]*ir.Func{}, factsOf: map[*ir.Func]*activity.Facts{},
		variants: map[variantKey]*variant{}, variantOf: map[*ir.Func]*variant{}, errs: map[*activity.Facts]*Error{},
		unfinished: map[*ir.Func]bool{}, changed: map[*activity.Facts]bool{}, tried: map[*activity.Facts]bool{},
		origin: map[*ir.Var]*ir.Var{}}
}

// An Error reports a branch whose derivative would not be that of the function.
type Error struct {
	Func string         // the function with the branch
	Pos  token.Position // of the branch
	What string         // the reason of the refusal
}

// remedy is the workaround for a branch in a function of a library.
const remedy = "give the function that calls it a rule with //nabla:rule, or pass the number that it compares as a " +
	"constant"

func (e *Error) Error() string { return fmt.Sprintf("%s: %s; %s", e.Func, e.What, remedy) }

// Position returns Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused returns the function, why it has no derivative, and the workaround.
func (e *Error) Refused() (function, reason, remedy_ string) { return e.Func, e.What, remedy }

// Complete returns f with complete branches, to be differentiated with respect to the given parameters; f itself if no
// branch needs that. F and the functions that it calls are not modified. The error is of type *[Error] or
// *[activity.Error].
func (p *Program) Complete(f *ir.Func, params activity.Mask) (*ir.Func, error) {
	if !mayCompare(f, map[*ir.Func]bool{}) {
		return f, nil
	}
	facts, err := p.activity.Analyze(f, params)
	if err != nil {
		return nil, err
	}
	reached, callers := p.findNeeded(facts)
	p.tryAll(reached, callers)
	g := p.complete(facts)
	for _, r := range reached {
		if err := p.errs[r]; err != nil {
			return nil, err
		}
	}
	return g, nil
}

// tryAll completes the functions of reached that no earlier call has, and discards those in which no branch is
// redundant, and that call no other, so that they stay as they are.
func (p *Program) tryAll(reached []*activity.Facts, callers map[*activity.Facts][]*activity.Facts) {
	var tried []*activity.Facts
	for _, facts := range reached {
		if p.needed[facts] && !p.tried[facts] {
			tried = append(tried, facts)
		}
	}
	for _, facts := range tried {
		p.complete(facts)
	}
	changed := map[*activity.Facts]bool{}
	var visit func(facts *activity.Facts)
	visit = func(facts *activity.Facts) {
		if !changed[facts] {
			changed[facts] = true
			for _, c := range callers[facts] {
				visit(c)
			}
		}
	}
	for _, facts := range reached {
		if p.changed[facts] {
			visit(facts)
		}
	}
	for _, facts := range tried {
		p.tried[facts], p.needed[facts] = true, changed[facts]
		delete(p.done, facts)
	}
}

// mayCompare reports whether f, or a function that it calls, compares numbers with constants for being equal. Seen are
// the functions that were visited.
func mayCompare(f *ir.Func, seen map[*ir.Func]bool) (found bool) {
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(x ir.Expr) bool {
				b, ok := x.(*ir.Binary)
				found = found || ok && (b.Op == token.EQL || b.Op == token.NEQ) && ir.IsContinuous(b.X.Type())
				return !found
			})
		})
		if c, ok := s.(*ir.Call); ok && !found {
			if c.Callee.Rule != nil {
				found = mayCompare(c.Callee.Rule.Source, seen)
			} else {
				found = mayCompare(c.Callee.Func, seen)
			}
		}
		return !found
	})
	return found
}

// findNeeded finds the functions reachable from root that compare numbers with derivatives with constants, and those
// that call them. It returns all reachable functions, and those that call each.
func (p *Program) findNeeded(root *activity.Facts) ([]*activity.Facts, map[*activity.Facts][]*activity.Facts) {
	callers := map[*activity.Facts][]*activity.Facts{}
	seen := map[*activity.Facts]bool{root: true}
	var work []*activity.Facts
	list := []*activity.Facts{root}
	for i := 0; i < len(list); i++ {
		facts := list[i]
		c := p.completer(facts, facts.Func)
		p.factsOf[facts.Func] = facts
		direct := false
		ir.Walk(facts.Func.Body, func(s ir.Stmt) bool {
			ir.EachExpr(s, func(e ir.Expr) { direct = direct || c.comparesExactly(e) })
			if call, ok := s.(*ir.Call); ok {
				if callee := facts.Callee(call); callee != nil {
					callers[callee] = append(callers[callee], facts)
					if !seen[callee] {
						seen[callee] = true
						list = append(list, callee)
					}
				}
			}
			return true
		})
		if direct {
			work = append(work, facts)
		}
	}
	visited := map[*activity.Facts]bool{}
	for len(work) > 0 {
		facts := work[len(work)-1]
		work = work[:len(work)-1]
		if visited[facts] {
			continue
		}
		visited[facts] = true
		if !p.tried[facts] {
			p.needed[facts] = true
		}
		if p.needed[facts] { // also if it was tried for another function, whose callers are others
			work = append(work, callers[facts]...)
		}
	}
	return list, callers
}

// complete returns the function of facts with complete branches.
func (p *Program) complete(facts *activity.Facts) *ir.Func {
	f := facts.Func
	if !p.needed[facts] || f.Passive {
		return f
	}
	if g := p.done[facts]; g != nil {
		return g
	}
	g := new(ir.Func)
	p.done[facts], p.factsOf[g], p.unfinished[g] = g, facts, true // before the body, for recursive calls
	*g = *f
	c := p.completer(facts, f)
	g.Body = c.block(f.Body, &frame{})
	delete(p.unfinished, g)
	return g
}

// completer returns the context in which f, a form of the function of facts, is completed.
func (p *Program) completer(facts *activity.Facts, f *ir.Func) *completer {
	c := &completer{program: p, facts: facts, f: f, names: ir.NamerOf(f), addressed: map[*ir.Var]bool{}}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(x ir.Expr) bool {
				switch x := x.(type) {
				case *ir.Addr:
					c.noteAddress(x.P)
				case *ir.SliceAt:
					c.noteAddress(x.P)
				}
				return true
			})
		})
		return true
	})
	return c
}

// copies notes that w is a copy of v.
func (c *completer) copies(w, v *ir.Var) {
	c.program.origin[w] = v
	if c.addressed[v] {
		c.addressed[w] = true
	}
}

// class returns the alias class of a variable of the function, or of a copy of one.
func (c *completer) class(v *ir.Var) any {
	for c.program.origin[v] != nil {
		v = c.program.origin[v]
	}
	return c.facts.AliasClass(v)
}

// noteAddress notes that the address of p is taken.
func (c *completer) noteAddress(p *ir.Place) {
	if !p.Indirect() {
		c.addressed[p.Root] = true
	}
}

// packagePath returns the path of the package of f, by its name if it is not declared.
func packagePath(f *ir.Func) string {
	if f.Object != nil && f.Object.Pkg() != nil {
		return f.Object.Pkg().Path()
	}
	name, _, _ := strings.Cut(strings.TrimLeft(f.Name, "(*"), "[")
	i := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[i:], ".")
	return name[:i] + last
}

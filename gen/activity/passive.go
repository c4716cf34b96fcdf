package activity

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An Error reports that a function annotated with //nabla:passive handles memory that carries derivatives, or that
// numbers behind an interface would.
type Error struct {
	Pos          token.Position // of the call
	Func         string         // the caller
	What, Remedy string         // the fault, and a change of the source that removes it
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", e.Pos, e.Func, e.What, e.Remedy)
}

// markWritten notes that memory of class c may be written.
func (f *Facts) markWritten(c *aliasClass) {
	if c = c.find(); !c.written {
		c.written, f.changed = true, true
	}
}

// noteStore notes a store to p. Only indirect places matter: a store to a variable itself is not visible to callers.
func (f *Facts) noteStore(p *ir.Place) {
	if p.Root.Kind != ir.Global && p.Indirect() {
		f.markWritten(f.classOf(p.Root))
	}
}

// noteWrites notes that the memory that e refers to may be written.
func (f *Facts) noteWrites(e ir.Expr) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		if v.Kind != ir.Global && ir.HasRefs(t) {
			f.markWritten(f.classOf(v))
		}
	})
}

// checkPassive checks the calls in f and in all functions reachable from it. Calls of passive functions must not handle
// memory that carries derivatives: numbers they write would have none, and the shadow of memory they return would be
// lost. Seen are the facts that have been checked.
func (f *Facts) checkPassive(seen map[*Facts]bool) (err error) {
	if seen[f] {
		return nil
	}
	seen[f] = true
	if err = f.checkAssertions(); err != nil {
		return err
	}
	ir.Walk(f.Func.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok && err == nil {
			if err = f.checkPassiveCall(c); err == nil && f.callees[c] != nil {
				err = f.callees[c].checkPassive(seen)
			}
		}
		return err == nil
	})
	return err
}

// checkPassiveCall checks one call. A passive function must not write to memory that carries derivatives nor return
// memory to a variable that does.
func (f *Facts) checkPassiveCall(c *ir.Call) error {
	callee := f.callees[c]
	passive := callee != nil && callee.Func.Passive || c.Callee.Rule != nil && c.Callee.Rule.Passive
	if !passive {
		return nil
	}
	name := ""
	refuse := func(what, remedy string) error {
		return &Error{Pos: c.Pos, Func: f.Func.Name, What: "passive function " + name + " " + what, Remedy: remedy}
	}
	if callee == nil {
		name = c.Callee.Rule.Name
	} else {
		name = callee.Func.Name
		for i, a := range c.Args {
			if callee.Written.Has(i) && f.refersToActive(a) {
				return refuse(fmt.Sprintf("writes memory of its argument %d, which carries derivatives", i+1),
					"return the computed values instead, or remove //nabla:passive")
			}
		}
	}
	if callee == nil && c.Callee.Rule.Stores {
		for i, a := range c.Args {
			if f.Carries(a) {
				what := "a number that carries a derivative is stored in a map that code without derivatives may see"
				remedy := "make the map in a function that is differentiated, and pass it to such functions only; or " +
					"use a slice"
				if i == 1 {
					what = "a number that carries a derivative is a key of a map"
					remedy = "use keys that depend on no argument with a derivative, such as indices"
				}
				return &Error{Pos: c.Pos, Func: f.Func.Name, What: what, Remedy: remedy}
			}
		}
	}
	for _, r := range c.Results {
		if r != nil && ir.HasRefs(r.Type) && f.Active(r) {
			return refuse(fmt.Sprintf("returns memory to %s, which carries derivatives", r.Name),
				"return a copy, or remove //nabla:passive")
		}
	}
	return nil
}

// refersToActive reports whether the value of e contains references to memory that carries derivatives.
func (f *Facts) refersToActive(e ir.Expr) (active bool) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) {
		active = active || ir.HasRefs(t) && f.Active(v)
	})
	return active
}

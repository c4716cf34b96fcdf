package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Calls removes calls without results that are used, of functions without effects, and reports whether it removed any.
// Arguments that may panic are still evaluated. The callees must be complete: an adjoint that is being built may call
// functions whose bodies are empty yet.
func Calls(f *ir.Func) bool {
	c := &callRemover{names: ir.NamerOf(f), harmless: map[*ir.Func]bool{}}
	m := &ir.Map{Stmt: c.stmt}
	body := m.Block(f.Body)
	if c.changed {
		f.Body = body
	}
	return c.changed
}

// A callRemover applies Calls to one function.
type callRemover struct {
	names    *ir.Namer
	harmless map[*ir.Func]bool // see hasNoEffect
	changed  bool
}

// stmt returns the statements that replace s.
func (c *callRemover) stmt(s ir.Stmt) []ir.Stmt {
	call, ok := s.(*ir.Call)
	if !ok || call.Callee.Func == nil {
		return []ir.Stmt{s}
	}
	for _, v := range call.Results {
		if v != nil {
			return []ir.Stmt{s}
		}
	}
	if !c.hasNoEffect(call.Callee.Func) {
		return []ir.Stmt{s}
	}
	c.changed = true
	var checks []ir.Stmt
	for _, a := range call.Args {
		if mayPanic(a) {
			v := &ir.Var{Name: c.names.Name("unused"), Type: a.Type()}
			checks = append(checks, &ir.Let{At: call.At, V: v, E: a})
		}
	}
	return checks
}

// hasNoEffect reports whether f certainly returns, and neither writes memory nor panics nor has other effects. It is
// conservative: loads from memory may panic, and of recursive functions it is not known that they return.
func (c *callRemover) hasNoEffect(f *ir.Func) bool {
	if known, ok := c.harmless[f]; ok {
		return known
	}
	c.harmless[f] = false // while f is visited: a recursive call
	harmless := true
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) { harmless = harmless && !mayPanic(e) })
		switch s := s.(type) {
		case *ir.Let, *ir.If, *ir.Scope, *ir.Leave:
		case *ir.Set, *ir.Add:
			p := ir.Target(s)
			harmless = harmless && !p.Indirect() && p.Root.Kind != ir.Global && !placeMayPanic(p)
		case *ir.Loop:
			harmless = harmless && s.V != nil
		case *ir.Call:
			harmless = harmless && s.Callee.Func != nil && c.hasNoEffect(s.Callee.Func)
		default:
			harmless = false
		}
		return harmless
	})
	c.harmless[f] = harmless
	return harmless
}

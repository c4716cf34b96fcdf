package ir

import (
	"fmt"
	"go/token"
	"go/types"
	"math"
)

// The checker verifies the invariants of the form: unique names, declaration before use, label
// scopes and the typing rules of statements. Expressions and places are in checkexpr.go. The first
// violation panics with a *CheckError, which Check returns.

// Check returns a *[CheckError] for the first invariant of this form that f violates, or nil. It
// does not check the functions that f calls, apart from the types of arguments and results.
func Check(f *Func) (err error) {
	if f == nil {
		return fmt.Errorf("ir: no function")
	}
	c := &checker{f: f, names: make(map[string]bool), vars: make(map[*Var]bool), labels: make(map[*Label]bool)}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *CheckError:
			err = e
		default:
			panic(e)
		}
	}()
	c.fn()
	return nil
}

// A CheckError describes a violation of an invariant of the form.
type CheckError struct {
	Func string
	Stmt string // first line of its text form; empty for the head of the function
	Pos  token.Position
	Rule string
}

// Error returns the function, the position, the statement and the violated rule.
func (e *CheckError) Error() string {
	s := "ir: " + e.Func + ": "
	if e.Pos.IsValid() {
		s += e.Pos.String() + ": "
	}
	if e.Stmt != "" {
		s += e.Stmt + ": "
	}
	return s + e.Rule
}

// A checker holds the state of the check of one function.
type checker struct {
	f *Func
	// stmt is the statement being checked, nil for the head.
	stmt     Stmt
	names    map[string]bool // names of variables and labels seen so far
	vars     map[*Var]bool   // variable → whether it is in scope; absent if not declared yet
	indices  map[*Var]bool   // all loop indices, which must not be assigned
	labels   map[*Label]bool // label → whether its statement encloses the current one; absent if not seen
	packages map[string]bool // names of packages whose variables are used
}

// fail panics with a CheckError for the current statement.
func (c *checker) fail(format string, args ...any) {
	e := &CheckError{Func: c.f.Name, Rule: fmt.Sprintf(format, args...)}
	if c.stmt != nil {
		e.Stmt, e.Pos = stmtText(c.stmt), c.stmt.Position()
	}
	panic(e)
}

// fn checks the head and the body of the function. That a variable has the name of a package is an
// error only if a variable of that package is used, which would then not be printable.
func (c *checker) fn() {
	f := c.f
	c.indices, c.packages = make(map[*Var]bool), make(map[string]bool)
	if f.Exit == nil {
		c.fail("no exit label")
	}
	if f.Recv && len(f.Params) == 0 {
		c.fail("a receiver without parameters")
	}
	for _, v := range f.Params {
		c.declareHead(v, Param)
	}
	if n := len(f.Params); f.Variadic && (n == 0 || ElemOf(f.Params[n-1].Type) == nil) {
		c.fail("the last parameter of a variadic function is no slice")
	}
	for _, v := range f.Results {
		c.declareHead(v, Result)
	}
	c.enter(f.Exit)
	c.block(f.Body)
	c.stmt = nil
	for name := range c.packages {
		if c.names[name] {
			c.fail("variable %s has the name of the package of another", name)
		}
	}
}

// declareHead declares a parameter or result and checks its kind.
func (c *checker) declareHead(v *Var, kind VarKind) {
	if v != nil && v.Kind != kind {
		c.fail("%s has the wrong kind", v.Name)
	}
	c.declare(v)
}

// declare puts v in scope. A variable has one declaration and a unique name.
func (c *checker) declare(v *Var) {
	if v == nil {
		c.fail("no variable")
	}
	if _, ok := c.vars[v]; ok {
		c.fail("%s is declared twice", v.Name)
	}
	c.name(v.Name)
	c.typ(v.Type)
	c.vars[v] = true
}

// name checks that a name is valid and not in use, and marks it used.
func (c *checker) name(name string) {
	if !validName(name) {
		c.fail("%q cannot be a name", name)
	}
	if c.names[name] {
		c.fail("the name %s is not unique", name)
	}
	c.names[name] = true
}

// enter makes l a label of the current statement; every label belongs to one statement.
func (c *checker) enter(l *Label) {
	if l == nil {
		c.fail("no label")
	}
	if _, ok := c.labels[l]; ok {
		c.fail("label %s is of two statements", l.Name)
	}
	c.name(l.Name)
	c.labels[l] = true
}

// block checks the statements of b. The scope of the variables they declare ends with the block.
func (c *checker) block(b Block) {
	var declared []*Var
	for i, s := range b {
		c.stmt = s
		if s == nil {
			c.fail("no statement")
		}
		if let, ok := s.(*Let); ok {
			declared = append(declared, let.V)
		}
		switch s.(type) {
		case *Leave, *Panic:
			if i != len(b)-1 {
				c.fail("a leave must be the last statement of its block")
			}
		}
		c.checkStmt(s)
	}
	for _, v := range declared {
		c.vars[v] = false
	}
}

// checkStmt checks one statement and its blocks.
func (c *checker) checkStmt(s Stmt) {
	switch s := s.(type) {
	case *Let:
		if s.V != nil && s.V.Kind != Local {
			c.fail("%s is no local variable", s.V.Name)
		}
		if s.E != nil {
			c.initializer(s.E)
			c.assignable(s.E, typeOfVar(s.V))
		}
		c.declare(s.V)
	case *Set:
		t := c.target(s.P)
		c.initializer(s.E)
		c.assignable(s.E, t)
	case *Add:
		t := c.target(s.P)
		c.value(s.E)
		if !isNumber(t) {
			c.fail("+= is of numbers")
		}
		if !same(t, s.E.Type()) {
			c.fail("%s is no %s", c.show(s.E), typeText(t))
		}
		if mayRead(s.E, s.P) {
			c.fail("the added value reads the place that it is added to")
		}
	case *Call:
		c.call(s)
	case *Append:
		c.appendStmt(s)
	case *Copy:
		c.value(s.Dst)
		c.value(s.Src)
		d := ElemOf(s.Dst.Type())
		if d == nil || !same(d, ElemOf(s.Src.Type())) && !(IsString(s.Src.Type()) && isByte(d)) {
			c.fail("copy is between slices of one type")
		}
		if s.N != nil {
			c.assignableVar(s.N)
			if !same(s.N.Type, types.Typ[types.Int]) {
				c.fail("the number of copied elements is an int")
			}
		}
	case *Clear:
		c.value(s.S)
		if ElemOf(s.S.Type()) == nil {
			c.fail("clear is of a slice")
		}
	case *Batch:
		c.batch(s)
	case *If:
		c.boolean(s.Cond)
		c.block(s.Then)
		c.block(s.Else)
	case *Scope:
		c.enter(s.L)
		c.block(s.Body)
		c.labels[s.L] = false
	case *Loop:
		c.loop(s)
	case *Leave:
		if s.L == nil || !c.labels[s.L] {
			c.fail("%s is no label around", labelName(s.L))
		}
	case *Panic:
		c.value(s.E)
	default:
		c.fail("%T is no statement", s)
	}
}

// loop checks the bounds in the scope outside the loop, and the body in that of its index.
func (c *checker) loop(s *Loop) {
	if s.V != nil {
		if !IsInteger(s.V.Type) || s.V.Kind != Local {
			c.fail("the index of a loop is a local integer")
		}
		c.value(s.Lo)
		c.value(s.Hi)
		c.assignable(s.Lo, s.V.Type)
		c.assignable(s.Hi, s.V.Type)
		if s.Step == 0 || s.Step == math.MinInt64 {
			c.fail("a loop has a step other than 0")
		}
		c.declare(s.V)
		c.indices[s.V] = true
	} else if s.Lo != nil || s.Hi != nil || s.Step != 0 {
		c.fail("a loop without an index has bounds")
	}
	c.enter(s.L)
	c.enter(s.Next)
	c.block(s.Body)
	c.labels[s.L], c.labels[s.Next] = false, false
	if s.V != nil {
		c.vars[s.V] = false
	}
}

// call checks the arguments and results of a call against the signature of the callee. A rule
// without an object, as in tests of the text form, is not checked.
func (c *checker) call(s *Call) {
	f := s.Callee
	if f == nil || (f.Func == nil) == (f.Rule == nil) {
		c.fail("a call is of a function or of a rule")
	}
	for _, a := range s.Args {
		c.value(a)
	}
	seen := make(map[*Var]bool)
	for _, v := range s.Results {
		if v != nil {
			c.assignableVar(v)
			if seen[v] {
				c.fail("two results go to %s", v.Name)
			}
			seen[v] = true
		}
	}
	var params, results []types.Type
	switch {
	case f.Func != nil:
		for _, v := range f.Func.Params {
			params = append(params, v.Type)
		}
		for _, v := range f.Func.Results {
			results = append(results, v.Type)
		}
	case f.Rule.Object == nil:
		return
	default:
		sig := f.Rule.Object.Signature()
		if r := sig.Recv(); r != nil {
			params = append(params, r.Type())
		}
		for v := range sig.Params().Variables() {
			params = append(params, v.Type())
		}
		for v := range sig.Results().Variables() {
			results = append(results, v.Type())
		}
	}
	if len(s.Args) != len(params) {
		c.fail("a call with %d arguments of a function of %d", len(s.Args), len(params))
	}
	for i, a := range s.Args {
		c.assignable(a, params[i])
	}
	if len(s.Results) != len(results) && len(s.Results) != 0 {
		c.fail("%d variables for %d results", len(s.Results), len(results))
	}
	for i, v := range s.Results {
		if v != nil && !types.AssignableTo(results[i], v.Type) {
			c.fail("a result of type %s for %s of type %s", typeText(results[i]), v.Name, typeText(v.Type))
		}
	}
}

// appendStmt checks that the slice is assignable to the place and the elements to the slice.
func (c *checker) appendStmt(s *Append) {
	t := c.target(s.P)
	c.value(s.S)
	of := ElemOf(s.S.Type())
	if of == nil {
		c.fail("append is to a slice")
	}
	if !types.AssignableTo(s.S.Type(), t) {
		c.fail("a %s is assigned to a %s", typeText(s.S.Type()), typeText(t))
	}
	for _, e := range s.Elems {
		c.value(e)
		if !s.Spread {
			c.assignable(e, of)
		}
	}
	if s.Spread {
		if len(s.Elems) != 1 {
			c.fail("one slice is appended")
		}
		x := s.Elems[0].Type()
		if !same(ElemOf(x), of) && !(IsString(x) && isByte(of)) {
			c.fail("a %s is appended to a %s", typeText(x), typeText(s.S.Type()))
		}
	}
}

// isByte reports whether the underlying type of t is uint8.
func isByte(t types.Type) bool {
	b := basic(t)
	return b != nil && b.Kind() == types.Uint8
}

// typeOfVar returns the type of v, nil if v is nil.
func typeOfVar(v *Var) types.Type {
	if v == nil {
		return nil
	}
	return v.Type
}

// inScope checks that v is declared and in scope. Package-level variables are always in scope.
func (c *checker) inScope(v *Var) {
	if v == nil {
		c.fail("no variable")
	}
	if v.Kind == Global {
		c.typ(v.Type)
		c.packages[packageOf(v)] = true
		return
	}
	switch in, ok := c.vars[v]; {
	case !ok:
		c.fail("%s is not declared", v.Name)
	case !in:
		c.fail("%s is not in scope", v.Name)
	}
}

// packageOf returns the package in the name of a Global.
func packageOf(v *Var) string {
	for i, r := range v.Name {
		if r == '.' {
			return v.Name[:i]
		}
	}
	return ""
}

// assignableVar checks that v is in scope and may be assigned as a whole.
func (c *checker) assignableVar(v *Var) {
	c.inScope(v)
	c.writable(v)
}

// writable checks that v is neither a loop index nor a package-level variable.
func (c *checker) writable(v *Var) {
	if c.indices[v] {
		c.fail("%s is the index of a loop and not assigned to", v.Name)
	}
	if v.Kind == Global {
		c.fail("%s is of a package and not assigned to", v.Name)
	}
}

// target checks a place that is assigned to and returns its type.
func (c *checker) target(p *Place) types.Type {
	t := c.place(p)
	c.writable(p.Root)
	if c.inString(p) {
		c.fail("an element of a string is not assigned to")
	}
	return t
}

// inString reports whether p is an element of a string.
func (c *checker) inString(p *Place) bool {
	n := len(p.Path)
	return n > 0 && IsString(p.prefix(n-1).Type())
}

// assignable checks that e is assignable to a variable of type t by Go's rules.
func (c *checker) assignable(e Expr, t types.Type) {
	if t == nil || !types.AssignableTo(e.Type(), t) {
		c.fail("%s of type %s is assigned to a %s", c.show(e), typeText(e.Type()), typeText(t))
	}
}

// show returns e for messages.
func (c *checker) show(e Expr) string { return exprText(e) }

// typeText returns t with packages by name, for messages.
func typeText(t types.Type) string {
	if t == nil {
		return "?"
	}
	return types.TypeString(t, (*types.Package).Name)
}

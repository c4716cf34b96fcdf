package ir

import (
	"fmt"
	"go/token"
	"go/types"
	"math"
)

// Check reports the first rule of this form that f breaks, with the statement that
// breaks it. It says nothing of the functions that f calls.
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

// CheckError says what is wrong with a function.
type CheckError struct {
	Func string
	Stmt string // in the text form, its first line; empty for the head of the function
	Pos  token.Position
	Rule string
}

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

type checker struct {
	f        *Func
	stmt     Stmt
	names    map[string]bool // that are taken
	vars     map[*Var]bool   // true while in scope, false after
	indices  map[*Var]bool   // of loops around
	labels   map[*Label]bool // true around what is checked, false after
	packages map[string]bool // of variables of packages
}

func (c *checker) fail(format string, args ...any) {
	e := &CheckError{Func: c.f.Name, Rule: fmt.Sprintf(format, args...)}
	if c.stmt != nil {
		e.Stmt, e.Pos = stmtText(c.stmt), c.stmt.Position()
	}
	panic(e)
}

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
		c.head(v, Param)
	}
	if n := len(f.Params); f.Variadic && (n == 0 || elem(f.Params[n-1].Type) == nil) {
		c.fail("the last parameter of a variadic function is no slice")
	}
	for _, v := range f.Results {
		c.head(v, Result)
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

func (c *checker) head(v *Var, kind VarKind) {
	if v != nil && v.Kind != kind {
		c.fail("%s has the wrong kind", v.Name)
	}
	c.declare(v)
}

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

func (c *checker) name(name string) {
	if !usable(name) {
		c.fail("%q cannot be a name", name)
	}
	if c.names[name] {
		c.fail("the name %s is not unique", name)
	}
	c.names[name] = true
}

// typ wants a type that values have.
func (c *checker) typ(t types.Type) {
	if t == nil {
		c.fail("something has no type")
	}
	if _, ok := t.(*types.Tuple); ok {
		c.fail("a list of types is no type")
	}
	if b := basic(t); b != nil {
		switch {
		case b.Info()&types.IsUntyped != 0:
			c.fail("the type %s is untyped", b)
		case b.Info()&types.IsComplex != 0:
			c.fail("complex numbers are not in this form")
		case b.Kind() == types.Invalid:
			c.fail("a type is invalid")
		}
	}
}

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

// block checks statements and ends the scope of what they declare.
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
				c.fail("what leaves stands last in its block")
			}
		}
		c.one(s)
	}
	for _, v := range declared {
		c.vars[v] = false
	}
}

func (c *checker) one(s Stmt) {
	switch s := s.(type) {
	case *Let:
		if s.V != nil && s.V.Kind != Local {
			c.fail("%s is no local variable", s.V.Name)
		}
		if s.E != nil {
			c.top(s.E)
			c.assignable(s.E, typeOfVar(s.V))
		}
		c.declare(s.V)
	case *Set:
		t := c.target(s.P)
		c.top(s.E)
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
			c.fail("what is added reads what it is added to")
		}
	case *Call:
		c.call(s)
	case *Append:
		c.appendStmt(s)
	case *Copy:
		c.value(s.Dst)
		c.value(s.Src)
		d := elem(s.Dst.Type())
		if d == nil || !same(d, elem(s.Src.Type())) && !(isString(s.Src.Type()) && isByte(d)) {
			c.fail("copy is between slices of one type")
		}
		if s.N != nil {
			c.assigned(s.N)
			if !same(s.N.Type, types.Typ[types.Int]) {
				c.fail("the number of copied elements is an int")
			}
		}
	case *Clear:
		c.value(s.S)
		if elem(s.S.Type()) == nil {
			c.fail("clear is of a slice")
		}
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

func (c *checker) loop(s *Loop) {
	if s.V != nil {
		if !isInteger(s.V.Type) || s.V.Kind != Local {
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
			c.assigned(v)
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

func (c *checker) appendStmt(s *Append) {
	t := c.target(s.P)
	c.value(s.S)
	of := elem(s.S.Type())
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
		if !same(elem(x), of) && !(isString(x) && isByte(of)) {
			c.fail("a %s is appended to a %s", typeText(x), typeText(s.S.Type()))
		}
	}
}

func isByte(t types.Type) bool {
	b := basic(t)
	return b != nil && b.Kind() == types.Uint8
}

func typeOfVar(v *Var) types.Type {
	if v == nil {
		return nil
	}
	return v.Type
}

// known wants a variable that may be used here.
func (c *checker) known(v *Var) {
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

func packageOf(v *Var) string {
	for i, r := range v.Name {
		if r == '.' {
			return v.Name[:i]
		}
	}
	return ""
}

// assigned wants a variable that may be assigned to as a whole.
func (c *checker) assigned(v *Var) {
	c.known(v)
	c.writable(v)
}

func (c *checker) writable(v *Var) {
	if c.indices[v] {
		c.fail("%s is the index of a loop and not assigned to", v.Name)
	}
	if v.Kind == Global {
		c.fail("%s is of a package and not assigned to", v.Name)
	}
}

// target wants a place to assign to and gives its type.
func (c *checker) target(p *Place) types.Type {
	t := c.place(p)
	c.writable(p.Root)
	if c.inString(p) {
		c.fail("an element of a string is not assigned to")
	}
	return t
}

func (c *checker) inString(p *Place) bool {
	n := len(p.Path)
	return n > 0 && isString(p.prefix(n-1).Type())
}

func (c *checker) assignable(e Expr, t types.Type) {
	if t == nil || !types.AssignableTo(e.Type(), t) {
		c.fail("%s of type %s is assigned to a %s", c.show(e), typeText(e.Type()), typeText(t))
	}
}

func (c *checker) show(e Expr) string { return exprText(e) }

func typeText(t types.Type) string {
	if t == nil {
		return "?"
	}
	return types.TypeString(t, (*types.Package).Name)
}

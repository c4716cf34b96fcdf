package lower

import (
	"go/ast"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Function values. They are resolved statically where that is possible (closure conversion by specialization): a
// function that is called with a function value is copied for it, and captured variables become parameters, by
// reference if they are shared and modified. Other function values are in memory, see stored.go.

// A funcValue is a function value that is known statically, a declared function, a method bound to
// a receiver, a closure, or nil, or a value in memory. Its captured places belong to the function being lowered.
type funcValue struct {
	// fn, d and targs are the declared function or method with its type arguments; fn is nil for
	// literals.
	fn    *types.Func
	d     *decl
	targs []types.Type

	lit  *ast.FuncLit
	home *lowerer // lowerer of the function that contains the literal
	id   string   // unique for each literal in each specialization of its function

	// captures are the captured variables, in the order of the parameters they become.
	captures []capture
	// null is set for nil, which may be compared but not called.
	null bool
	loop *rangeFunc // for the yield parameter of an iterator: the loop whose body a call runs
	// inherited is set if the captured variables are copies, made for a call.
	inherited bool

	// dynamicType is set for an interface value of known type instead, which specialises callees as
	// a function does.
	dynamicType types.Type

	choice  *types.Signature // for one of several functions: its type, see newChoice
	dynamic types.Type       // for one of several interface values: its type, see newDynamicChoice
	boxed   types.Type       // for an interface value: the type of the value in it, which is captured
	table   *funcTable       // for a slice, an array or a map of functions
	stored  types.Type       // for a value in memory, which is captured: its type
}

// A capture is a variable that a function value refers to.
type capture struct {
	// object is the variable, nil for the receiver of a bound method.
	object types.Object
	// name and t are the base name and the type of the parameter for the variable.
	name string
	t    types.Type
	// place is the variable in the function being lowered.
	place *ir.Place
	// reference reports that the variable is captured by pointer, as closures modify it.
	reference   bool
	value       *funcValue // set for a variable of function type
	dynamicType types.Type // set for a variable of interface type
	self        bool       // the variable that the closure itself is bound to, for recursion
}

// key returns a string that identifies the function, without the values it captures: two function
// values with one key share specializations.
func (v *funcValue) key(p *Program) string {
	if v == nil {
		return ""
	}
	if v.null {
		return "nil"
	}
	if v.dynamicType != nil {
		return p.typeKey(v.dynamicType)
	}
	// Functions captured by a closure determine its meaning, captured values do not.
	key := v.id
	if v.loop != nil {
		key = v.loop.name()
	}
	switch {
	case v.fn != nil:
		key = p.instanceKey(v.fn, v.targs)
	case v.choice != nil:
		key = "choice"
	case v.dynamic != nil:
		key = "dynamic"
	case v.boxed != nil:
		key = "boxed " + p.typeKey(v.boxed)
	case v.stored != nil:
		key = "stored " + p.typeKey(v.stored)
	case v.table != nil:
		key = "table"
		for _, k := range v.table.keys {
			key += " " + k.ExactString()
		}
	}
	for _, c := range v.captures {
		if c.value != nil {
			key += "{" + c.value.key(p) + "}"
		}
	}
	return key
}

// name returns a part of the names of specializations for the function.
func (v *funcValue) name() string {
	switch {
	case v.null:
		return "nil"
	case v.dynamicType != nil:
		return mangle(typeText(v.dynamicType))
	case v.fn != nil:
		return mangle(baseName(v.fn))
	case v.loop != nil:
		return "yield"
	case v.choice != nil, v.dynamic != nil:
		return "choice"
	case v.boxed != nil:
		return mangle(typeText(v.boxed))
	case v.table != nil:
		return "table"
	case v.stored != nil:
		return "stored"
	}
	return mangle(v.home.f.Name) + "_func"
}

// function returns the function value that e denotes, one in memory if it is not known statically; nil if it is refused
// or its form is not supported.
func (l *lowerer) function(e ast.Expr) *funcValue {
	n := len(l.e.refusals)
	if v := l.staticFunction(e); v != nil || len(l.e.refusals) > n {
		return v
	}
	return l.storedValue(e)
}

// staticFunction returns the function value that e denotes, or nil if it is not known.
func (l *lowerer) staticFunction(e ast.Expr) *funcValue {
	e = ast.Unparen(e)
	if l.info.Types[e].IsNil() {
		return &funcValue{null: true}
	}
	switch x := e.(type) {
	case *ast.FuncLit:
		return l.closure(x, nil)
	case *ast.CallExpr:
		if len(x.Args) == 1 && l.info.Types[x.Fun].IsType() {
			return l.function(x.Args[0])
		}
		return l.inlineFactory(x)
	case *ast.Ident:
		if o, ok := l.info.ObjectOf(x).(*types.Var); ok {
			if b := l.env[o]; b != nil && b.alternatives != nil {
				return l.copyChoice(x, b.value)
			} else if b != nil {
				return b.value
			}
			return l.constantFunction(x)
		}
	case *ast.SelectorExpr:
		if s := l.info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
			return l.bound(x, s)
		}
		if _, ok := l.info.Uses[x.Sel].(*types.Var); ok {
			return l.constantFunction(x)
		}
	case *ast.IndexExpr:
		if isFuncTable(l.typeOf(x.X)) {
			t := l.tableValue(x.X)
			if t == nil {
				return nil
			}
			return l.element(x, t, x.Index)
		}
	}
	fn, targs := staticFunc(l.info, e)
	if fn == nil {
		return nil
	}
	return &funcValue{fn: fn.Origin(), d: l.p.decls[fn.Origin()], targs: l.substAll(targs)}
}

// constantFunction returns the function in a package variable that is never written, or in a field of one; nil if e is
// none or the function is not known.
func (l *lowerer) constantFunction(e ast.Expr) *funcValue {
	in, x := l.p.constantExpr(l.d.pkg, e)
	if in == nil {
		return nil
	}
	return in.knownFunction(x)
}

// bound returns the method value x.M, whose receiver is copied when it is evaluated.
func (l *lowerer) bound(x *ast.SelectorExpr, s *types.Selection) *funcValue {
	c := l.method(x, s)
	if c.kind != declared || l.p.decls[c.fn] == nil {
		return nil
	}
	t := substitutionOf(c.fn, c.targs).apply(c.fn.Signature().Recv().Type())
	v := l.temp(x, "recv", t, l.receiver(c, t))
	return &funcValue{fn: c.fn, d: l.p.decls[c.fn], targs: c.targs,
		captures: []capture{{name: "recv", t: t, place: &ir.Place{Root: v}}}}
}

// closure returns the value of a function literal with its captured variables. self is the variable
// that it is about to be bound to, if any.
func (l *lowerer) closure(lit *ast.FuncLit, self types.Object) *funcValue {
	v := &funcValue{lit: lit, home: l, id: l.p.loweredKey(l.f) + "@" + strconv.Itoa(int(lit.Pos()))}
	if l.copyNumber > 0 {
		v.id += "#" + strconv.Itoa(l.copyNumber)
	}
	seen := map[types.Object]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := l.info.Uses[id].(*types.Var)
		if !ok || o.IsField() || seen[o] || o.Pos() >= lit.Pos() && o.Pos() < lit.End() {
			return true
		}
		seen[o] = true
		c := capture{object: o, name: o.Name(), t: l.subst.apply(o.Type())}
		switch b := l.env[o]; {
		case o == self:
			c.self = true
		case b == nil:
			return true // package-level, or of unknown function type, whose use is refused
		case b.value != nil:
			c.value = b.value
		case b.dynamicType != nil:
			c.place, c.t, c.dynamicType = b.place, b.dynamicType, b.dynamicType
		default:
			c.place, c.reference = b.place, l.facts.byReference(o)
		}
		v.captures = append(v.captures, c)
		return true
	})
	return v
}

// captured returns arguments for the captured variables of v, in the order of inherit's parameters.
func (l *lowerer) captured(v *funcValue) (args []ir.Expr) {
	if v == nil {
		return nil
	}
	for _, c := range v.captures {
		switch {
		case c.self:
		case c.value != nil:
			args = append(args, l.captured(c.value)...)
		case c.reference:
			args = append(args, l.address(v.lit, c.place))
		default:
			args = append(args, ir.LoadOf(c.place, c.t))
		}
	}
	return args
}

// inherit returns v as seen by a function it is passed to, to which it adds a parameter for each
// captured variable.
func (l *lowerer) inherit(v *funcValue) *funcValue {
	u := *v
	u.inherited = true
	u.captures = make([]capture, len(v.captures))
	for i, c := range v.captures {
		switch {
		case c.self:
		case c.value != nil:
			c.value = l.inherit(c.value)
		default:
			t := c.t
			if c.reference {
				t = types.NewPointer(t)
			}
			p := &ir.Var{Name: l.names.fresh(c.name), Type: t, Kind: ir.Param, Pos: l.f.Pos}
			l.f.Params = append(l.f.Params, p)
			c.place = &ir.Place{Root: p}
			if c.reference {
				c.place = ir.Extend(c.place, ir.DerefStep())
			}
		}
		u.captures[i] = c
	}
	return &u
}

// callValue returns the callee and the arguments of a call of v, nil if it is refused.
func (l *lowerer) callValue(call *ast.CallExpr, v *funcValue) (*ir.Callee, []ir.Expr) {
	return l.callValueWith(call, v, nil)
}

// callValueWith is [lowerer.callValue] with the given arguments, those of the call if given is nil.
func (l *lowerer) callValueWith(call *ast.CallExpr, v *funcValue, given *operands) (*ir.Callee, []ir.Expr) {
	if v.null {
		l.refuse(call, "call of nil", "the function is nil here", "")
		return nil, nil
	}
	if v.fn != nil {
		if len(v.captures) == 0 {
			return l.callDeclared(call, callee{kind: declared, fn: v.fn, targs: v.targs, given: given})
		}
		s := substitutionOf(v.fn, v.targs)
		rest, values := l.operands(callee{given: given}, call, call.Args, v.fn.Signature(), s)
		return l.instance(call, v.d, v.targs, values, append(l.captured(v), rest...), nil)
	}
	sig := v.signature()
	args, values := l.operands(callee{given: given}, call, call.Args, sig, v.home.subst)
	for i, u := range values {
		if u == nil && isFuncType(v.home.subst.apply(sig.Params().At(i).Type())) {
			return nil, nil // refused
		}
		args = append(args, l.captured(u)...)
	}
	e := l.p.literal(v, sig, values)
	if e == nil {
		l.refuse(call, "call of a closure", "it would need infinitely many specialisations",
			"bound the recursion")
		return nil, nil
	}
	l.e.calls = append(l.e.calls, callSite{e, l.pos(call)})
	return &ir.Callee{Func: e.f}, append(args, l.captured(v)...)
}

// literal returns the specialization of a function literal for function arguments. Its last
// parameters are its captured variables. It returns nil if there would be infinitely many.
func (p *Program) literal(v *funcValue, sig *types.Signature, values []*funcValue) *specialization {
	key := v.key(p)
	for _, u := range values {
		key += "(" + u.key(p) + ")"
	}
	if e := p.specializations[key]; e != nil {
		return e
	}
	if len(key) > maxKeyLength {
		return nil
	}
	e := &specialization{f: p.function(v.home.f.Package, v.home.f.Name+"_func", p.fset.Position(v.lit.Pos())),
		foreign: !v.home.d.canGenerate}
	p.specializations[key] = e
	l := p.lowerer(e, v.home.d, v.home.subst)
	if l.signature(sig, values) {
		l.f.Variadic = false
		// Calls of the closure within itself pass on the captured variables it received.
		self := l.inherit(v)
		for _, c := range self.captures {
			switch {
			case c.self:
				l.env[c.object] = &binding{value: self}
			case c.value != nil:
				l.env[c.object] = &binding{value: c.value}
			default:
				l.env[c.object] = &binding{place: c.place, dynamicType: c.dynamicType}
			}
		}
		l.body(v.lit.Body)
	}
	p.done[e.f] = true
	return e
}

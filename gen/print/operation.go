package print

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Operations over Reals: calls of package realrule, with the rule as function literals. For
//
//	//nabla:rule tangent=stepTangent pullback=stepPullback
//	func step(x []float64, h float64, n int) (err float64)
//
// a call is
//
//	frame := realrule.Frame[nabla.Real]{
//		Numbers: []nabla.Real{h},
//		Slices:  [][]nabla.Real{x},
//		Results: make([]nabla.Real, 1),
//	}
//	stepOp.Call(&frame, [...]any{n}, func() realrule.Rule {
//		return realrule.Rule{
//			Name:   "path.step",
//			Writes: []bool{true},
//			Value: func(f *realrule.Frame[float64]) {
//				f.Results[0] = step(f.Slices[0], f.Numbers[0], n)
//			},
//			…
//		}
//	})
//	err := frame.Results[0]

// operationPath is the path of the package with the operations.
const operationPath = runtimePath + "/realrule"

// An operand is an argument or a result of an operation, or a part of one.
type operand struct {
	t, real types.Type // over floats and over Reals
	at      int        // position among the numbers, slices or results; negative if it holds no number
	memory  bool       // it is a slice, or an array, which is passed as a slice
	fields  []*operand // of a struct, nil for a blank field
	text    string     // the value of an argument without numbers, or the argument that a result is
}

// An operationPrinter prints one operation.
type operationPrinter struct {
	*printer
	op                   *ir.Operation
	shape                *ir.Shape
	numbers, slices      []string // the arguments' numbers and slices over Reals
	writes               []string // by slice
	data                 []string // the arguments without derivative
	results              int      // numbers among the results
	params, resultsParts []*operand
	from, to             string // frames of the arguments and of the derivatives in the literal being printed
	primal, derivative   string // names of the frames in literals
	variables            []string
}

// operation prints a call of an operation, with results assigned by op.
func (p *printer) operation(s *ir.Call, op string) {
	if v := s.Callee.Rule.Operation.Of.Declared; v != nil {
		p.declaredOperation(s, v, op)
		return
	}
	o := &operationPrinter{printer: p, op: s.Callee.Rule.Operation, shape: s.Callee.Rule.Operation.Of.Shape()}
	for i, v := range o.shape.Params {
		o.params = append(o.params, o.argument(v.Type(), s.Args[i].Type(), p.expr(s.Args[i], nil), i))
	}
	sig := s.Callee.Rule.Object.Signature()
	for i, v := range o.shape.Results {
		o.resultsParts = append(o.resultsParts, o.result(v.Type(), sig.Results().At(i).Type(), i))
	}
	frame := p.names.Name("frame")
	o.primal, o.derivative = p.names.Name("f"), p.names.Name("d")
	name := p.operations[p.f]
	p.line("%s := %s[%s]{", frame, o.realrule("Frame"), p.nabla("Real"))
	o.list("Numbers: []"+p.nabla("Real"), o.numbers)
	o.list("Slices: [][]"+p.nabla("Real"), o.slices)
	if o.results > 0 {
		p.line("Results: make([]%s, %d),", p.nabla("Real"), o.results)
	}
	p.line("}")
	p.line("%s.Call(&%s, [...]any{%s}, func() %s {", name, frame, strings.Join(o.data, ", "), o.realrule("Rule"))
	o.rule()
	p.line("})")
	for i, v := range s.Results {
		if v != nil {
			p.line("%s %s %s", p.name(v), op, o.load(o.resultsParts[i], frame, "Results", true))
		}
	}
}

// declaredOperation prints a call of an operation that the variable rule, a nabla.Rule, declares. The arguments are
// numbers or a slice, and the results numbers, or are written to a slice before the argument.
func (p *printer) declaredOperation(s *ir.Call, rule *types.Var, op string) {
	if !p.visible(rule) {
		p.refuse("the rule %s of package %s, which is not exported; rules are exported where other packages call "+
			"their functions", rule.Name(), rule.Pkg().Path())
	}
	var args []string
	for _, a := range s.Args {
		text := p.expr(a, nil)
		switch t := a.Type(); {
		case ir.IsInteger(t):
			text = p.nabla("Const") + "(float64(" + text + "))"
		case types.Identical(t, types.Typ[types.Float64]): // without derivative
			text = p.nabla("Const") + "(" + text + ")"
		}
		args = append(args, text)
	}
	y, x := "", ""
	switch _, slice := s.Args[len(s.Args)-1].Type().Underlying().(*types.Slice); {
	case slice && len(args) == 2:
		y, x = args[0], args[1]
	case slice:
		x = args[0]
	default:
		x = "[]" + p.nabla("Real") + "{" + strings.Join(args, ", ") + "}"
	}
	if y == "" {
		y = p.names.Name("y")
		p.line("%s := make([]%s, %d)", y, p.nabla("Real"), len(s.Results))
	}
	name, r := p.qualified(rule.Pkg(), rule.Name()), p.names.Name("r")
	if key := s.Callee.Rule.Operation.Of.Entry; key != "" {
		name += "[" + strconv.Quote(key) + "]"
	}
	p.line("%s.Call(func() %s {", p.operations[p.f], p.nabla("Rule"))
	o := s.Callee.Rule.Operation
	if o.Tangent == nil && o.Pullback == nil {
		p.line("return %s", name)
	} else {
		p.line("%s := %s", r, name)
		if o.Tangent != nil {
			p.line("%s.JVPReal = %s", r, p.file.names[o.Tangent])
		}
		if o.Pullback != nil {
			p.line("%s.VJPReal = %s", r, p.file.names[o.Pullback])
		}
		if o.Pure {
			p.line("%s.Pure = true", r)
		}
		p.line("return %s", r)
	}
	p.line("}, %s, %s)", y, x)
	for i, v := range s.Results {
		if v != nil {
			p.line("%s %s %s[%d]", p.name(v), op, y, i)
		}
	}
}

// operationOf returns the operation that f performs, nil if it performs none.
func operationOf(f *ir.Func) (op *ir.Operation) {
	for _, s := range f.Body {
		if c, ok := s.(*ir.Call); ok && c.Callee.Rule != nil && c.Callee.Rule.Operation != nil {
			op = c.Callee.Rule.Operation
		}
	}
	return op
}

// nameOperations names the variables that hold the rules of operations.
func (f *file) nameOperations() {
	for _, fn := range f.list {
		if operationOf(fn.Func) != nil {
			f.operations[fn.Func] = f.freshName(f.names[fn.Func] + "Op")
		}
	}
}

// declareOperation declares the variable with the rules of the operation that the function performs.
func (p *printer) declareOperation() {
	name, ok := p.operations[p.f]
	if !ok {
		return
	}
	kind, what := "Operation", "the rules of "+p.file.names[p.f]
	if v := operationOf(p.f).Of.Declared; v != nil {
		kind, what = "Declared", v.Name()+" as a function"
		if key := operationOf(p.f).Of.Entry; key != "" {
			what = "the rule of " + key + " in " + v.Name() + " as a function"
		}
	}
	p.line("\n// %s holds %s.\nvar %s %s", name, what, name,
		p.qualified(types.NewPackage(operationPath, "realrule"), kind))
}

// realrule returns a name of package realrule.
func (o *operationPrinter) realrule(name string) string {
	return o.qualified(types.NewPackage(operationPath, "realrule"), name)
}

// list prints a field with the elements of list, if there are any.
func (o *operationPrinter) list(field string, list []string) {
	if len(list) > 0 {
		o.line("%s{%s},", field, strings.Join(list, ", "))
	}
}

// argument returns parameter i, or a part of it, whose value over Reals is text.
func (o *operationPrinter) argument(t, real types.Type, text string, i int) *operand {
	q := &operand{t: t, real: real, at: -1}
	if types.Identical(t, real) { // without derivative
		if strings.ContainsAny(text, ".[(") { // a field of a struct over Reals, which is not to be captured
			name := o.names.Name("data")
			o.line("%s := %s", name, text)
			text = name
		}
		q.text = text
		o.data = append(o.data, text)
		return q
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		q.at = len(o.numbers)
		if ir.IsComplex(t) {
			o.numbers = append(o.numbers, text+".Re", text+".Im")
		} else {
			o.numbers = append(o.numbers, text)
		}
	case *types.Struct:
		for k := range u.NumFields() {
			f, r := u.Field(k), real.Underlying().(*types.Struct).Field(k)
			if f.Name() == "_" {
				q.fields = append(q.fields, nil)
				continue
			}
			o.mayName(f)
			q.fields = append(q.fields, o.argument(f.Type(), r.Type(), text+"."+f.Name(), i))
		}
	default:
		q.at, q.memory = len(o.slices), true
		_, array := u.(*types.Array)
		if array {
			text += "[:]"
		}
		o.slices = append(o.slices, text)
		o.writes = append(o.writes, fmt.Sprint(!array && o.op.Of.Writes(i)))
	}
	return q
}

// result returns result i, or a part of it.
func (o *operationPrinter) result(t, real types.Type, i int) *operand {
	q := &operand{t: t, real: real, at: -1}
	if k := o.op.Of.Returned(i); k >= 0 && ir.HasRefs(t) {
		q.text = o.name(o.f.Params[k])
		return q
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for k := range u.NumFields() {
			f, r := u.Field(k), real.Underlying().(*types.Struct).Field(k)
			o.mayName(f)
			q.fields = append(q.fields, o.result(f.Type(), r.Type(), i))
		}
		return q
	case *types.Array:
		q.at, q.memory = o.results, true
		o.results += int(u.Len())
		return q
	}
	q.at = o.results
	o.results++
	if ir.IsComplex(t) {
		o.results++
	}
	return q
}

// mayName refuses a field that the package cannot name.
func (o *operationPrinter) mayName(f *types.Var) {
	if !ir.CanName(f, o.pkg.Path()) {
		o.refuse("a call of %s over Reals: field %s of an argument or a result cannot be named in package %s",
			o.op.Of.Name, f.Name(), o.pkg.Name())
	}
}

// load returns the value of q in a frame, in the given list of numbers, which holds floats or Reals.
func (o *operationPrinter) load(q *operand, frame, list string, real bool) string {
	t := q.t
	if real {
		t = q.real
	}
	at := func(i int) string { return fmt.Sprintf("%s.%s[%d]", frame, list, i) }
	switch {
	case q.text != "":
		return q.text
	case q.fields != nil || q.at < 0:
		var parts []string
		for k, f := range q.fields {
			if f != nil {
				parts = append(parts, t.Underlying().(*types.Struct).Field(k).Name()+": "+o.load(f, frame, list, real))
			}
		}
		return o.typ(t) + "{" + strings.Join(parts, ", ") + "}"
	case q.memory && list == "Results":
		n := int(q.t.Underlying().(*types.Array).Len())
		return fmt.Sprintf("%s(%s.Results[%d:%d])", o.typ(t), frame, q.at, q.at+n)
	case q.memory:
		text := fmt.Sprintf("%s.Slices[%d]", frame, q.at)
		if _, array := q.t.Underlying().(*types.Array); array {
			return o.typ(t) + "(" + text + ")"
		}
		return text
	case ir.IsComplex(q.t) && real:
		return o.nabla("Complex") + "{Re: " + at(q.at) + ", Im: " + at(q.at+1) + "}"
	case ir.IsComplex(q.t):
		return o.converted(t, types.Typ[types.Complex128], "complex("+at(q.at)+", "+at(q.at+1)+")")
	case real:
		return at(q.at)
	}
	return o.converted(t, types.Typ[types.Float64], at(q.at))
}

// converted returns text, of type from, as a value of type t. One of the two may be a bool, which is 1 or 0 as a
// number.
func (o *operationPrinter) converted(t, from types.Type, text string) string {
	switch {
	case types.Identical(t, from):
		return text
	case ir.IsBool(from) && ir.IsBool(t):
	case ir.IsBool(from):
		return o.realrule("Number") + "(" + o.converted(types.Typ[types.Bool], from, text) + ")"
	case ir.IsBool(t):
		text += " != 0"
	}
	return o.typ(t) + "(" + text + ")"
}

// store prints the assignment of the variable text of type have to the place of q in a frame of floats or Reals. Memory
// that is passed in slices is left out.
func (o *operationPrinter) store(q *operand, list, text string, have types.Type, real bool) {
	at := func(i int) string { return fmt.Sprintf("%s.%s[%d]", o.to, list, i) }
	array, isArray := q.t.Underlying().(*types.Array)
	number := func(text string) string {
		switch {
		case isReal(have):
			return text
		case real:
			return o.nabla("Const") + "(" + o.converted(types.Typ[types.Float64], have, text) + ")"
		}
		return o.converted(types.Typ[types.Float64], have, text)
	}
	switch {
	case q.text != "" || q.memory && !isArray:
	case q.fields != nil || q.at < 0:
		for k, f := range q.fields {
			if f != nil {
				v := have.Underlying().(*types.Struct).Field(k)
				o.store(f, list, text+"."+v.Name(), v.Type(), real)
			}
		}
	case isArray && real && !isReal(have.Underlying().(*types.Array).Elem()): // a derivative that is constant
		for i := range int(array.Len()) {
			o.line("%s = %s(%s[%d])", at(q.at+i), o.nabla("Const"), text, i)
		}
	case isArray && list == "Results":
		o.line("copy(%s.Results[%d:], %s[:])", o.to, q.at, text)
	case isArray:
		o.line("copy(%s.Slices[%d], %s[:])", o.to, q.at, text)
	case ir.IsComplex(q.t) && isReal(have):
		o.line("%s, %s = %s.Re, %s.Im", at(q.at), at(q.at+1), text, text)
	case ir.IsComplex(q.t):
		have = types.Typ[types.Float64]
		o.line("%s, %s = %s, %s", at(q.at), at(q.at+1), number("real("+text+")"), number("imag("+text+")"))
	default:
		o.line("%s = %s", at(q.at), number(text))
	}
}

// rule prints the statement that returns the rule.
func (o *operationPrinter) rule() {
	of := o.op.Of
	o.line("return %s{", o.realrule("Rule"))
	o.line("Name: %q,", of.Name)
	o.list("Writes: []bool", o.writes)
	o.literal("Value", types.Typ[types.Float64], false)
	o.value()
	o.line("},")
	float, over := types.Typ[types.Float64], ir.Real
	if of.Tangent != nil {
		o.literal("Tangent", float, true)
		o.tangent(of.Tangent, false)
		o.line("},")
	}
	if of.Pullback != nil {
		o.literal("Pullback", float, true)
		o.pullback(of.Pullback, false)
		o.line("},")
	}
	if f := o.op.Tangent; f != nil {
		o.literal("TangentReal", over, true)
		o.tangent(&ir.Callee{Func: f}, true)
		o.line("},")
	}
	if f := o.op.Pullback; f != nil {
		o.literal("PullbackReal", over, true)
		o.pullback(&ir.Callee{Func: f}, true)
		o.line("},")
	}
	if o.op.Pure && (o.op.Tangent != nil || o.op.Pullback != nil) {
		o.line("Pure: true,")
	}
	o.line("}")
}

// literal prints the head of a function literal in a field, whose frames are of floats or Reals. Its second parameter
// is the frame of derivatives, if it has one.
func (o *operationPrinter) literal(field string, number types.Type, derivatives bool) {
	text := "float64"
	if isReal(number) {
		text = o.nabla("Real")
	}
	o.from, o.to = o.primal, o.primal
	params := o.from
	if derivatives {
		o.to = o.derivative
		params += ", " + o.to
	}
	o.line("%s: func(%s *%s[%s]) {", field, params, o.realrule("Frame"), text)
}

// values returns the arguments of the function in a frame.
func (o *operationPrinter) values(real bool) (list []string) {
	for _, q := range o.params {
		list = append(list, o.load(q, o.from, "Numbers", real))
	}
	return list
}

// value prints the call of the function itself.
func (o *operationPrinter) value() {
	to := make([]destination, len(o.resultsParts))
	for i, v := range o.shape.Results {
		to[i] = destination{o.resultsParts[i], v.Type()}
	}
	o.assign(to, "Results", o.objectCall(o.op.Of.Object, o.values(false)), false)
}

// tangent prints the call of the tangent c.
func (o *operationPrinter) tangent(c *ir.Callee, real bool) {
	args := o.values(real)
	for _, i := range o.shape.ActiveParams {
		args = append(args, o.load(o.params[i], o.to, "Numbers", real))
	}
	have, first := resultTypes(c), len(o.shape.Results)
	to := make([]destination, len(have))
	for k, i := range o.shape.ActiveResults {
		to[first+k] = destination{o.resultsParts[i], have[first+k]}
	}
	o.assign(to, "Results", o.derivativeCall(c, args), real)
}

// pullback prints the call of the pullback c.
func (o *operationPrinter) pullback(c *ir.Callee, real bool) {
	args := o.values(real)
	for _, i := range o.shape.Shadows {
		args = append(args, o.load(o.params[i], o.to, "Numbers", real))
	}
	for _, i := range o.shape.Seeds {
		args = append(args, o.load(o.resultsParts[i], o.to, "Results", real))
	}
	have := resultTypes(c)
	to := make([]destination, len(have))
	for k, i := range o.shape.Cotangents {
		to[k] = destination{o.params[i], have[k]}
	}
	o.assign(to, "Numbers", o.derivativeCall(c, args), real)
}

// A destination is what a result of a call is stored in, nil if it is dropped, and its type.
type destination struct {
	q    *operand
	have types.Type
}

// direct reports whether a result can be assigned to its place in a frame as it is.
func (d destination) direct(real bool) bool {
	want := types.Type(types.Typ[types.Float64])
	if real {
		want = ir.Real
	}
	return d.q.text == "" && d.q.fields == nil && !d.q.memory && types.Identical(d.have, want)
}

// assign prints a call whose results are stored in the frame of floats or Reals.
func (o *operationPrinter) assign(to []destination, list, call string, real bool) {
	left, some, direct := make([]string, len(to)), false, true
	for i, d := range to {
		left[i] = "_"
		if d.q != nil && d.q.text == "" {
			some, direct = true, direct && d.direct(real)
		}
	}
	if !some {
		o.line("%s", call)
		return
	}
	for i, d := range to {
		switch {
		case d.q == nil || d.q.text != "":
		case direct:
			left[i] = fmt.Sprintf("%s.%s[%d]", o.to, list, d.q.at)
		default:
			for len(o.variables) <= i {
				o.variables = append(o.variables, o.names.Name("v"))
			}
			left[i] = o.variables[i]
		}
	}
	if direct {
		o.line("%s = %s", strings.Join(left, ", "), call)
		return
	}
	o.line("%s := %s", strings.Join(left, ", "), call)
	for i, d := range to {
		if left[i] != "_" {
			o.store(d.q, list, left[i], d.have, real)
		}
	}
}

// derivativeCall returns a call of a derivative.
func (o *operationPrinter) derivativeCall(c *ir.Callee, args []string) string {
	if c.Func != nil {
		if name, ok := o.file.names[c.Func]; ok {
			return name + "(" + strings.Join(args, ", ") + ")"
		}
		if c.Func.Object == nil {
			o.refuse("a call of %s", c.Func.Name)
		}
		return o.objectCall(c.Func.Object, args)
	}
	return o.objectCall(c.Rule.Object, args)
}

// objectCall returns a call of a function or method of the source.
func (o *operationPrinter) objectCall(f *types.Func, args []string) string {
	if f == nil || !o.visible(f) {
		o.refuse("a call of %s over Reals, which package %s cannot name; functions with rules and their derivatives "+
			"are exported where other packages call them", o.op.Of.Name, o.pkg.Name())
	}
	name := ""
	if f.Signature().Recv() != nil {
		name, args = args[0]+"."+f.Name(), args[1:]
	} else {
		name = o.qualified(f.Pkg(), f.Name())
	}
	list := strings.Join(args, ", ")
	if f.Signature().Variadic() {
		list += "..."
	}
	return name + "(" + list + ")"
}

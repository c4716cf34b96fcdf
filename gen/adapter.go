package gen

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// An adapter writes a call of one derivative as a function literal of the uniform type that engines call. The
// parameters of the literal are the slices y and x, their derivatives (ydot, xbar, …) and p, the bound struct.
type adapter struct {
	t     *target
	b     *built
	field *codeField
	scope *print.Scope
	names *names

	work *[]string // declarations of variables that outlive a call, shared by the adapters of a target
	pre  []string  // statements before the call
	post []string  // statements after the call
	used map[string]bool
}

var suffixes = [...]string{value: "", dot: "dot", bar: "bar", barDot: "bardot"}

// operand returns the name of the slice of x or y in slot s, and marks it as used.
func (a *adapter) operand(letter string, s slot) string {
	name := a.names.of(letter + suffixes[s])
	a.used[letter+suffixes[s]] = true
	return name
}

// has reports whether the literal has a parameter of that plain name.
func (a *adapter) has(name string) bool {
	for _, o := range a.field.slots {
		if o.name == name {
			return true
		}
	}
	return false
}

// function returns the text of the function literal: the preparing statements, the call of the derivative and the
// statements that store its results. It returns the number of outputs if the field counts them.
func (a *adapter) function() string {
	s := a.t.shape
	fn, overwritten := a.b.fn, []slot(nil)
	if o := a.b.overwriting; o != nil {
		fn, overwritten = o.fn, o.slots
	}
	for _, name := range []string{"xbar", "xbardot"} { // the derivative accumulates into the others
		if a.has(name) && !s.number && !s.fields && // package nabla clears those of structs
			!slices.Contains(overwritten, slotOf(name)) {
			a.pre = append(a.pre, "clear("+a.operand("x", slotOf(name))+")")
		}
	}
	if s.y >= 0 && a.has("ydot") {
		a.pre = append(a.pre, "clear("+a.operand("y", dot)+")")
	}
	if a.field.name == "Traced" && !s.fields && a.b.facts != nil && a.b.facts.Written.Has(s.x) { // keep the engine's x
		x := a.operand("x", value)
		a.pre = append(a.pre, x+" = append([]"+nabla(a.scope, "Real")+"(nil), "+x+"...)")
	}
	var args []string
	for i, r := range a.b.params {
		args = append(args, a.argument(r, a.b.fn.Params[i]))
	}
	call := a.scope.Func(fn) + "(" + strings.Join(args, ", ") + ")"
	count, assigned := "1", map[string]bool{}
	switch {
	case s.y >= 0:
		count = "len(" + a.operand("y", value) + ")"
	case !s.scalar && a.field.counts:
		count = "len(" + a.names.of("out") + ")"
	}
	var left []string
	define := false
	for _, r := range a.b.results {
		text, defines := a.result(r)
		left = append(left, text)
		define = define || defines
		switch {
		case s.isError(r), r.name != "":
		case r.result:
			assigned["y"+suffixes[r.slot]] = true
		default:
			assigned["x"+suffixes[r.slot]] = true
		}
	}
	if define { // := declares names only, so elements are assigned afterwards
		for i, to := range left {
			if name, rest, ok := strings.Cut(to, "["); ok {
				_, lane, _ := strings.Cut(rest, "[")
				left[i] = a.names.of(name + "Number" + strings.TrimSuffix(lane, "]"))
				a.post = append(a.post, to+" = "+left[i])
			}
		}
	}
	for _, o := range a.field.slots { // derivatives that are structurally zero
		switch letter, sl := o.name[:1], slotOf(o.name); {
		case sl == value || assigned[o.name] || o.name == "xdot" || o.name == "ybar":
		case letter == "y" && s.y < 0 && s.scalar || letter == "x" && s.number:
			zero := "0"
			if o.of != "float64" {
				zero = o.of + "{}"
			}
			a.pre = append(a.pre, a.operand(letter, sl)+"[0] = "+zero)
		case letter == "y" && s.y < 0:
			a.pre = append(a.pre, "clear("+a.operand(letter, sl)+")")
		}
	}
	if slices.ContainsFunc(left, func(s string) bool { return s != "_" }) {
		op := " = "
		if define {
			op = " := "
		}
		if s.scalar && len(left) == 1 && a.constant(a.b.results[0]) {
			call = nabla(a.scope, "Const") + "(" + call + ")"
		}
		call = strings.Join(left, ", ") + op + call
	}
	lines := append(append(append([]string{}, a.pre...), call), a.post...)
	result := ""
	switch further := a.further(); {
	case a.field.counts && further != "":
		lines = append(lines, "return "+count+", "+further)
		result = " (int, " + a.field.returns + ")"
	case a.field.counts:
		lines = append(lines, "return "+count)
		result = " int"
	case further != "":
		lines = append(lines, "return "+further)
		result = " " + a.field.returns
	}
	return "func(" + a.signature() + ")" + result + " {\n" + strings.Join(lines, "\n") + "\n}"
}

// further returns the name of the result for the entries of sparse derivatives, empty if there is none.
func (a *adapter) further() string {
	for _, r := range a.b.results {
		if r.name != "" {
			return a.names.of(r.name)
		}
	}
	return ""
}

// signature returns the parameter list of the literal, without parentheses.
func (a *adapter) signature() string {
	var b strings.Builder
	for i, o := range a.field.slots {
		b.WriteString(a.names.of(o.name))
		if i+1 == len(a.field.slots) || a.field.slots[i+1].of != o.of {
			of := o.of
			if of == "Real" {
				of = nabla(a.scope, "Real")
			}
			if of != "int" {
				of = "[]" + of
			}
			b.WriteString(" " + of)
		}
		b.WriteString(", ")
	}
	p := "_"
	if a.used["p"] {
		p = a.names.of("p")
	}
	return b.String() + p + " any"
}

// argument returns the expression that is passed for parameter v of the derivative, which has role r. It appends the
// statements and declarations that the expression needs.
func (a *adapter) argument(r role, v *ir.Var) string {
	s := a.t.shape
	switch {
	case r.name != "":
		return a.names.of(r.name)
	case r.work:
		name := a.names.of("work" + [...]string{value: "", dot: "Dot"}[r.slot] + strings.TrimRight(a.field.name, "4"))
		p := v.Type.Underlying().(*types.Pointer)
		a.keep("var " + name + " " + a.scope.Type(p.Elem()))
		return "&" + name
	case r.result: // the seed of a result
		if s.scalar {
			switch {
			case r.slot == barDot:
				return "0"
			case !a.has("ybar"):
				return "1"
			}
			return a.number("y", r)
		}
		return a.seedCopy(r.slot)
	case r.of == s.x && s.number:
		return a.number("x", r)
	case r.of == s.x && s.fields:
		return a.part(r.slot, v)
	case r.of == s.x:
		return a.capped(a.operand("x", r.slot))
	case r.of == s.y:
		if r.slot == bar || r.slot == barDot {
			return a.seedCopy(r.slot)
		}
		if r.slot == dot && !a.has("ydot") {
			return a.own("ydotOwn", "float64", a.operand("y", value), true)
		}
		return a.capped(a.operand("y", r.slot))
	}
	p := a.t.f.Params[s.bound].Type
	if a.field.name == "Traced" {
		return a.bound() + ".(" + a.scope.Type(v.Type) + ")"
	}
	bound := a.bound() + ".(" + a.scope.Type(p) + ")"
	if a.shadowed() {
		line := a.names.of("bound") + " := " + bound
		bound = a.names.of("bound")
		if !slices.Contains(a.pre, line) {
			a.pre = append(a.pre, line)
		}
	}
	if r.slot == value {
		return bound
	}
	plain := "shadow" + [...]string{dot: "", bar: "Bar", barDot: "BarDot"}[r.slot]
	kind, of := "Shadow", ""
	elem := types.Unalias(p).(*types.Pointer).Elem()
	like := types.Unalias(v.Type).(*types.Pointer).Elem()
	if !types.Identical(elem, like) { // vector mode
		plain, kind, of = plain+"4", "Lanes", ", "+a.scope.Type(like)
	}
	name := a.names.of(plain)
	a.keep("var " + name + " " + a.scope.Object(types.NewPackage(rtPath, "rt"),
		kind) + "[" + a.scope.Type(elem) + of + "]")
	return name + ".Of(" + bound + ")"
}

// structs returns the name of the nabla.StructArg that p is, for functions of a struct of numbers.
func (a *adapter) structs() string {
	a.used["p"] = true
	name := a.names.of("arg")
	line := name + " := " + a.names.of("p") + ".(*" + nabla(a.scope, "StructArg") + ")"
	if !slices.Contains(a.pre, line) {
		a.pre = append([]string{line}, a.pre...)
	}
	return name
}

// part returns the struct of numbers in slot s as a value of the type of v.
func (a *adapter) part(s slot, v *ir.Var) string {
	field := [...]string{value: "Value", dot: "Dot", bar: "Bar", barDot: "BarDot"}[s]
	if a.field.name == "Traced" {
		field = "Traced"
	}
	return a.structs() + "." + field + ".(" + a.scope.Type(v.Type) + ")"
}

// bound returns the operand that holds the bound struct as an any.
func (a *adapter) bound() string {
	if a.t.shape.fields {
		return a.structs() + ".Bound"
	}
	a.used["p"] = true
	return a.names.of("p")
}

// shadowed reports whether the derivative has a shadow of the bound struct.
func (a *adapter) shadowed() bool {
	return slices.ContainsFunc(a.b.params, func(r role) bool {
		return !r.work && !r.result && r.of == a.t.shape.bound && r.slot != value
	})
}

// number returns the only element of the slice of x or y, or its component r.lane if the elements are vectors.
func (a *adapter) number(letter string, r role) string {
	name := a.operand(letter, r.slot) + "[0]"
	for _, o := range a.field.slots {
		if o.name == letter+suffixes[r.slot] && o.of == direction4 {
			name += fmt.Sprintf("[%d]", r.lane)
		}
	}
	return name
}

// seedCopy returns a copy of the seed ybar, which the derivative may modify. For slot barDot it returns zeros of the
// same length: the seed is constant.
func (a *adapter) seedCopy(s slot) string {
	plain := "ybarCopy"
	if s == barDot {
		plain = "ybarZero"
	}
	of := "float64"
	for _, o := range a.field.slots {
		if o.name == "ybar" && o.of != of {
			plain, of = plain+"4", o.of
		}
	}
	return a.own(plain, of, a.operand("y", bar), s == barDot)
}

// own returns a variable of the adapter of type []of that is as long as like. Each call of the literal fills it with a
// copy of like, or with zeros.
func (a *adapter) own(plain, of, like string, zero bool) string {
	name := a.names.of(plain)
	a.keep("var " + name + " []" + of)
	a.pre = append(a.pre, name+" = append("+name+"[:0], "+like+"...)")
	if zero {
		a.pre = append(a.pre, "clear("+name+")")
	}
	return a.capped(name)
}

// keep declares a variable that outlives a call. Equal declarations are merged: adapters of one target may share a
// variable because no two of them run at a time.
func (a *adapter) keep(line string) {
	if !slices.Contains(*a.work, line) {
		*a.work = append(*a.work, line)
	}
}

// capped returns the slice with its capacity limited to its length if the function may use the capacity, since x and
// xdot must end alike.
func (a *adapter) capped(name string) string {
	if !a.t.reachesBehind() {
		return name
	}
	return fmt.Sprintf("%s[:len(%s):len(%s)]", name, name, name)
}

// result returns the operand that a result of the derivative is assigned to, and reports whether the assignment has to
// declare it.
func (a *adapter) result(r role) (text string, defines bool) {
	s := a.t.shape
	switch {
	case r.name != "":
		return a.names.of(r.name), true
	case !r.result:
		return a.number("x", r), false
	case s.isError(r): // before the results are used
		name := a.names.of("err")
		a.post = append([]string{a.scope.Object(types.NewPackage(rtPath, "rt"), "Returned") + "(" + name + ")"},
			a.post...)
		return name, true
	case s.scalar && s.err >= 0 && a.constant(r):
		v := a.names.of("v")
		a.post = append(a.post, a.number("y", r)+" = "+nabla(a.scope, "Const")+"("+v+")")
		return v, true
	case !a.has("y" + suffixes[r.slot]):
		return "_", false
	case s.scalar:
		return a.number("y", r), false
	}
	out := a.names.of("out" + suffixes[r.slot])
	if a.constant(r) {
		v, i := a.names.of("v"), a.names.of("i")
		a.post = append(a.post,
			"for "+i+", "+v+" := range "+out+"[:min(len("+out+"), len("+a.operand("y", value)+"))] {\n"+
				a.operand("y", value)+"["+i+"] = "+nabla(a.scope, "Const")+"("+v+")\n}")
		return out, true
	}
	a.post = append(a.post, "copy("+a.operand("y", r.slot)+", "+out+")")
	return out, true
}

// constant reports whether result r of a traced function is passive, and so of type float64 instead of Real.
func (a *adapter) constant(r role) bool {
	return a.field.name == "Traced" && a.b.facts != nil && !a.b.facts.Results.Has(r.of)
}

// slotOf returns the slot that the suffix of an operand's name denotes.
func slotOf(name string) slot {
	for s := len(suffixes) - 1; s > 0; s-- {
		if name[1:] == suffixes[s] {
			return slot(s)
		}
	}
	return value
}

// reachesBehind reports whether the function or a callee may use a slice beyond its length: by append, cap or an
// explicit upper bound.
func (t *target) reachesBehind() (found bool) {
	for _, f := range reached(t.f) {
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if _, ok := s.(*ir.Append); ok {
				found = true
			}
			for _, e := range ir.Exprs(s) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					switch e := e.(type) {
					case *ir.Len:
						found = found || e.Cap
					case *ir.Slice:
						found = found || e.Hi != nil
					}
					return !found
				})
			}
			return !found
		})
	}
	return found
}

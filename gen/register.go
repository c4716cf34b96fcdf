package gen

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// codeVersion is the version of the interface of registered code.
const codeVersion = 1

// A codeField is a function-valued field of nabla.Code with its parameters in order, or Traced of nabla.Generated.
type codeField struct {
	name    string
	slots   []operand
	counts  bool   // it returns the number of outputs
	returns string // the type of a further result, empty if there is none
}

// An operand is a slice parameter of such a function: x, y or one of their derivatives.
type operand struct {
	name string
	of   string // the type of the elements
}

const direction4 = "[4]float64"

// codeFields lists the fields in the order in which they are written.
var codeFields = []codeField{
	{"Tangent", []operand{{"y", "float64"}, {"ydot", "float64"}, {"x", "float64"}, {"xdot", "float64"}}, true, ""},
	{"Tangent4", []operand{{"y", "float64"}, {"ydot", direction4}, {"x", "float64"}, {"xdot", direction4}}, true, ""},
	{"Adjoint", []operand{{"y", "float64"}, {"xbar", "float64"}, {"x", "float64"}, {"ybar", "float64"}}, true, ""},
	{"Adjoint4", []operand{{"y", "float64"}, {"xbar", direction4}, {"x", "float64"}, {"ybar", direction4}}, true, ""},
	{"Gradient", []operand{{"xbar", "float64"}, {"x", "float64"}}, false, ""},
	{"AdjointTangent",
		[]operand{{"y", "float64"}, {"xbar", "float64"}, {"xbardot", "float64"}, {"x", "float64"}, {"xdot", "float64"},
			{"ybar", "float64"}}, true, ""},
	{"HVP", []operand{{"xbardot", "float64"}, {"x", "float64"}, {"xdot", "float64"}}, false, ""},
	{"Entries", []operand{{"y", "float64"}, {"entries", "float64"}, {"x", "float64"}, {"plan", "int32"}}, true, "bool"},
	{"Plan", []operand{{"y", "float64"}, {"x", "float64"}, {"limit", "int"}}, false, "[]int32"},
	{"HessianEntries",
		[]operand{{"y", "float64"}, {"xbar", "float64"}, {"entries", "float64"}, {"x", "float64"}, {"plan", "int32"}},
		true, "bool"},
	{"HessianPlan", []operand{{"y", "float64"}, {"xbar", "float64"}, {"x", "float64"}, {"limit", "int"}}, false,
		"[]int32"},
	{"Traced", []operand{{"y", "Real"}, {"x", "Real"}}, true, ""},
}

// registration returns the init function of a file that registers targets, or "" if there is nothing to register.
// Function literals in variables are registered before, by the initialiser of a variable: an init function may assign
// theirs.
func registration(s *print.Scope, targets []*target) string {
	var declared, variables strings.Builder
	for _, t := range targets {
		if t.variable {
			variables.WriteString(t.register(s))
		} else {
			declared.WriteString(t.register(s))
		}
	}
	text := ""
	if variables.Len() > 0 {
		text = "// Functions in variables are registered before an init function can assign the variables.\n" +
			"var _ = func() bool {\n" + variables.String() + "return true\n}()\n\n"
	}
	if declared.Len() > 0 {
		text += "func init() {\n" + declared.String() + "}\n"
	}
	return text
}

// registers reports whether t has one of the shapes that are registered.
func (t *target) registers() bool { return t.shape != nil && t.shape.registers() }

// unregistered returns the reason why engines do not find a derivative, or "" if they do.
func unregistered(t *target, b *built, cycle bool) string {
	switch {
	case cycle:
		return "package nabla imports its package"
	case !t.registers():
		return "operators take no functions of its type"
	case b.build.code == "":
		return "engines do not ask for it"
	case b.twins():
		return "its derivative takes a struct of another type"
	}
	return ""
}

// twins reports whether the derivative takes a struct whose type differs from that of the primal's parameter. Adapters
// cannot allocate such a struct, except in vector mode, where package rt can; package nabla makes those of functions
// over Reals.
func (b *built) twins() bool {
	if b.lanes > 1 || b.build == tracedBuild {
		return false
	}
	for i, r := range b.params {
		if r.work || r.result || b.facts == nil {
			continue
		}
		if p := b.facts.Func.Params[r.of].Type; isStructPointer(p) && !types.Identical(p, b.fn.Params[i].Type) {
			return true
		}
	}
	return false
}

// nabla returns the qualified name of an object of package nabla.
func nabla(s *print.Scope, name string) string {
	return s.Object(types.NewPackage(nablaPath, "nabla"), name)
}

// register returns the call of nabla.Register for a function, or "" if there is neither code nor a reason for its
// absence. It builds an adapter for each registered derivative.
func (t *target) register(s *print.Scope) string {
	var work []string
	var code, traced strings.Builder
	writesX, lanes := false, ""
	fields := t.unwritten()
	names := newNames(s)
	for i := range codeFields {
		f := &codeFields[i]
		for _, b := range t.allBuilt() {
			if b.build.code != f.name || unregistered(t, b, false) != "" {
				continue
			}
			a := &adapter{t: t, b: b, field: f, scope: s, names: names, work: &work, used: map[string]bool{}}
			text := a.function()
			b.unwritten(t.shape.bound, fields)
			if f.name == "Traced" {
				traced.WriteString("Traced: " + text + ",\n")
				if t.shape.fields {
					traced.WriteString("TracedStruct: (" + s.Type(b.fn.Params[t.shape.x].Type) + ")(nil),\n")
				}
				if k := t.shape.bound; k >= 0 && !types.Identical(b.fn.Params[k].Type, t.f.Params[k].Type) {
					traced.WriteString("TracedBound: (" + s.Type(b.fn.Params[k].Type) + ")(nil),\n")
				}
				continue
			}
			code.WriteString(f.name + ": " + text + ",\n")
			if e := t.plans[f.name]; e != nil && e.Fixed {
				code.WriteString(f.name + "Fixed: true,\n")
				if e.Head > 0 {
					fmt.Fprintf(&code, "%sHead: %d,\n", f.name, e.Head)
				}
			}
			if of := t.lanesStruct(b); of != nil {
				lanes = "LanesStruct: (" + s.Type(of) + ")(nil),\n"
			}
			writesX = writesX || b.facts != nil && b.facts.Written.Has(t.shape.x)
		}
	}
	if code.Len()+traced.Len() == 0 && t.why["Adjoint"] == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%s, %s{\n", nabla(s, "Register"), t.value(s), nabla(s, "Generated"))
	fmt.Fprintf(&b, "Name: %s, Version: %d,\n", strconv.Quote(t.of), codeVersion)
	if writesX {
		b.WriteString("WritesX: true,\n")
	}
	if names := t.named(fields); len(names) > 0 {
		fmt.Fprintf(&b, "ReadOnly: []string{%s},\n", strings.Join(names, ", "))
	}
	if code.Len() > 0 {
		fmt.Fprintf(&b, "New: func() %s {\n%sreturn %s{\n%s}\n},\n", nabla(s, "Code"),
			strings.Join(append(work, ""), "\n"), nabla(s, "Code"), code.String())
	}
	b.WriteString(lanes + traced.String())
	for _, f := range [][2]string{{"Refused", "Adjoint"}, {"RefusedTangent", "Tangent"},
		{"RefusedSecond", "AdjointTangent"}, {"RefusedTraced", "Traced"}} {
		if why := t.why[f[1]]; why != "" && (f[0] != "RefusedSecond" || why != t.why["Adjoint"]) {
			fmt.Fprintf(&b, "%s: %s,\n", f[0], strconv.Quote(why))
		}
	}
	b.WriteString("})\n")
	return b.String()
}

// lanesStruct returns the type of the shadow of the struct of numbers in b, a derivative in vector mode; nil if there
// is none.
func (t *target) lanesStruct(b *built) types.Type {
	for i, r := range b.params {
		if b.lanes > 1 && !r.work && !r.result && r.slot != value && t.shape.fields && r.of == t.shape.x {
			return b.fn.Params[i].Type
		}
	}
	return nil
}

// unwritten reports, for each field of the bound struct, whether the function writes neither the field nor memory
// reachable from it. It returns nil if there is no bound struct.
func (t *target) unwritten() []bool {
	if t.shape.bound < 0 {
		return nil
	}
	return activity.Unwritten(t.f, t.shape.bound, false)
}

// unwritten clears the elements of list whose fields the derivative may write.
func (b *built) unwritten(bound int, list []bool) {
	for i, r := range b.params {
		if r.slot != value || r.result || r.work || r.of != bound {
			continue
		}
		left := activity.Unwritten(b.fn, i, true)
		for k := range list {
			list[k] = list[k] && k < len(left) && left[k]
		}
	}
}

// named returns the quoted names of the fields of the bound struct that are set in list.
func (t *target) named(list []bool) (names []string) {
	if len(list) == 0 {
		return nil
	}
	s := t.f.Params[t.shape.bound].Type.Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	for i, left := range list {
		if name := s.Field(i).Name(); left && name != "_" {
			names = append(names, strconv.Quote(name))
		}
	}
	return names
}

// value returns the primal as an expression.
func (t *target) value(s *print.Scope) string {
	list := ""
	if len(t.TypeArgs) > 0 {
		var texts []string
		for _, a := range t.TypeArgs {
			texts = append(texts, s.Type(a))
		}
		list = "[" + strings.Join(texts, ", ") + "]"
	}
	if t.f.Recv {
		return "(" + s.Type(t.f.Params[0].Type) + ")." + t.Func.Name()
	}
	if types.Universe.Lookup(t.Func.Name()) != nil {
		return "(" + t.Func.Name() + ")" + list // see [print.Redeclared]
	}
	return t.Func.Name() + list
}

// A names assigns unique names to the local variables in the adapters of one function.
type names struct {
	namer *ir.Namer
	given map[string]string
}

func newNames(s *print.Scope) *names { return &names{s.Namer(), map[string]string{}} }

// of returns the unique name for a plain one, always the same.
func (n *names) of(plain string) string {
	name, ok := n.given[plain]
	if !ok {
		name = n.namer.Name(plain)
		n.given[plain] = name
	}
	return name
}

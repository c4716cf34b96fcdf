package export

import (
	"fmt"
	"go/format"
	"go/token"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// Go returns p as a gofmt-ed Go file with one function, which imports package math at most and does not allocate:
//
//	func F(y, x []float64)        // outputs, then inputs, then parameters: a slice for each group
//	func F(y, x []float64) bool   // of a program with guards: false if one fails
//
// With o.Numbers, groups of one number are numbers, outputs of one number are results, and the functions become
//
//	func F(x float64) float64
//	func F(grad, x []float64) (float64, bool)
//
// The function reads all inputs before it writes the first output, so that these may share memory. It panics if a slice
// is too short. Functions that package math lacks are in the same file under names that begin with that of the
// function.
//
// Results are bit for bit those of a machine on the same platform. As there, -0 becomes 0 in all groups of outputs but
// the first, which are derivatives.
//
// Errors are a [*RuleError], a [*NameError], a [*PatternError], and those of [program.Check].
func Go(p *program.Program, o Options) ([]byte, error) {
	if o.Name == "" {
		o.Name = "F"
	}
	if o.Package == "" {
		o.Package = "main"
	}
	for what, name := range map[string]string{"function": o.Name, "package": o.Package} {
		if !token.IsIdentifier(name) || name == "_" || reservedGo[name] || name == "init" && what == "function" {
			return nil, &NameError{what, name, "Go"}
		}
	}
	lines, err := linesOf(p, "Go", o)
	if err != nil {
		return nil, err
	}
	g := &goWriter{p: p, o: o, help: newHelpers(o.Name), guards: p.Guards() > 0}
	g.outs, g.ins, g.params = groupNames(p, func(s string) bool {
		return token.IsKeyword(s) || reservedGo[s] || g.help.has(s)
	})
	g.body(lines)
	return g.file()
}

// reservedGo are names that the function uses, so that a parameter must not shadow them, nor the function redeclare
// them.
var reservedGo = map[string]bool{"math": true, "float64": true, "bool": true, "int": true, "true": true, "false": true,
	"float32": true, "len": true, "max": true, "min": true, "uint64": true}

// A goWriter writes a function.
type goWriter struct {
	p         *program.Program
	o         Options
	outs, ins []string // names of groups
	params    string
	help      *helpers
	guards    bool
	text      strings.Builder
	results   []string // outputs that are numbers
}

func (g *goWriter) printf(format string, args ...any) { fmt.Fprintf(&g.text, format, args...) }

// number reports whether a group is passed as a number.
func (g *goWriter) number(group program.Group) bool { return g.o.Numbers && group.N == 1 }

// body writes the statements.
func (g *goWriter) body(lines []line) {
	for i, group := range g.p.Ins {
		if group.N > 0 && !g.number(group) {
			g.printf("_ = %s[%d]\n", g.ins[i], group.N-1)
		}
	}
	if g.p.Params > 0 {
		g.printf("_ = %s[%d]\n", g.params, g.p.Params-1)
	}
	for i, group := range g.p.Outs {
		if group.N > 0 && !g.number(group) {
			g.printf("_ = %s[%d]\n", g.outs[i], group.N-1)
		}
	}
	failed := "false"
	for _, group := range g.p.Outs {
		if g.number(group) {
			failed = "0, " + failed
		}
	}
	for _, x := range lines {
		if x.op.Guard() {
			g.printf("if %s {\nreturn %s\n}\n", failing(comparison(x), x.holds), failed)
			continue
		}
		g.printf("%s := %s\n", variable(x.d), g.value(x))
	}
	at := 0
	for i, group := range g.p.Outs {
		for j := range group.N {
			v := variable(g.p.Result[at])
			if i > 0 { // a derivative has no -0
				v += " + 0"
			}
			at++
			if g.number(group) {
				g.results = append(g.results, v)
			} else {
				g.printf("%s[%d] = %s\n", g.outs[i], j, v)
			}
		}
	}
}

// value returns the value of x as an expression.
func (g *goWriter) value(x line) string {
	switch x.op {
	case program.Input:
		if g.number(g.p.Ins[x.group]) {
			return g.ins[x.group]
		}
		return fmt.Sprintf("%s[%d]", g.ins[x.group], x.at)
	case program.Param:
		return fmt.Sprintf("%s[%d]", g.params, x.at)
	case program.Const:
		return goConstant(x.value)
	case program.Sum:
		return sum(x.args)
	}
	switch op := rules.Op(x.op); op {
	case rules.Mul: // the conversion forbids fusing
		return fmt.Sprintf("float64(%s * %s)", variable(x.args[0]), variable(x.args[1]))
	case rules.Sq:
		return fmt.Sprintf("float64(%s * %s)", variable(x.args[0]), variable(x.args[0]))
	default:
		return substituted(rules.Info(op).Value, x.args, g.help.name)
	}
}

// comparison returns the comparison of a guard as an expression.
func comparison(x line) string {
	a, b := variable(x.args[0]), variable(x.args[1])
	switch x.op {
	case program.GuardLt:
		return a + " < " + b
	case program.GuardLe:
		return a + " <= " + b
	case program.GuardEq:
		return a + " == " + b
	case program.GuardBits:
		return fmt.Sprintf("math.Float64bits(%s) == math.Float64bits(%s) || math.IsNaN(%s) && math.IsNaN(%s)", a, b,
			a, b)
	}
	return fmt.Sprintf("int(%s) == int(%s)", a, b)
}

// failing returns the condition that a guard fails.
func failing(comparison string, holds bool) string {
	if holds {
		return "!(" + comparison + ")"
	}
	return comparison
}

// goConstant returns v as an expression that is no untyped integer.
func goConstant(v float64) string {
	switch {
	case v != v:
		return fmt.Sprintf("math.Float64frombits(%#x)", math.Float64bits(v))
	case math.IsInf(v, 0):
		return fmt.Sprintf("math.Inf(%d)", int(math.Copysign(1, v)))
	case v == 0 && math.Signbit(v):
		return "math.Copysign(0, -1)"
	}
	return decimal(v)
}

// decimal returns v as the shortest decimal floating-point literal with that value.
func decimal(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// file returns the whole file.
func (g *goWriter) file() ([]byte, error) {
	body := g.text.String()
	helpers := g.help.source()
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated by package export of nabla; DO NOT EDIT.\n\npackage %s\n\n", g.o.Package)
	if strings.Contains(body, "math.") || strings.Contains(helpers, "math.") {
		b.WriteString("import \"math\"\n\n")
	}
	for _, s := range strings.Split(g.comment(), "\n") {
		b.WriteString(strings.TrimRight("// "+s, " ") + "\n")
	}
	fmt.Fprintf(&b, "func %s(%s)%s {\n%s", g.o.Name, g.parameters(), g.resultTypes(), body)
	switch results := strings.Join(g.results, ", "); {
	case g.guards && results != "":
		fmt.Fprintf(&b, "return %s, true\n", results)
	case g.guards:
		b.WriteString("return true\n")
	case results != "":
		fmt.Fprintf(&b, "return %s\n", results)
	}
	b.WriteString("}\n" + g.pattern() + helpers)
	return format.Source([]byte(b.String()))
}

// parameters returns the parameters of the function: outputs, inputs, parameters of the program.
func (g *goWriter) parameters() string {
	var list []string
	for i, group := range g.p.Outs {
		if !g.number(group) {
			list = append(list, g.outs[i]+" []float64")
		}
	}
	for i, group := range g.p.Ins {
		if g.number(group) {
			list = append(list, g.ins[i]+" float64")
		} else {
			list = append(list, g.ins[i]+" []float64")
		}
	}
	if g.p.Params > 0 {
		list = append(list, g.params+" []float64")
	}
	// Of parameters with the same type, all but the last go without it.
	for i := range len(list) - 1 {
		_, t, _ := strings.Cut(list[i], " ")
		if strings.HasSuffix(list[i+1], " "+t) {
			list[i] = strings.TrimSuffix(list[i], " "+t)
		}
	}
	return strings.Join(list, ", ")
}

func (g *goWriter) resultTypes() string {
	var list []string
	for range g.results {
		list = append(list, "float64")
	}
	if g.guards {
		list = append(list, "bool")
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return " " + list[0]
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// comment returns the doc comment of the function.
func (g *goWriter) comment() string {
	what := g.o.Comment
	if what == "" {
		what = fmt.Sprintf("computes %s from %s.", sizes(g.outs, g.p.Outs, g.o.Numbers),
			sizes(g.ins, g.p.Ins, g.o.Numbers))
	}
	s := g.o.Name + " " + what + "\n"
	if g.p.Params > 0 {
		s += fmt.Sprintf("params holds %d parameters.\n", g.p.Params)
	}
	s += "Inputs are read before outputs are written.\n"
	if g.guards {
		s += fmt.Sprintf("\nThe last result is false, and nothing is written, if one of %d comparisons has another\n"+
			"outcome than when the function was recorded: it takes another branch there.\n", g.p.Guards())
	}
	return strings.TrimSpace(s)
}

// pattern returns the declarations of the pattern of a sparse matrix.
func (g *goWriter) pattern() string {
	s := g.o.Pattern
	if s == nil {
		return ""
	}
	rows, cols := s.Dims()
	name := g.o.Name
	return fmt.Sprintf("\n// The outputs of %s are the entries of a matrix with %d rows and %d columns, column after "+
		"column: the\n// entries of column j are those from %sColPtr[j] to %sColPtr[j+1], in the rows %sRowIndex.\n"+
		"var (\n%sColPtr = [...]int{%s}\n%sRowIndex = [...]int{%s}\n)\n",
		name, rows, cols, name, name, name, name, integers(s.ColPtr()), name, integers(s.RowIndex()))
}

// integers returns a list of numbers with line breaks.
func integers(list []int) string {
	var b strings.Builder
	for i, v := range list {
		switch {
		case i > 0 && i%20 == 0:
			b.WriteString(",\n\t")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(v))
	}
	return b.String()
}

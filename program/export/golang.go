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
// A function that keeps more than 512 numbers in arrays takes memory for them as its last parameter, work, a slice of
// at least the length FWork, a constant of the file. Its contents do not matter, before and after a call; it must not
// share memory with the other slices, nor be used by two calls at the same time. [Work] returns that length.
//
// The function reads all inputs before it writes the first output, so that these may share memory. It panics if a slice
// is too short. Functions that package math lacks, and constant arrays, are in the same file under names that begin
// with that of the function. The file needs Go 1.22.
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
	g := &goWriter{p: p, o: o, help: newHelpers(o.Name), guards: p.Guards() > 0, plan: planOf(p, lines, o),
		views: map[memory]string{}}
	g.outs, g.ins, g.params = groupNames(p, func(s string) bool {
		return token.IsKeyword(s) || reservedGo[s] || g.help.has(s) || g.tables.has(g.help.prefix, s) ||
			s == o.Name+"Work"
	})
	g.tables.prefix = g.help.prefix
	for range p.Outs {
		g.results = append(g.results, "")
	}
	g.body = g.checks() + code(g, g.plan)
	return g.file()
}

// reservedGo are names that the function uses, so that a parameter must not shadow them, nor the function redeclare
// them.
var reservedGo = map[string]bool{"math": true, "float64": true, "bool": true, "int": true, "true": true, "false": true,
	"float32": true, "len": true, "max": true, "min": true, "uint64": true, "uint8": true, "uint16": true,
	"uint32": true, "copy": true}

// A goWriter writes a function. It is a language.
type goWriter struct {
	p         *program.Program
	o         Options
	plan      *plan
	outs, ins []string // names of groups
	params    string
	help      *helpers
	tables    tables
	guards    bool
	body      string
	results   []string // values of the outputs that are numbers
	views     map[memory]string
	declare   strings.Builder // views that have no declaration yet
}

// number reports whether a group is passed as a number.
func (g *goWriter) number(group program.Group) bool { return g.o.Numbers && group.N == 1 }

// checks returns statements that panic if a slice is too short.
func (g *goWriter) checks() string {
	var b strings.Builder
	for i, group := range g.p.Ins {
		if group.N > 0 && !g.number(group) {
			fmt.Fprintf(&b, "_ = %s[%d]\n", g.ins[i], group.N-1)
		}
	}
	if g.p.Params > 0 {
		fmt.Fprintf(&b, "_ = %s[%d]\n", g.params, g.p.Params-1)
	}
	for i, group := range g.p.Outs {
		if group.N > 0 && !g.number(group) {
			fmt.Fprintf(&b, "_ = %s[%d]\n", g.outs[i], group.N-1)
		}
	}
	switch {
	case g.plan.work > stackNumbers:
		fmt.Fprintf(&b, "_ = work[%sWork-1]\n", g.o.Name)
	case g.plan.work > 0:
		fmt.Fprintf(&b, "var work [%d]float64\n", g.plan.work)
	}
	return b.String()
}

func (g *goWriter) let(name, value string) string   { return fmt.Sprintf("%s := %s\n", name, value) }
func (g *goWriter) start(name, value string) string { return g.let(name, value) }

func (g *goWriter) set(place, value string) string {
	if rest, ok := strings.CutPrefix(value, place+" + "); ok && !strings.ContainsAny(rest, "+\n") {
		return fmt.Sprintf("%s += %s\n", place, rest)
	}
	return fmt.Sprintf("%s = %s\n", place, value)
}

func (g *goWriter) loop(counter string, n int) string {
	if counter == "" {
		return fmt.Sprintf("for range %d {\n", n)
	}
	return fmt.Sprintf("for %s := range %d {\n", counter, n)
}

func (g *goWriter) end() string { return "}\n" }

func (g *goWriter) fail(condition, _ string) string {
	failed := "false"
	for _, group := range g.p.Outs {
		if g.number(group) {
			failed = "0, " + failed
		}
	}
	return fmt.Sprintf("if %s {\nreturn %s\n}\n", condition, failed)
}

func (g *goWriter) constant(v float64) string { return goConstant(v) }
func (g *goWriter) zero() string              { return " + 0" }

func (g *goWriter) table(list []int) string {
	return g.tables.add(integerType(list, "uint8", "uint16", "uint32"), integers(list))
}

func (g *goWriter) numbers(list []float64) string {
	return g.tables.add("float64", texts(list, goConstant))
}

func (g *goWriter) value(op program.Op, args []string) string {
	switch op := rules.Op(op); op {
	case rules.Mul: // the conversion forbids fusing
		return fmt.Sprintf("float64(%s * %s)", args[0], args[1])
	case rules.Sq:
		return fmt.Sprintf("float64(%s * %s)", args[0], args[0])
	default:
		return substituted(rules.Info(op).Value, args, g.help.name)
	}
}

func (g *goWriter) comparison(op program.Op, a, b string) string { return comparison(op, a, b) }

func (g *goWriter) input(group, at int) string {
	switch {
	case group == parameters:
		return fmt.Sprintf("%s[%d]", g.params, at)
	case g.number(g.p.Ins[group]):
		return g.ins[group]
	}
	return fmt.Sprintf("%s[%d]", g.ins[group], at)
}

// element returns an element of a pointer to an array: the compiler knows its length, and most indices need no check.
func (g *goWriter) element(m memory, index string) string {
	name, ok := g.views[m]
	if !ok {
		name = fmt.Sprintf("a%d", len(g.views))
		g.views[m] = name
		fmt.Fprintf(&g.declare, "%s := (*[%d]float64)(%s)\n", name, m.n, g.slice(m, false))
	}
	return fmt.Sprintf("%s[%s]", name, index)
}

// slice returns m as a slice expression.
func (g *goWriter) slice(m memory, ends bool) string {
	name := "work"
	switch {
	case m.space == ins && m.group == parameters:
		name = g.params
	case m.space == ins:
		name = g.ins[m.group]
	case m.space == outs:
		name = g.outs[m.group]
	}
	from, to := "", ""
	if m.start > 0 {
		from = strconv.Itoa(m.start)
	}
	if ends {
		to = strconv.Itoa(m.start + m.n)
	}
	if from == "" && to == "" && m.space != work {
		return name
	}
	return fmt.Sprintf("%s[%s:%s]", name, from, to)
}

func (g *goWriter) pending() string {
	s := g.declare.String()
	g.declare.Reset()
	return s
}

func (g *goWriter) result(group int, value string) bool {
	if !g.number(g.p.Outs[group]) {
		return false
	}
	g.results[group] = value
	return true
}

func (g *goWriter) output(group, at int) string      { return fmt.Sprintf("%s[%d]", g.outs[group], at) }
func (g *goWriter) begin(int) string                 { return "" }
func (g *goWriter) finish() string                   { return "" }
func (g *goWriter) stored(_ int, line string) string { return line }

func (g *goWriter) copies(to, from memory) string {
	return fmt.Sprintf("copy(%s, %s)\n", g.slice(to, false), g.slice(from, true))
}

func (g *goWriter) repeats(group, n, total int) string {
	if n >= total {
		return ""
	}
	name := g.outs[group]
	return fmt.Sprintf("for i := %d; i < %d; i *= 2 {\ncopy(%s[i:%d], %s[:i])\n}\n", n, total, name, total, name)
}

// comparison returns the comparison of a guard as an expression.
func comparison(op program.Op, a, b string) string {
	switch op {
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
	helpers, tables := g.help.source(), g.tables.source("\nvar %[2]s = [...]%[1]s{%[4]s}\n")
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated by package export of nabla; DO NOT EDIT.\n\npackage %s\n\n", g.o.Package)
	if strings.Contains(g.body+tables+helpers, "math.") {
		b.WriteString("import \"math\"\n\n")
	}
	if g.plan.work > stackNumbers {
		fmt.Fprintf(&b, "// %sWork is the length of the memory that %s needs.\nconst %sWork = %d\n\n", g.o.Name,
			g.o.Name, g.o.Name, g.plan.work)
	}
	for _, s := range strings.Split(g.comment(), "\n") {
		b.WriteString(strings.TrimRight("// "+s, " ") + "\n")
	}
	fmt.Fprintf(&b, "func %s(%s)%s {\n%s", g.o.Name, g.parameters(), g.resultTypes(), g.body)
	var list []string
	for i, group := range g.p.Outs {
		if g.number(group) {
			list = append(list, g.results[i])
		}
	}
	switch results := strings.Join(list, ", "); {
	case g.guards && results != "":
		fmt.Fprintf(&b, "return %s, true\n", results)
	case g.guards:
		b.WriteString("return true\n")
	case results != "":
		fmt.Fprintf(&b, "return %s\n", results)
	}
	b.WriteString("}\n" + g.pattern() + tables + helpers)
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
	if g.plan.work > stackNumbers {
		list = append(list, "work []float64")
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
	for _, group := range g.p.Outs {
		if g.number(group) {
			list = append(list, "float64")
		}
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
	if g.plan.work > stackNumbers {
		s += fmt.Sprintf("work is memory of length %sWork, whose contents do not matter.\n", g.o.Name)
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
	what := "outputs of " + name
	if k := len(g.outs); k > 1 {
		what = fmt.Sprintf("outputs %s of %s", g.outs[k-1], name)
	}
	return fmt.Sprintf("\n// The %s are the entries of a matrix with %d rows and %d columns, column after "+
		"column: the\n// entries of column j are those from %sColPtr[j] to %sColPtr[j+1], in the rows %sRowIndex.\n"+
		"var (\n%sColPtr = [...]int{%s}\n%sRowIndex = [...]int{%s}\n)\n",
		what, rows, cols, name, name, name, name, integers(s.ColPtr()), name, integers(s.RowIndex()))
}

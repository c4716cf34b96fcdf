package export

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// C returns p as a C99 file with one function:
//
//	int f(const double **arg, double **res)
//
// arg has a pointer for each group of inputs, then one to the parameters if there are any; res has one for each group
// of outputs. A null pointer in arg stands for zeros, and one in res for outputs that are not wanted. The result is 0,
// or the positive number of the guard that failed. No output is written before all inputs are read, and none if a guard
// fails. These are the conventions of CasADi (Andersson et al., CasADi: a software framework for nonlinear optimization
// and optimal control, 2019).
//
// A function that keeps more than 512 numbers in arrays takes memory for them:
//
//	int f(const double **arg, double **res, double *work)
//
// work has at least f_work numbers, a macro of the file, whose contents do not matter, before and after a call. It must
// not share memory with inputs and outputs. [Work] returns that number.
//
// The file includes math.h, and stdint.h and string.h where it needs them. Bessel functions are those of POSIX.
// Functions that C lacks are static functions whose names begin with that of f. Compiled with -ffp-contract=off, which
// is the default of gcc with -std=c99, the results are bit for bit those of a machine but for the functions of math.h,
// which differ from those of Go by some units in the last place. Constants that are NaN have no payload.
//
// Errors are a [*RuleError], a [*NameError], a [*PatternError], and those of [program.Check].
func C(p *program.Program, o Options) ([]byte, error) {
	if o.Name == "" {
		o.Name = "f"
	}
	if !identifierC.MatchString(o.Name) || reservedC[o.Name] {
		return nil, &NameError{"function", o.Name, "C"}
	}
	lines, err := linesOf(p, "C", o)
	if err != nil {
		return nil, err
	}
	c := &cWriter{p: p, o: o, used: map[string]bool{}, outs: groupNamesOf(p.Outs), ins: groupNamesOf(p.Ins),
		plan: planOf(p, lines, o), tables: tables{prefix: o.Name + "_"}}
	c.body = indented(code(c, c.plan))
	return c.file(), nil
}

var identifierC = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// reservedC are the keywords of C99, and names of the C library and of the function itself.
var reservedC = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`auto break case char const continue default do double else enum extern float for goto
		if inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
		volatile while asm main arg res work NAN INFINITY HUGE_VAL acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh
		tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf
		erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod remainder remquo copysign
		nan nextafter nexttoward fdim fmax fmin fma j0 j1 jn y0 y1 yn signgam gamma isinf isnan isfinite isnormal signbit
		fpclassify memcpy memset memmove memcmp memchr strlen strcpy strcat strcmp bool true false abs`) {
		m[w] = true
	}
	return m
}()

func groupNamesOf(groups []program.Group) []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = commentC(g.Name)
	}
	return names
}

// commentC returns s without what ends a comment.
func commentC(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "*/", "* /"), "/*", "/ *")
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\\\n", "\n"), "?")
}

// A cWriter writes a function. It is a language.
type cWriter struct {
	p         *program.Program
	o         Options
	plan      *plan
	outs, ins []string
	used      map[string]bool // names of the functions of helpers_c.txt that are needed
	tables    tables
	body      string
}

func (c *cWriter) let(name, value string) string {
	return fmt.Sprintf("const double %s = %s;\n", name, value)
}

func (c *cWriter) start(name, value string) string {
	return fmt.Sprintf("double %s = %s;\n", name, value)
}
func (c *cWriter) set(place, value string) string { return fmt.Sprintf("%s = %s;\n", place, value) }

func (c *cWriter) loop(counter string, n int) string {
	if counter == "" {
		counter = "i"
	}
	return fmt.Sprintf("for (int %s = 0; %s < %d; %s++) {\n", counter, counter, n, counter)
}

func (c *cWriter) end() string { return "}\n" }

func (c *cWriter) fail(condition, guard string) string {
	return fmt.Sprintf("if (%s) {\nreturn %s;\n}\n", condition, guard)
}

func (c *cWriter) constant(v float64) string { return constantC(v) }
func (c *cWriter) zero() string              { return " + 0.0" }

func (c *cWriter) table(list []int) string {
	return c.tables.add(integerType(list, "unsigned char", "unsigned short", "int"), integers(list))
}

func (c *cWriter) numbers(list []float64) string {
	return c.tables.add("double", texts(list, constantC))
}

func (c *cWriter) input(group, at int) string { return c.argument(group, strconv.Itoa(at)) }

// argument returns an element of a group of inputs, or of the parameters.
func (c *cWriter) argument(group int, index string) string {
	if group == parameters {
		group = len(c.p.Ins)
	}
	return fmt.Sprintf("arg[%d] ? arg[%d][%s] : 0", group, group, index)
}

func (c *cWriter) element(m memory, index string) string {
	if m.start > 0 {
		index = fmt.Sprintf("%d + %s", m.start, index)
	}
	switch m.space {
	case ins:
		return "(" + c.argument(m.group, index) + ")"
	case outs:
		return fmt.Sprintf("res[%d][%s]", m.group, index)
	}
	return fmt.Sprintf("work[%s]", index)
}

func (c *cWriter) pending() string             { return "" }
func (c *cWriter) result(int, string) bool     { return false }
func (c *cWriter) output(group, at int) string { return fmt.Sprintf("res[%d][%d]", group, at) }
func (c *cWriter) begin(group int) string      { return fmt.Sprintf("if (res[%d]) {\n", group) }
func (c *cWriter) finish() string              { return "}\n" }

func (c *cWriter) stored(group int, line string) string { return c.begin(group) + line + c.finish() }

func (c *cWriter) copies(to, from memory) string {
	return fmt.Sprintf("memcpy(%s, %s, %d * sizeof(double));\n", c.pointer(to), c.pointer(from), from.n)
}

// pointer returns the place of m.
func (c *cWriter) pointer(m memory) string {
	name := "work"
	if m.space == outs {
		name = fmt.Sprintf("res[%d]", m.group)
	}
	if m.start > 0 {
		name += fmt.Sprintf(" + %d", m.start)
	}
	return name
}

func (c *cWriter) repeats(group, n, total int) string {
	if n >= total {
		return ""
	}
	return fmt.Sprintf("for (int i = %d; i < %d; i++) {\nres[%d][i] = res[%d][i - %d];\n}\n", n, total, group, group, n)
}

// indented returns the lines of the body of a function indented by their depth.
func indented(text string) string {
	var b strings.Builder
	depth := 1
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, "\t")
		if strings.HasPrefix(trimmed, "}") {
			depth--
		}
		more := min(len(line)-len(trimmed), 1) // a line that continues another one
		b.WriteString(strings.Repeat("\t", depth+more) + trimmed)
		if strings.HasSuffix(trimmed, "{\n") {
			depth++
		}
	}
	return b.String()
}

// comparison returns the comparison of a guard as an expression.
func (c *cWriter) comparison(op program.Op, a, b string) string {
	switch op {
	case program.GuardBits:
		return fmt.Sprintf("%s(%s, %s)", c.helper("same"), a, b)
	case program.GuardInt:
		f := c.helper("int")
		return fmt.Sprintf("%s(%s) == %s(%s)", f, a, f, b)
	}
	return comparison(op, a, b)
}

func (c *cWriter) value(op program.Op, args []string) string {
	return c.elementary(rules.Info(rules.Op(op)).Value, args)
}

// elementary returns value, that of a rule, as an expression of C.
func (c *cWriter) elementary(value string, args []string) string {
	return substituted(strings.ReplaceAll(value, "math.", "math_"), args, func(name string) string {
		f, ok := strings.CutPrefix(name, "math_")
		if !ok {
			return c.helper(name)
		}
		switch f = strings.ToLower(f); f {
		case "abs":
			return "fabs"
		case "mod":
			return "fmod"
		case "roundtoeven":
			return "rint"
		case "max", "min", "nextafter", "y0", "y1", "gamma", "erfinv", "erfcinv":
			return c.helper(f)
		}
		return f
	})
}

// constantC returns v as an expression of type double.
func constantC(v float64) string {
	switch {
	case v != v:
		return "NAN"
	case math.IsInf(v, 1):
		return "HUGE_VAL"
	case math.IsInf(v, -1):
		return "-HUGE_VAL"
	}
	return decimal(v)
}

//go:embed helpers_c.txt
var helpersC string

var (
	nameOfC = regexp.MustCompile(`(?m)^static \w+ (nabla_\w+)`)
	usesOfC = regexp.MustCompile(`nabla_\w+`)
)

// functionsC are the functions of helpers_c.txt in order, each with the comment above it and without the prefix of its
// name.
var functionsC = func() (list []struct{ name, text string }) {
	for _, text := range regexp.MustCompile(`(?m)^}\n`).Split(helpersC, -1) {
		if m := nameOfC.FindStringSubmatch(text); m != nil {
			name := strings.TrimPrefix(m[1], "nabla_")
			list = append(list, struct{ name, text string }{name, strings.TrimSpace(text) + "\n}\n"})
		}
	}
	return list
}()

// helper returns the name in the file of a function of helpers_c.txt, and needs it.
func (c *cWriter) helper(name string) string {
	c.used[name] = true
	return c.o.Name + "_" + name
}

// helpers returns the functions of helpers_c.txt that are needed.
func (c *cWriter) helpers() string {
	var b []string
	for _, f := range slices.Backward(functionsC) { // a function uses those above it
		if !c.used[f.name] {
			continue
		}
		b = append(b, usesOfC.ReplaceAllStringFunc(f.text, func(s string) string {
			return c.helper(strings.TrimPrefix(s, "nabla_"))
		}))
	}
	slices.Reverse(b)
	return strings.Join(b, "\n")
}

var posixC = regexp.MustCompile(`\b(jn|yn|j0|j1|y0|y1)\(`)

// file returns the whole file.
func (c *cWriter) file() []byte {
	body, helpers := c.body, c.helpers()
	tables := c.tables.source("static const %s %s[%d] = {%s};\n")
	var b strings.Builder
	c.comment(&b)
	if posixC.MatchString(body + helpers) {
		b.WriteString("\n#define _XOPEN_SOURCE 600 /* Bessel functions */\n")
	}
	b.WriteString("\n#include <math.h>\n")
	if regexp.MustCompile(`u?int64_t`).MatchString(helpers) {
		b.WriteString("#include <stdint.h>\n")
	}
	if strings.Contains(helpers+body, "memcpy") {
		b.WriteString("#include <string.h>\n")
	}
	b.WriteString("\n")
	if helpers != "" {
		b.WriteString(helpers + "\n")
	}
	if tables != "" {
		b.WriteString(tables + "\n")
	}
	c.pattern(&b)
	if c.plan.work > stackNumbers {
		fmt.Fprintf(&b, "#define %s_work %d\n\n", c.o.Name, c.plan.work)
	}
	b.WriteString(c.head() + "\n{\n")
	for _, name := range []string{"arg", "res"} {
		if !strings.Contains(body, name+"[") {
			fmt.Fprintf(&b, "\t(void)%s;\n", name)
		}
	}
	if n := c.plan.work; n > 0 && n <= stackNumbers {
		fmt.Fprintf(&b, "\tdouble work[%d];\n", n)
	}
	b.WriteString(body + "\treturn 0;\n}\n")
	return []byte(b.String())
}

// head returns the declaration of the function.
func (c *cWriter) head() string {
	memory := ""
	if c.plan.work > stackNumbers {
		memory = ", double *work"
	}
	return fmt.Sprintf("int %s(const double **arg, double **res%s)", c.o.Name, memory)
}

// comment writes the comment of the file.
func (c *cWriter) comment(b *strings.Builder) {
	b.WriteString("/* Code generated by package export of nabla; DO NOT EDIT.\n *\n")
	fmt.Fprintf(b, " * %s\n *\n", c.head())
	if c.o.Comment != "" {
		for _, s := range strings.Split(strings.TrimSpace(c.o.Comment), "\n") {
			b.WriteString(strings.TrimRight(" * "+commentC(s), " ") + "\n")
		}
		b.WriteString(" *\n")
	}
	for i, g := range c.p.Ins {
		fmt.Fprintf(b, " * arg[%d]: %s, %d numbers\n", i, c.ins[i], g.N)
	}
	if c.p.Params > 0 {
		fmt.Fprintf(b, " * arg[%d]: parameters, %d numbers\n", len(c.p.Ins), c.p.Params)
	}
	for i, g := range c.p.Outs {
		fmt.Fprintf(b, " * res[%d]: %s, %d numbers\n", i, c.outs[i], g.N)
	}
	if c.plan.work > stackNumbers {
		fmt.Fprintf(b, " * work: memory of %s_work numbers, whose contents do not matter\n", c.o.Name)
	}
	b.WriteString(" *\n * A null pointer in arg stands for zeros, in res for outputs that are not wanted.\n")
	if n := c.p.Guards(); n > 0 {
		fmt.Fprintf(b, " * The result is 0, or a number from 1 to %d, with nothing written, if that comparison\n"+
			" * has another outcome than when the function was recorded: it takes another branch there.\n", n)
	} else {
		b.WriteString(" * The result is 0.\n")
	}
	b.WriteString(" * Compile with -ffp-contract=off for the same rounding everywhere.\n */\n")
}

// pattern writes the pattern of a sparse matrix.
func (c *cWriter) pattern(b *strings.Builder) {
	s := c.o.Pattern
	if s == nil {
		return
	}
	rows, cols := s.Dims()
	name := c.o.Name
	what := "outputs"
	if k := len(c.outs); k > 1 {
		what = fmt.Sprintf("numbers of res[%d]", k-1)
	}
	fmt.Fprintf(b, "/* The %s are the entries of a matrix with %d rows and %d columns, column after column: the\n"+
		" * entries of column j are those from %s_colptr[j] to %s_colptr[j+1], in the rows %s_row. */\n",
		what, rows, cols, name, name, name)
	fmt.Fprintf(b, "const int %s_colptr[%d] = {%s};\n", name, cols+1, integers(s.ColPtr()))
	row := s.RowIndex()
	if len(row) == 0 {
		row = []int{0} // C has no empty arrays
	}
	fmt.Fprintf(b, "const int %s_row[%d] = {%s};\n\n", name, len(row), integers(row))
}

package export

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
	"github.com/nabla-ad/nabla/sparsity"
)

// LaTeX returns p as formulas to read: an align* environment, which needs the package amsmath. There is an equation for
// each output, preceded by one for each value that is used more than once or would make a formula of more than twelve
// operations, and followed by the outcomes of the comparisons that the program requires. Elements of groups are counted
// from 1, as x_{1}; a group of one number has no index. A name that ends with dot or bar, such as xdot of a tangent,
// gets the accent, and characters that are no ASCII letters or digits become dots.
//
// The formulas are those of the program, operation by operation: only zero terms and unit factors are dropped, and
// numbers have all digits. Functions that mathematics has no sign for are named as in package rules. Long equations are
// not broken. Of the options only Pattern is used: an output is then named by its row and column.
//
// Errors are a [*RuleError], a [*PatternError], and those of [program.Check].
func LaTeX(p *program.Program, o Options) ([]byte, error) {
	lines, err := linesOf(p, "LaTeX", o)
	if err != nil {
		return nil, err
	}
	t := &texWriter{p: p, values: map[int32]formula{}, uses: map[int32]int{}}
	for _, x := range lines {
		for _, a := range x.args {
			t.uses[a]++
		}
	}
	for _, s := range p.Result {
		t.uses[s]++
	}
	var conditions []string
	for _, x := range lines {
		if x.op.Guard() {
			conditions = append(conditions, t.condition(x))
			continue
		}
		t.define(x)
	}
	at := 0
	for _, g := range p.Outs {
		for j := range g.N {
			name := texElement(g, j)
			if o.Pattern != nil {
				name = texEntry(g, o.Pattern, at)
			}
			t.equation(name, t.values[p.Result[at]].text)
			at++
		}
	}
	for i, c := range conditions {
		word := `\text{and }`
		if i == 0 {
			word = `\text{if }`
		}
		t.rows = append(t.rows, word+"& "+c)
	}
	return []byte("\\begin{align*}\n" + strings.Join(t.rows, " \\\\\n") + "\n\\end{align*}\n"), nil
}

// Precedences of formulas: a formula is put into parentheses where one of a higher precedence is wanted.
const (
	texSum = iota
	texProduct
	texPower // the base of a power
	texAtom
)

// texLongest is the number of operations in a formula from which on it gets a name.
const texLongest = 12

// A formula is the text of a value.
type formula struct {
	text   string
	level  int
	size   int // operations: 0 for an input, a parameter, a number or a name
	number bool
	test   string // the comparison, if the value is its indicator
}

// texWriter collects the rows of a text.
type texWriter struct {
	p      *program.Program
	values map[int32]formula
	uses   map[int32]int
	named  int
	rows   []string
}

func (t *texWriter) equation(name, text string) { t.rows = append(t.rows, name+" &= "+text) }

// define makes the formula of a line that is no guard, and an equation if it gets a name.
func (t *texWriter) define(x line) {
	f := t.formula(x)
	if f.size > 0 && f.test == "" && (t.uses[x.d] > 1 || f.size >= texLongest) {
		t.named++
		name := fmt.Sprintf("t_{%d}", t.named)
		t.equation(name, f.text)
		f = formula{text: name, level: texAtom}
	}
	t.values[x.d] = f
}

// formula returns the formula of a line in terms of those before.
func (t *texWriter) formula(x line) formula {
	switch x.op {
	case program.Input:
		return formula{text: texElement(t.p.Ins[x.group], x.at), level: texAtom}
	case program.Param:
		return formula{text: fmt.Sprintf("p_{%d}", x.at+1), level: texAtom}
	case program.Const:
		return texNumber(x.value)
	}
	args := make([]formula, len(x.args))
	size := 1
	for i, a := range x.args {
		args[i] = t.values[a]
		size += args[i].size
	}
	f := texOperation(x.op, args)
	f.size = size
	return f
}

// in returns a formula in parentheses if its precedence is below level.
func (f formula) in(level int) string {
	if f.level >= level {
		return f.text
	}
	return `\left(` + f.text + `\right)`
}

// texFunctions are the functions that LaTeX or mathematics has a name for.
var texFunctions = map[rules.Op]string{
	rules.Log: `\ln`, rules.Log2: `\log_{2}`, rules.Log10: `\log_{10}`, rules.Sin: `\sin`, rules.Cos: `\cos`,
	rules.Tan: `\tan`, rules.Asin: `\arcsin`, rules.Acos: `\arccos`, rules.Atan: `\arctan`, rules.Sinh: `\sinh`,
	rules.Cosh: `\cosh`, rules.Tanh: `\tanh`, rules.Asinh: `\operatorname{arsinh}`,
	rules.Acosh: `\operatorname{arcosh}`, rules.Atanh: `\operatorname{artanh}`, rules.Erf: `\operatorname{erf}`,
	rules.Erfc: `\operatorname{erfc}`, rules.Erfinv: `\operatorname{erf}^{-1}`,
	rules.Erfcinv: `\operatorname{erfc}^{-1}`, rules.Gamma: `\Gamma`, rules.Digamma: `\psi`, rules.J0: `J_{0}`,
	rules.J1: `J_{1}`, rules.Y0: `Y_{0}`, rules.Y1: `Y_{1}`, rules.Sign: `\operatorname{sgn}`, rules.Max: `\max`,
	rules.Min: `\min`,
}

// texOperation returns the formula of an operation.
func texOperation(op program.Op, a []formula) formula {
	if op == program.Sum {
		return texTerms(a)
	}
	call := func(name string) formula {
		var texts []string
		for _, x := range a {
			texts = append(texts, x.text)
		}
		return formula{text: name + `\left(` + strings.Join(texts, ", ") + `\right)`, level: texProduct}
	}
	power := func(base formula, exponent string) formula {
		return formula{text: base.in(texAtom) + "^{" + exponent + "}", level: texPower}
	}
	fraction := func(n, d string) formula {
		return formula{text: `\frac{` + n + `}{` + d + `}`, level: texPower}
	}
	atom := func(open string, x formula, closing string) formula {
		return formula{text: open + x.text + closing, level: texAtom}
	}
	switch o := rules.Op(op); o {
	case rules.Neg:
		return formula{text: "-" + a[0].in(texProduct), level: texSum}
	case rules.Stop:
		return a[0]
	case rules.Inv:
		return fraction("1", a[0].text)
	case rules.Sq:
		return power(a[0], "2")
	case rules.Sqrt:
		return atom(`\sqrt{`, a[0], "}")
	case rules.Cbrt:
		return atom(`\sqrt[3]{`, a[0], "}")
	case rules.Exp:
		return power(formula{text: "e", level: texAtom}, a[0].text)
	case rules.Exp2:
		return power(formula{text: "2", level: texAtom}, a[0].text)
	case rules.Expm1:
		return formula{text: "e^{" + a[0].text + "} - 1", level: texSum}
	case rules.Log1p:
		return formula{text: `\ln\left(1 + ` + a[0].in(texProduct) + `\right)`, level: texProduct}
	case rules.Lgamma:
		return formula{text: `\ln\left|\Gamma\left(` + a[0].text + `\right)\right|`, level: texProduct}
	case rules.Abs:
		return atom(`\left|`, a[0], `\right|`)
	case rules.Floor:
		return atom(`\left\lfloor `, a[0], ` \right\rfloor`)
	case rules.Ceil:
		return atom(`\left\lceil `, a[0], ` \right\rceil`)
	case rules.Add:
		return texTerms(a)
	case rules.Sub:
		return formula{text: a[0].text + " - " + a[1].in(texProduct), level: texSum}
	case rules.Mul, rules.MulZ:
		return texProductOf(a[0], a[1])
	case rules.Div, rules.DivZ:
		return fraction(a[0].text, a[1].text)
	case rules.Pow:
		return power(a[0], a[1].text)
	case rules.Hypot:
		return formula{text: `\sqrt{` + power(a[0], "2").text + " + " + power(a[1], "2").text + "}", level: texAtom}
	case rules.HypotDx:
		return fraction(a[0].text, texOperation(program.Op(rules.Hypot), a).text)
	case rules.CosAtan:
		return fraction("1", `\sqrt{1 + `+power(a[0], "2").text+"}")
	case rules.SechSq:
		return fraction("1", `\cosh\left(`+a[0].text+`\right)^{2}`)
	case rules.Logistic:
		return fraction("1", "1 + e^{-"+a[0].in(texProduct)+"}")
	case rules.Softplus:
		return formula{text: `\ln\left(1 + e^{` + a[0].text + `}\right)`, level: texProduct}
	case rules.XLogY:
		return texProductOf(a[0], formula{text: `\ln\left(` + a[1].text + `\right)`, level: texProduct})
	case rules.PowDx: // times PowScale, which is there against overflow and written as 1
		return texProductOf(a[1], power(a[0], a[1].text+" - 1"))
	case rules.PowScale:
		return formula{text: "1", level: texAtom}
	case rules.PowDp:
		return texProductOf(power(a[0], a[1].text), formula{text: `\ln\left(` + a[0].text + `\right)`, level: texProduct})
	case rules.LogAddExp:
		return formula{text: `\ln\left(e^{` + a[0].text + "} + e^{" + a[1].text + `}\right)`, level: texProduct}
	case rules.FMA:
		return texTerms([]formula{texProductOf(a[0], a[1]), a[2]})
	case rules.Jn, rules.Yn:
		name := map[rules.Op]string{rules.Jn: "J", rules.Yn: "Y"}[o]
		return formula{text: name + "_{" + a[0].text + `}\left(` + a[1].text + `\right)`, level: texProduct}
	case rules.Polygamma:
		return formula{text: `\psi^{(` + a[0].text + `)}\left(` + a[1].text + `\right)`, level: texProduct}
	case rules.Lt, rules.Le, rules.Eq:
		test := texComparison(op, a[0], a[1])
		return formula{text: `\left[` + test + `\right]`, level: texAtom, test: test}
	case rules.Select:
		test := a[0].test
		if test == "" {
			test = a[0].text + ` \ne 0`
		}
		return formula{text: `\begin{cases} ` + a[1].text + ` & \text{if } ` + test + ` \\ ` + a[2].text +
			` & \text{otherwise} \end{cases}`, level: texSum}
	default:
		if name, ok := texFunctions[o]; ok {
			return call(name)
		}
		return call(`\operatorname{` + o.String() + `}`)
	}
}

// texTerms returns a sum. A term that begins with a minus is subtracted.
func texTerms(a []formula) formula {
	var b strings.Builder
	a = slices.DeleteFunc(slices.Clone(a), func(x formula) bool { return x.text == "0" })
	if len(a) == 0 {
		return texNumber(0)
	}
	if len(a) == 1 {
		return a[0]
	}
	for i, x := range a {
		switch rest, negative := strings.CutPrefix(x.text, "-"); {
		case i == 0:
			b.WriteString(x.text)
		case negative:
			b.WriteString(" - " + rest)
		default:
			b.WriteString(" + " + x.text)
		}
	}
	return formula{text: b.String(), level: texSum}
}

// texProductOf returns a product, with a sign between factors where a space would join digits.
func texProductOf(x, y formula) formula {
	if x.text == "1" {
		return y
	}
	if y.text == "1" {
		return x
	}
	if y.number && !x.number { // numbers come first
		x, y = y, x
	}
	left, right := x.in(texProduct), y.in(texProduct)
	sign := ` \, `
	if c := right[0]; c >= '0' && c <= '9' || strings.HasPrefix(right, `\infty`) {
		sign = ` \cdot `
	}
	return formula{text: left + sign + right, level: texProduct}
}

// texComparison returns a comparison of indicators or guards.
func texComparison(op program.Op, a, b formula) string {
	sign := map[program.Op]string{
		program.Op(rules.Lt): "<", program.Op(rules.Le): `\le`, program.Op(rules.Eq): "=",
		program.GuardLt: "<", program.GuardLe: `\le`, program.GuardEq: "=", program.GuardBits: "=",
	}[op]
	return a.text + " " + sign + " " + b.text
}

// condition returns the comparison that a guard requires.
func (t *texWriter) condition(x line) string {
	a, b := t.values[x.args[0]], t.values[x.args[1]]
	if x.op == program.GuardInt {
		return fmt.Sprintf(`\operatorname{trunc}\left(%s\right) = %s`, a.text, b.text)
	}
	test := texComparison(x.op, a, b)
	if !x.holds {
		return `\text{not } ` + test
	}
	return test
}

// texNumber returns a number with as many digits as it takes to read it back.
func texNumber(v float64) formula {
	switch {
	case math.IsNaN(v):
		return formula{text: `\mathrm{NaN}`, level: texAtom}
	case math.IsInf(v, 1):
		return formula{text: `\infty`, level: texAtom}
	case math.IsInf(v, -1):
		return formula{text: `-\infty`, level: texSum}
	}
	level := texAtom
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if m, e, ok := strings.Cut(text, "e"); ok {
		n, _ := strconv.Atoi(e)
		text, level = fmt.Sprintf(`%s \cdot 10^{%d}`, m, n), texProduct
	}
	if math.Signbit(v) {
		level = texSum
	}
	return formula{text: text, level: level, number: true}
}

// texElement returns the name of an element of a group.
func texElement(g program.Group, i int) string {
	name := texName(g.Name)
	if g.N == 1 {
		return name
	}
	return fmt.Sprintf("%s_{%d}", name, i+1)
}

// texEntry returns the name of entry k of a sparse matrix.
func texEntry(g program.Group, s *sparsity.Pattern, k int) string {
	j := sort.SearchInts(s.ColPtr(), k+1) - 1
	return fmt.Sprintf("%s_{%d,%d}", texName(g.Name), s.RowIndex()[k]+1, j+1)
}

// texName returns the name of a group as a symbol.
func texName(s string) string {
	for suffix, accent := range map[string]string{"dot": `\dot`, "bar": `\bar`} {
		if base, ok := strings.CutSuffix(strings.ToLower(s), suffix); ok && base != "" {
			return accent + "{" + texName(s[:len(base)]) + "}"
		}
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) && r < 128 || unicode.IsDigit(r) && r < 128:
			b.WriteRune(r)
		case r == '_':
			b.WriteString(`\_`)
		default:
			b.WriteString(`\cdot`)
		}
	}
	switch text := b.String(); {
	case text == "":
		return `\mathrm{group}`
	case len(text) == 1:
		return text
	default:
		return `\mathrm{` + text + `}`
	}
}

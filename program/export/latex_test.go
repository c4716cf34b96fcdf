package export_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program/export"
	"github.com/nabla-ad/nabla/rules"
)

// tex evaluates formulas of LaTeX, as a reader would: it knows the usual precedences, fractions, roots, powers,
// functions, cases and indicators, and nothing of the program.
type tex struct {
	rest   []string
	values map[string]float64
}

var texTokens = regexp.MustCompile(`\\text\{[^}]*\}|\\operatorname\{\w+\}(?:\^\{-1\})?|\\(?:begin|end)\{cases\}|` +
	`\\(?:dot|bar)\{\w\}(?:_\{\d+\})?|\\mathrm\{[^}]*\}(?:_\{\d+\})?|\\left\\\w+|\\right\\\w+|\\(?:left|right).|` +
	`\\sqrt\[3\]|\\log_\{\d+\}|\\\\|\\[a-z]+|\\Gamma|\\,|[JY]_\{|[a-z](?:_\{\d+\})?|\d+(?:\.\d+)?|\S`)

func (e *tex) peek() string {
	if len(e.rest) == 0 {
		return ""
	}
	return e.rest[0]
}

func (e *tex) next() string {
	s := e.peek()
	if s != "" {
		e.rest = e.rest[1:]
	}
	return s
}

func (e *tex) want(s string) {
	if got := e.next(); got != s {
		panic(fmt.Sprintf("got %q, want %q before %q", got, s, e.rest))
	}
}

func (e *tex) braced() float64 {
	e.want("{")
	v := e.sum()
	e.want("}")
	return v
}

func (e *tex) sum() float64 {
	sign := 1.0
	if e.peek() == "-" {
		e.next()
		sign = -1
	}
	v := sign * e.product()
	for e.peek() == "+" || e.peek() == "-" {
		if e.next() == "+" {
			v += e.product()
		} else {
			v -= e.product()
		}
	}
	return v
}

func (e *tex) product() float64 {
	v := e.power()
	for e.peek() == `\,` || e.peek() == `\cdot` {
		e.next()
		v *= e.power()
	}
	return v
}

func (e *tex) power() float64 {
	if e.peek() == "e" {
		e.next()
		e.want("^")
		return math.Exp(e.braced())
	}
	v := e.atom()
	if e.peek() == "^" {
		e.next()
		v = math.Pow(v, e.braced())
	}
	return v
}

func (e *tex) comparison() bool {
	a := e.sum()
	sign := e.next()
	b := e.sum()
	switch sign {
	case "<":
		return a < b
	case `\le`:
		return a <= b
	case "=":
		return a == b
	case `\ne`:
		return a != b
	}
	panic("comparison " + sign)
}

func (e *tex) arguments() (a []float64) {
	e.want(`\left(`)
	for {
		a = append(a, e.sum())
		if e.peek() != "," {
			break
		}
		e.next()
	}
	e.want(`\right)`)
	return a
}

func (e *tex) atom() float64 {
	s := e.next()
	names := map[string]string{`\ln`: "log", `\log_{2}`: "log2", `\log_{10}`: "log10", `\arcsin`: "asin", `\arccos`: "acos",
		`\arctan`: "atan", `\operatorname{arsinh}`: "asinh", `\operatorname{arcosh}`: "acosh",
		`\operatorname{artanh}`: "atanh", `\operatorname{erf}^{-1}`: "erfinv", `\operatorname{erfc}^{-1}`: "erfcinv",
		`\Gamma`: "gamma", `\operatorname{sgn}`: "sign"}
	enclosed := func(op rules.Op, closing string) float64 {
		v := e.sum()
		e.want(closing)
		return rules.Value1(op, v)
	}
	switch s {
	case `\frac`:
		a := e.braced()
		return a / e.braced()
	case `\sqrt`:
		return math.Sqrt(e.braced())
	case `\sqrt[3]`:
		return math.Cbrt(e.braced())
	case `\left(`:
		return enclosed(rules.Stop, `\right)`)
	case `\left|`:
		return enclosed(rules.Abs, `\right|`)
	case `\left\lfloor`:
		return enclosed(rules.Floor, `\right\rfloor`)
	case `\left\lceil`:
		return enclosed(rules.Ceil, `\right\rceil`)
	case `\left[`:
		v := 0.0
		if e.comparison() {
			v = 1
		}
		e.want(`\right]`)
		return v
	case `\begin{cases}`:
		yes := e.sum()
		e.want("&")
		e.want(`\text{if }`)
		holds := e.comparison()
		e.want(`\\`)
		no := e.sum()
		e.want("&")
		e.want(`\text{otherwise}`)
		e.want(`\end{cases}`)
		if holds {
			return yes
		}
		return no
	case `\infty`:
		return math.Inf(1)
	case `\mathrm{NaN}`:
		return math.NaN()
	case "J_{", "Y_{":
		n := e.sum()
		e.want("}")
		x := e.arguments()[0]
		if s == "J_{" {
			return rules.Value2(rules.Jn, n, x)
		}
		return rules.Value2(rules.Yn, n, x)
	case `\psi`:
		if e.peek() != "^" {
			return rules.Value1(rules.Digamma, e.arguments()[0])
		}
		e.next()
		e.want("{")
		e.want("(")
		n := e.sum()
		e.want(")")
		e.want("}")
		return rules.Value2(rules.Polygamma, n, e.arguments()[0])
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		if len(e.rest) > 3 && e.rest[0] == `\cdot` && e.rest[1] == "10" && e.rest[2] == "^" {
			e.rest = e.rest[2:]
			e.want("^")
			e.want("{")
			for s += "e"; e.peek() != "}"; {
				s += e.next()
			}
			e.want("}")
			v, _ = strconv.ParseFloat(s, 64)
		}
		return v
	}
	name, ok := names[s]
	if !ok && strings.HasPrefix(s, `\`) {
		name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, `\`), "operatorname{"), "}")
	}
	if op, ok := rules.Lookup(name); ok {
		if name == "log" && e.peek() == `\left|` {
			return math.Log(e.atom())
		}
		a := e.arguments()
		if len(a) == 1 {
			return rules.Value1(op, a[0])
		}
		return rules.Value2(op, a[0], a[1])
	}
	v, ok := e.values[s]
	if !ok {
		panic("unknown " + s)
	}
	return v
}

// texValues evaluates all equations and returns the values of those that define outputs.
func texValues(t *testing.T, text string, values map[string]float64) (y []float64) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%v in\n%s", r, text)
		}
	}()
	body, ok := strings.CutPrefix(text, "\\begin{align*}\n")
	body, ok2 := strings.CutSuffix(body, "\n\\end{align*}\n")
	if !ok || !ok2 {
		t.Fatalf("no environment: %s", text)
	}
	for row := range strings.SplitSeq(body, " \\\\\n") {
		if strings.HasPrefix(row, `\text{`) { // a guard
			continue
		}
		name, formula, ok := strings.Cut(row, " &= ")
		if !ok {
			t.Fatalf("no equation: %s", row)
		}
		e := &tex{texTokens.FindAllString(formula, -1), values}
		v := e.sum()
		if len(e.rest) > 0 {
			t.Fatalf("%q is left of %s", e.rest, formula)
		}
		if values[name] = v; !strings.HasPrefix(name, "t_") {
			y = append(y, v)
		}
	}
	return y
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// TestLaTeXOperations evaluates the formula of each operation, of operands that are sums, so that parentheses matter.
func TestLaTeXOperations(t *testing.T) {
	for _, op := range all {
		args := []string{"%2", "%3", "%4"}[:op.Arity()]
		p := parsed(t, "%0:2 = input x\n%2:2 = add %0:+1 %1:+0\n%4 = sub %0 %1\n%5 = "+op.String()+" "+
			strings.Join(args, " ")+
			"\n%6 = mul %5 %5\n%7 = neg %5\n%8 = sub %7 %5\n%9 = sq %5\n%10 = div %5 %9\nout y [%5 %6 %8 %9 %10]\n")
		text, err := export.LaTeX(p, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{{0.2, 0.15}, {1, 1}, {1.5, 0.5}, {2, -1}} {
			want, ok := evaluated(p, x, nil)
			if !ok {
				t.Fatal("a guard")
			}
			got := texValues(t, string(text), map[string]float64{"x_{1}": x[0], "x_{2}": x[1]})
			for i := range want {
				if op == rules.PowScale || op == rules.PowDx && want[0] == 0 {
					continue
				}
				if !near(got[i], want[i]) {
					t.Errorf("%s at %v, output %d: %g, want %g in\n%s", op, x, i, got[i], want[i], text)
				}
			}
		}
	}
}

// TestLaTeXRandom evaluates the formulas of random programs, of operations whose formulas round as they do.
func TestLaTeXRandom(t *testing.T) {
	var ops []rules.Op
	for _, name := range strings.Fields(
		"neg inv sq sqrt sin cos tanh atan abs floor add sub mul div max min lt le eq select") {
		op, _ := rules.Lookup(name)
		ops = append(ops, op)
	}
	same, other := 0, 0
	for seed := range uint64(longtest.Cases(0, 100, 500, 20_000)) {
		p, at := randomProgram(t, seed, ops, 1+int(seed%25))
		text, err := export.LaTeX(p, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, ok := evaluated(p, at, nil)
		if !ok {
			t.Fatal("a guard fails")
		}
		values := map[string]float64{}
		n := 0
		for _, g := range p.Ins {
			name := g.Name
			if len(name) > 1 {
				name = `\mathrm{` + strings.ReplaceAll(name, " ", `\cdot`) + "}"
			}
			for i := range g.N {
				if g.N > 1 {
					values[fmt.Sprintf("%s_{%d}", name, i+1)] = at[n]
				} else {
					values[name] = at[n]
				}
				n++
			}
		}
		got := texValues(t, string(text), values)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d outputs, want %d in\n%s", seed, len(got), len(want), text)
		}
		for i := range want {
			switch {
			case near(got[i], want[i]):
				same++
			case math.IsNaN(got[i]) || math.Abs(got[i]) > 1e9 || math.Abs(want[i]) > 1e9: // overflow, or cancellation
			default: // a sum of sums has another order, which a sine of a large number makes visible
				if other++; other*5000 < same {
					continue
				}
				t.Errorf("seed %d, output %d: %g, want %g in\n%s\n%s", seed, i, got[i], want[i], p, text)
			}
		}
	}
	t.Logf("%d outputs agree", same)
}

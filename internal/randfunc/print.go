package randfunc

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/rules"
)

// String returns p as the source of a Go function over nabla.Real, to be copied into a test that reproduces a failure.
// It omits the limit on the number of statements, see steps.
func (p *Prog) String() string {
	w := &writer{}
	w.line("func f(y, x []nabla.Real) {")
	w.prog(p, "x")
	for i, o := range p.Outs {
		w.line("	y[%d] = v[%d]", i, o)
	}
	w.line("}")
	return w.b.String()
}

// A writer builds Go source with indented lines.
type writer struct {
	b      strings.Builder
	indent int
}

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("\t", w.indent))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) prog(p *Prog, x string) {
	w.indent++
	w.line("v := make([]nabla.Real, %d)", p.Vars)
	w.line("copy(v, %s)", x)
	if uses(p.Body, Store, Load, StoreAt, LoadAt) {
		w.line("s := []nabla.Real{nabla.Const(0), nabla.Const(1), nabla.Const(2)}")
	}
	w.block(p.Body)
	w.indent--
}

// uses reports whether body, or a block nested in it, has a statement of one of the kinds. Functions of nested
// derivatives do not count, as they have memory of their own.
func uses(body []Stmt, kinds ...Kind) bool {
	for i := range body {
		for _, k := range kinds {
			if body[i].Kind == k {
				return true
			}
		}
		if uses(body[i].Body, kinds...) || uses(body[i].Else, kinds...) {
			return true
		}
	}
	return false
}

func (w *writer) block(body []Stmt) {
	for i := range body {
		w.stmt(&body[i])
	}
}

// v returns the source of variable i.
func v(i int) string { return "v[" + strconv.Itoa(i) + "]" }

// list returns the source of a list of variables, separated by commas.
func list(a []int) string {
	s := make([]string, len(a))
	for i, k := range a {
		s[i] = v(k)
	}
	return strings.Join(s, ", ")
}

// number returns the source of a constant.
func number(c float64) string {
	switch {
	case math.IsInf(c, 1):
		return "math.Inf(1)"
	case math.IsInf(c, -1):
		return "math.Inf(-1)"
	case c != c:
		return "math.NaN()"
	case c == 0 && math.Signbit(c):
		return "math.Copysign(0, -1)"
	}
	return strconv.FormatFloat(c, 'g', -1, 64)
}

// text returns the source of a condition of an If statement on the variables a, as a method call that returns a bool.
func (c Cond) text(a []int) string {
	x, y := v(a[0]), v(a[1])
	return map[Cond]string{
		Lt: x + ".Less(" + y + ")", Le: x + ".LessEq(" + y + ")", Eq: x + ".Equal(" + y + ")",
		Gt: x + ".Greater(" + y + ")", NaN: x + ".IsNaN()",
	}[c]
}

// where returns the source of a condition of a Where statement on the variables a, a nabla.Cond.
func (c Cond) where(a []int) string {
	lt := "nabla.Lt(" + list(a[:2]) + ")"
	switch c {
	case Lt:
		return lt
	case Le:
		return "nabla.Le(" + list(a[:2]) + ")"
	case Eq:
		return "nabla.Eq(" + list(a[:2]) + ")"
	case Gt:
		return "nabla.Lt(" + v(a[1]) + ", " + v(a[0]) + ")"
	case LtAnd:
		return lt + ".And(nabla.Lt(" + v(a[3]) + ", " + v(a[2]) + "))"
	case LtOr:
		return lt + ".Or(nabla.Eq(" + v(a[2]) + ", " + v(a[3]) + "))"
	}
	return lt + ".Not()"
}

// call returns the source of the function call of an Apply statement.
func (s *Stmt) call() string {
	fn := &functions[s.Fn]
	a := list(s.A)
	switch fn.op {
	case rules.Add, rules.Sub, rules.Mul, rules.Div:
		return v(s.A[0]) + "." + fn.name + "(" + v(s.A[1]) + ")"
	case rules.Neg, rules.Sq:
		return v(s.A[0]) + "." + fn.name + "()"
	}
	switch fn.comp {
	case scale, addConst, powConst:
		return v(s.A[0]) + "." + fn.name + "(" + number(s.C) + ")"
	case ldexp:
		return "nabla.Ldexp(" + a + ", " + strconv.Itoa(ldexpBy[s.K&3]) + ")"
	case polygamma:
		return "nabla.Polygamma(" + strconv.Itoa(s.K) + ", " + a + ")"
	case jn, yn:
		return "nabla." + fn.name + "(" + strconv.Itoa(s.K-1) + ", " + a + ")"
	case dot2:
		return "nabla.Dot([]nabla.Real{" + list(s.A[:2]) + "}, []nabla.Real{" + list(s.A[2:]) + "})"
	}
	return "nabla." + fn.name + "(" + a + ")"
}

func (w *writer) stmt(s *Stmt) {
	switch s.Kind {
	case Apply:
		w.line("%s = %s", v(s.D), s.call())
	case Const:
		w.line("%s = nabla.Const(%s)", v(s.D), number(s.C))
	case Where:
		w.line("%s = nabla.Where(%s, %s)", v(s.D), s.Cond.where(s.A), list(s.A[2:]))
	case Store:
		w.line("s[%d] = %s", s.K, v(s.A[0]))
	case Load:
		w.line("%s = s[%d]", v(s.D), s.K)
	case StoreAt:
		w.line("s[abs(%s.Int()%%3)] = %s", v(s.A[0]), v(s.A[1]))
	case LoadAt:
		w.line("%s = s[abs(%s.Int()%%3)]", v(s.D), v(s.A[0]))
	case Output:
		w.line("y[%d] = %s", s.K, v(s.A[0]))
		w.line("%s = y[%d]", v(s.D), s.K)
	case Escape:
		w.line("%s = nabla.Const(%s.Value())", v(s.D), v(s.A[0]))
	case If:
		w.line("if %s {", s.Cond.text(s.A))
		w.indent++
		w.block(s.Body)
		w.indent--
		if len(s.Else) > 0 {
			w.line("} else {")
			w.indent++
			w.block(s.Else)
			w.indent--
		}
		w.line("}")
	case For:
		w.line("for i := 0; i < %d && %s.Less(%s); i++ {", s.K, v(s.A[0]), v(s.A[1]))
		w.indent++
		w.block(s.Body)
		w.indent--
		w.line("}")
	case Grad, Box:
		w.line("inner := func(z []nabla.Real) nabla.Real {")
		w.indent++
		w.line("captured := []nabla.Real{%s}", list(s.Caps))
		w.indent--
		w.prog(s.Sub, "append(z, captured...)")
		w.line("	return v[%d]", s.Sub.Outs[0])
		w.line("}")
		if s.Kind == Grad {
			w.line("%s = nabla.GradientFunc(inner, %s)([]nabla.Real{%s})[%d]", v(s.D), Engines[s.Engine].Name(),
				list(s.A), s.K)
		} else {
			w.line("%s = nabla.DifferentiateWith(inner, %s)([]nabla.Real{%s})", v(s.D), Engines[s.Engine].Name(),
				list(s.A))
		}
	}
}

// Points returns the source of points, one slice literal on a line.
func Points(xs [][]float64) string {
	var b strings.Builder
	for _, x := range xs {
		b.WriteString("[]float64{")
		for i, c := range x {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(number(c))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

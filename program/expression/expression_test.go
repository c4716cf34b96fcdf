package expression_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/expression"
)

// of returns the outputs of f, recorded at x.
func of(t *testing.T, f func(x []nabla.Real) []nabla.Real, x []float64,
	o *expression.OfOptions) []expression.Expression {
	t.Helper()
	r, err := nabla.Record(f, x)
	if err != nil {
		t.Fatal(err)
	}
	list, err := expression.Of(r.Program(), o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func parse(t *testing.T, text string) expression.Expression {
	t.Helper()
	p, err := program.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := expression.Of(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestString(t *testing.T) {
	y := of(t, func(x []nabla.Real) []nabla.Real {
		p := x[0].Mul(x[1])
		return []nabla.Real{
			nabla.Sin(p).Add(p.Sq()),
			x[0].Sub(x[1].Sub(x[0])).Div(x[1].Mul(x[0])).Neg(),
			nabla.Where(nabla.Lt(x[0], x[1]), nabla.Exp(x[0]), x[1].AddConst(-2)),
			x[0].Add(x[1]).Sq().PowConst(1.5),
			x[0].Scale(-3).Mul(x[1]),
		}
	}, []float64{1, 2}, nil)
	for i, want := range []string{
		"t1 = x1*x2\nsin(t1) + t1^2",
		"-(x1 - (x2 - x1))/(x1*x2)",
		"where(x1 < x2, exp(x1), x2 - 2)",
		"((x1 + x2)^2)^1.5",
		"x2*(-3*x1)",
	} {
		if got := y[i].String(); got != want {
			t.Errorf("output %d is\n%s\nwant\n%s", i, got, want)
		}
	}
	if tex, err := y[0].LaTeX("f"); err != nil || !strings.Contains(string(tex), `f &= \sin\left(t_{1}\right)`) {
		t.Errorf("%s, %v", tex, err)
	}
}

// TestDerivative compares derivatives with closed forms, written as other functions.
func TestDerivative(t *testing.T) {
	y := of(t, func(x []nabla.Real) []nabla.Real {
		a, b := x[0], x[1]
		return []nabla.Real{
			nabla.Sin(a.Mul(b)).Mul(nabla.Exp(b)), // f
			// ∂f/∂a, ∂f/∂b and ∂²f/∂a²
			b.Mul(nabla.Cos(a.Mul(b))).Mul(nabla.Exp(b)),
			a.Mul(nabla.Cos(a.Mul(b))).Add(nabla.Sin(a.Mul(b))).Mul(nabla.Exp(b)),
			b.Sq().Mul(nabla.Sin(a.Mul(b))).Mul(nabla.Exp(b)).Neg(),
			// g and ∂²g/∂a∂b
			nabla.Tanh(a).Div(b.Sq().AddConst(1)),
			nabla.Cosh(a).Sq().Inv().Mul(b.Scale(-2)).Div(b.Sq().AddConst(1).Sq()),
			// functions and their derivatives by a
			nabla.Where(nabla.Lt(a, b), a.Sq(), b.Sq().Mul(a)),
			nabla.Where(nabla.Lt(a, b), a.Scale(2), b.Sq()),
			a.PowConst(3), a.Sq().Scale(3),
		}
	}, []float64{1, 2}, &expression.OfOptions{Names: []string{"a", "b"}})
	for _, c := range []struct {
		f, want int
		names   []string
	}{{0, 1, []string{"a"}}, {0, 2, []string{"b"}}, {0, 3, []string{"a", "a"}}, {4, 5, []string{"a", "b"}},
		{4, 5, []string{"b", "a"}}, {6, 7, []string{"a"}}, {8, 9, []string{"a"}}} {
		d, err := y[c.f].Derivative(c.names...)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := d.Equal(y[c.want]); !same || err != nil {
			t.Errorf("the derivative of output %d by %v is\n%v, %v, want\n%v", c.f, c.names, d, err, y[c.want])
		}
		if same, err := d.Equal(y[c.f]); same || err != nil {
			t.Errorf("the derivative of output %d by %v equals it: %v", c.f, c.names, err)
		}
	}
	if d, err := y[8].Derivative("a"); err != nil || d.String() != "3*a^2" {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := y[8].Derivative("a", "a", "a", "a"); err != nil || d.String() != "0" {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := y[8].Derivative("a", "a", "a", "a", "a"); err != nil || d.String() != "0" {
		t.Errorf("%v, %v", d, err)
	}
}

func TestSubstitute(t *testing.T) {
	y := of(t, func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Sub(x[1].Scale(2)), x[1].Sub(x[0].Scale(2)), nabla.Sin(x[2])}
	}, []float64{1, 2, 3}, &expression.OfOptions{Names: []string{"a", "b", "c"}})
	a, b := parse(t, "%0:1 = input a\nout y [%0]"), parse(t, "%0:1 = input b\nout y [%0]")
	swapped, err := y[0].Substitute(map[string]expression.Expression{"a": b, "b": a})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := swapped.Equal(y[1]); !same || err != nil {
		t.Errorf("%v, %v, want %v", swapped, err, y[1])
	}
	got, err := y[0].Substitute(map[string]expression.Expression{"b": y[2]})
	if err != nil || got.String() != "a - 2*sin(c)" || !slices.Equal(got.Inputs(), []string{"a", "c"}) {
		t.Errorf("%v of %v, %v", got, got.Inputs(), err)
	}
	got, err = y[0].Substitute(map[string]expression.Expression{"a": expression.Constant(5),
		"b": expression.Constant(2)})
	if err != nil || got.String() != "1" {
		t.Errorf("%v, %v", got, err)
	}
	if v, err := y[0].Value(map[string]float64{"a": 5, "b": 1.5}); err != nil || v != 2 {
		t.Errorf("%v, %v", v, err)
	}
	p, err := expression.Program("z", y[0], y[2])
	if err != nil || program.Check(p) != nil || p.NumOut() != 2 || p.NumIn() != 3 {
		t.Errorf("%v, %v", p, err)
	}
}

// TestMatrixExpression: the entries of a Jacobian are expressions, also those that parameters are part of.
func TestMatrixExpression(t *testing.T) {
	p, err := program.Parse("%0:2 = input x\n%2:2 = param 0\n%4 = mul %0 %3\n%5 = sin %4\n%6 = mul %5 %1\n"+
		"out y [%6 %1]", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := expression.Differentiate(p, expression.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Entries) != 3 {
		t.Errorf("%d entries: %v, want 3", len(m.Entries), m.Entries)
	}
	list, err := expression.Of(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, at := range m.Entries {
		e := m.Expression(k)
		d, err := list[at.Row].Derivative("x" + string(rune('1'+at.Col)))
		if err != nil {
			t.Fatal(err)
		}
		if same, err := e.Equal(d); !same || err != nil {
			t.Errorf("entry %v is %v, want %v", at, e, d)
		}
		if at != (program.Entry{Row: 0, Col: 1}) {
			continue
		}
		if e.String() != "sin(x1*p2)" || !slices.Equal(e.Inputs(), []string{"x1", "p2"}) {
			t.Errorf("entry %v is %v of %v", at, e, e.Inputs())
		}
	}
	if e := m.Expression(9); e.String() != "" {
		t.Error(e)
	}
}

func TestErrors(t *testing.T) {
	x := parse(t, "%0:2 = input x\n%2 = log %0\n%3 = mul %2 %1\nout y [%3]")
	var name *expression.NameError
	var empty *expression.EmptyError
	var order *nabla.OrderError
	_, err := x.Derivative("x3")
	if !errors.As(err, &name) || name.Name != "x3" || !strings.Contains(err.Error(), "x1, x2") {
		t.Error(err)
	}
	if _, err = x.Substitute(map[string]expression.Expression{"z": x}); !errors.As(err, &name) {
		t.Error(err)
	}
	if _, err = x.Substitute(map[string]expression.Expression{"x1": {}}); !errors.As(err, &empty) {
		t.Error(err)
	}
	if _, err = x.Value(map[string]float64{"x1": 1}); !errors.As(err, &name) || name.Name != "x2" {
		t.Error(err)
	}
	if _, err = x.Derivative(slices.Repeat([]string{"x1"}, expression.MaxOrder+1)...); !errors.As(err, &order) {
		t.Error(err)
	}
	var zero expression.Expression
	if _, err = zero.Derivative(); !errors.As(err, &empty) {
		t.Error(err)
	}
	if _, err = zero.Equal(x); !errors.As(err, &empty) {
		t.Error(err)
	}
	if _, err = x.Equal(zero); !errors.As(err, &empty) {
		t.Error(err)
	}
	negative := parse(t, "%0:1 = input x\n%1 = sq %0\n%2 = neg %1\n%3 = log %2\nout y [%3]")
	var point *expression.PointError
	if _, err = negative.Equal(negative); !errors.As(err, &point) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"%0:1 = input x\nguardlt %0 %0 = 0\nout y [%0]": "nabla.Where",
		"%0:1 = input x\nout y [%0]":                    "",
		"%0:1 = input a\n%1:1 = input b\nout y [%0 %1]": "",
	} {
		p, err := program.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		var bad *expression.ProgramError
		_, err = expression.Of(p, nil)
		if (want != "") != errors.As(err, &bad) || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err = expression.Of(p, &expression.OfOptions{Names: []string{"a", "a"}}); err == nil {
			t.Errorf("%s: two inputs are called a", text)
		}
	}
	p, err := program.Parse("%0:2 = input x\n%2 = mul %0 %1\nout y [%2]", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []expression.Options{{Group: 1}, {Group: -1}, {Rows: 2}, {Rows: -1}, {Cols: 3}, {Cols: -1},
		{Symmetric: true}, {Limit: -1}} {
		var bad *expression.OptionsError
		if m, err := expression.Differentiate(p, o); !errors.As(err, &bad) {
			t.Errorf("%+v: %v, %v", o, m, err)
		}
	}
	if m, err := expression.Differentiate(p, expression.Options{Limit: 1}); m != nil || err != nil {
		t.Errorf("with little work allowed: %v, %v", m, err)
	}
	var none program.Program
	var bad *expression.ProgramError
	if _, err = expression.Simplify(&program.Program{Slots: 1}, false); !errors.As(err, &bad) {
		t.Error(err)
	}
	if _, err = expression.Differentiate(&none, expression.Options{}); err == nil {
		t.Error("the empty program is differentiated")
	}
	for _, m := range []*expression.Matrix{nil, {}} {
		rows, cols := m.Dims()
		if q, places := m.Sparse(nil, nil, false); rows+cols != 0 || q != nil || places != nil || m.Dense() != nil {
			t.Errorf("%v has a program", m)
		}
	}
	if zero.String() != "" || zero.Inputs() != nil || zero.Operations() != 0 || zero.Simplify(true) != zero {
		t.Error("the empty expression is not empty")
	}
	if v := expression.Constant(math.Inf(1)).String(); v != "+Inf" {
		t.Error(v)
	}
}

package sparsity_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// capture is f as detectors are given it.
func capture[F nabla.VectorFunc](t *testing.T, f F, x []float64) sparsity.Function {
	t.Helper()
	c := &capturer{}
	if _, err := nabla.JacobianSparsity(f, c, x); err != nil {
		t.Fatal(err)
	}
	return c.f
}

type capturer struct {
	sparsity.None
	f sparsity.Function
}

func (c *capturer) Jacobian(f sparsity.Function, _ []float64) (*sparsity.Pattern, error) {
	c.f = f
	return nil, nil
}

func schedule(p *program.Program) *program.Program { return program.Schedule(program.Simplify(p)) }

// picture is a pattern row by row, as in "x.\n.x".
func picture(p *sparsity.Pattern) string {
	rows, cols := p.Dims()
	var b strings.Builder
	for i := range rows {
		if i > 0 {
			b.WriteByte(' ')
		}
		for j := range cols {
			if p.Has(i, j) {
				b.WriteByte('x')
			} else {
				b.WriteByte('.')
			}
		}
	}
	return b.String()
}

// params is a struct that functions are bound to.
type params struct {
	On    bool
	Scale nabla.Real
	W     nabla.Vec
	Work  nabla.Scratch
}

type real = nabla.Real

var halves = nabla.Rule{
	Name:  "halves",
	Out:   func(n int) int { return n / 2 },
	Value: func(y, x []float64) { copy(y, x) },
	JVP:   func(ydot, _, _, xdot []float64) { copy(ydot, xdot) },
	Pattern: func(n int) *sparsity.Pattern {
		return sparsity.Banded(n/2, n, 0, 0)
	},
}

// TestPatterns compares the patterns of functions, by detector, with a table. The pattern of Recorded is that of Global
// unless another one is given.
func TestPatterns(t *testing.T) {
	dense, linear := halves, halves
	dense.Pattern, linear.Linear = nil, true
	rule := func(r nabla.Rule) func(x []real) []real {
		f := r.Func()
		return func(x []real) []real { return f(x...) }
	}
	inner := func(x []real) real { return x[0].Mul(x[1]).Add(x[2].Sq()) }
	black := func(x []float64) float64 { return x[0] * x[1] }
	bound := &params{On: true, Scale: nabla.Const(2), W: nabla.VecOf([]float64{0, 1}), Work: nabla.NewScratch(2)}
	for _, c := range []struct {
		name                 string
		f                    any
		x                    []float64
		global, local        string // Jacobians
		hessian, localSecond string
	}{
		{"empty", func(x []real) []real { return nil }, nil, "", "", "", ""},
		{"no outputs", func(x []real) []real { return nil }, []float64{1, 2}, "", "", ".. ..", ".. .."},
		{"no inputs", func(x []real) []real { return []real{nabla.Const(1)} }, nil, "", "", "", ""},
		{"constants", func(x []real) []real { return []real{nabla.Const(1), nabla.Const(2)} }, []float64{1}, ". .",
			". .", ".", "."},
		{"identity", func(x []real) []real { return x }, []float64{1, 2}, "x. .x", "x. .x", ".. ..", ".. .."},
		{"linear", func(x []real) []real { return []real{x[0].Scale(3).Sub(x[2]).AddConst(1).Neg()} },
			[]float64{1, 2, 3}, "x.x", "x.x", "... ... ...", "... ... ..."},
		{"product", func(x []real) []real { return []real{x[0].Mul(x[1])} }, []float64{0, 2}, "xx", "x.", ".x x.",
			".x x."},
		{"square of a sum", func(x []real) []real { return []real{x[0].Add(x[1]).Sq()} }, []float64{0, 0}, "xx", "xx",
			"xx xx", "xx xx"},
		{"quotient", func(x []real) []real { return []real{x[0].Div(x[1])} }, []float64{0, 2}, "xx", "x.", ".x xx",
			".x x."},
		{"product with zero", func(x []real) []real { return []real{x[0].Sq().Mul(nabla.Const(0))} }, []float64{1}, "x",
			".", "x", "."},
		{"dead", func(x []real) []real { nabla.Cos(x[0].Mul(x[1])); return []real{x[0]} }, []float64{1, 1}, "x.", "x.",
			".. ..", ".. .."},
		{"dead end", func(x []real) []real { return []real{nabla.Floor(nabla.Cos(x[0])).Add(x[1])} }, []float64{1, 1},
			".x", ".x", ".. ..", ".. .."},
		{"max", func(x []real) []real { return []real{nabla.Max(x[0].Sq(), nabla.Exp(x[1]))} }, []float64{3, 1}, "xx",
			"x.", "x. .x", "x. .."},
		{"max at a tie", func(x []real) []real { return []real{nabla.Max(x[0], x[1])} }, []float64{1, 1}, "xx", "xx",
			".. ..", ".. .."},
		{"min", func(x []real) []real { return []real{nabla.Min(x[0], x[1])} }, []float64{3, 1}, "xx", ".x", ".. ..",
			".. .."},
		{"clamp", func(x []real) []real {
			return []real{nabla.Max(nabla.Const(0), nabla.Min(x[0], nabla.Const(1))),
				nabla.Max(nabla.Const(0), nabla.Min(x[1], nabla.Const(1)))}
		}, []float64{0.5, 2}, "x. .x", "x. ..", ".. ..", ".. .."},
		{"where", func(x []real) []real { return []real{nabla.Where(nabla.Lt(x[0], x[1]), x[1].Sq(), x[2])} },
			[]float64{1, 2, 3}, ".xx", ".x.", "... .x. ...", "... .x. ..."},
		{"where not", func(x []real) []real { return []real{nabla.Where(nabla.Lt(x[0], x[1]), x[1].Sq(), x[2])} },
			[]float64{2, 1, 3}, ".xx", "..x", "... .x. ...", "... ... ..."},
		{"steps", func(x []real) []real {
			return []real{nabla.Round(x[0]), nabla.Copysign(x[0], x[1]), nabla.Trunc(x[1])}
		}, []float64{1, 2}, ".. x. ..", ".. x. ..", ".. ..", ".. .."},
		{"fma", func(x []real) []real { return []real{nabla.FMA(x[0], x[1], x[2])} }, []float64{0, 1, 1}, "xxx", "x.x",
			".x. x.. ...", ".x. x.. ..."},
		{"power", func(x []real) []real { return []real{nabla.Pow(x[0], x[1])} }, []float64{2, 1}, "xx", "xx", "xx xx",
			".x xx"},
		{"mod", func(x []real) []real { return []real{nabla.Mod(x[0], x[1])} }, []float64{1, 2}, "xx", "x.", ".. ..",
			".. .."},
		{"log-sum-exp", func(x []real) []real { return []real{nabla.LogSumExp(x...)} }, []float64{1, 2}, "xx", "xx",
			"xx xx", "xx xx"},
		{"xlogy", func(x []real) []real { return []real{nabla.XLogY(x[0], x[1])} }, []float64{0, 2}, "xx", "x.",
			".x xx", ".x x."},
		{"rule", rule(dense), []float64{1, 2, 3, 4}, "xxxx xxxx", "xxxx xxxx", "xxxx xxxx xxxx xxxx",
			"xxxx xxxx xxxx xxxx"},
		{"rule with pattern", rule(halves), []float64{1, 2, 3, 4}, "x... .x..", "x... .x..", "x... .x.. .... ....",
			"x... .x.. .... ...."},
		{"linear rule", rule(linear), []float64{1, 2, 3, 4}, "x... .x..", "x... .x..", ".... .... .... ....",
			".... .... .... ...."},
		{"tangent of a rule", func(x []real) []real {
			return nabla.PushforwardFunc(rule(halves), forwarddiff.Backend{})(x[:2], x[2:])
		}, []float64{1, 2, 3, 4}, "x.x.", "x.x.", "x.x. .... x.x. ....", "x.x. .... x.x. ...."},
		{"cotangent of a rule", func(x []real) []real {
			return nabla.GradientFunc(func(z []real) real { y := halves.Func()(z...); return y[0].Sq().Add(y[1]) },
				reversediff.Backend{})(x)
		}, []float64{1, 2, 3, 4}, "x... .x.. .... ....", "x... .x.. .... ....", "x... .x.. .... ....",
			"x... .x.. .... ...."},
		{"black box", func(x []real) []real {
			return []real{nabla.DifferentiateWith(black, finitediff.Backend{})(x[:2]).Add(x[2])}
		}, []float64{1, 2, 3}, "xxx", "xxx", "xx. xx. ...", "xx. xx. ..."},
		{"gradient inside", func(x []real) []real { return nabla.GradientFunc(inner, reversediff.Backend{})(x) },
			[]float64{1, 2, 3}, ".x. x.. ..x", ".x. x.. ..x", "... ... ...", "... ... ..."},
		{"gradient inside, forward",
			func(x []real) []real { return nabla.GradientFunc(inner, forwarddiff.Backend{})(x) }, []float64{1, 2, 3},
			".x. x.. ..x", ".x. x.. ..x", "... ... ...", "... ... ..."},
		{"bound", nabla.BindInPlace(2, func(y, x []real, p *params) {
			s := p.Work.Reals()
			s[0] = x[0].Mul(p.Scale)
			s[1] = x[1].Mul(p.W.At(0)).Sq()
			if p.On && p.Scale.Greater(nabla.Const(1)) { // parameters are constants
				s[0] = s[0].Sq()
			}
			y[0], y[1] = s[0], s[1]
		}, bound), []float64{1, 1}, "x. .x", "x. ..", "x. .x", "x. .."},
	} {
		for _, d := range all() {
			jac, hess := c.global, c.hessian
			if d.Name() == "local" {
				jac, hess = c.local, c.localSecond
			}
			for _, q := range []struct {
				d    sparsity.Detector
				want string
			}{{d, jac}, {second{d}, hess}} {
				var got *sparsity.Pattern
				var err error
				switch f := c.f.(type) {
				case func([]real) []real:
					got, err = nabla.JacobianSparsity(f, q.d, c.x)
				case *nabla.Func:
					got, err = nabla.JacobianSparsity(f, q.d, c.x)
				}
				if err != nil {
					t.Errorf("%s, %s: %v", c.name, d.Name(), err)
				} else if picture(got) != q.want {
					t.Errorf("%s, %s (%T): %s, want %s", c.name, d.Name(), q.d, picture(got), q.want)
				}
			}
		}
	}
}

// TestRecordedUnion has a branch that one point does not take.
func TestRecordedUnion(t *testing.T) {
	f := func(x []real) []real {
		if x[0].Less(nabla.Const(0)) {
			return []real{x[0].Mul(x[1])}
		}
		return []real{x[2]}
	}
	for _, c := range []struct {
		points [][]float64
		want   string
	}{
		{nil, "..x"},
		{[][]float64{{2, 0, 0}}, "..x"},
		{[][]float64{{-1, 0, 0}}, "xxx"},
	} {
		p, err := nabla.JacobianSparsity(f, sparsity.Recorded{Points: c.points}, []float64{1, 1, 1})
		if err != nil || picture(p) != c.want {
			t.Errorf("%v: %v, %v, want %s", c.points, picture(p), err, c.want)
		}
	}
}

// TestGlobalReadsNoPoint takes patterns at points where nothing can be computed.
func TestGlobalReadsNoPoint(t *testing.T) {
	f := nabla.InPlace(2, func(y, x []real) {
		y[0] = nabla.Where(nabla.Lt(x[0], x[1]), nabla.Log(x[0]), x[1].Sqrt())
		y[1] = nabla.GradientFunc(func(z []real) real { return nabla.Max(z[0], z[1]).Sq().Mul(nabla.Abs(z[2])) },
			reversediff.Backend{})(x)[0]
	})
	for _, v := range []float64{1, 0, -1, math.Inf(1), math.NaN()} {
		for _, c := range []struct {
			d    sparsity.Detector
			want string
		}{{sparsity.Global{}, "xx. xxx"}, {second{sparsity.Global{}}, "x.x .xx xx."}} {
			p, err := nabla.JacobianSparsity(f, c.d, []float64{v, v, v})
			if err != nil || picture(p) != c.want {
				t.Errorf("at %v: %v, %v, want %s", v, picture(p), err, c.want)
			}
		}
	}
}

type layers[T any] struct {
	W    [2]T
	B    []T
	Tail T
}

type model struct{ Target nabla.Vec }

func (m *model) Loss(x []real) real {
	s := x[0].Mul(x[1]).Sub(m.Target.At(0)).Sq()
	return s.Add(x[2].Sub(m.Target.At(1)))
}

// TestShapesOfFunctions has scalar functions in other shapes.
func TestShapesOfFunctions(t *testing.T) {
	p := &layers[float64]{B: []float64{1, 2}}
	f, layout, err := nabla.Struct(func(l *layers[real]) real {
		return l.W[0].Mul(l.W[1]).Add(nabla.Exp(l.B[0].Add(l.B[1]))).Add(l.Tail)
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{nabla.VecOf([]float64{1, 2})}
	for _, d := range all() {
		got, err := nabla.HessianSparsity(f, d, layout.Flatten(nil, p))
		want := ".x... x.... ..xx. ..xx. ....."
		if err != nil || picture(got) != want {
			t.Errorf("struct, %s: %s, %v, want %s", d.Name(), picture(got), err, want)
		}
		got, err = nabla.HessianSparsity(nabla.BindMethod((*model).Loss, m), d, []float64{1, 2, 3})
		want = "xx. xx. ..."
		if err != nil || picture(got) != want {
			t.Errorf("method, %s: %s, %v, want %s", d.Name(), picture(got), err, want)
		}
	}
	if _, err := nabla.JacobianSparsity(f, sparsity.Global{}, layout.Flatten(nil, p)); err == nil ||
		!strings.Contains(err.Error(), "JacobianSparsity: function") {
		t.Errorf("the Jacobian of a scalar function: %v", err)
	}
}

// TestBlindRule counts the values that Global asks of a rule: none.
func TestBlindRule(t *testing.T) {
	calls := 0
	r := nabla.Rule{
		Name:  "counted",
		Value: func(y, x []float64) { calls++; y[0] = x[0] },
		VJP:   func(xbar, _, _, ybar []float64) { xbar[0] += ybar[0] },
	}
	f := r.Func()
	p, err := nabla.HessianSparsity(func(x []real) real { return f(x...)[0] }, sparsity.Global{}, []float64{1, 2})
	if err != nil || picture(p) != "xx xx" || calls > 0 {
		t.Errorf("%v, %v, %d calls", picture(p), err, calls)
	}
}

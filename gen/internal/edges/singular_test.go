package edges

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/rules"
)

// forward and reverse are the engines by the direction of their first derivatives: within
// a direction all operations are the same.
var (
	// forward and reverse hold the engines by the mode of their first derivatives. Engines of one mode perform the same
	// operations.
	forward = []nabla.Backend{forwarddiff.Backend{}, forwarddiff.Backend{Chunk: 1}, source.Forward{}}
	reverse = []nabla.Backend{reversediff.Backend{Compile: true}, reversediff.Backend{}, tracker.Backend{},
		source.Reverse{}}
)

// singular holds numbers at and near which functions have infinite derivatives, kinks and zeros.
var singular = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, -0.5, 3}

// random returns a chain over n numbers. On average every second step is conditional.
func random(r *rand.Rand, n, steps int) *Chain {
	c := &Chain{}
	for i := range steps {
		s := Step{Op: r.IntN(len(Names)), A: r.IntN(n + i), B: r.IntN(n + i), Use: -1}
		if r.IntN(2) == 0 { // nearer to the last one
			s.A = n + i - 1
		}
		if r.IntN(2) == 0 {
			s.Use = r.IntN(n + i)
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func (c *Chain) String() (s string) {
	for _, t := range c.Steps {
		s += fmt.Sprintf("%s(%d, %d) if %d; ", Names[t.Op], t.A, t.B, t.Use)
	}
	return s
}

// sameDerivative reports whether derivatives by two engines of one mode are the same.
func sameDerivative(a, b float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// agree reports whether derivatives by engines of different modes are compatible: both are finite and equal, or neither
// is finite. Infinities may meet in one mode only, as in 2√x - √x in forward mode, which returns NaN.
func agree(a, b float64) bool {
	return sameDerivative(a, b) || a-a != 0 && b-b != 0 && (a != a || b != b)
}

// exactEngines holds all engines with exact derivatives.
var exactEngines = append(slices.Clone(forward), reverse...)

// secondOrder returns the engines of second order: each by itself and each over each.
func secondOrder() []nabla.Backend {
	list := slices.Clone(exactEngines)
	for _, outer := range exactEngines {
		for _, inner := range exactEngines {
			list = append(list, nabla.SecondOrder{Outer: outer, Inner: inner})
		}
	}
	return list
}

// A point is a function with its chain, and the point and directions of its derivatives.
type point struct {
	name  string
	f     *nabla.Func // with one output
	many  *nabla.Func // with the outputs of Several
	chain *Chain
	x     []float64
	v     []float64 // a direction
	w     []float64 // weights of outputs
}

func (p *point) String() string { return fmt.Sprintf("%s of %v at %v", p.name, p.chain, p.x) }

// newPoint returns a random point.
func newPoint(r *rand.Rand) *point {
	p := &point{}
	n := 2
	if r.IntN(3) == 0 {
		c := random(r, n, 3)
		c.Steps[2].Use = -1
		p.chain, p.f, p.name = c, nabla.Bind(Three, c), "Three"
	} else {
		n = 1 + r.IntN(3)
		p.chain = random(r, n, 1+r.IntN(5))
		p.f, p.name = nabla.Bind(Run, p.chain), "Run"
	}
	p.many = nabla.Bind(Several, p.chain)
	pick := func(k int, of []float64) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = of[r.IntN(len(of))]
		}
		return v
	}
	p.x = pick(n, singular)
	p.v = pick(n, []float64{0, 1, -1, 2, 0.5})
	p.w = pick(min(3, n+len(p.chain.Steps)), []float64{0, 1, -1, 2, 0.5})
	return p
}

// An answer is the result of an operator, with the expected result by the convention.
type answer struct {
	what string
	want []float64
	ask  func(b nabla.Backend) ([]float64, error)

	sparse bool // AutoSparse has the operator
}

// firstOrderAnswers returns the operators of first order.
func (p *point) firstOrderAnswers() []answer {
	n, all := len(p.x), len(p.x)+len(p.chain.Steps)
	m := len(p.w)
	jacobian := make([]float64, m*n)
	pushed, pulled := make([]float64, m), make([]float64, n)
	for i := range m {
		for j := range n {
			d := mixedDerivative(p.chain, all-m+i, p.x, unit(n, j))
			jacobian[i*n+j] = d
			if p.w[i] != 0 {
				pulled[j] += p.w[i] * d
			}
		}
		pushed[i] = mixedDerivative(p.chain, all-m+i, p.x, p.v)
	}
	list := []answer{
		{what: "gradient", want: jacobian[(m-1)*n:],
			ask: func(b nabla.Backend) ([]float64, error) { return nabla.Gradient(p.f, b, p.x) }},
		{what: "pushforward", want: pushed[m-1:],
			ask: func(b nabla.Backend) ([]float64, error) { return nabla.Pushforward(p.f, b, p.x, p.v) }},
		{what: "Jacobian", want: jacobian, ask: func(b nabla.Backend) ([]float64, error) {
			j, err := nabla.Jacobian(p.many, b, p.x)
			return elements(j), err
		}, sparse: true},
		{what: "pushforward of several", want: pushed,
			ask: func(b nabla.Backend) ([]float64, error) { return nabla.Pushforward(p.many, b, p.x, p.v) }},
		{what: "pullback of several", want: pulled,
			ask: func(b nabla.Backend) ([]float64, error) { return nabla.Pullback(p.many, b, p.x, p.w) }},
	}
	if n == 1 {
		list = append(list,
			answer{what: "derivative", want: jacobian[m-1:], ask: func(b nabla.Backend) ([]float64, error) {
				d, err := nabla.Derivative(p.f, b, p.x[0])
				return []float64{d}, err
			}}, answer{what: "derivative of a curve", want: jacobian, ask: func(b nabla.Backend) ([]float64, error) {
				return nabla.CurveDerivative(p.many, b, p.x[0])
			}})
	}
	return list
}

// secondOrderAnswers returns the operators of second order.
func (p *point) secondOrderAnswers() []answer {
	n, all := len(p.x), len(p.x)+len(p.chain.Steps)
	m := len(p.w)
	hessian, product, weighted := make([]float64, n*n), make([]float64, n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			hessian[i*n+j] = mixedDerivative(p.chain, all-1, p.x, unit(n, i), unit(n, j))
			sum := lift(0, 2) // a weight is a number, 0 too
			for k, r := range registers(p.chain, p.x, unit(n, i), unit(n, j))[all-m:] {
				sum = operation(rules.Add, sum, operation(rules.Mul, lift(p.w[k], 2), r))
			}
			weighted[i*n+j], _ = derivative(sum)
		}
		product[i] = mixedDerivative(p.chain, all-1, p.x, p.v, unit(n, i))
	}
	list := []answer{
		{what: "Hessian", want: hessian, ask: func(b nabla.Backend) ([]float64, error) {
			h, err := nabla.Hessian(p.f, b, p.x)
			return elements(h), err
		}, sparse: true},
		{what: "HVP", want: product,
			ask: func(b nabla.Backend) ([]float64, error) { return nabla.HVP(p.f, b, p.x, p.v) }},
		{what: "HVP with gradient", want: product, ask: func(b nabla.Backend) ([]float64, error) {
			_, _, hv, err := nabla.ValueGradientAndHVP(p.f, b, p.x, p.v)
			return hv, err
		}},
		{what: "weighted Hessian", want: weighted, ask: func(b nabla.Backend) ([]float64, error) {
			h, err := nabla.WeightedHessian(p.many, b, p.x, p.w)
			return elements(h), err
		}, sparse: true},
	}
	if n == 1 {
		curve := make([]float64, m)
		for i := range curve {
			curve[i] = mixedDerivative(p.chain, all-m+i, p.x, unit(1, 0), unit(1, 0))
		}
		list = append(list,
			answer{what: "second derivative", want: hessian, ask: func(b nabla.Backend) ([]float64, error) {
				d, err := nabla.SecondDerivative(p.f, b, p.x[0])
				return []float64{d}, err
			}}, answer{what: "second derivative of a curve", want: curve,
				ask: func(b nabla.Backend) ([]float64, error) {
					return nabla.CurveSecondDerivative(p.many, b, p.x[0])
				}})
	}
	return list
}

// elements returns the elements of a matrix row by row, none for nil.
func elements(m mat.Matrix) (list []float64) {
	if m == nil {
		return nil
	}
	rows, cols := m.Dims()
	for i := range rows {
		for j := range cols {
			list = append(list, m.At(i, j))
		}
	}
	return list
}

// check calls engines and compares their results with the expected ones.
func (p *point) check(t *testing.T, answers []answer, engines []nabla.Backend, counts map[string]int) {
	for _, a := range answers {
		for _, d := range a.want {
			switch {
			case d != d:
				counts["NaN"]++
			case math.IsInf(d, 0):
				counts["Inf"]++
			case d == 0:
				counts["0"]++
			default:
				counts["number"]++
			}
		}
		for _, b := range engines {
			got, err := a.ask(b)
			if _, pair := b.(nabla.SecondOrder); pair && errors.Is(err, nabla.ErrUnsupported) {
				continue // no code has the adjoint of a gradient
			}
			if err != nil {
				t.Errorf("%s of %v by %s: %v", a.what, p, b.Name(), err)
				continue
			}
			for i := range got {
				if !agree(got[i], a.want[i]) {
					t.Errorf("%s of %v (v %v, w %v) by %s: %v, want %v", a.what, p, p.v, p.w, b.Name(), got, a.want)
					break
				}
			}
		}
	}
}

var singularCases = flag.Int("singular", 0,
	"random functions that TestSingular compares; 0 is as many as the length of the tests asks for")

// sparse returns engines within AutoSparse, which have no pushforwards of their own.
func sparse() (list []nabla.Backend) {
	for _, b := range exactEngines {
		list = append(list, nabla.AutoSparse{Dense: b})
	}
	return list
}

// TestSingular compares first and second derivatives of random compositions at singular points, by all engines, with
// the convention of package rules.
func TestSingular(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	n := longtest.Cases(*singularCases, 60, 60, 400)
	firsts, seconds := map[string]int{}, map[string]int{}
	all, thin := secondOrder(), sparse()
	for range n {
		p := newPoint(r)
		extreme = false
		ones, twos := p.firstOrderAnswers(), p.secondOrderAnswers()
		if extreme {
			continue
		}
		p.check(t, ones, exactEngines, firsts)
		some := all
		if !longtest.Long() { // two of the pairs, and the engines by themselves
			some = append(slices.Clone(exactEngines), all[len(exactEngines)+r.IntN(len(all)-len(exactEngines))],
				all[len(exactEngines)+r.IntN(len(all)-len(exactEngines))])
		}
		p.check(t, twos, some, seconds)
		one := []nabla.Backend{thin[r.IntN(len(thin))]}
		for _, a := range append(ones, twos...) {
			if a.sparse {
				p.check(t, []answer{a}, one, firsts)
			}
		}
	}
	for _, counts := range []map[string]int{firsts, seconds} {
		t.Log(counts)
		for _, k := range []string{"NaN", "Inf", "0", "number"} {
			if counts[k] < n/10 {
				t.Errorf("%d derivatives are %s, of %v: too few", counts[k], k, counts)
			}
		}
	}
}

// unconditional returns a step without a condition.
func unconditional(name string, registers ...int) Step {
	s := Step{Op: slices.Index(Names, name), A: registers[0], Use: -1}
	s.B = registers[len(registers)-1]
	return s
}

var nan, inf = math.NaN(), math.Inf(1)

// convention holds points with the derivatives that the convention gives them, row by row.
var convention = []struct {
	name              string
	steps             []Step
	x                 []float64
	gradient, hessian []float64
}{
	{
		"√(x²+y²), z is not read", []Step{unconditional("sq", 0), unconditional("sq", 1), unconditional("add", 3, 4),
			unconditional("sqrt", 5)},
		[]float64{0, 0, 1},
		[]float64{nan, nan, 0}, []float64{nan, nan, 0, nan, nan, 0, 0, 0, 0},
	},
	{
		"√(x²) at 0",
		[]Step{unconditional("sq", 0), unconditional("sqrt", 1)},
		[]float64{0},
		[]float64{nan},
		[]float64{nan},
	},
	{"|x|", []Step{unconditional("abs", 0)}, []float64{0}, []float64{0}, []float64{0}},
	{"hypot", []Step{unconditional("hypot", 0, 1)}, []float64{0, 0}, []float64{0, 0}, []float64{nan, nan, nan, nan}},
	{
		"x·log x, y is not read",
		[]Step{unconditional("log", 0), unconditional("mul", 0, 2)},
		[]float64{0, 3},
		[]float64{nan, 0},
		[]float64{nan, 0, 0, 0},
	},
	{"y·log x", []Step{unconditional("log", 0), unconditional("mul", 1, 2)}, []float64{0, 0}, []float64{nan, -inf},
		[]float64{nan, inf, inf, 0}},
	{"y·√x", []Step{unconditional("sqrt", 0), unconditional("mul", 1, 2)}, []float64{0, 2}, []float64{inf, 0},
		[]float64{-inf, inf, inf, 0}},
	{"x/y at (1, 0)", []Step{unconditional("over", 0, 1)}, []float64{1, 0}, []float64{inf, -inf},
		[]float64{0, -inf, -inf, inf}},
	{"x/y at (0, 0)", []Step{unconditional("over", 0, 1)}, []float64{0, 0}, []float64{inf, nan},
		[]float64{0, -inf, -inf, nan}},
	{
		"∛x·x",
		[]Step{unconditional("cbrt", 0), unconditional("mul", 0, 1)},
		[]float64{0},
		[]float64{nan},
		[]float64{nan},
	},
	{
		"1/(y+exp(x)) at 800", []Step{unconditional("exp", 0), unconditional("add", 1, 2),
			unconditional("inv", 3)}, []float64{800, 1},
		[]float64{nan, 0}, []float64{nan, nan, nan, 0},
	},
	{
		"√x where y is above 0, else z",
		[]Step{unconditional("sqrt", 0), {Op: slices.Index(Names, "mul"), A: 2, B: 3, Use: 1}}, []float64{0, -1, 5},
		[]float64{0, 0, 1}, make([]float64, 9),
	},
	{
		"the first of two NaNs",
		[]Step{unconditional("log", 0), unconditional("sqrt", 0), unconditional("max", 1, 2)},
		[]float64{-1},
		[]float64{-1},
		[]float64{-1},
	},
	{
		"log(1+z/y) at y = 0", []Step{unconditional("div", 1, 2), unconditional("log1p", 3)}, []float64{1, 0, 1},
		[]float64{0, nan, nan}, []float64{0, 0, 0, 0, nan, nan, 0, nan, nan},
	},
}

// TestConvention requires the derivatives in convention of all engines. Code without a form over Reals may return NaN
// or an error if it cannot decide.
func TestConvention(t *testing.T) {
	for _, c := range convention {
		n := len(c.x)
		chain := &Chain{Steps: c.steps}
		for i := range n { // the reference
			for j := range n {
				if got := mixedDerivative(chain, n+len(c.steps)-1, c.x, unit(n, i), unit(n, j)); !agree(
					got,
					c.hessian[i*n+j],
				) {
					t.Errorf("%s: the reference has %v for element %d, %d, want %v", c.name, got, i, j,
						c.hessian[i*n+j])
				}
			}
		}
		for name, f := range map[string]*nabla.Func{"Run": nabla.Bind(Run, chain), "Alone": nabla.Bind(Alone, chain)} {
			engines, pairs := exactEngines, secondOrder()
			if name == "Alone" {
				engines = []nabla.Backend{source.Forward{}, source.Reverse{}}
				pairs = engines
			}
			compare := func(what string, b nabla.Backend, got []float64, err error, want []float64) {
				if _, pair := b.(nabla.SecondOrder); pair && errors.Is(err, nabla.ErrUnsupported) {
					return
				}
				var u *nabla.UnsupportedError
				alone := name == "Alone" && errors.As(err, &u) && undecided.MatchString(u.What)
				ok := err == nil
				for i := range got {
					ok = ok && (agree(got[i], want[i]) || name == "Alone" && got[i] != got[i])
				}
				if !ok && !alone {
					t.Errorf("%s, %s of %s by %s: %v, %v; want %v", c.name, what, name, b.Name(), got, err, want)
				}
			}
			for _, b := range engines {
				g, err := nabla.Gradient(f, b, c.x)
				compare("gradient", b, g, err, c.gradient)
				for i := range n {
					d, err := nabla.Pushforward(f, b, c.x, unit(n, i))
					compare("pushforward", b, d, err, c.gradient[i:])
				}
				g, err = nabla.Pullback(f, b, c.x, []float64{0})
				compare("pullback of 0", b, g, err, make([]float64, n))
			}
			for _, b := range pairs {
				h, err := nabla.Hessian(f, b, c.x)
				compare("Hessian", b, elements(h), err, c.hessian)
				for i := range n {
					hv, err := nabla.HVP(f, b, c.x, unit(n, i))
					compare("HVP", b, hv, err, c.hessian[i*n:])
				}
				if n == 1 {
					d, err := nabla.SecondDerivative(f, b, c.x[0])
					compare("second derivative", b, []float64{d}, err, c.hessian)
				}
			}
		}
	}
}

// undecided is the error that names the function and the undecided derivative.
var undecided = regexp.MustCompile(
	`edges\.Alone(Several)?: the .*(by input|of output) \d+ at this x: .*no form over nabla\.Real`,
)

// TestWithoutRealForm requires that the code of a function without a form over Reals returns the derivatives of the
// convention, NaN for some of them, or an error, but never 0 instead of NaN.
func TestWithoutRealForm(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 27))
	n := longtest.Cases(*singularCases, 100, 300, 6000)
	same, nans, refused := 0, 0, 0
	for range n {
		p := newPoint(r)
		if p.name != "Run" {
			continue
		}
		p.f, p.many = nabla.Bind(Alone, p.chain), nabla.Bind(AloneSeveral, p.chain)
		extreme = false
		answers := append(p.firstOrderAnswers(), p.secondOrderAnswers()...)
		if extreme {
			continue
		}
		for _, a := range answers {
			for _, b := range []nabla.Backend{
				source.Forward{}, source.Reverse{}, nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}},
				nabla.SecondOrder{Outer: source.Reverse{}, Inner: source.Forward{}},
			} {
				got, err := a.ask(b)
				var u *nabla.UnsupportedError
				switch {
				case errors.As(err, &u) && undecided.MatchString(u.What) && strings.Contains(u.Remedy, "nabla.Real"):
					refused++
					continue
				case err != nil:
					t.Fatalf("%s of %v by %s: %v", a.what, p, b.Name(), err)
				}
				for i := range got {
					switch {
					case agree(got[i], a.want[i]):
						same++
					case got[i] != got[i]:
						nans++
					default:
						t.Errorf("%s of %v (v %v) by %s: %v, want %v", a.what, p, p.v, b.Name(), got, a.want)
					}
				}
			}
		}
	}
	t.Logf("%d as they should be, %d NaN, %d calls refused", same, nans, refused)
	if same < 15*nans || same < 100*refused || refused == 0 {
		t.Errorf("%d as they should be, %d NaN, %d calls refused", same, nans, refused)
	}
}

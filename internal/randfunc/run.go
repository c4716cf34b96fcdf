package randfunc

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// An algebra is a number type T, over which programs run, with its operations. The implementations are [Plain], [Real]
// and oracle.
type algebra[T any] interface {
	// constant returns a number without derivative.
	constant(c float64) T
	// apply returns the elementary operation op of a.
	apply(op rules.Op, a []T) T
	// composite returns the composite function of s, applied to a, and reports whether the algebra implements it.
	composite(s *Stmt, a []T) (T, bool)
	// compare evaluates a condition of an If or For statement.
	compare(c Cond, a, b T) bool
	// where returns yes if the condition holds, otherwise no, as nabla.Where does.
	where(c Cond, a, b, yes, no T) T
	// value returns the value of a, without its derivative.
	value(a T) float64
	// toInt truncates a to an integer.
	toInt(a T) int
	// grad returns component s.K of the gradient of s.Sub at a, with the captured numbers caps.
	grad(s *Stmt, a, caps []T) T
	// box returns s.Sub of a, which an engine differentiates separately.
	box(s *Stmt, a []T) T
}

// steps is the largest number of statements that one run of a program executes, since nested loops could take long. The
// statements after it have no effect.
const steps = 400

// A runner executes one program.
type runner[T any] struct {
	g     algebra[T]
	v     []T // variables
	s     []T // scratch slice
	y     []T // outputs
	steps int // number of statements that may still be executed
}

// run executes p at the inputs x and captured numbers caps, and writes the outputs to y. Other variables start as 0,
// element i of the scratch slice as i.
func run[T any](g algebra[T], p *Prog, y, x, caps []T) {
	r := &runner[T]{g: g, v: make([]T, p.Vars), s: make([]T, p.Scratch), y: y, steps: steps}
	for i := range r.v {
		r.v[i] = g.constant(0)
	}
	for i := range r.s {
		r.s[i] = g.constant(float64(i))
	}
	copy(r.v, x)
	copy(r.v[p.N:], caps)
	r.block(p.Body)
	for i, o := range p.Outs {
		y[i] = r.v[o]
	}
}

// index returns |a| mod len(s), with a truncated to an integer: the index in the scratch slice that a selects.
func (r *runner[T]) index(a T) int {
	i := r.g.toInt(a) % len(r.s)
	if i < 0 {
		i = -i
	}
	return i
}

// block executes body, or as many of its statements as the limit of steps permits.
func (r *runner[T]) block(body []Stmt) {
	for i := range body {
		if r.steps--; r.steps < 0 {
			return
		}
		r.stmt(&body[i])
	}
}

// args returns the values of the variables a.
func (r *runner[T]) args(a []int) []T {
	out := make([]T, len(a))
	for i, k := range a {
		out[i] = r.v[k]
	}
	return out
}

func (r *runner[T]) stmt(s *Stmt) {
	v := r.v
	switch s.Kind {
	case Apply:
		v[s.D] = call(r.g, s, r.args(s.A))
	case Const:
		v[s.D] = r.g.constant(s.C)
	case Where:
		v[s.D] = r.g.where(s.Cond, v[s.A[0]], v[s.A[1]], v[s.A[2]], v[s.A[3]])
	case Store:
		r.s[s.K] = v[s.A[0]]
	case Load:
		v[s.D] = r.s[s.K]
	case StoreAt:
		r.s[r.index(v[s.A[0]])] = v[s.A[1]]
	case LoadAt:
		v[s.D] = r.s[r.index(v[s.A[0]])]
	case Output:
		r.y[s.K] = v[s.A[0]]
		v[s.D] = r.y[s.K]
	case Escape:
		v[s.D] = r.g.constant(r.g.value(v[s.A[0]]))
	case If:
		if r.g.compare(s.Cond, v[s.A[0]], v[s.A[1]]) {
			r.block(s.Body)
		} else {
			r.block(s.Else)
		}
	case For:
		for i := 0; i < s.K && r.g.compare(Lt, v[s.A[0]], v[s.A[1]]); i++ {
			r.block(s.Body)
		}
	case Grad:
		v[s.D] = r.g.grad(s, r.args(s.A), r.args(s.Caps))
	case Box:
		v[s.D] = r.g.box(s, r.args(s.A))
	}
}

// call returns the function of an Apply statement, applied to a. Composites that the algebra does not implement are
// computed by their definitions.
func call[T any](g algebra[T], s *Stmt, a []T) T {
	fn := &functions[s.Fn]
	if fn.op != rules.Invalid {
		return g.apply(fn.op, a)
	}
	if r, ok := g.composite(s, a); ok {
		return r
	}
	on := func(op rules.Op, a ...T) T { return g.apply(op, a) }
	switch fn.comp {
	case scale:
		return on(rules.Mul, a[0], g.constant(s.C))
	case addConst:
		return on(rules.Add, a[0], g.constant(s.C))
	case powConst:
		return on(rules.Pow, a[0], g.constant(s.C))
	case dim:
		return on(rules.Max, g.constant(0), on(rules.Sub, a[0], a[1]))
	case sum3:
		return on(rules.Add, on(rules.Add, a[0], a[1]), a[2])
	case dot2:
		t := on(rules.Add, g.constant(0), on(rules.Mul, a[0], a[2]))
		return on(rules.Add, t, on(rules.Mul, a[1], a[3]))
	case logSumExp3:
		shift := on(rules.Finite, on(rules.Max, on(rules.Max, a[0], a[1]), a[2]))
		t := on(rules.Exp, on(rules.Sub, a[0], shift))
		t = on(rules.Add, t, on(rules.Exp, on(rules.Sub, a[1], shift)))
		t = on(rules.Add, t, on(rules.Exp, on(rules.Sub, a[2], shift)))
		return on(rules.Add, on(rules.Log, t), shift)
	case ldexp:
		return on(rules.Mul, a[0], g.constant(math.Ldexp(1, ldexpBy[s.K&3])))
	case modfWhole:
		return on(rules.Trunc, a[0])
	case modfFrac:
		return on(rules.Mod, a[0], g.constant(1))
	case lgamma:
		return on(rules.Lgamma, a[0])
	case polygamma:
		if s.K == 0 {
			return on(rules.Digamma, a[0])
		}
		return on(rules.Polygamma, g.constant(float64(s.K)), a[0])
	case jn:
		return on(rules.Jn, g.constant(float64(s.K-1)), a[0])
	case yn:
		return on(rules.Yn, g.constant(float64(s.K-1)), a[0])
	}
	panic("randfunc: no definition of " + fn.name)
}

// ldexpBy holds the exponents of Ldexp; Stmt.K selects one.
var ldexpBy = [4]int{0, 3, -5, 40}

// decide evaluates condition c for numbers a and b, and yes and no as the values of a Where statement.
func decide(c Cond, a, b, yes, no float64) bool {
	switch c {
	case Lt:
		return a < b
	case Le:
		return a <= b
	case Eq:
		return a == b
	case Gt:
		return a > b
	case NaN:
		return a != a
	case LtAnd:
		return a < b && no < yes
	case LtOr:
		return a < b || yes == no
	}
	return !(a < b)
}

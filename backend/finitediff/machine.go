package finitediff

import (
	"math"
	"runtime/debug"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A machine runs a program over complex numbers. It ignores guards: they compare real parts, which are those of the run
// over float64 that has checked them.
type machine struct {
	p     *program.Program
	name  string
	m     []complex128
	input []complex128 // group 0
	param []complex128
	buf   []float64 // of custom rules
}

// newMachine prepares p, whose inputs are the one group x.
func newMachine(p *program.Program, name string) *machine {
	c := &machine{p: p, name: name, m: make([]complex128, p.Slots)}
	buf := 0
	for i := range p.Stmts {
		switch s := &p.Stmts[i]; s.Op {
		case program.Input:
			c.input = c.m[s.D : s.D+s.N]
		case program.Param:
			c.param = c.m[s.D : s.D+s.N]
		case program.Const:
			for l := range s.N {
				c.m[s.D+l] = complex(p.Consts[s.K+l], 0)
			}
		case program.Call:
			buf = max(buf, 2*int(s.B.Base+s.N))
		}
	}
	c.buf = make([]float64, buf)
	return c
}

// output returns the value of output i.
func (c *machine) output(i int) complex128 { return c.m[c.p.Result[i]] }

func (c *machine) at(o program.Operand, l int32) complex128 {
	if o.Stride == program.Gather {
		return c.m[c.p.Index[o.Base+l]]
	}
	return c.m[o.Base+l*o.Stride]
}

// run executes the program. It returns an error if a custom rule panics.
func (c *machine) run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &engine.PanicError{Function: c.name, Value: v, Stack: debug.Stack()}
		}
	}()
	for i := range c.p.Stmts {
		switch s := &c.p.Stmts[i]; {
		case s.Op == program.Input, s.Op == program.Param, s.Op == program.Const, s.Op.Guard():
		case s.Op == program.Sum:
			for l := range s.N {
				sum := c.at(s.A, l*s.K)
				for k := int32(1); k < s.K; k++ {
					sum += c.at(s.A, l*s.K+k)
				}
				c.m[s.D+l] = sum
			}
		case s.Op == program.Call:
			c.call(s)
		default:
			c.elementary(s)
		}
	}
	return nil
}

func (c *machine) elementary(s *program.Stmt) {
	op := rules.Op(s.Op)
	switch op.Arity() {
	case 1:
		for l := range s.N {
			c.m[s.D+l] = complex1(op, c.at(s.A, l))
		}
	case 2:
		for l := range s.N {
			c.m[s.D+l] = complex2(op, c.at(s.A, l), c.at(s.B, l))
		}
	default:
		for l := range s.N {
			c.m[s.D+l] = complex3(op, c.at(s.A, l), c.at(s.B, l), c.at(s.C, l))
		}
	}
}

// call applies a custom rule to first order in the imaginary parts.
func (c *machine) call(s *program.Stmt) {
	n, m := int(s.B.Base), int(s.N)
	x, xdot := c.buf[:n], c.buf[n:2*n]
	y, ydot := c.buf[2*n:2*n+m], c.buf[2*n+m:2*(n+m)]
	moved := false
	for l := range x {
		z := c.at(s.A, int32(l))
		x[l], xdot[l] = real(z), imag(z)
		moved = moved || imag(z) != 0
	}
	clear(y)
	clear(ydot)
	rule := c.p.Customs[s.K]
	if j, ok := rule.(core.Joint); ok && moved && j.Joins() {
		j.ValueJVP(y, ydot, x, xdot)
	} else {
		rule.Value(y, x)
		if moved {
			rule.JVP(ydot, x, y, xdot)
		}
	}
	for i := range y {
		c.m[int(s.D)+i] = complex(y[i], ydot[i])
	}
}

// A function of a complex number is computed from the real function at the real
// part, v, where that is possible, so that an imaginary part too small to change
// the real part leaves v bit for bit: see settle.
//
// At a point where the real function has no derivative, and for functions without
// a complex version here, the result is v + i·b·f′(a), which is the same to first
// order and has the rule table's conventions at kinks and singular points.

// settle replaces the real part of w by v where the two differ by rounding only.
func settle(w complex128, v float64) complex128 {
	if re := real(w); re == v || math.Abs(re-v) <= 8*epsilon*math.Abs(v) {
		return complex(v, imag(w))
	}
	return w
}

// scaled returns p·b, and 0 if b is 0: a zero imaginary part is a strong zero.
func scaled(p, b float64) float64 {
	if b == 0 {
		return 0
	}
	return float64(p * b)
}

// complex1 returns op at z.
func complex1(op rules.Op, z complex128) complex128 {
	a, b := real(z), imag(z)
	v := rules.Value1(op, a)
	if b == 0 {
		return complex(v, 0)
	}
	if v-v == 0 {
		if w, ok := analytic1(op, a, b, v); ok {
			return settle(w, v)
		}
	}
	return complex(v, scaled(rules.Partial1(op, a, v), b))
}

// analytic1 returns op at a+ib, where b is not 0 and op(a) = v is finite. It reports false if only the first order is
// known.
func analytic1(op rules.Op, a, b, v float64) (w complex128, ok bool) {
	switch op {
	case rules.Neg:
		return complex(-a, -b), true
	case rules.Inv:
		return cinv(complex(a, b)), true
	case rules.Sq:
		return complex(v-b*b, 2*a*b), true
	case rules.Abs:
		if a == 0 {
			return 0, false
		}
		return complex(v, math.Copysign(1, a)*b), true
	case rules.Sqrt:
		return csqrt(complex(a, b)), a > 0
	case rules.Cbrt:
		r := math.Cbrt(math.Hypot(a, b))
		t := math.Atan2(math.Copysign(b, a*b), math.Abs(a)) / 3
		return complex(math.Copysign(r*math.Cos(t), a), r*math.Sin(t)*math.Copysign(1, a)), a != 0
	case rules.Exp:
		return complex(v*math.Cos(b), v*math.Sin(b)), true
	case rules.Exp2:
		return complex(v*math.Cos(b*math.Ln2), v*math.Sin(b*math.Ln2)), true
	case rules.Expm1:
		return cexpm1(a, b, v), true
	case rules.Log:
		return complex(math.Log(math.Hypot(a, b)), math.Atan2(b, a)), a > 0
	case rules.Log2:
		return complex(math.Log(math.Hypot(a, b))*math.Log2E, math.Atan2(b, a)*math.Log2E), a > 0
	case rules.Log10:
		return complex(math.Log(math.Hypot(a, b))*math.Log10E, math.Atan2(b, a)*math.Log10E), a > 0
	case rules.Log1p:
		return clog1p(complex(a, b)), a > -1
	case rules.Sin:
		return complex(v*math.Cosh(b), math.Cos(a)*math.Sinh(b)), true
	case rules.Cos:
		return complex(v*math.Cosh(b), -math.Sin(a)*math.Sinh(b)), true
	case rules.Tan:
		t := math.Tanh(b)
		d := 1 + (v*t)*(v*t)
		return complex(v*(1-t)*(1+t)/d, t*(1+v*v)/d), true
	case rules.Sinh:
		return complex(v*math.Cos(b), math.Cosh(a)*math.Sin(b)), true
	case rules.Cosh:
		return complex(v*math.Cos(b), math.Sinh(a)*math.Sin(b)), true
	case rules.Tanh:
		t := math.Tan(b)
		d := 1 + (v*t)*(v*t)
		return complex(v*(1+t*t)/d, t*rules.Value1(rules.SechSq, a)/d), true
	case rules.Asin:
		return casin(complex(a, b)), math.Abs(a) < 1
	case rules.Acos:
		w := casin(complex(a, b))
		return complex(math.Pi/2-real(w), -imag(w)), math.Abs(a) < 1
	case rules.Atan:
		return catan(complex(a, b)), true
	case rules.Asinh:
		w := casin(complex(-b, a)) // asin(iz) = i·asinh(z)
		return complex(imag(w), -real(w)), math.Abs(b) < 1
	case rules.Acosh:
		return cacosh(complex(a, b)), a > 1
	case rules.Atanh:
		w := catan(complex(-b, a)) // atan(iz) = i·atanh(z)
		return complex(imag(w), -real(w)), math.Abs(a) < 1
	case rules.Logistic:
		return clogistic(complex(a, b)), true
	case rules.Softplus:
		if a > 0 {
			return complex(a, b) + clog1p(cexp(complex(-a, -b))), true
		}
		return clog1p(cexp(complex(a, b))), true
	case rules.SechSq:
		if v == 0 {
			return 0, false
		}
		w := cinv(complex(math.Cosh(a)*math.Cos(b), math.Sinh(a)*math.Sin(b)))
		return cmul(w, w), true
	}
	return 0, false
}

// complex2 returns op at z and w.
func complex2(op rules.Op, z, w complex128) complex128 {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	switch op {
	case rules.Add:
		return z + w
	case rules.Sub:
		return z - w
	case rules.Mul, rules.MulZ:
		return cmul(z, w)
	case rules.DivZ:
		op = rules.Div
	case rules.Max, rules.Min:
		if rules.Chosen(op, a, c) == 1 {
			b = d
		}
		return complex(rules.Value2(op, a, c), b)
	}
	v := rules.Value2(op, a, c)
	if b == 0 && d == 0 {
		return complex(v, 0)
	}
	if v-v == 0 {
		if r, ok := analytic2(op, z, w, v); ok {
			return settle(r, v)
		}
	}
	im := 0.0
	if b != 0 {
		im = scaled(rules.PartialX2(op, a, c, v), b)
	}
	if d != 0 {
		im += scaled(rules.PartialY2(op, a, c, v), d)
	}
	return complex(v, im)
}

// analytic2 returns op at z and w, at least one of which has an imaginary part, where op of the real parts is v, a
// finite number. It reports false if only the first order is known.
func analytic2(op rules.Op, z, w complex128, v float64) (r complex128, ok bool) {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	switch op {
	case rules.Div:
		return cdiv(z, w), c != 0
	case rules.Pow:
		return cpow(z, w, v)
	case rules.Hypot:
		s := max(math.Abs(a), math.Abs(c))
		if s == 0 || s < 0x1p-1000 {
			return 0, false
		}
		z, w = complex(a/s, b/s), complex(c/s, d/s)
		r = csqrt(cmul(z, z) + cmul(w, w))
		return complex(real(r)*s, imag(r)*s), real(r) > 0
	case rules.Atan2:
		// The angle of the point (c, a), on the side of the nearer axis.
		switch {
		case a == 0 && c == 0:
			return 0, false
		case math.Abs(c) >= math.Abs(a):
			r = catan(cdiv(z, w))
			return complex(v+(real(r)-math.Atan(a/c)), imag(r)), true
		}
		r = catan(cdiv(w, z))
		return complex(v-(real(r)-math.Atan(c/a)), -imag(r)), true
	case rules.XLogY:
		if a == 0 || c <= 0 {
			return 0, false
		}
		return cmul(z, complex(math.Log(math.Hypot(c, d)), math.Atan2(d, c))), true
	case rules.LogAddExp:
		if a < c {
			z, w = w, z
		}
		return z + clog1p(cexp(w-z)), true
	}
	return 0, false
}

// complex3 returns op, Select or FMA, at x, y and z.
func complex3(op rules.Op, x, y, z complex128) complex128 {
	if op == rules.Select {
		if real(x) != 0 {
			return y
		}
		return z
	}
	w := cmul(x, y) + z
	return settle(w, rules.Value3(op, real(x), real(y), real(z)))
}

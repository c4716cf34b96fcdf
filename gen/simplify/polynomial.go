package simplify

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A polynomial is an integer expression in normal form, so that equal expressions are found to be equal: the
// coefficients of its monomials, none of them 0. A monomial is the product of the factors with the numbers in its key,
// in ascending order; the empty key is the constant term. Integers wrap around, which keeps all laws of a ring.
type polynomial map[string]int64

// A polynomials turns expressions of a function into polynomials. Their factors are variables and lengths that keep
// their values wherever the variable can be named. A declared variable is replaced by the expression it is declared
// with, if that has such factors only.
type polynomials struct {
	use     *usage              // of the whole function
	defs    map[*ir.Var]ir.Expr // the expressions of declarations
	factors []ir.Expr
	keys    []string // of the factors
}

// newPolynomials returns the polynomials of f.
func newPolynomials(f *ir.Func) *polynomials {
	p := &polynomials{use: usageOf(f.Body), defs: map[*ir.Var]ir.Expr{}}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok && l.E != nil && p.keeps(l.V) {
			p.defs[l.V] = l.E
		}
		return true
	})
	return p
}

// keeps reports whether v keeps its value: it is never written, or by its declaration only.
func (p *polynomials) keeps(v *ir.Var) bool {
	return !p.use.addressed[v] && p.use.keeps(v)
}

// of returns the polynomial of e, an int.
func (p *polynomials) of(e ir.Expr) (polynomial, bool) {
	if !types.Identical(e.Type(), integer) {
		return nil, false
	}
	switch e := e.(type) {
	case *ir.Const:
		n, ok := constInt(e)
		return constantPolynomial(n), ok
	case *ir.Load:
		v := ir.VarOf(e)
		if v == nil || !p.keeps(v) {
			return nil, false
		}
		if def := p.defs[v]; def != nil {
			if q, ok := p.of(def); ok {
				return q, true
			}
		}
		return p.factor(e), true
	case *ir.Len:
		if !e.Cap {
			return p.length(e.X)
		}
	case *ir.Binary:
		x, ok := p.of(e.X)
		y, ok2 := p.of(e.Y)
		if !ok || !ok2 {
			return nil, false
		}
		switch e.Op {
		case token.ADD:
			return x.plus(y, 1), true
		case token.SUB:
			return x.plus(y, -1), true
		case token.MUL:
			return x.times(y), true
		}
	}
	return nil, false
}

// length returns the length of a slice: a variable that keeps its value, or such a one resliced.
func (p *polynomials) length(e ir.Expr) (polynomial, bool) {
	switch e := e.(type) {
	case *ir.Slice:
		lo, ok := constantPolynomial(0), true
		if e.Lo != nil {
			lo, ok = p.of(e.Lo)
		}
		if !ok {
			return nil, false
		}
		var hi polynomial
		if e.Hi != nil {
			hi, ok = p.of(e.Hi)
		} else {
			hi, ok = p.length(e.X)
		}
		return hi.plus(lo, -1), ok
	case *ir.Load:
		v := ir.VarOf(e)
		if v == nil || !p.keeps(v) || ir.ElemOf(v.Type) == nil {
			return nil, false
		}
		if def := p.defs[v]; def != nil {
			if q, ok := p.length(def); ok {
				return q, true
			}
		}
		return p.factor(&ir.Len{Typed: ir.Typed{T: integer}, X: v.Load()}), true
	}
	return nil, false
}

// factor returns the polynomial of a factor.
func (p *polynomials) factor(e ir.Expr) polynomial {
	i := slices.IndexFunc(p.factors, func(f ir.Expr) bool { return ir.Equal(f, e) })
	if i < 0 {
		i = len(p.factors)
		p.factors, p.keys = append(p.factors, e), append(p.keys, string(rune('a'+i)))
	}
	return polynomial{p.keys[i]: 1}
}

// mentions returns the variables that q depends on.
func (p *polynomials) mentions(q polynomial) (list []*ir.Var) {
	for key := range q {
		for _, r := range key {
			exprUses(p.factors[r-'a'], func(v *ir.Var, _ use) { list = append(list, v) })
		}
	}
	return list
}

// substitute returns q with the variable v replaced by x.
func (p *polynomials) substitute(q polynomial, v *ir.Var, x polynomial) polynomial {
	key := p.factor(v.Load())
	out := polynomial{}
	for monomial, c := range q {
		rest := constantPolynomial(c)
		for _, r := range monomial {
			if factor := string(r); key[factor] != 0 {
				rest = rest.times(x)
			} else {
				rest = rest.times(polynomial{factor: 1})
			}
		}
		out = out.plus(rest, 1)
	}
	return out
}

// expr returns q as an expression.
func (p *polynomials) expr(q polynomial) ir.Expr {
	var sum ir.Expr
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(q))) { // the constant comes last
		c := q[key]
		minus := c < 0 && sum != nil
		if minus {
			c = -c
		}
		var product ir.Expr
		if c != 1 || key == "" {
			product = ir.IntConst(integer, c)
		}
		for _, r := range key {
			if f := p.factors[r-'a']; product == nil {
				product = f
			} else {
				product = ir.NewBinary(integer, token.MUL, product, f)
			}
		}
		switch {
		case sum == nil:
			sum = product
		case minus:
			sum = ir.NewBinary(integer, token.SUB, sum, product)
		default:
			sum = ir.NewBinary(integer, token.ADD, sum, product)
		}
	}
	if sum == nil {
		return ir.IntConst(integer, 0)
	}
	return sum
}

// constantPolynomial returns the polynomial n.
func constantPolynomial(n int64) polynomial {
	if n == 0 {
		return polynomial{}
	}
	return polynomial{"": n}
}

// constant returns the value of q if it is constant.
func (q polynomial) constant() (int64, bool) {
	return q[""], len(q) == 0 || len(q) == 1 && q[""] != 0
}

// plus returns q + c·r.
func (q polynomial) plus(r polynomial, c int64) polynomial {
	out := maps.Clone(q)
	if out == nil {
		out = polynomial{}
	}
	for key, n := range r {
		if out[key] += c * n; out[key] == 0 {
			delete(out, key)
		}
	}
	return out
}

// times returns q·r.
func (q polynomial) times(r polynomial) polynomial {
	out := polynomial{}
	for a, m := range q {
		for b, n := range r {
			letters := []rune(a + b)
			slices.Sort(letters)
			out = out.plus(polynomial{string(letters): m * n}, 1)
		}
	}
	return out
}

// equals reports whether q and r are equal.
func (q polynomial) equals(r polynomial) bool { return maps.Equal(q, r) }

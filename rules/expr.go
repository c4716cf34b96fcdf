package rules

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// ExprKind is the kind of an Expr.
type ExprKind uint8

// The kinds of expressions.
const (
	Num  ExprKind = iota // the number Expr.Num
	ArgX                 // the first argument of the op
	ArgY                 // the second argument
	ArgZ                 // the third argument
	ArgV                 // the value of the op
	Call                 // Expr.Op applied to Expr.Args
)

// An Expr is the derivative of an op as an expression over ops. Expressions
// returned by this package are shared and must not be modified.
type Expr struct {
	Kind ExprKind
	Num  float64
	Op   Op
	Args []*Expr
}

// Partial returns the derivative of o with respect to argument i as an
// expression, or nil if it is structurally zero or if o is a Choice.
// It panics if o is not an op or has no argument i.
func Partial(o Op, i int) *Expr { return derivative(o, i).whole }

// Steps returns the derivative of o with respect to argument i as factors, without those that are 1; if neg is set,
// their product is to be negated. A cotangent is multiplied by them from the first to the last and a tangent from the
// last to the first, and a factor inv(e) by dividing by e. The expressions are shared and must not be modified. Steps
// panics if o is not an op or has no argument i.
func Steps(o Op, i int) (steps []*Expr, neg bool) {
	d := derivative(o, i)
	return d.steps, d.neg
}

func derivative(o Op, i int) *partial {
	if n := Info(o).Arity; i < 0 || i >= n {
		panic(fmt.Sprintf("rules: Partial: %v has %d arguments, not an argument %d", o, n, i))
	}
	return &partials()[o][i]
}

// A partial is a derivative as one expression and as its factors.
type partial struct {
	whole *Expr // nil for a structural zero
	steps []*Expr
	neg   bool
}

// partials parses the table once, when it is first needed.
var partials = sync.OnceValue(func() *[NumOps][3]partial {
	var p [NumOps][3]partial
	for o := range table {
		for i, text := range table[o].Partials {
			d, err := parseSteps(text)
			if err != nil {
				panic(fmt.Sprintf("rules: partial %d of %s: %v", i, table[o].Name, err))
			}
			p[o][i] = d
		}
	}
	return &p
})

// parseSteps parses factors separated by "then".
func parseSteps(text string) (p partial, err error) {
	for i, factor := range strings.Split(text, " then ") {
		e, err := parse(factor)
		if err != nil {
			return partial{}, err
		}
		if e.Kind == Num && e.Num == 0 {
			return partial{}, nil
		}
		if e.Kind == Call && e.Op == Neg {
			p.neg, e = !p.neg, e.Args[0]
		}
		if i == 0 {
			p.whole = e
		} else if e.Kind == Call && e.Op == Inv {
			p.whole = call(Div, p.whole, e.Args[0])
		} else {
			p.whole = call(Mul, p.whole, e)
		}
		switch {
		case e.Kind == Num && e.Num == -1:
			p.neg = !p.neg
		case e.Kind != Num || e.Num != 1:
			p.steps = append(p.steps, e)
		}
	}
	if p.neg && (p.whole.Kind != Num || p.whole.Num != -1) {
		p.whole = call(Neg, p.whole)
	}
	return p, nil
}

func call(o Op, args ...*Expr) *Expr { return &Expr{Kind: Call, Op: o, Args: args} }

// String returns e in the expression language, with a call for every op.
func (e *Expr) String() string {
	switch e.Kind {
	case Num:
		return strconv.FormatFloat(e.Num, 'g', -1, 64)
	case ArgX:
		return "x"
	case ArgY:
		return "y"
	case ArgZ:
		return "z"
	case ArgV:
		return "v"
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	return e.Op.String() + "(" + strings.Join(args, ", ") + ")"
}

// maxDepth bounds the nesting of an expression, so that no text can exhaust the
// stack.
const maxDepth = 200

// parse parses an expression in the grammar of the package comment.
func parse(text string) (*Expr, error) {
	p := &parser{text: text}
	e, err := p.expr(0)
	if c := p.peek(); err == nil && p.pos < len(p.text) {
		err = p.errorf("unexpected %q", c)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

type parser struct {
	text string
	pos  int
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%q, column %d: %s", p.text, p.pos+1, fmt.Sprintf(format, args...))
}

// peek returns the next byte that is not a space, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *parser) accept(c byte) bool {
	if c != 0 && p.peek() == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expr(depth int) (*Expr, error) {
	return p.binary(depth, p.term, '+', Add, '-', Sub)
}

func (p *parser) term(depth int) (*Expr, error) {
	return p.binary(depth, p.factor, '*', Mul, '/', Div)
}

// binary reads operands joined by two operators of equal rank, from the left.
func (p *parser) binary(depth int, operand func(int) (*Expr, error), c1 byte, op1 Op, c2 byte, op2 Op) (*Expr, error) {
	e, err := operand(depth)
	for n := 0; err == nil; n++ {
		op := op1
		if !p.accept(c1) {
			if !p.accept(c2) {
				break
			}
			op = op2
		}
		if n == maxDepth {
			return nil, p.errorf("more than %d operators in a row", maxDepth)
		}
		var r *Expr
		if r, err = operand(depth); err == nil {
			e = &Expr{Kind: Call, Op: op, Args: []*Expr{e, r}}
		}
	}
	return e, err
}

func (p *parser) factor(depth int) (*Expr, error) {
	if depth == maxDepth {
		return nil, p.errorf("nested deeper than %d", maxDepth)
	}
	depth++
	c := p.peek()
	switch {
	case p.accept('-'):
		e, err := p.factor(depth)
		if err != nil {
			return nil, err
		}
		if e.Kind == Num {
			return &Expr{Kind: Num, Num: -e.Num}, nil
		}
		return &Expr{Kind: Call, Op: Neg, Args: []*Expr{e}}, nil
	case p.accept('('):
		e, err := p.expr(depth)
		if err == nil && !p.accept(')') {
			err = p.errorf("missing )")
		}
		return e, err
	case isDigit(c):
		return p.number()
	case isLetter(c):
		return p.name(depth)
	case p.pos == len(p.text):
		return nil, p.errorf("unexpected end")
	}
	return nil, p.errorf("unexpected %q", c)
}

// number reads digits, an optional fraction and an optional exponent.
func (p *parser) number() (*Expr, error) {
	start := p.pos
	p.digits()
	if p.pos < len(p.text) && p.text[p.pos] == '.' {
		p.pos++
		p.digits()
	}
	if p.pos < len(p.text) && p.text[p.pos] == 'e' {
		p.pos++
		if p.pos < len(p.text) && (p.text[p.pos] == '-' || p.text[p.pos] == '+') {
			p.pos++
		}
		p.digits()
	}
	x, err := strconv.ParseFloat(p.text[start:p.pos], 64)
	if err != nil {
		return nil, p.errorf("bad number %q", p.text[start:p.pos])
	}
	return &Expr{Kind: Num, Num: x}, nil
}

func (p *parser) digits() {
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		p.pos++
	}
}

// name reads an argument or a call.
func (p *parser) name(depth int) (*Expr, error) {
	start := p.pos
	for p.pos < len(p.text) && (isLetter(p.text[p.pos]) || isDigit(p.text[p.pos])) {
		p.pos++
	}
	name := p.text[start:p.pos]
	switch name {
	case "x":
		return &Expr{Kind: ArgX}, nil
	case "y":
		return &Expr{Kind: ArgY}, nil
	case "z":
		return &Expr{Kind: ArgZ}, nil
	case "v":
		return &Expr{Kind: ArgV}, nil
	}
	op, ok := Lookup(name)
	if !ok {
		return nil, p.errorf("%s is neither an argument nor an op", name)
	}
	if !p.accept('(') {
		return nil, p.errorf("missing ( after %s", name)
	}
	call := &Expr{Kind: Call, Op: op}
	for {
		a, err := p.expr(depth)
		if err != nil {
			return nil, err
		}
		call.Args = append(call.Args, a)
		if !p.accept(',') {
			break
		}
	}
	if !p.accept(')') {
		return nil, p.errorf("missing )")
	}
	if len(call.Args) != op.Arity() {
		return nil, p.errorf("%v has %d arguments, not %d", op, op.Arity(), len(call.Args))
	}
	return call, nil
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

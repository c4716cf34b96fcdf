package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A Rule replaces an expression by one that takes fewer or cheaper operations. In From and To, x, y and z stand for any
// expressions and c and d for any constants; operations are written as in package rules.
type Rule struct {
	From, To string
	Bound    Bound
}

// A Bound says how far the values of both sides of a Rule may differ. The zero value means that they have the same
// bits, except for payloads of NaNs.
type Bound struct {
	// ULP is the largest difference in units in the last place of the result. It holds where the results of all
	// operations of both sides are 0 or have magnitudes between 2^-1000 and 2^1000. It is the number of roundings on
	// both sides together, since each changes the result by less than one such unit.
	ULP int
	// Terms measures ULP in units of the largest term of the sum on the left, which cancellation makes larger than
	// those of the result.
	Terms bool
	// Sign is set if a zero may have the other sign.
	Sign bool
	// Finite is set if the sides may differ where one of them, or an operation of one of them, is not finite, or is
	// undefined: 0·x is 0 also for an infinite x, and x/x is 1 also at 0.
	Finite bool
}

// Exact reports whether the rule keeps every bit.
func (b Bound) Exact() bool { return b == Bound{} }

// String returns the bound in words.
func (b Bound) String() string {
	var s []string
	switch {
	case b.ULP > 0 && b.Terms:
		s = append(s, fmt.Sprintf("within %d ulp of the largest term", b.ULP))
	case b.ULP > 0:
		s = append(s, fmt.Sprintf("within %d ulp", b.ULP))
	default:
		s = append(s, "exact")
	}
	if b.Sign {
		s = append(s, "but for the sign of zero")
	}
	if b.Finite {
		s = append(s, "where all operations are finite")
	}
	return strings.Join(s, " ")
}

// Rules returns the table of rules, in the order in which they are tried.
func Rules() []Rule {
	list := make([]Rule, len(table))
	for i := range table {
		list[i] = table[i].Rule
	}
	return list
}

var (
	exact  = Bound{}
	signed = Bound{Sign: true}
	finite = Bound{Sign: true, Finite: true}
)

func ulp(n int) Bound         { return Bound{ULP: n, Finite: true} }
func ulpOfTerms(n int) Bound  { return Bound{ULP: n, Terms: true, Sign: true, Finite: true} }
func ulpOrSigned(n int) Bound { return Bound{ULP: n, Sign: true, Finite: true} }

// table holds the rules. Each of them lowers the number of operations, or moves a negation outward or into a constant,
// or replaces an operation by a cheaper one, so that rewriting ends.
var table = compile([]Rule{
	// Zeros and ones. Sums are searched for zeros after signs, since x + -0 is x exactly and x + 0 is not.
	{"add(x, -0)", "x", exact},
	{"sub(x, 0)", "x", exact},
	{"sub(-0, x)", "neg(x)", exact},
	{"add(x, 0)", "x", signed},
	{"sub(0, x)", "neg(x)", signed},
	{"mul(x, 1)", "x", exact},
	{"mul(x, -1)", "neg(x)", exact},
	{"div(x, 1)", "x", exact},
	{"div(x, -1)", "neg(x)", exact},
	{"div(1, x)", "inv(x)", exact},
	{"mul(x, 0)", "0", finite},
	{"mul(x, -0)", "0", finite},
	{"div(0, x)", "0", finite},
	{"sub(x, x)", "0", finite},
	{"div(x, x)", "1", finite},
	{"mulz(x, 1)", "x", Bound{Sign: true}},
	{"select(x, y, y)", "y", exact},

	// Negations.
	{"neg(neg(x))", "x", exact},
	{"neg(sub(x, y))", "sub(y, x)", signed},
	{"add(x, neg(y))", "sub(x, y)", exact},
	{"sub(x, neg(y))", "add(x, y)", exact},
	{"sub(neg(x), y)", "neg(add(x, y))", signed},
	{"mul(neg(x), neg(y))", "mul(x, y)", exact},
	{"mul(neg(x), c)", "mul(x, neg(c))", exact},
	{"mul(neg(x), y)", "neg(mul(x, y))", exact},
	{"neg(mul(x, c))", "mul(x, neg(c))", exact},
	{"div(neg(x), neg(y))", "div(x, y)", exact},
	{"div(neg(x), c)", "div(x, neg(c))", exact},
	{"div(c, neg(x))", "div(neg(c), x)", exact},
	{"div(neg(x), y)", "neg(div(x, y))", exact},
	{"div(x, neg(y))", "neg(div(x, y))", exact},
	{"neg(div(x, c))", "div(x, neg(c))", exact},
	{"neg(div(c, x))", "div(neg(c), x)", exact},
	{"inv(neg(x))", "neg(inv(x))", exact},
	{"sq(neg(x))", "sq(x)", exact},
	{"abs(neg(x))", "abs(x)", exact},
	{"cos(neg(x))", "cos(x)", exact},
	{"cosh(neg(x))", "cosh(x)", exact},

	// Powers.
	{"mul(x, x)", "sq(x)", exact},
	{"pow(x, 0)", "1", exact},
	{"pow(x, 1)", "x", exact},
	{"pow(x, -1)", "inv(x)", finite},
	{"pow(x, 2)", "sq(x)", ulp(3)},
	{"pow(x, 0.5)", "sqrt(x)", finite},
	{"sq(sqrt(x))", "x", ulp(2)},
	{"sqrt(sq(x))", "abs(x)", ulp(2)},
	{"abs(sq(x))", "sq(x)", exact},
	{"abs(abs(x))", "abs(x)", exact},
	{"sq(abs(x))", "sq(x)", exact},
	// The derivative of a power is a product that does not overflow before the result does. Between those extremes its
	// scale is 1.
	{"mul(powdx(x, c), powscale(x, c))", "mul(pow(x, sub(c, 1)), c)", ulp(6)},
	{"mul(mul(y, powdx(x, c)), powscale(x, c))", "mul(y, mul(pow(x, sub(c, 1)), c))", ulp(8)},

	// Quotients.
	{"mul(x, inv(y))", "div(x, y)", ulp(3)},
	{"div(x, inv(y))", "mul(x, y)", ulp(3)},
	{"inv(inv(x))", "x", ulp(2)},
	{"inv(div(x, y))", "div(y, x)", ulp(3)},
	{"div(mul(x, y), y)", "x", ulpOrSigned(2)},
	{"mul(div(x, y), y)", "x", ulpOrSigned(2)},
	{"div(x, mul(x, y))", "inv(y)", ulp(3)},
	{"div(sq(x), x)", "x", ulpOrSigned(2)},
	{"div(x, sq(x))", "inv(x)", ulp(3)},

	// Constants.
	{"mul(mul(x, c), d)", "mul(x, mul(c, d))", ulpOrSigned(4)},
	{"div(mul(x, c), d)", "mul(x, div(c, d))", ulpOrSigned(4)},
	{"mul(div(x, c), d)", "mul(x, div(d, c))", ulpOrSigned(4)},
	{"mul(div(c, x), d)", "div(mul(c, d), x)", ulpOrSigned(4)},
	{"div(div(x, c), d)", "div(x, mul(c, d))", ulpOrSigned(4)},
	{"mul(inv(x), c)", "div(c, x)", ulp(3)},
	{"add(add(x, c), d)", "add(x, add(c, d))", ulpOfTerms(4)},

	// Sums of multiples.
	{"add(x, x)", "mul(x, 2)", exact},
	{"add(x, mul(x, c))", "mul(x, add(c, 1))", ulpOfTerms(4)},
	{"sub(x, mul(x, c))", "mul(x, sub(1, c))", ulpOfTerms(4)},
	{"sub(mul(x, c), x)", "mul(x, sub(c, 1))", ulpOfTerms(4)},
	{"add(mul(x, y), mul(x, z))", "mul(x, add(y, z))", ulpOfTerms(5)},
	{"sub(mul(x, y), mul(x, z))", "mul(x, sub(y, z))", ulpOfTerms(5)},
	{"add(div(x, z), div(y, z))", "div(add(x, y), z)", ulpOfTerms(5)},
	{"sub(div(x, z), div(y, z))", "div(sub(x, y), z)", ulpOfTerms(5)},
})

// A term is a pattern, or the expression that replaces it.
type term struct {
	op   rules.Op // Invalid for a variable or a number
	args []*term
	name byte // of a variable; 0 for a number

	v float64
}

// A rewriting is a rule in the form in which it is applied.
type rewriting struct {
	Rule
	from, to *term
}

// byOp holds the rewritings of each operation.
var byOp = func() (by [rules.NumOps][]*rewriting) {
	for i := range table {
		by[table[i].from.op] = append(by[table[i].from.op], &table[i])
	}
	return by
}()

// compile parses the rules.
func compile(list []Rule) []rewriting {
	out := make([]rewriting, len(list))
	for i, r := range list {
		out[i] = rewriting{r, parseTerm(r.From), parseTerm(r.To)}
	}
	return out
}

// parseTerm parses a side of a rule. It panics if the text is not well formed, which the first test notices.
func parseTerm(text string) *term {
	t, rest := term1(text)
	if rest != "" {
		panic("expression: rule " + text + ": unexpected " + rest)
	}
	return t
}

func term1(s string) (*term, string) {
	at := strings.IndexAny(s+",", "(,)")
	head, rest := s[:at], s[at:]
	if !strings.HasPrefix(rest, "(") {
		if len(head) == 1 && strings.Contains("xyzcd", head) {
			return &term{name: head[0]}, rest
		}
		v, err := strconv.ParseFloat(head, 64)
		if err != nil {
			panic("expression: rule: " + err.Error())
		}
		return &term{v: v}, rest
	}
	op, ok := rules.Lookup(head)
	if !ok {
		panic("expression: rule: no operation " + head)
	}
	t := &term{op: op}
	for rest[0] != ')' {
		var a *term
		a, rest = term1(strings.TrimLeft(rest[1:], " "))
		t.args = append(t.args, a)
	}
	if len(t.args) != op.Arity() {
		panic("expression: rule: " + head + " has another number of arguments")
	}
	return t, rest[1:]
}

// A binding maps the variables of a rule to nodes; none for one that is not bound.
type binding [5]int32

func (b *binding) at(name byte) *int32 { return &b[strings.IndexByte("xyzcd", name)] }

// A goal is a pattern that a node must match.
type goal struct {
	t  *term
	id int32
}

// rewritten returns the node that a rule replaces n by, if there is one.
func (g *graph) rewritten(n node, l level) (int32, bool) {
	if l == bare {
		return none, false
	}
	for _, r := range byOp[n.op] {
		if l == bitwise && !r.Bound.Exact() {
			continue
		}
		b := binding{none, none, none, none, none}
		var goals [12]goal
		if g.matchArgs(r.from, &n, &goals, 0, &b) {
			return g.build(r.to, &b, l), true
		}
	}
	return none, false
}

// matchArgs reports whether the arguments of n match those of t and the goals below top hold too.
func (g *graph) matchArgs(t *term, n *node, goals *[12]goal, top int, b *binding) bool {
	orders := 1
	if t.op == rules.Add || t.op == rules.Mul {
		orders = 2
	}
	for order := range orders {
		at, saved := top, *b
		for i, a := range t.args {
			k := i
			if order == 1 {
				k = 1 - i
			}
			goals[at] = goal{a, n.arg[k]}
			at++
		}
		below := *goals
		if g.match(goals, at, b) {
			return true
		}
		*b, *goals = saved, below
	}
	return false
}

// match reports whether all of the first top goals hold, and binds their variables.
func (g *graph) match(goals *[12]goal, top int, b *binding) bool {
	if top == 0 {
		return true
	}
	top--
	want, id := goals[top].t, goals[top].id
	n := &g.nodes[id]
	switch {
	case want.op != rules.Invalid:
		return n.op == program.Op(want.op) && g.matchArgs(want, n, goals, top, b)
	case want.name == 0:
		if n.op != program.Const || n.bits != math.Float64bits(want.v) {
			return false
		}
	default:
		at := b.at(want.name)
		if *at != none && *at != id || want.name <= 'd' && n.op != program.Const {
			return false
		}
		*at = id
	}
	return g.match(goals, top, b)
}

// build returns the node of the right side of a rule.
func (g *graph) build(t *term, b *binding, l level) int32 {
	switch {
	case t.op != rules.Invalid:
		var a [3]int32
		for i, x := range t.args {
			a[i] = g.build(x, b, l)
		}
		return g.make(t.op, a, l)
	case t.name == 0:
		return g.constant(t.v)
	}
	return *b.at(t.name)
}

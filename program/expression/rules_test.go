package expression

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A valuation evaluates sides of rules. It notes operations whose results are out of the range of bounds.
type valuation struct {
	at      map[byte]float64
	extreme bool
	largest float64 // of the operands of the outermost sum
}

func (e *valuation) side(t *term) float64 {
	switch {
	case t.op == rules.Invalid && t.name == 0:
		return t.v
	case t.op == rules.Invalid:
		return e.at[t.name]
	}
	var a [3]float64
	for i, x := range t.args {
		a[i] = e.side(x)
	}
	if t.op == rules.Add || t.op == rules.Sub {
		e.largest = math.Max(e.largest, math.Max(math.Abs(a[0]), math.Abs(a[1])))
	}
	v := evaluate(t.op, a)
	lost := v == 0 // underflow
	for i := range t.args {
		lost = lost && a[i] != 0
	}
	if t.op == rules.Add || t.op == rules.Sub || t.op == rules.Select {
		lost = false
	}
	if v-v != 0 || v != 0 && (math.Abs(v) < 0x1p-1000 || math.Abs(v) > 0x1p1000) || lost {
		e.extreme = true
	}
	return v
}

// ulpOf returns a unit in the last place of v.
func ulpOf(v float64) float64 {
	v = math.Abs(v)
	return math.Nextafter(v, math.Inf(1)) - v
}

// violates describes how the values of both sides of a rule contradict its bound, "" if they do not.
func violates(r *rewriting, at map[byte]float64) string {
	from, to := &valuation{at: at}, &valuation{at: at}
	a, b := from.side(r.from), to.side(r.to)
	same := math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	switch {
	case same, r.Bound.Sign && a == b:
		return ""
	case r.Bound.Finite && (from.extreme || to.extreme):
		return ""
	case r.Bound.Finite && (a-a != 0 || b-b != 0):
		return ""
	}
	for _, v := range at { // an operand that is not finite, where the result may still be
		if r.Bound.Finite && v-v != 0 {
			return ""
		}
	}
	unit := ulpOf(math.Max(math.Abs(a), math.Abs(b)))
	if r.Bound.Terms {
		unit = ulpOf(from.largest)
	}
	if math.Abs(a-b) <= float64(r.Bound.ULP)*unit && (r.Bound.ULP > 0) {
		return ""
	}
	return "values differ"
}

// operand returns a random number: any bits, a moderate one, or a special one.
func operand(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, math.Inf(1), math.Inf(-1), math.NaN(),
			5e-324, math.MaxFloat64, -3}[r.IntN(12)]
	default:
		return math.Ldexp(r.NormFloat64(), r.IntN(40)-20)
	}
}

// TestRules checks the bound of each rule at random operands.
func TestRules(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range table {
		rule := &table[i]
		for range longtest.Cases(0, 500, 3000, 80_000) {
			at := map[byte]float64{}
			for _, name := range []byte("xyzcd") {
				at[name] = operand(r)
			}
			if r.IntN(2) == 0 { // the same operand twice, and small whole numbers as constants
				at['y'], at['c'], at['d'] = at['x'], float64(r.IntN(9)-4), float64(r.IntN(9)-4)
			}
			if what := violates(rule, at); what != "" {
				from, to := &valuation{at: at}, &valuation{at: at}
				t.Errorf("%s → %s (%v): %s at x=%v y=%v z=%v c=%v d=%v: %v and %v", rule.From, rule.To, rule.Bound,
					what, at['x'], at['y'], at['z'], at['c'], at['d'], from.side(rule.from), to.side(rule.to))
				break
			}
		}
	}
}

// TestBoundsAreChecked: the test of the rules notices rules that are wrong, or whose bound is too small.
func TestBoundsAreChecked(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, bad := range []Rule{
		{"add(x, 0)", "x", exact},
		{"sub(neg(x), y)", "neg(add(x, y))", exact},
		{"mul(x, 0)", "0", signed},
		{"mul(mul(x, c), d)", "mul(x, mul(c, d))", finite},
		{"add(mul(x, y), mul(x, z))", "mul(x, add(y, z))", ulp(5)},
		{"div(x, y)", "div(y, x)", ulp(5)},
		{"inv(inv(x))", "x", exact},
	} {
		rule := compile([]Rule{bad})[0]
		found := false
		for range 20000 {
			at := map[byte]float64{}
			for _, name := range []byte("xyzcd") {
				at[name] = operand(r)
			}
			found = found || violates(&rule, at) != ""
		}
		if !found {
			t.Errorf("%s → %s (%v) passes", bad.From, bad.To, bad.Bound)
		}
	}
}

// rational evaluates a side in exact arithmetic; ok is false for an operation that is not rational, and for 1/0.
func rational(t *term, at map[byte]*big.Rat) (v *big.Rat, ok bool) {
	switch {
	case t.op == rules.Invalid && t.name == 0:
		return new(big.Rat).SetFloat64(t.v), true
	case t.op == rules.Invalid:
		return at[t.name], true
	}
	var a [3]*big.Rat
	for i, x := range t.args {
		if a[i], ok = rational(x, at); !ok {
			return nil, false
		}
	}
	v = new(big.Rat)
	switch t.op {
	case rules.Add:
		return v.Add(a[0], a[1]), true
	case rules.Sub:
		return v.Sub(a[0], a[1]), true
	case rules.Mul:
		return v.Mul(a[0], a[1]), true
	case rules.Neg:
		return v.Neg(a[0]), true
	case rules.Sq:
		return v.Mul(a[0], a[0]), true
	case rules.Abs:
		return v.Abs(a[0]), true
	case rules.Div:
		if a[1].Sign() == 0 {
			return nil, false
		}
		return v.Quo(a[0], a[1]), true
	case rules.Inv:
		if a[0].Sign() == 0 {
			return nil, false
		}
		return v.Inv(a[0]), true
	case rules.Select:
		if a[0].Sign() != 0 {
			return a[1], true
		}
		return a[2], true
	}
	return nil, false
}

// TestRulesAreIdentities checks the rules over rational operations in exact arithmetic: a rule whose bound is not
// zero is an identity between numbers nevertheless.
func TestRulesAreIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	checked := 0
	for i := range table {
		rule, some := &table[i], false
		for range 50 {
			at := map[byte]*big.Rat{}
			for _, name := range []byte("xyzcd") {
				at[name] = big.NewRat(r.Int64N(2001)-1000, 1+r.Int64N(50))
			}
			a, ok := rational(rule.from, at)
			if !ok {
				continue
			}
			if b, ok := rational(rule.to, at); !ok || a.Cmp(b) != 0 {
				t.Errorf("%s → %s: %v and %v at %v", rule.From, rule.To, a, b, at)
				break
			}
			some = true
		}
		if some {
			checked++
		}
	}
	if checked < 55 {
		t.Errorf("%d of %d rules were checked", checked, len(table))
	}
}

// TestRulesApply: each rule replaces the very expression that it is about, unless an earlier rule does.
func TestRulesApply(t *testing.T) {
	for i := range table {
		rule := &table[i]
		g := newGraph(bare)
		b := binding{g.input(0), g.input(1), g.input(2), g.constant(3), g.constant(5)}
		id := g.build(rule.from, &b, bare)
		n := g.nodes[id]
		if n.op == program.Const {
			t.Errorf("%s is folded", rule.From)
			continue
		}
		to, ok := g.rewritten(n, allRules)
		if !ok {
			t.Errorf("%s is not rewritten", rule.From)
			continue
		}
		if before, after := g.operations([]int32{id}), g.operations([]int32{to}); after > before {
			t.Errorf("%s takes %d operations, and after rewriting %d", rule.From, before, after)
		}
		if _, ok := g.rewritten(n, bitwise); rule.Bound.Exact() && !ok {
			t.Errorf("%s is exact and not applied", rule.From)
		}
	}
	if s := ulpOfTerms(4).String(); !strings.Contains(s, "4 ulp of the largest") {
		t.Error(s)
	}
}

// noisy evaluates node root with each result of an operation changed by up to one unit in the last place.
func (g *graph) noisy(root int32, x []float64, noise func() float64) float64 {
	v := make([]float64, root+1)
	for id := range v {
		switch n := &g.nodes[id]; n.op {
		case program.Input:
			v[id] = x[n.k]
		case program.Const:
			v[id], _ = g.value(int32(id))
		default:
			var a [3]float64
			for i, k := range g.args(int32(id)) {
				a[i] = v[k]
			}
			v[id] = evaluate(rules.Op(n.op), a)
			switch rules.Op(n.op) {
			case rules.Neg, rules.Abs, rules.Lt, rules.Le, rules.Eq, rules.Select, rules.Max, rules.Min:
			default:
				v[id] *= 1 + noise()*0x1p-52
			}
		}
	}
	return v[root]
}

// TestSimplifyRandom simplifies the gradients of random programs. Rules that keep every bit must do so; with the others
// the result is within a small multiple of what roundings of the original program make of it, which perturbing each
// operation by a unit in the last place shows.
func TestSimplifyRandom(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(11, 12))
	compared, fewer := 0, 0
	for range longtest.Cases(0, 30, 300, 8000) {
		n := 1 + r.IntN(3)
		p := program.Simplify(program.VJP(randomProgram(r, n, 1, 3+r.IntN(25)), program.VJPOptions{Unit: true}))
		x := point(r, n)
		want := run(t, p, x)
		same, err := Simplify(p, true)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Simplify(p, false)
		if err != nil {
			t.Fatal(err)
		}
		if all.Operations() < p.Operations() {
			fewer++
		}
		if all.Operations() > p.Operations() || same.Operations() > p.Operations() {
			t.Errorf("%d operations, simplified %d and %d", p.Operations(), same.Operations(), all.Operations())
		}
		exactly, got := run(t, same, x), run(t, all, x)
		g := newGraph(bare)
		slot, err := g.load(p)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i := range want {
			for j, v := range want[i] {
				id := slot[p.Result[at]]
				at++
				if e := exactly[i][j]; math.Float64bits(e) != math.Float64bits(v) && (v == v || e == e) {
					t.Fatalf("output %d of group %d is %v, want every bit of %v\n%v", j, i, e, v, p)
				}
				spread := 0.0
				for range 8 {
					noise := func() float64 { return 2*r.Float64() - 1 }
					spread = math.Max(spread, math.Abs(g.noisy(id, x, noise)-v))
				}
				if !(spread < math.Inf(1)) {
					continue
				}
				compared++
				if d := math.Abs(got[i][j] - v); !(d <= 50*spread+1e-13*math.Abs(v)+0x1p-1000) {
					t.Fatalf("output %d of group %d is %v, want %v, and roundings change it by %v\n%v",
						j, i, got[i][j], v, spread, p)
				}
			}
		}
	}
	if compared == 0 || fewer == 0 {
		t.Errorf("%d numbers compared, %d programs shorter", compared, fewer)
	}
	t.Logf("%d numbers compared, %d programs shorter", compared, fewer)
}

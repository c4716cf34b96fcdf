package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/rules"
)

// A looped is a random function with loops: a list of statements that are run by an interpreter over numbers of a
// trace, so that the recording has what a function with these loops would have recorded.
type looped struct {
	rng   *rand.Rand
	n     int // inputs
	outer int // numbers of an outer trace
	stmts []loopStmt
	names int        // of numbers
	slots int        // of arrays
	told  *rand.Rand // chooses the executions of loops of which the recording is told; it is told of none if nil
	wrong bool       // it is told of other runs too
}

// A loopStmt is an operation, or a loop if count > 0.
type loopStmt struct {
	op       rules.Op
	guard    uint32 // an operation of package core, 0 if it is none
	call     int    // number of times that two arguments are given to a custom rule, 0 if none is called
	to       int    // the number that it sets
	args     [3]loopArg
	count    int
	body     []loopStmt
	skip     int // the iteration in which the operation is left out, -1 if there is none
	store    int // the array that the result is stored in, by the iteration, -1 if there is none
	lengths  int // how the count depends on the iteration of the loop around: count + lengths·(i mod 3)
	reversed bool
}

// A loopArg is an operand.
type loopArg struct {
	kind   int // input, number, constant, array
	k      int // which one, or where the first is
	stride int
	perm   bool
	value  float64
}

const (
	argInput = iota
	argNumber
	argConst
	argVarying
	argArray
	argOuter
)

// newLooped returns a random function.
func newLooped(rng *rand.Rand) *looped {
	f := &looped{rng: rng, n: 20 + rng.IntN(40), names: 3}
	if rng.IntN(3) == 0 {
		f.outer = 1 + rng.IntN(50)
	}
	for range 1 + rng.IntN(4) {
		f.stmts = append(f.stmts, f.stmt(0, f.names))
		f.stmts = append(f.stmts, f.loop(0))
	}
	return f
}

// loop returns a loop with a body of random statements.
func (f *looped) loop(depth int) loopStmt {
	s := loopStmt{count: 3 + f.rng.IntN(60>>(2*depth)), reversed: f.rng.IntN(4) == 0, skip: -1, store: -1}
	if f.rng.IntN(4) == 0 {
		s.lengths = 1
	}
	first := f.names
	for range 1 + f.rng.IntN(8) {
		switch k := f.rng.IntN(12); {
		case k == 0 && depth < 2:
			s.body = append(s.body, f.loop(depth+1))
		case k < 4: // a sum
			f.names++
			op := rules.Add
			if f.rng.IntN(3) == 0 {
				op = rules.Sub
			}
			to := f.names - 1
			for range 1 + f.rng.IntN(2) {
				t := loopStmt{op: op, to: to, skip: -1, store: -1}
				t.args[0] = loopArg{kind: argNumber, k: to}
				t.args[1] = f.arg(f.names - 1)
				if op == rules.Add && f.rng.IntN(3) == 0 {
					t.args[0], t.args[1] = t.args[1], t.args[0]
				}
				if f.rng.IntN(6) == 0 {
					t.store = f.array()
				}
				s.body = append(s.body, t)
			}
		default:
			s.body = append(s.body, f.stmt(depth+1, first+2))
		}
	}
	return s
}

// array returns a new array.
func (f *looped) array() int {
	f.slots++
	return f.slots - 1
}

// stmt returns a random operation on numbers below limit or so.
func (f *looped) stmt(depth, limit int) loopStmt {
	s := loopStmt{skip: -1, store: -1}
	ops := []rules.Op{rules.Sin, rules.Cos, rules.Tanh, rules.Neg, rules.Add, rules.Sub, rules.Mul, rules.Add,
		rules.Mul, rules.FMA, rules.Select, rules.Sq, rules.Atan}
	s.op = ops[f.rng.IntN(len(ops))]
	if f.rng.IntN(12) == 0 {
		s.guard = core.OpGuardLt + uint32(f.rng.IntN(3))
	}
	if f.rng.IntN(15) == 0 {
		s.call = 1 + 20*f.rng.IntN(2)
	}
	for i := range s.args {
		s.args[i] = f.arg(f.names)
	}
	if f.rng.IntN(8) == 0 {
		s.skip = f.rng.IntN(40)
	}
	if f.rng.IntN(3) == 0 {
		s.store = f.array()
	}
	if f.rng.IntN(3) == 0 && depth > 0 { // a number of before: it is carried from iteration to iteration
		s.to = f.rng.IntN(f.names)
	} else {
		s.to = f.names
		f.names++
	}
	return s
}

// arg returns a random operand: a number below limit, or another one.
func (f *looped) arg(limit int) loopArg {
	kinds := 5
	if f.outer > 0 {
		kinds = 6
	}
	a := loopArg{kind: f.rng.IntN(kinds), perm: f.rng.IntN(5) == 0}
	switch a.kind {
	case argInput:
		a.k, a.stride = f.rng.IntN(f.n), []int{0, 1, 1, 1, 2, -1, 7}[f.rng.IntN(7)]
	case argOuter:
		a.k, a.stride = f.rng.IntN(f.outer), f.rng.IntN(2)
	case argNumber:
		a.k = max(f.rng.IntN(limit), f.rng.IntN(limit))
	case argConst:
		a.value = []float64{1, -1, 0, 0.5, 3}[f.rng.IntN(5)]
	case argVarying:
		a.value = f.rng.Float64()
	case argArray:
		a.k, a.stride = f.rng.IntN(f.slots+1), f.rng.IntN(3)-1
	}
	return a
}

// run runs the function.
func (f *looped) run(x, outer []core.Rep) []core.Rep {
	r := &loopRun{x: x, outer: outer, told: f.told,
		numbers: make([]core.Rep, f.names), arrays: make([][]core.Rep, f.slots+1)}
	for i := range r.numbers {
		r.numbers[i] = num(0.25 * float64(i%5))
	}
	for i := range f.stmts {
		r.stmt(&f.stmts[i], 0)
	}
	outs := slices.Clone(r.numbers)
	for k, a := range r.arrays {
		if len(a) > 0 {
			outs = append(outs, a[k%len(a)], a[len(a)-1])
		}
	}
	return outs
}

// loopRun is the state of a run.
type loopRun struct {
	x, outer, numbers []core.Rep
	arrays            [][]core.Rep
	told              *rand.Rand
}

// stmt runs s in iteration i of the loop around.
func (r *loopRun) stmt(s *loopStmt, i int) {
	if s.count > 0 {
		n := s.count + s.lengths*(i%3)
		var marks core.Loop
		tell := r.told != nil && r.told.IntN(4) > 0
		for j := range n {
			if tell {
				marks.Next()
			}
			if s.reversed {
				j = n - 1 - j
			}
			for k := range s.body {
				r.stmt(&s.body[k], j)
			}
		}
		return
	}
	if i == s.skip {
		return
	}
	a, b, c := r.arg(s.args[0], i), r.arg(s.args[1], i), r.arg(s.args[2], i)
	if s.guard != 0 {
		holds := map[uint32]bool{core.OpGuardLt: a.V < b.V, core.OpGuardLe: a.V <= b.V, core.OpGuardEq: a.V == b.V}
		core.Compare(s.guard, a, b, holds[s.guard])
	}
	var y core.Rep
	switch s.op.Arity() {
	case 1:
		y = core.Apply1(s.op, a)
	case 2:
		y = core.Apply2(s.op, a, b)
	default:
		y = core.Apply3(s.op, a, b, c)
	}
	if s.call > 0 {
		y = core.Call(ruleMean(2*s.call), slices.Repeat([]core.Rep{y, b}, s.call))[0]
	}
	if math.Abs(y.V) > 100 {
		y = core.Apply1(rules.Tanh, y)
	}
	r.numbers[s.to] = y
	if s.store >= 0 {
		r.arrays[s.store] = append(r.arrays[s.store], y)
	}
}

// arg returns the value of an operand in iteration i.
func (r *loopRun) arg(a loopArg, i int) core.Rep {
	at := a.k + a.stride*i
	if a.perm {
		at = at * at % 17
	}
	switch a.kind {
	case argOuter:
		return r.outer[at%len(r.outer)]
	case argInput:
		return r.x[(at%len(r.x)+len(r.x))%len(r.x)]
	case argNumber:
		return r.numbers[a.k]
	case argVarying:
		return num(a.value + float64(i))
	case argArray:
		if list := r.arrays[a.k]; len(list) > 0 {
			return list[((a.stride*i)%len(list)+len(list))%len(list)]
		}
	}
	return num(a.value)
}

// A recording with loops computes the bits of one of single operations, and so do its derivatives but for the order of
// additions.
func TestRoll(t *testing.T) {
	checked, rolled, halved, most := 0, 0, 0, 0
	n := longtest.Cases(*huntPrograms, 60, 300, 5000)
	for i := range n {
		flat, p := rollSeed(t, *huntSeed+uint64(i))
		if t.Failed() {
			return
		}
		if flat == nil {
			continue
		}
		checked++
		ops, stmts := p.Operations(), len(p.Stmts)
		if stmts < len(flat.Stmts)*9/10 {
			rolled++
		}
		if stmts < len(flat.Stmts)/2 {
			halved++
		}
		most = max(most, ops/stmts)
	}
	t.Logf("%d of %d programs have loops, %d half of the statements; up to %d operations a statement", rolled,
		checked, halved, most)
	if 3*rolled < checked {
		t.Errorf("%d of %d programs have loops", rolled, checked)
	}
}

// rollSeed compares the two programs of a random function and returns them, or nil if the function is too long.
func rollSeed(t *testing.T, seed uint64) (flat, p *Program) {
	defer func(n int) { rollFrom = n }(rollFrom)
	rng := rand.New(rand.NewPCG(seed, 47))
	f := newLooped(rng)
	x, outer := make([]float64, f.n), make([]float64, f.outer)
	for _, in := range [][]float64{x, outer} {
		for i := range in {
			in[i] = math.Round(rng.NormFloat64()*1024) / 1024
		}
	}
	rollFrom = math.MaxInt
	flat, captured := recordWithin(t, f, x, outer)
	if len(flat.Stmts) > 3000 {
		return nil, nil
	}
	rollFrom = 0
	if seed%3 > 0 {
		f.told = rng
	}
	f.wrong = seed%3 > 1
	p, _ = recordWithin(t, f, x, outer)
	ins := [][]float64{x}
	if len(captured) > 0 {
		ins = append(ins, captured)
	}
	sameDerivatives(t, flat, p, ins)
	if t.Failed() {
		t.Logf("seed %d, single operations:\n%.3000s\nloops:\n%.3000s", seed, flat, p)
	}
	return flat, p
}

// recordWithin records f at x in a trace of the numbers outer, and returns the values of those that f captures.
func recordWithin(t *testing.T, f *looped, x, outer []float64) (p *Program, captured []float64) {
	var around, inner core.Tracer
	around.StartRecording(len(outer), 0, core.RecordOptions{})
	defer around.Close()
	inner.StartRecording(len(x), 0, core.RecordOptions{Nested: true, Loops: true})
	defer inner.Close()
	os, xs := make([]core.Rep, len(outer)), make([]core.Rep, len(x))
	for i, v := range outer {
		os[i] = around.Input(i, v)
	}
	for i, v := range x {
		xs[i] = inner.Input(i, v)
	}
	outs := f.run(xs, os)
	for i, y := range outs {
		if y.ID != 0 && !inner.Owns(y) {
			outs[i] = inner.Capture(y)
		}
	}
	rec := inner.Recorded()
	if f.wrong {
		rec.Runs = f.mistaken(rec)
	}
	p, err := FromRecording(rec, outs)
	if err != nil {
		t.Fatal(err)
	}
	mustCheck(t, "recorded", p)
	for _, c := range rec.Captures {
		captured = append(captured, c.V)
	}
	return p, captured
}

// mistaken returns the runs of a recording in random order, with others: of other beginnings, periods and counts, and
// some that are nowhere.
func (f *looped) mistaken(r core.Recorded) (runs []core.Run) {
	of := func(n int32) int32 { return int32(f.rng.IntN(int(max(n, 1)))) }
	at := func() int32 { return int32(r.NIn) + 1 + of(int32(r.Len)) }
	runs = append(runs, r.Runs...)
	for range 20 {
		s := core.Run{Start: at(), Period: 1 + of(12), Count: of(60)}
		if len(r.Runs) > 0 {
			known := r.Runs[f.rng.IntN(len(r.Runs))]
			switch f.rng.IntN(5) {
			case 0: // begins within an iteration, or before
				s = known
				s.Start += of(2*s.Period) - s.Period
			case 1: // several iterations at once
				s = known
				s.Period *= 2 + of(2)
				s.Count /= 2
			case 2: // too long
				s = known
				s.Count *= 3
			case 3: // again, in part
				s = known
				s.Start += s.Period * of(s.Count)
			}
		}
		runs = append(runs, s)
	}
	runs = append(runs, core.Run{Start: -5, Period: 2, Count: 100}, core.Run{Start: at(), Period: 1 << 20, Count: 1000},
		core.Run{Start: at()}, core.Run{Start: at(), Period: -2, Count: 20})
	f.rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs
}

// sameDerivatives compares two programs of a function at the inputs.
func sameDerivatives(t *testing.T, flat, p *Program, at [][]float64) {
	m, n := flat.NumOut(), len(at[0])
	weights, direction := make([]float64, m), make([]float64, n)
	for i := range weights {
		weights[i] = 1 / float64(1+i%7)
	}
	for i := range direction {
		direction[i] = 1 / float64(1+i%5)
	}
	for _, c := range []struct {
		name  string
		pass  func(p *Program) *Program
		ins   [][]float64
		exact bool
	}{
		{"values", func(p *Program) *Program { return p }, nil, true},
		{"simplified", Simplify, nil, true},
		{"scheduled", Schedule, nil, true},
		{"simplified, scheduled", func(p *Program) *Program { return Schedule(Simplify(p)) }, nil, true},
		{"tangent", func(p *Program) *Program { return Simplify(JVP(p, JVPOptions{})) }, [][]float64{direction}, true},
		{"two tangents", func(p *Program) *Program { return JVP(p, JVPOptions{Lanes: 2}) },
			[][]float64{twice(direction)}, true},
		{"cotangent", func(p *Program) *Program { return Simplify(VJP(p, VJPOptions{Captured: true})) },
			[][]float64{weights}, false},
		{"two cotangents", func(p *Program) *Program { return VJP(p, VJPOptions{Lanes: 2, Strong: true}) },
			[][]float64{twice(weights)}, false},
		{"second", func(p *Program) *Program {
			return Simplify(JVP(Simplify(VJP(p, VJPOptions{})), JVPOptions{}))
		}, [][]float64{weights, direction}, false},
	} {
		ins := slices.Concat(at, c.ins)
		q := c.pass(p)
		mustCheck(t, c.name, q)
		want, ok := reference(c.pass(flat), ins, nil)
		got, holds := runMachine(q, ins, nil)
		if !ok || !holds {
			t.Fatalf("%s: guards hold: %v, in loops %v", c.name, ok, holds)
		}
		compare(t, c.name, got, want, func(a, b float64) bool {
			if c.exact {
				return sameNumber(a, b)
			}
			return closeTo(a, b, 1, 1e-9) || math.Abs(b) > 1e12
		})
	}
}

// ruleMean is the mean of n numbers.
func ruleMean(n int) formula {
	return formula{
		name: "mean", n: n,
		value: func(x []float64) []float64 {
			s := 0.0
			for _, v := range x {
				s += v
			}
			return []float64{s / float64(n)}
		},
		partial: func(int) formula {
			return formula{name: "nth", n: n, value: func([]float64) []float64 { return []float64{1 / float64(n)} },
				partial: func(int) formula { return ruleZero(n) }}
		},
	}
}

// ruleZero is 0.
func ruleZero(n int) formula {
	return formula{name: "zero", n: n, value: func([]float64) []float64 { return []float64{0} },
		partial: func(int) formula { return ruleZero(n) }}
}

// twice returns x with each element twice in a row.
func twice(x []float64) []float64 {
	y := make([]float64, 0, 2*len(x))
	for _, v := range x {
		y = append(y, v, v)
	}
	return y
}

// FuzzRoll is TestRoll with any seed.
func FuzzRoll(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(300))
	f.Fuzz(func(t *testing.T, seed uint64) {
		rollSeed(t, seed)
	})
}

// Loops become as few statements as their bodies have operations, whatever is around them.
func TestRolledBodies(t *testing.T) {
	add := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Add, a, b) }
	mul := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Mul, a, b) }
	sin := func(a core.Rep) core.Rep { return core.Apply1(rules.Sin, a) }
	const n = 300
	for _, c := range []struct {
		name string
		f    func(x []core.Rep) []core.Rep
		want string // the statements after the input, by operation and lanes
	}{
		{"a sum", func(x []core.Rep) []core.Rep {
			s := num(0)
			for _, v := range x {
				s = add(s, mul(v, v))
			}
			return []core.Rep{s}
		}, "mul:300 const:1 sum:1"},
		{"a sum by two additions, and the second operand", func(x []core.Rep) []core.Rep {
			s := num(0)
			for _, v := range x {
				s = add(add(v, s), mul(v, v))
			}
			return []core.Rep{s}
		}, "mul:300 const:1 sum:1"},
		{"a difference", func(x []core.Rep) []core.Rep {
			s := x[0]
			for _, v := range x {
				s = core.Apply2(rules.Sub, s, sin(v))
			}
			return []core.Rep{s}
		}, "sin:300 neg:300 sum:1"},
		{"the same in all iterations", func(x []core.Rep) []core.Rep {
			s := num(0)
			for _, v := range x {
				s = add(s, mul(v, sin(x[7])))
			}
			return []core.Rep{s}
		}, "sin:1 mul:300 const:1 sum:1"},
		{"results of the iteration before", func(x []core.Rep) []core.Rep {
			last, s := x[0], num(0)
			for _, v := range x {
				next := sin(v)
				s = add(s, mul(last, next))
				last = next
			}
			return []core.Rep{s}
		}, "sin:300 mul:300 const:1 sum:1"},
		{"an end like that of the body before it", func(x []core.Rep) []core.Rep {
			s := add(x[0], x[1])
			for _, v := range x {
				s = add(s, mul(v, sin(v)))
			}
			return []core.Rep{s, mul(x[2], sin(x[3]))}
		}, "add:1 sin:300 mul:300 sum:1 sin:1 mul:1"},
		{"a recurrence beside others", func(x []core.Rep) []core.Rep {
			r, s := x[0], num(0)
			for _, v := range x {
				r = sin(mul(r, v))
				s = add(s, mul(sin(v), mul(v, v)))
				s = add(s, mul(r, v))
			}
			return []core.Rep{s}
		}, "300(mul:1 sin:1) sin:300 3(mul:300) const:1 sum:1"},
		{"a nest", func(x []core.Rep) []core.Rep {
			s := num(0)
			for i := range 100 {
				t := x[i]
				for j := range 3 {
					t = sin(mul(t, x[i+j]))
				}
				s = add(s, t)
			}
			return []core.Rep{s}
		}, "3(mul:100 sin:100) const:1 sum:1"},
		{"long inner loops", func(x []core.Rep) []core.Rep {
			total := num(0)
			for i := range 3 {
				s := num(0)
				for j := range 200 {
					s = add(s, mul(x[i+j], x[j]))
				}
				total = add(total, mul(s, s))
			}
			return []core.Rep{total}
		}, "mul:200 const:1 sum:1 2(mul:1 add:1) mul:199 sum:1 mul:1 add:1 mul:200 sum:1 mul:1 add:1"},
		{"partial sums", func(x []core.Rep) []core.Rep {
			s := num(0)
			var at core.Rep
			for i, v := range x {
				if s = add(s, v); i == 100 {
					at = s
				}
			}
			return []core.Rep{s, at}
		}, "const:1 sum:1 299(add:1)"},
		{"third operands", func(x []core.Rep) []core.Rep {
			var y []core.Rep
			for i := range n - 2 {
				y = append(y, core.Apply3(rules.FMA, x[i], x[i+1], x[i+2]))
			}
			return y
		}, "fma:298"},
	} {
		p := record(t, func(x, _ []core.Rep) []core.Rep { return c.f(x) }, make([]float64, n))
		var ops []string
		for _, s := range p.Stmts[1:] {
			ops = append(ops, fmt.Sprintf("%v:%d", s.Op, s.N))
		}
		if got := folded(ops); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Lanes that nothing depends on have no derivatives, and their rules are not called.
func TestIdleLanes(t *testing.T) {
	const n = 200
	add := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Add, a, b) }
	mul := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Mul, a, b) }
	few := record(t, func(x, _ []core.Rep) []core.Rep {
		y := make([]core.Rep, n-1)
		for i := range y {
			y[i] = core.Apply1(rules.Sin, mul(x[i], x[i+1]))
		}
		return []core.Rep{add(y[5], mul(y[50], x[0]))}
	}, make([]float64, n))
	calls := record(t, func(x, _ []core.Rep) []core.Rep {
		z, y := make([]core.Rep, n), make([]core.Rep, n)
		for i := range z {
			z[i] = core.Call(ruleG(0), []core.Rep{x[i]})[0]
		}
		for i := range y {
			y[i] = core.Apply1(rules.Sin, mul(z[i], x[i]))
		}
		return []core.Rep{y[5]}
	}, make([]float64, n))
	for _, strong := range []bool{false, true} {
		g := Join(Simplify(VJP(few, VJPOptions{Unit: true, Strong: strong})), "g", 1)
		o := EntriesOptions{Rows: n, Cols: n, Ptr: make([]int, n+1), Others: true, Strong: strong}
		if _, places := Entries(g, o); len(places) != 12 { // of two products of two, and of those with x[0]
			t.Errorf("strong %v: %d second derivatives, want 12", strong, len(places))
		}
		for want, p := range []*Program{1: calls, 2: VJP(calls, VJPOptions{Unit: true, Strong: strong})} {
			if p == nil {
				continue
			}
			got := 0
			for _, s := range Simplify(p).Stmts {
				if s.Op == Call {
					got++
				}
			}
			if got != want {
				t.Errorf("strong %v: %d calls, want %d", strong, got, want)
			}
		}
	}
}

// Equal operations of short loops are in one statement after all.
func TestShortLoops(t *testing.T) {
	p := record(t, func(x, _ []core.Rep) []core.Rep {
		var y []core.Rep
		for i := range 500 {
			s := num(0)
			for j := range 16 + i%5 {
				s = core.Apply2(rules.Add, s, core.Apply2(rules.Mul, x[i+j], x[(7*i+3*j)%len(x)]))
			}
			y = append(y, s)
		}
		return y
	}, make([]float64, 600))
	if n := len(Schedule(p).Stmts); n > 200 {
		t.Errorf("%d statements of %d operations", n, p.Operations())
	}
}

// TestTimeSteps: steps in time over a ring, a strip or in place, in which operations depend on those of the step
// before, are rolled step by step, and compute the bits of single operations.
func TestTimeSteps(t *testing.T) {
	defer func(n int) { rollFrom = n }(rollFrom)
	for seed := range uint64(longtest.Cases(0, 10, 60, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, steps := 24+rng.IntN(60), 2+rng.IntN(5) // 17 of these cells change at least
		a, b, delay := rng.IntN(4), rng.IntN(4), rng.IntN(40)
		kind := rng.IntN(4)
		f := func(x, _ []core.Rep) []core.Rep {
			u := slices.Clone(x)
			next := make([]core.Rep, n)
			for step := range steps {
				from, to := 0, n
				if kind == 1 { // the ends stay
					from, to = a, n-b
					copy(next, u)
				}
				for i := from; i < to; i++ {
					west, east := u[(i+n-a)%n], u[(i+b)%n]
					v := core.Apply2(rules.Sub, core.Apply2(rules.Mul, west, num(0.25)), core.Apply1(rules.Sq, east))
					switch kind {
					case 2: // in place
						u[i] = core.Apply2(rules.Add, v, u[i])
						continue
					case 3: // with the result of some iterations ago
						if i >= delay && (i+step)%50 != 0 {
							v = core.Apply2(rules.Sub, v, next[i-delay])
						}
					}
					next[i] = core.Apply2(rules.Add, u[i], v)
				}
				if kind != 2 {
					u, next = next, u
				}
			}
			return u
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Round(rng.NormFloat64()*256) / 1024
		}
		rollFrom = math.MaxInt
		flat := record(t, f, x)
		rollFrom = 0
		p := record(t, f, x)
		if kind < 2 && 4*len(p.Stmts) > len(flat.Stmts) {
			t.Errorf("seed %d: %d statements of %d operations", seed, len(p.Stmts), len(flat.Stmts))
		}
		if sameDerivatives(t, flat, p, [][]float64{x}); t.Failed() {
			t.Fatalf("seed %d, kind %d, %d cells, %d steps, reads %d before and %d after", seed, kind, n, steps, a, b)
		}
	}
}

// TestManySteps: many short steps are rolled, wherever a loop is sought first, with a sum over all of them too.
func TestManySteps(t *testing.T) {
	for _, n := range []int{17, 20, 33, 50} {
		p := record(t, func(x, _ []core.Rep) []core.Rep {
			u, next := slices.Clone(x), make([]core.Rep, n)
			sum := num(0)
			for range 8000 / n * 10 {
				for i := range n {
					v := core.Apply2(rules.Mul, u[(i+1)%n], num(0.25))
					v = core.Apply2(rules.Sub, v, core.Apply1(rules.Sq, u[(i+n-1)%n]))
					next[i] = core.Apply2(rules.Add, u[i], v)
					if n > 20 {
						sum = core.Apply2(rules.Add, sum, v)
					}
				}
				u, next = next, u
			}
			return append(u, sum)
		}, make([]float64, n))
		if 10*len(p.Stmts) > p.Operations() {
			t.Errorf("steps of %d cells: %d statements of %d operations", n, len(p.Stmts), p.Operations())
		}
	}
}

// folded returns words with those that repeat in parentheses, after their number.
func folded(words []string) string {
	var out []string
	for i := 0; i < len(words); {
		length, count := 1, 1
		for k := 1; k <= 2; k++ {
			n := 1
			for j := i + k; j+k <= len(words) && slices.Equal(words[j:j+k], words[i:i+k]); j += k {
				n++
			}
			if n > 1 && n*k > length*count {
				length, count = k, n
			}
		}
		body := strings.Join(words[i:i+length], " ")
		if count > 1 {
			body = fmt.Sprintf("%d(%s)", count, body)
		}
		out = append(out, body)
		i += length * count
	}
	return strings.Join(out, " ")
}

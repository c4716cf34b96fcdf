package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// A recipe configures the statements of a random program.
type recipe struct {
	unary, binary, ternary []rules.Op
	consts                 []float64 // besides random ones
	lanes                  bool      // statements of many lanes
	guards                 bool
	customs                bool
	captured               bool
	params                 bool
	size                   int
	many                   int // constants per twenty statements, besides one
}

// anyOps are all elementary functions of the given arity.
func anyOps(arity int) (ops []rules.Op) {
	for o := rules.Invalid + 1; o < rules.NumOps; o++ {
		if o.Arity() == arity {
			ops = append(ops, o)
		}
	}
	return ops
}

// The recipes. smooth keeps to functions whose derivatives are moderate for all
// arguments, so that tolerances mean something.
var (
	anything = recipe{
		unary: anyOps(1), binary: anyOps(2), ternary: anyOps(3), consts: []float64{1, -1},
		lanes: true, guards: true, customs: true, captured: true, params: true, size: 30,
	}
	// zeroes has constants 0 and -0 and no operation that tells them apart.
	zeroes = recipe{
		unary: []rules.Op{rules.Neg, rules.Sq, rules.Sin, rules.Exp, rules.Tanh, rules.Abs, rules.Sign, rules.Floor,
			rules.Sqrt},
		binary: []rules.Op{rules.Add, rules.Sub, rules.Mul, rules.Max, rules.Min, rules.Lt, rules.Le, rules.Eq,
			rules.Hypot, rules.Add, rules.Sub},
		ternary: []rules.Op{rules.Select, rules.FMA}, consts: []float64{0, math.Copysign(0, -1), 0, 1, -1},
		lanes: true, size: 40,
	}
	// folds has operations that Simplify folds: those with constants that are neutral for some, and negations.
	folds = recipe{
		unary:   []rules.Op{rules.Neg, rules.Neg, rules.Neg, rules.Inv, rules.Sq, rules.Sin},
		binary:  []rules.Op{rules.Add, rules.Sub, rules.Mul, rules.Div, rules.MulZ, rules.DivZ, rules.MulZ, rules.DivZ},
		ternary: []rules.Op{rules.Select, rules.FMA},
		consts:  []float64{0, negZero, 1, -1, 0, negZero, 1, -1, nan},
		lanes:   true, size: 40, many: 4,
	}
	smooth = recipe{
		unary: []rules.Op{rules.Neg, rules.Sin, rules.Cos, rules.Tanh, rules.Atan, rules.Erf, rules.Logistic,
			rules.Softplus, rules.Asinh, rules.SechSq},
		binary:  []rules.Op{rules.Add, rules.Sub, rules.Mul, rules.LogAddExp, rules.Add, rules.Mul},
		ternary: []rules.Op{rules.FMA}, consts: []float64{1, -1, 0},
		guards: true, customs: true, captured: true, params: true, size: 25,
	}
	// kinked is smooth almost everywhere.
	kinked = func() recipe {
		r := smooth
		r.unary = append([]rules.Op{rules.Abs, rules.Floor, rules.Sign}, smooth.unary...)
		r.binary = append([]rules.Op{rules.Max, rules.Min, rules.Lt, rules.Hypot, rules.Copysign}, smooth.binary...)
		r.ternary = []rules.Op{rules.FMA, rules.Select}
		return r
	}()
)

func (r recipe) withLanes() recipe {
	r.lanes = true
	return r
}

// A sample is a random program with arguments at which its guards hold.
type sample struct {
	p      *Program
	ins    [][]float64
	params []float64
}

// random builds a program of r statement by statement, running it on the way to
// know the outcomes of its guards.
func (r recipe) random(rng *rand.Rand) sample {
	b := derive(&Program{})
	var x sample
	var m []float64
	moving := []bool{}            // slots that are no constants
	wholes := map[int32][]int32{} // number of lanes → the first slots of the statements that have as many
	number := func() float64 { return math.Round(rng.NormFloat64()*1024) / 512 }
	numbers := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = number()
		}
		return v
	}
	// run evaluates the statements added since it was last called.
	done := 0
	run := func() {
		for ; done < len(b.p.Stmts); done++ {
			s := &b.p.Stmts[done]
			m = append(m, make([]float64, s.Width())...)
			for range s.Width() {
				moving = append(moving, s.Op != Const)
			}
			wholes[s.Width()] = append(wholes[s.Width()], s.D)
			referenceStmt(b.p, s, m, x.ins, x.params)
		}
	}
	if rng.IntN(4) == 0 {
		b.add(Stmt{Op: Const, N: 1}) // before the inputs
		b.p.Consts = append(b.p.Consts, number())
	}
	n := 1 + rng.IntN(5)
	x.ins = append(x.ins, numbers(n))
	b.input("x", n)
	if r.captured && rng.IntN(2) == 0 {
		n := rng.IntN(3)
		x.ins = append(x.ins, numbers(n))
		b.input("captured", n)
	}
	if r.params && rng.IntN(2) == 0 {
		n := 1 + rng.IntN(2)
		x.params = numbers(n)
		b.p.Params = n
		b.add(Stmt{Op: Param, N: int32(n)})
	}
	run()
	constant := func(n int32) {
		at := int32(len(b.p.Consts))
		for range n {
			v := number()
			if rng.IntN(2) == 0 {
				v = r.consts[rng.IntN(len(r.consts))]
			}
			b.p.Consts = append(b.p.Consts, v)
		}
		b.add(Stmt{Op: Const, N: n, K: at})
	}
	// slot prefers recently computed slots.
	slot := func() int32 {
		d := int32(rng.IntN(len(m)))
		if rng.IntN(2) == 0 {
			d = max(d, int32(rng.IntN(len(m))))
		}
		return d
	}
	operand := func(n int32) Operand {
		kind := rng.IntN(4)
		if n == 1 {
			return Operand{slot(), int32(rng.IntN(2))}
		}
		switch size := int32(len(m)); {
		case kind == 0:
			return Slot(slot())
		case kind == 1 && size >= n:
			if whole := wholes[n]; len(whole) > 0 && rng.IntN(2) == 0 {
				return Run(whole[rng.IntN(len(whole))])
			}
			if d := b.p.Stmts[rng.IntN(len(b.p.Stmts))].D; d <= size-n && rng.IntN(2) == 0 {
				return Run(d)
			}
			return Run(int32(rng.IntN(int(size - n + 1))))
		case kind == 2 && size >= n:
			stride := 1 + int32(rng.IntN(int((size-1)/(n-1))))
			first := int32(rng.IntN(int(size - (n-1)*stride)))
			if rng.IntN(2) == 0 {
				return Operand{first + (n-1)*stride, -stride}
			}
			return Operand{first, stride}
		}
		o := Operand{int32(len(b.p.Index)), Gather}
		for range n {
			b.p.Index = append(b.p.Index, slot())
		}
		return o
	}
	for len(b.p.Stmts) < r.size {
		s := Stmt{N: 1}
		if r.lanes && rng.IntN(2) == 0 {
			s.N = 1 + int32(rng.IntN(6))
		}
		switch kind := rng.IntN(20 + r.many); {
		case kind == 0 || kind >= 20:
			constant(s.N)
			run()
			continue
		case kind == 1 && r.guards:
			s.Op = GuardLt + Op(rng.IntN(5))
			s.A, s.B = operand(s.N), operand(s.N)
			s.C.Base = int32(len(b.p.Outcomes))
			b.p.Outcomes = append(b.p.Outcomes, make([]uint8, s.N)...)
			for l := range s.N {
				t := s
				t.N, t.A, t.B, t.C.Base = 1, Slot(b.p.at(s.A, l)), Slot(b.p.at(s.B, l)), s.C.Base+l
				if !referenceStmt(b.p, &t, m, nil, nil) {
					b.p.Outcomes[t.C.Base] = 1
				}
			}
		case kind == 2 && r.customs:
			c, n := formsOfF[rng.IntN(len(formsOfF))], int32(2)
			if s.N = 2; rng.IntN(2) == 0 {
				c, n, s.N = ruleG(0), 1, 1
			}
			s.Op, s.K = Call, b.customIndex(c)
			s.A, s.B.Base = operand(n), n
		case kind == 3:
			s.Op, s.K = Sum, 1+int32(rng.IntN(7))
			s.A = operand(s.N * s.K)
			i := rng.IntN(len(b.p.Stmts))
			for k := 0; k < 3 && b.p.Stmts[i].Op != Call; k++ {
				i = rng.IntN(len(b.p.Stmts))
			}
			if from := &b.p.Stmts[i]; s.N == 1 && from.Width() > 0 { // all lanes of a statement
				s.K, s.A = from.Width(), Run(from.D)
			}
		case kind == 4:
			s.Op = Op(r.ternary[rng.IntN(len(r.ternary))])
		case kind < 11:
			s.Op = Op(r.unary[rng.IntN(len(r.unary))])
		default:
			s.Op = Op(r.binary[rng.IntN(len(r.binary))])
		}
		if s.Op.Elementary() {
			ops := [3]*Operand{&s.A, &s.B, &s.C}
			for i := range s.Op.Arity() {
				*ops[i] = operand(s.N)
			}
			// A step function of constants gives a constant zero, which only the
			// recipe zeroes is to have.
			moves := moving[b.p.at(s.A, 0)] || s.Op.Arity() > 1 && moving[b.p.at(s.B, 0)]
			if s.N == 1 && r.many == 0 && !moves {
				continue
			}
		}
		b.add(s)
		run()
	}
	var y []int32
	for range 1 + rng.IntN(3) {
		y = append(y, slot())
	}
	y = append(y, int32(len(m)-1))
	b.output("y", y)
	if rng.IntN(4) == 0 {
		b.output("z", []int32{slot()})
	}
	x.p = b.p
	return x
}

// each runs do on random samples of r, each under its seed.
func each(t *testing.T, n int, r recipe, do func(t *testing.T, rng *rand.Rand, x sample)) {
	t.Helper()
	for seed := range uint64(n) {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			x := r.random(rng)
			do(t, rng, x)
			if t.Failed() {
				t.Logf("the program:\n%sins %v, params %v", x.p, x.ins, x.params)
			}
		})
		if !ok {
			return // one is enough to look at
		}
	}
}

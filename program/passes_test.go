package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

func TestPassesKeepValues(t *testing.T) {
	for _, r := range []struct {
		name string
		recipe
	}{
		{"anything", anything},
		{"zeroes", zeroes},
		{"folds", folds},
	} {
		t.Run(r.name, func(t *testing.T) {
			each(t, 500, r.recipe, func(t *testing.T, rng *rand.Rand, x sample) {
				if r.name == "folds" { // a fold that is wrong is seen in the result itself
					x.p.Outs, x.p.Result = []Group{{"y", int(x.p.Slots)}}, make([]int32, x.p.Slots)
					for i := range x.p.Result {
						x.p.Result[i] = int32(i)
					}
				}
				mustCheck(t, "random", x.p)
				text := x.p.String()
				want, ok := reference(x.p, x.ins, x.params)
				if !ok {
					t.Fatal("a guard does not hold in the reference")
				}
				for _, pass := range passes {
					q := pass.do(x.p)
					mustCheck(t, pass.String(), q)
					got, ok := runMachine(q, x.ins, x.params)
					if !ok {
						t.Fatalf("%s: a guard failed\n%s", pass, q)
					}
					compare(t, pass.String(), got, want, sameNumber)
					compare(t, pass.String(), got[:1], want[:1], sameBits) // the value keeps its -0
				}
				if x.p.String() != text {
					t.Error("a pass changed its argument")
				}
			})
		})
	}
}

// Guards hold and fail in a scheduled program as in the one it was made from.
func TestPassesKeepGuards(t *testing.T) {
	held := map[bool]int{}
	each(t, 300, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		for _, in := range x.ins {
			for i := range in {
				in[i] += 4 * rng.NormFloat64()
			}
		}
		if got, want := x.p.Guards(), strings.Count(flat(x.p).String(), "guard"); got != want {
			t.Errorf("got %d guards, want %d", got, want)
		}
		_, want := reference(x.p, x.ins, x.params)
		held[want]++
		for _, pass := range passes {
			if _, got := runMachine(pass.do(x.p), x.ins, x.params); got != want {
				t.Errorf("%s: guards hold: got %v, want %v", pass, got, want)
			}
		}
	})
	if held[true] < 50 || held[false] < 50 {
		t.Errorf("guards held in %d programs and failed in %d: the test sees too little of one", held[true],
			held[false])
	}
}

// TestEqualStatements: statements are the same if they perform the same operation on the same slots or constants, and
// hash if they are the same.
func TestEqualStatements(t *testing.T) {
	equal := 0
	each(t, 100, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		r := rewrite(x.p)
		for i := range x.p.Stmts {
			r.place(&x.p.Stmts[i], r.add(r.mapped(&x.p.Stmts[i])))
		}
		p := r.p
		// work tells what a statement does.
		work := func(s *Stmt) string {
			all := fmt.Sprint(s.Op, s.N, s.terms(), " ")
			if s.Op == Const {
				for _, v := range p.Consts[s.K:][:s.N] {
					all += fmt.Sprint(math.Float64bits(v), " ")
				}
			}
			for _, o := range s.Operands() {
				all += fmt.Sprint(addresses(p, o, int(s.terms())))
			}
			return all
		}
		for range 300 {
			s := p.Stmts[rng.IntN(len(p.Stmts))]
			if !s.Op.Elementary() && s.Op != Sum && s.Op != Const {
				continue
			}
			u := s
			if rng.IntN(2) == 0 { // another place of the lists
				r := &rewriter{builder: r.builder, src: p, slot: make([]int32, p.Slots)}
				for i := range r.slot {
					r.slot[i] = int32(i)
				}
				u = r.mapped(&s)
			}
			switch rng.IntN(8) {
			case 0, 1, 2:
				o := []*Operand{&u.A, &u.B, &u.C}[rng.IntN(max(u.Op.Arity(), 1))]
				if o.Stride != Gather {
					o.Base++
					break
				}
				list := addresses(p, *o, int(u.terms()))
				o.Base = int32(len(p.Index))
				list[rng.IntN(len(list))]++
				for _, a := range list {
					p.Index = append(p.Index, int32(a))
				}
			case 3:
				u.N--
			case 4:
				if u.Op == Sum && u.K > 1 {
					u.K--
				}
			case 5:
				u.Op = Op(anyOp(rng, u.Op.Arity()))
			case 6:
				if u.Op == Const {
					u.K = int32(len(p.Consts))
					p.Consts = append(p.Consts, p.Consts[s.K:][:s.N]...)
					p.Consts[len(p.Consts)-1-rng.IntN(int(s.N))]++
				}
			}
			if u.N == 0 {
				continue
			}
			want := work(&s) == work(&u)
			if got := same(p, &s, &u); got != want {
				t.Fatalf("the same: got %v, want %v, for %s and %s", got, want, work(&s), work(&u))
			}
			if want {
				equal++
				if hash(p, &s) != hash(p, &u) {
					t.Fatalf("hashes of %s differ", work(&s))
				}
			}
		}
	})
	if equal < 1000 {
		t.Errorf("%d pairs are equal: the test sees too few", equal)
	}
}

// anyOp returns an elementary function of as many arguments.
func anyOp(rng *rand.Rand, arity int) rules.Op {
	ops := anyOps(max(arity, 1))
	return ops[rng.IntN(len(ops))]
}

// Simplify on small programs, one rewriting each.
func TestSimplify(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"times -1", `
%0:2 = input x
%2 = const -1
%3 = mul %1 %2
%4 = mul %2 %1
out y [%3 %4]
`, `
%0:2 = input x
%2 = neg %1
out y [%2 %2]
`},
		{"-0 minus", `
%0:2 = input x
%2 = const -0
%3 = sub %2 %1
out y [%3]
`, `
%0:2 = input x
%2 = neg %1
out y [%2]
`},
		{"0 tells 0 from -0", `
%0:2 = input x
%2 = const 0
%3 = sub %2 %1
%4 = const -0
%5 = sub %0 %4
%6 = add %5 %2
out y [%3 %6]
`, `
%0:2 = input x
%2 = const 0
%3 = sub %2 %1
%4 = const -0
%5 = sub %0 %4
%6 = add %5 %2
out y [%3 %6]
`},
		{"constants", `
%0 = input x
%1:2 = const 2 3
%3 = const 3
%4 = mul %1 %3
%5 = fma %1 %2 %4
%6 = mul %5 %0
out y [%6]
`, `
%0 = input x
%1 = const 12
%2 = mul %0 %1
out y [%2]
`},
		{"neutral elements", `
%0 = input x
%1 = const 1
%2 = const -0
%3 = const 0
%4 = mul %1 %0
%5 = div %4 %1
%6 = add %5 %2
%7 = sub %6 %3
%8 = neg %7
%9 = neg %8
%10 = sum 1 %9
%11 = select %1 %10 %8
%12 = mulz %11 %1
out y [%12]
`, `
%0 = input x
out y [%0]
`},
		{"a factor -0 is no structural zero", `
%0 = input x
%1 = const 1
%2 = mulz %1 %0
out y [%2]
`, `
%0 = input x
%1 = const 1
%2 = mulz %1 %0
out y [%2]
`},
		{"a factor 0 is no structural zero, -0 is one", `
%0 = input x
%1:2 = const 0 -0
%3 = mulz %1 %0
%4 = mulz %2 %0
out y [%3 %4]
`, `
%0 = input x
%1:2 = const 0 -0
%3 = mulz %1 %0
out y [%3 %2]
`},
		{"equal statements of many lanes, equal guards", `
%0:4 = input x
%4:2 = sin %0:+1
%6:2 = sin [%0 %1]
%8:2 = mul %4:+1 %6:+1
guardlt %0 %1 = 1
guardlt %0 %1 = 1
guardlt %0 %1 = 0
out y [%8 %9]
`, `
%0:4 = input x
%4:2 = sin %0:+1
%6:2 = mul %4:+1 %4:+1
guardlt %0 %1 = 1
guardlt %0 %1 = 0
out y [%6 %7]
`},
		{"functions of constants, structural zeros divided", `
%0 = input x
%1 = const 0
%2 = cos %1
%3 = mul %0 %2
%4 = const -0
%5 = divz %4 %3
out y [%3 %5]
`, `
%0 = input x
%1 = const -0
out y [%0 %1]
`},
		{"negatives of other lanes", `
%0:4 = input x
%4:3 = neg %0:+1
%7:2 = neg %5:+1
%9:3 = neg %4
%12:2 = neg %4:+2
%14:3 = neg %6:-1
%17:3 = neg %4:+1
%20 = neg %5
%21:3 = neg %5:+1
out y [%7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23]
`, `
%0:4 = input x
%4:3 = neg %0:+1
%7:2 = neg %5:+1
%9:3 = neg %4
%12:2 = neg %4:+2
%14:3 = neg %6:-1
%17 = neg %5
%18:3 = neg %5:+1
out y [%7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %0 %1 %2 %17 %18 %19 %20]
`},
		{"equal lists and equal constants of many lanes", `
%0:4 = input x
%4:3 = const 1 2 3
%7:3 = const 1 2 3
%10:3 = const 1 2 4
%13:3 = mul [%0 %3 %1] %4:+1
%16:3 = mul [%0 %3 %1] %7:+1
%19:3 = mul [%0 %3 %2] %7:+1
%22:3 = mul [%0 %3 %1] %10:+1
out y [%13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23 %24]
`, `
%0:4 = input x
%4:3 = const 1 2 3
%7:3 = const 1 2 4
%10:3 = mul [%0 %3 %1] %4:+1
%13:3 = mul [%0 %3 %2] %4:+1
%16:3 = mul [%0 %3 %1] %7:+1
out y [%10 %11 %12 %10 %11 %12 %13 %14 %15 %16 %17 %18]
`},
		{"dead code; inputs, parameters and guards stay", `
%0:2 = input x
%2:0 = input captured
%2:1 = param 0
%3 = exp %0
%4 = exp %1
guardle %4 %2 = 0
%5:2 = call "f" [%0 %1]
out y [%0]
`, `
%0:2 = input x
%2:0 = input captured
%2 = param 0
%3 = exp %1
guardle %3 %2 = 0
out y [%0]
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Simplify(mustParse(t, c.in))
			mustCheck(t, "simplified", got)
			if want := mustParse(t, c.want); !Equal(got, want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// An operand of one lane may be written in any addressing mode.
func TestOneLanePatterns(t *testing.T) {
	each(t, 50, kinked, func(t *testing.T, rng *rand.Rand, x sample) {
		p := unroll(x.p)
		for i := range p.Stmts {
			s := &p.Stmts[i]
			if s.N != 1 || !s.Op.Elementary() {
				continue
			}
			for j, o := range [3]*Operand{&s.A, &s.B, &s.C} {
				switch {
				case j >= s.Op.Arity():
				case rng.IntN(2) == 0:
					p.Index = append(p.Index, o.Base)
					*o = Operand{int32(len(p.Index) - 1), Gather}
				default:
					o.Stride = 5
				}
			}
		}
		if !Equal(p, unroll(x.p)) {
			t.Errorf("got\n%swant\n%s", p, unroll(x.p))
		}
		for _, pass := range passes {
			want, _ := reference(p, x.ins, x.params)
			compare(t, pass.String(), run(t, pass.String(), pass.do(p), x.ins, x.params), want, sameNumber)
			ins := append(append([][]float64{}, x.ins...), directions(rng, p.NumOut(), 1))
			want = run(t, "VJP", VJP(x.p, VJPOptions{}), ins, x.params)
			compare(t, pass.String(), run(t, pass.String(), pass.do(VJP(p, VJPOptions{})), ins, x.params), want,
				toward(size(want)))
		}
	})
}

// A rule may have no inputs, or no outputs.
func TestCallsOfNothing(t *testing.T) {
	p := mustParse(t,
		"%0:0 = input x\n%0:0 = call \"none\" []\n%0:0 = call \"none\" []\n%0:2 = call \"two\" []\n%2 = mul %0 %1\n"+
			"out y [%2]\n")
	for _, pass := range passes {
		for _, strong := range []bool{false, true} {
			for _, k := range []int{1, 3} {
				want := [][]float64{{6}, nil}
				compare(t, "VJP",
					run(t, "VJP", pass.do(VJP(p, VJPOptions{Unit: true, Strong: strong, Lanes: k})), [][]float64{nil},
						nil), want, sameNumber)
				want[1] = make([]float64, k)
				compare(t, "JVP",
					run(t, "JVP", pass.do(JVP(p, JVPOptions{Strong: strong, Lanes: k})), [][]float64{nil, nil}, nil),
					want, sameNumber)
			}
		}
	}
	p = mustParse(t, "%0:2 = input x\n%2:0 = call \"sink\" [%0 %1]\nout y [%0]\n")
	for _, pass := range passes {
		for _, strong := range []bool{false, true} {
			x := [][]float64{{3, 4}}
			compare(t, "VJP", run(t, "VJP", pass.do(VJP(p, VJPOptions{Unit: true, Strong: strong})), x, nil),
				[][]float64{{3}, {1, 0}}, sameNumber)
			x = append(x, []float64{5, 6})
			compare(t, "JVP", run(t, "JVP", pass.do(JVP(p, JVPOptions{Strong: strong})), x, nil),
				[][]float64{{3}, {5}}, sameNumber)
		}
	}
	q := mustParse(t, "%0:0 = input x\n%0:0 = call \"none\" []\n%0:0 = call \"none\" []\nout y []\n")
	for _, pass := range passes {
		run(t, "nothing at all", pass.do(q), [][]float64{nil}, nil)
	}
}

package program

import (
	"math/rand/v2"
	"testing"
)

func TestPassesKeepValues(t *testing.T) {
	for _, r := range []struct {
		name string
		recipe
		same func(a, b float64) bool
	}{
		{"anything", anything, sameNumber},
		{"zeroes", zeroes, sameNumber},
	} {
		t.Run(r.name, func(t *testing.T) {
			each(t, 500, r.recipe, func(t *testing.T, rng *rand.Rand, x sample) {
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
					compare(t, pass.String(), got, want, r.same)
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
	q := mustParse(t, "%0:0 = input x\n%0:0 = call \"none\" []\n%0:0 = call \"none\" []\nout y []\n")
	for _, pass := range passes {
		run(t, "nothing at all", pass.do(q), [][]float64{nil}, nil)
	}
}

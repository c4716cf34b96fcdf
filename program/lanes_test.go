package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// unroll is p with one statement for each lane, and a chain of additions for each
// sum: the statements that a recorder writes.
func unroll(p *Program) *Program {
	b := derive(&Program{})
	b.p.Outcomes, b.p.Customs, b.p.Params = p.Outcomes, p.Customs, p.Params
	slot := make([]int32, p.Slots)
	for _, s := range p.Stmts {
		switch {
		case s.Op == Input:
			d := b.input(p.Ins[s.K].Name, int(s.N))
			for l := range s.N {
				slot[s.D+l] = d + l
			}
		case s.Op == Param:
			d := b.add(s)
			for l := range s.N {
				slot[s.D+l] = d + l
			}
		case s.Op == Const:
			for l := range s.N {
				slot[s.D+l] = b.constant(p.Consts[s.K+l])
			}
		case s.Op == Sum:
			a := addresses(p, s.A, int(s.N*s.K))
			for l := range s.N {
				v := slot[a[l*s.K]]
				for k := int32(1); k < s.K; k++ {
					v = b.add(Stmt{Op: Op(rules.Add), N: 1, A: Slot(v), B: Slot(slot[a[l*s.K+k]])})
				}
				slot[s.D+l] = v
			}
		case s.Op == Call:
			var args []int32
			for _, a := range addresses(p, s.A, int(s.B.Base)) {
				args = append(args, slot[a])
			}
			d := b.add(Stmt{Op: Call, N: s.N, K: s.K, A: b.gather(args), B: s.B})
			for l := range s.N {
				slot[s.D+l] = d + l
			}
		default:
			for l := range s.N {
				t := Stmt{Op: s.Op, N: 1}
				for i, o := range s.Operands() {
					*[3]*Operand{&t.A, &t.B, &t.C}[i] = Slot(slot[addresses(p, o, int(s.N))[l]])
				}
				if s.Op.Guard() {
					t.C.Base = s.C.Base + l
				}
				d := b.add(t)
				if !s.Op.Guard() {
					slot[s.D+l] = d
				}
			}
		}
	}
	at := 0
	for _, g := range p.Outs {
		var list []int32
		for _, s := range p.Result[at : at+g.N] {
			list = append(list, slot[s])
		}
		at += g.N
		b.output(g.Name, list)
	}
	return b.p
}

// A program without inputs runs.
func TestNoInputs(t *testing.T) {
	p := mustParse(t, "%0:3 = const 1 2 3\n%3:2 = mul %0 %1:+1\n%5 = exp %0\n%6 = add %5 %3\nout y [%6]\n"+
		"out z [%3 %0]\n")
	for _, pass := range passes {
		compare(t, pass.String(), run(t, pass.String(), pass.do(p), nil, nil), [][]float64{{math.Exp(1) + 2}, {2, 1}},
			sameBits)
	}
}

// Derivatives do not depend on how statements are cut into lanes.
func TestDerivativesOfLanes(t *testing.T) {
	derivatives := []struct {
		name string
		do   func(*Program) *Program
	}{
		{"VJP", func(p *Program) *Program { return VJP(p, VJPOptions{}) }},
		{"VJP strong", func(p *Program) *Program { return VJP(p, VJPOptions{Strong: true}) }},
		{"VJP of 3 lanes", func(p *Program) *Program { return VJP(p, VJPOptions{Lanes: 3, Captured: true}) }},
		{"JVP", func(p *Program) *Program { return JVP(p, JVPOptions{}) }},
		{"JVP of 3 lanes, strong",
			func(p *Program) *Program { return JVP(p, JVPOptions{Lanes: 3, Strong: true, Captured: true}) }},
		{"JVP of VJP", func(p *Program) *Program {
			return JVP(Simplify(VJP(p, VJPOptions{})), JVPOptions{Captured: true})
		}},
		{"VJP of VJP, strong", func(p *Program) *Program {
			return VJP(Simplify(VJP(p, VJPOptions{Strong: true})), VJPOptions{Strong: true, Captured: true})
		}},
		{"JVP of 3 lanes of VJP", func(p *Program) *Program { return JVP(VJP(p, VJPOptions{}), JVPOptions{Lanes: 3}) }},
	}
	r := kinked.withLanes()
	r.size = 15
	each(t, 60, r, func(t *testing.T, rng *rand.Rand, x sample) {
		cuts := []pass{{"unrolled", unroll}, {"scheduled", Schedule},
			{"unrolled and scheduled", func(p *Program) *Program { return Schedule(unroll(p)) }}}
		for _, d := range derivatives {
			q := d.do(x.p)
			ins := append([][]float64{}, x.ins...)
			for _, g := range q.Ins[len(ins):] {
				ins = append(ins, directions(rng, g.N, 1))
			}
			want := run(t, d.name, q, ins, x.params)
			for _, cut := range cuts {
				got := run(t, d.name, Schedule(Simplify(d.do(cut.do(x.p)))), ins, x.params)
				compare(t, fmt.Sprintf("%s %s", d.name, cut), got, want, func(a, b float64) bool {
					return closeTo(a, b, size(want), 1e-8)
				})
			}
		}
	})
}

// Second derivatives: forward over reverse against forward mode over the numbers
// of the reverse program, reverse over reverse as the transpose of it, and a
// symmetric Hessian.
func TestSecondOrder(t *testing.T) {
	r := smooth.withLanes()
	r.size = 15
	each(t, 100, r, func(t *testing.T, rng *rand.Rand, x sample) {
		g := Simplify(VJP(x.p, VJPOptions{}))
		n, ybar := len(x.ins[0]), directions(rng, x.p.NumOut(), 1)
		ins := append(append([][]float64{}, x.ins...), ybar)
		hess := func(xdot []float64) []float64 {
			got := run(t, "JVP of VJP", Schedule(Simplify(JVP(g, JVPOptions{}))),
				append(append([][]float64{}, ins...), xdot), x.params)
			return got[len(got)-1]
		}
		u, w := directions(rng, n, 1), directions(rng, n, 1)
		dots := make([][]float64, len(ins))
		dots[0] = u
		var want []float64
		for _, d := range referenceJVP(g, ins, x.params, dots) {
			want = append(want, d...)
		}
		hu, hw := hess(u), hess(w)
		compare(t, "forward over reverse", [][]float64{hu}, [][]float64{want}, func(a, b float64) bool {
			return closeTo(a, b, size([][]float64{want}), 1e-8)
		})
		// The last n components are the Hessian of <ybar, y> times u.
		hu, hw = hu[len(hu)-n:], hw[len(hw)-n:]
		uhw, s1 := dot(u, hw)
		whu, s2 := dot(w, hu)
		if !closeTo(uhw, whu, 1+max(s1, s2), 1e-7) {
			t.Errorf("the Hessian is not symmetric: got %v and %v", uhw, whu)
		}
		// Cotangent w for xbar alone.
		gbar := make([]float64, g.NumOut())
		copy(gbar[len(gbar)-n:], w)
		rr := run(t, "VJP of VJP", VJP(g, VJPOptions{}), append(append([][]float64{}, ins...), gbar), x.params)
		compare(t, "reverse over reverse", rr[len(rr)-1:], [][]float64{hw}, func(a, b float64) bool {
			return closeTo(a, b, size([][]float64{hw}), 1e-7)
		})
	})
}

// Programs of many lanes written by hand, one addressing mode each, with the
// Jacobian by hand.
func TestHandWrittenLanes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		x          []float64
		jacobian   [][]float64
	}{
		{"contiguous", "%0:3 = input x\n%3:3 = sq %0:+1\nout y [%3 %4 %5]\n",
			[]float64{1, 2, 3}, [][]float64{{2, 0, 0}, {0, 4, 0}, {0, 0, 6}}},
		{"broadcast", "%0:3 = input x\n%3:2 = mul %0 %1:+1\nout y [%3 %4]\n",
			[]float64{1, 2, 3}, [][]float64{{2, 1, 0}, {3, 0, 1}}},
		{"strided", "%0:5 = input x\n%5:2 = mul %0:+2 %4:-2\nout y [%5 %6]\n",
			[]float64{1, 2, 3, 4, 5}, [][]float64{{5, 0, 0, 0, 1}, {0, 0, 6, 0, 0}}},
		{"gathered, one slot twice", "%0:3 = input x\n%3:3 = mul [%2 %0 %2] %0:+1\nout y [%3 %4 %5]\n",
			[]float64{1, 2, 3}, [][]float64{{3, 0, 1}, {2, 1, 0}, {0, 0, 6}}},
		{"overlapping windows", "%0:4 = input x\n%4:3 = sub %1:+1 %0:+1\n%7:2 = mul %5:+1 %4:+1\nout y [%7 %8]\n",
			[]float64{1, 2, 4, 7}, [][]float64{{-2, 1, 1, 0}, {0, -3, 1, 2}}},
		{"sums", "%0:3 = input x\n%3:2 = sum 2 [%0 %1 %1 %2]\n%5 = sum 3 %0:+1\n%6 = sum 2 %3\nout y [%3 %4 %5 %6]\n",
			[]float64{1, 2, 3}, [][]float64{{1, 1, 0}, {0, 1, 1}, {1, 1, 1}, {2, 2, 0}}},
		{"select", "%0:3 = input x\n%3:2 = const 1 0\n%5:2 = select %3:+1 %0:+1 %2\n%7:2 = min %1:+1 %0:+2\nout y " +
			"[%5 %6 %7 %8]\n",
			[]float64{1, 2, 3}, [][]float64{{1, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 0, 1}}},
		{"a lane that nothing reaches", "%0:2 = input x\n%2:2 = exp %0:+1\nout y [%3]\n",
			[]float64{1, 0}, [][]float64{{0, 1}}},
		{"constant outputs", "%0:2 = input x\n%2:2 = const 1 2\n%4:2 = sin %2:+1\nout y [%4 %0 %0]\n",
			[]float64{1, 0}, [][]float64{{0, 0}, {1, 0}, {1, 0}}},
		{"calls", "%0:3 = input x\n%3:2 = call \"f\" [%0 %2]\n%5:2 = mul %3:+1 %1\nout y [%5 %6]\n",
			[]float64{0, 2, 3}, [][]float64{{6, 0, 0}, {2, 0, 0}}},
		{"no inputs", "%0:0 = input x\n%0 = const 1\nout y [%0]\n", []float64{}, [][]float64{{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustParse(t, c.text)
			m, n := len(c.jacobian), len(c.x)
			// With m cotangents, or n tangents, side by side the whole Jacobian comes out.
			unit := func(n int) []float64 {
				v := make([]float64, n*n)
				for i := range n {
					v[i*n+i] = 1
				}
				return v
			}
			var byRow, byColumn []float64
			for _, row := range c.jacobian {
				byRow = append(byRow, row...)
			}
			for j := range n {
				for i := range m {
					byColumn = append(byColumn, c.jacobian[i][j])
				}
			}
			for _, strong := range []bool{false, true} {
				for _, pass := range passes {
					got := run(t, "VJP", pass.do(VJP(p, VJPOptions{Lanes: m, Strong: strong})),
						[][]float64{c.x, unit(m)}, nil)
					compare(t, fmt.Sprintf("VJP %s, strong %v", pass, strong), got[1:], [][]float64{byColumn},
						sameNumber)
					got = run(t, "JVP", pass.do(JVP(p, JVPOptions{Lanes: max(n, 1), Strong: strong})),
						[][]float64{c.x, unit(n)}, nil)
					if n > 0 {
						compare(t, fmt.Sprintf("JVP %s, strong %v", pass, strong), got[1:], [][]float64{byRow},
							sameNumber)
					}
					for i := range m {
						ybar := make([]float64, m)
						ybar[i] = 1
						got := run(t, "VJP", pass.do(VJP(p, VJPOptions{Strong: strong})), [][]float64{c.x, ybar}, nil)
						compare(t, fmt.Sprintf("row %d %s", i, pass), got[1:],
							[][]float64{append([]float64{}, c.jacobian[i]...)}, sameNumber)
					}
				}
			}
		})
	}
}

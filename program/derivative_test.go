package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
)

// The tolerance of comparisons between derivatives: they take the same partial
// derivatives of moderate functions and differ in the order of sums alone.
const tolerance = 1e-10

// directions are random tangents or cotangents for n numbers, k lanes side by side.
func directions(rng *rand.Rand, n, k int) []float64 {
	v := make([]float64, n*k)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// lane is lane j of k of v.
func lane(v []float64, j, k int) []float64 {
	var w []float64
	for i := j; i < len(v); i += k {
		w = append(w, v[i])
	}
	return w
}

// run runs p, which must pass Check and keep its guards, in a Machine.
func run(t *testing.T, what string, p *Program, ins [][]float64, params []float64) [][]float64 {
	t.Helper()
	mustCheck(t, what, p)
	got, ok := runMachine(p, ins, params)
	if !ok {
		t.Fatalf("%s: a guard failed\n%s", what, p)
	}
	return got
}

func dot(a, b []float64) (s, scale float64) {
	for i, v := range a {
		s += v * b[i]
		scale += math.Abs(v * b[i])
	}
	return s, scale
}

// size is the largest finite magnitude in all of v, at least 1.
func size(v [][]float64) float64 {
	m := 1.0
	for _, w := range v {
		for _, x := range w {
			if !math.IsInf(x, 0) {
				m = max(m, math.Abs(x))
			}
		}
	}
	return m
}

func toward(scale float64) func(a, b float64) bool {
	return func(a, b float64) bool { return closeTo(a, b, scale, tolerance) }
}

// variants are the options under which derivatives are taken.
var variants = []struct {
	lanes            int
	strong, captured bool
}{
	{0, false, false}, {1, true, false}, {1, false, true}, {3, false, false}, {3, true, true}, {8, false, true},
	{2, true, false},
}

func TestJVP(t *testing.T) {
	for _, r := range []recipe{smooth, kinked, smooth.withLanes(), kinked.withLanes()} {
		each(t, 60, r, func(t *testing.T, rng *rand.Rand, x sample) {
			for _, v := range variants {
				what := fmt.Sprintf("%+v", v)
				k := max(v.lanes, 1)
				q := JVP(x.p, JVPOptions{Lanes: v.lanes, Strong: v.strong, Captured: v.captured})
				ins, dots := append([][]float64{}, x.ins...), make([][]float64, len(x.ins))
				var want []string
				for i, in := range x.ins {
					if i == 0 || v.captured {
						dots[i] = directions(rng, len(in), k)
						ins = append(ins, dots[i])
						want = append(want, []string{"xdot", "captureddot"}[i])
					}
				}
				if got := names(q.Ins[len(x.ins):]); !slices.Equal(got, want) {
					t.Fatalf("%s: got the input groups %q, want %q", what, got, want)
				}
				value, _ := reference(x.p, x.ins, x.params)
				for _, pass := range passes[:4] {
					got := run(t, what, pass.do(q), ins, x.params)
					compare(t, what, got[:len(value)], value, sameNumber)
					for j := range k {
						one := make([][]float64, len(dots))
						for i, d := range dots {
							if d != nil {
								one[i] = lane(d, j, k)
							}
						}
						var want []float64
						for _, w := range referenceJVP(x.p, x.ins, x.params, one) {
							want = append(want, w...)
						}
						compare(t, what, [][]float64{lane(got[len(got)-1], j, k)}, [][]float64{want},
							toward(size([][]float64{want})))
					}
				}
			}
		})
	}
}

// names returns the names of groups.
func names(groups []Group) (list []string) {
	for _, g := range groups {
		list = append(list, g.Name)
	}
	return list
}

// The reverse sweep is the transpose of forward mode.
func TestVJP(t *testing.T) {
	for _, r := range []recipe{smooth, kinked, smooth.withLanes(), kinked.withLanes()} {
		each(t, 60, r, func(t *testing.T, rng *rand.Rand, x sample) {
			for _, v := range variants {
				what := fmt.Sprintf("%+v", v)
				k := max(v.lanes, 1)
				q := VJP(x.p, VJPOptions{Lanes: v.lanes, Strong: v.strong, Captured: v.captured})
				ybar := directions(rng, x.p.NumOut(), k)
				ins := append(append([][]float64{}, x.ins...), ybar)
				value, _ := reference(x.p, x.ins, x.params)
				var want []string
				for i := range x.ins {
					if i == 0 || v.captured {
						want = append(want, []string{"xbar", "capturedbar"}[i])
					}
				}
				if got := names(q.Outs[len(value):]); !slices.Equal(got, want) {
					t.Fatalf("%s: got the output groups %q, want %q", what, got, want)
				}
				for _, pass := range passes[:4] {
					got := run(t, what, pass.do(q), ins, x.params)
					compare(t, what, got[:len(value)], value, sameNumber)
					// One component at a time, and one more in a random direction.
					for i, xbar := range got[len(value):] {
						for c := range x.ins[i] {
							dots := make([][]float64, len(x.ins))
							dots[i] = make([]float64, len(x.ins[i]))
							dots[i][c] = 1
							var ydot []float64
							for _, w := range referenceJVP(x.p, x.ins, x.params, dots) {
								ydot = append(ydot, w...)
							}
							for j := range k {
								want, scale := dot(lane(ybar, j, k), ydot)
								if got := xbar[c*k+j]; !closeTo(got, want, max(scale, 1), 1e-8) {
									t.Errorf("%s, %s: xbar[%d] of group %d, lane %d: got %v, want %v", what, pass, c, i,
										j, got, want)
								}
							}
						}
					}
				}
			}
		})
	}
}

// The same from the programs alone: <ybar, J·xdot> = <Jt·ybar, xdot>.
func TestAdjointIdentity(t *testing.T) {
	each(t, 200, smooth.withLanes(), func(t *testing.T, rng *rand.Rand, x sample) {
		xdot, ybar := directions(rng, x.p.Ins[0].N, 1), directions(rng, x.p.NumOut(), 1)
		fwd := run(t, "JVP", JVP(x.p, JVPOptions{}), append(append([][]float64{}, x.ins...), xdot), x.params)
		rev := run(t, "VJP", VJP(x.p, VJPOptions{}), append(append([][]float64{}, x.ins...), ybar), x.params)
		a, sa := dot(ybar, fwd[len(fwd)-1])
		b, sb := dot(rev[len(rev)-1], xdot)
		if !closeTo(a, b, max(sa, sb), 1e-8) {
			t.Errorf("got <ybar, J xdot> = %v and <Jt ybar, xdot> = %v", a, b)
		}
	})
}

// Unit stands for a cotangent of ones.
func TestUnit(t *testing.T) {
	each(t, 100, smooth.withLanes(), func(t *testing.T, rng *rand.Rand, x sample) {
		x.p = Join(x.p, "y", 0)
		x.p.Outs, x.p.Result = []Group{{"y", 1}}, x.p.Result[:1]
		for _, k := range []int{1, 3} {
			for _, strong := range []bool{false, true} {
				ones := make([]float64, k)
				for i := range ones {
					ones[i] = 1
				}
				want := run(t, "ybar", VJP(x.p, VJPOptions{Lanes: k, Strong: strong}),
					append(append([][]float64{}, x.ins...), ones), x.params)
				q := VJP(x.p, VJPOptions{Lanes: k, Strong: strong, Unit: true})
				compare(t, "unit", run(t, "unit", q, x.ins, x.params), want, sameNumber)
				compare(t, "unit, simplified", run(t, "unit", Simplify(q), x.ins, x.params), want, toward(size(want)))
			}
		}
	})
}

// Central differences of the values know nothing of partial derivatives.
func TestDifferences(t *testing.T) {
	r := smooth.withLanes()
	r.guards, r.size = false, 15
	each(t, 60, r, func(t *testing.T, rng *rand.Rand, x sample) {
		if slices.ContainsFunc(x.p.Customs, core.IsPassive) {
			return // it has no derivative
		}
		xdot := directions(rng, len(x.ins[0]), 1)
		got := run(t, "JVP", JVP(x.p, JVPOptions{}), append(append([][]float64{}, x.ins...), xdot), x.params)
		at := func(h float64) [][]float64 {
			ins := append([][]float64{}, x.ins...)
			ins[0] = append([]float64{}, x.ins[0]...)
			for i := range ins[0] {
				ins[0][i] += h * xdot[i]
			}
			y, _ := reference(x.p, ins, x.params)
			return y
		}
		const h = 1e-4
		p1, m1, p2, m2 := at(h), at(-h), at(2*h), at(-2*h)
		i := 0
		for g := range p1 {
			for j := range p1[g] {
				want := (8*(p1[g][j]-m1[g][j]) - (p2[g][j] - m2[g][j])) / (12 * h)
				// Compositions may be steep; the estimate is then useless.
				coarse := (p2[g][j] - m2[g][j]) / (4 * h)
				d := got[len(got)-1][i]
				if trust := math.Abs(want-coarse) < 1e-3*(1+math.Abs(want)); trust && !closeTo(d, want, 1, 1e-3) {
					t.Errorf("output %d: got %v, want %v by differences", i, d, want)
				}
				i++
			}
		}
	})
}

func strongIsPlain(t *testing.T, rng *rand.Rand, x sample) {
	ybar, xdot := directions(rng, x.p.NumOut(), 1), directions(rng, len(x.ins[0]), 1)
	for _, k := range []struct {
		name          string
		plain, strong *Program
		seed          []float64
	}{
		{"VJP", VJP(x.p, VJPOptions{}), VJP(x.p, VJPOptions{Strong: true}), ybar},
		{"JVP", JVP(x.p, JVPOptions{}), JVP(x.p, JVPOptions{Strong: true}), xdot},
	} {
		ins := append(append([][]float64{}, x.ins...), k.seed)
		want := run(t, k.name, k.plain, ins, x.params)
		compare(t, k.name, run(t, k.name, k.strong, ins, x.params), want, toward(size(want)))
	}
}

// Statements that do not depend on the inputs have no part in the sweep.
func TestActivity(t *testing.T) {
	p := mustParse(t, `%0 = input x
%1:2 = input captured
%3 = param 0
%4 = mul %1 %2
%5 = exp %4
%6 = mul %5 %3
%7 = mul %0 %6
%8 = floor %7
%9 = add %7 %8
out y [%9]
`)
	q := Simplify(VJP(p, VJPOptions{Unit: true}))
	if got, want := q.Operations(), p.Operations(); got != want || q.Result[1] != 6 {
		t.Errorf("got %d operations, want %d: the derivative is there already\n%s", got, want, q)
	}
	if got := VJP(p, VJPOptions{Unit: true}).Operations(); got != p.Operations()+1 {
		t.Errorf("got %d operations in the VJP, want one more than %d", got, p.Operations())
	}
	if got := JVP(p, JVPOptions{}).Operations(); got != p.Operations()+1 {
		t.Errorf("got %d operations in the JVP, want one more than %d", got, p.Operations())
	}
	p = mustParse(t, `%0:2 = input x
%2:2 = call "f" [%0 %1]
%4 = mul %0 %1
out y [%4]
`)
	if got := VJP(p, VJPOptions{Unit: true}).Operations(); got != p.Operations()+2 {
		t.Errorf("got %d operations in the VJP, want two more than %d: no output needs the call", got, p.Operations())
	}
}

// The terms of a lane of a sum may be all lanes of a statement, while those of the next lane are elsewhere.
func TestVJPOfSums(t *testing.T) {
	p := mustParse(t, "%0:2 = input x\n%2:2 = mul %0:+1 %0:+1\n%4:2 = neg %0:+1\n%6:2 = sum 2 %2:+1\nout y [%6 %7]\n")
	got := run(t, "VJP", VJP(p, VJPOptions{}), [][]float64{{3, 4}, {1, 10}}, nil)
	compare(t, "VJP", got[1:], [][]float64{{6 - 10, 8 - 10}}, sameBits)
}

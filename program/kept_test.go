package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
)

// squares is x ↦ scale·Σx² for any number of inputs. If pulls is set, its value returns pullbacks.
type squares struct {
	scale float64
	pulls bool
	count *squaresCount
}

// A squaresCount counts the calls of values, of values that return pullbacks, of pullbacks, and of cotangents.
type squaresCount struct{ values, kept, pulls, cotangents int }

func (s squares) Name() string    { return "squares" }
func (s squares) Outputs(int) int { return 1 }
func (s squares) Pulls() bool     { return s.pulls }
func (s squares) Identity() any   { return s.scale }

func (s squares) Value(y, x []float64) {
	s.count.values++
	s.value(y, x)
}

func (s squares) value(y, x []float64) {
	y[0] = 0
	for _, v := range x {
		y[0] += s.scale * v * v
	}
}

func (s squares) JVP(ydot, x, _, xdot []float64) {
	ydot[0] = 0
	for i, v := range x {
		ydot[0] += 2 * s.scale * v * xdot[i]
	}
}

func (s squares) VJP(xbar, x, _, ybar []float64) {
	for i, v := range x {
		xbar[i] += 2 * s.scale * v * ybar[0]
	}
}

func (s squares) ValueVJP(y, x []float64) core.Pullback {
	s.count.kept++
	s.value(y, x)
	return squaresAt{s, slices.Clone(x)}
}

func (s squares) Tangent(int) Custom   { panic("not wanted") }
func (s squares) Cotangent(int) Custom { return squaresCotangent{s} }

// squaresAt is the pullback at x.
type squaresAt struct {
	squares
	x []float64
}

func (p squaresAt) Point() []float64 { return p.x }

func (p squaresAt) Pull(xbar, ybar []float64) {
	p.count.pulls++
	p.VJP(xbar, p.x, nil, ybar)
}

// squaresCotangent is the cotangent of squares.
type squaresCotangent struct{ squares }

func (c squaresCotangent) Outputs(n int) int { return n - 1 }

func (c squaresCotangent) Of() any {
	if !c.pulls {
		return nil
	}
	return c.scale
}

func (c squaresCotangent) Pulls() bool { return false }

func (c squaresCotangent) Value(y, xw []float64) {
	c.count.cotangents++
	clear(y)
	c.VJP(y, xw[:len(y)], nil, xw[len(y):])
}

func (c squaresCotangent) ValueBy(p core.Pullback, y, xw []float64) {
	clear(y)
	p.Pull(y, xw[len(y):])
}

func (c squaresCotangent) Tangent(int) Custom { panic("not wanted") }
func (c squaresCotangent) Cotangent(int) Custom {
	return formula{name: "squares.vjp.vjp", n: 3, value: second}
}

// second is the cotangent of the cotangent with one input: (x, w, z) ↦ (2·w·z, 2·x·z)/4.
func second(v []float64) []float64 { return []float64{v[1] * v[2] / 2, v[0] * v[2] / 2} }

// TestKeptPullbacks: the cotangents of calls use the pullbacks that the values return, those of the same rule at the
// same inputs in the same run, and values whose pullback nothing uses do not return it.
func TestKeptPullbacks(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var count squaresCount
		rules := []Custom{squares{0.25, true, &count}, squares{0.125, true, &count}, squares{0.0625, false, &count},
			squaresCotangent{squares{0.25, true, &count}}}
		b := derive(&Program{Customs: rules})
		b.input("x", 3)
		b.input("captured", 2)
		active := []int32{0, 1, 2} // slots that depend on x
		var want squaresCount
		used := [2]bool{true, false} // by rule: a cotangent is called
		var still [3]int             // calls that do not depend on x, by rule
		for range 8 {
			n := int32(1 + rng.IntN(3))
			args := make([]int32, n)
			for i := range args {
				args[i] = active[rng.IntN(len(active))]
			}
			moves := rng.IntN(4) > 0
			if !moves {
				args = []int32{3, 4}[:min(n, 2)]
			}
			rule := rng.IntN(3)
			s := b.add(Stmt{Op: Call, N: 1, K: int32(rule), A: b.gather(args), B: Operand{Base: int32(len(args))}})
			switch {
			case !moves:
				still[rule]++
				continue
			case rule < 2:
				used[rule] = true
				want.kept++
				want.pulls++
			default:
				want.values++
				want.cotangents++
			}
			active = append(active, s)
		}
		for rule, n := range still {
			// Cotangents use the pullbacks of the rule, but these calls have none.
			if rule < 2 && used[rule] {
				want.kept += n
			} else {
				want.values += n
			}
		}
		// A cotangent at inputs at which there is no value.
		active = append(active, b.add(Stmt{Op: Call, N: 1, K: 3, A: b.gather([]int32{4, 0}), B: Operand{Base: 2}}))
		want.cotangents++
		b.output("y", active)
		plain := *b.p
		plain.Customs = slices.Clone(rules)
		for i, c := range rules[:3] {
			c := c.(squares)
			c.pulls = false
			plain.Customs[i] = c
		}
		p, q := VJP(b.p, VJPOptions{}), VJP(&plain, VJPOptions{})
		x, y := NewMachine(p), NewMachine(q)
		for range 2 { // the pullbacks of the first run are of no use for the second one
			in := directions(rng, p.NumIn(), 1)
			in[1], in[2] = in[0], -in[0] // inputs that are equal, and equal but for the sign
			at := 0
			for i, g := range p.Ins {
				copy(x.Input(i), in[at:at+g.N])
				copy(y.Input(i), in[at:at+g.N])
				at += g.N
			}
			y.Run()
			count = squaresCount{}
			x.Run()
			if count != want {
				t.Errorf("seed %d: calls %+v, want %+v, in\n%s", seed, count, want, p)
			}
			for i, g := range p.Outs {
				got, want := make([]float64, g.N), make([]float64, g.N)
				x.Output(i, got)
				y.Output(i, want)
				compare(t, "kept pullbacks", [][]float64{got}, [][]float64{want}, sameBits)
			}
		}
	}
}

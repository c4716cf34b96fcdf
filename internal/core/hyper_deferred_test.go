package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/rules"
)

// hyperOps are operations whose derivatives are moderate where hyperProgram applies them.
var hyperOps = []rules.Op{rules.Add, rules.Sub, rules.Mul, rules.Div, rules.Hypot, rules.Atan2, rules.LogAddExp,
	rules.Neg, rules.Sq, rules.Sin, rules.Cos, rules.Tanh, rules.Exp, rules.Atan, rules.Max}

// hyperProgram applies random operations, the same for a seed, to xs. It calls before ahead of each.
func hyperProgram(seed uint64, xs []Rep, before func(step int)) Rep {
	r := rand.New(rand.NewPCG(seed, 5))
	v := append([]Rep{{V: 0.75}, {V: -1.5}}, xs...)
	const steps = 40
	for k := range steps {
		before(k)
		op := hyperOps[r.IntN(len(hyperOps))]
		a, b := v[r.IntN(len(v))], v[r.IntN(len(v))]
		if r.IntN(2) == 0 { // later numbers depend on more inputs
			a = v[len(v)-1]
		}
		switch {
		case op.Arity() == 1 && op == rules.Exp:
			v = append(v, Apply1(op, Apply1(rules.Sin, a)))
		case op.Arity() == 1:
			v = append(v, Apply1(op, a))
		case op == rules.Div:
			v = append(v, Apply2(op, a, Apply2(rules.Add, Apply1(rules.Sq, b), Rep{V: 0.5})))
		default:
			v = append(v, Apply2(op, a, b))
		}
		if math.Abs(v[len(v)-1].V) > 10 {
			v[len(v)-1] = Apply1(rules.Sin, v[len(v)-1])
		}
	}
	y := v[len(v)-1]
	for _, a := range v[len(v)-5:] {
		y = Apply2(rules.Add, y, Apply2(rules.Mul, y, a))
	}
	return y
}

// A hyperCase is a trace of hyper-dual numbers. The columns are directions if there are some, otherwise the rows.
type hyperCase struct {
	seed    uint64
	n, rows int
	cols    int
}

// run returns the first and second derivatives of the program of c, and whether second derivatives were deferred to the
// end. With one set they are deferred until step stop.
func (c hyperCase) run(t *Tracer, one bool, stop int) (first, second []float64, deferred bool) {
	r := rand.New(rand.NewPCG(c.seed, 6))
	t.StartHyper(c.n, c.rows, c.cols, 0, false, one)
	defer t.Close()
	xs := make([]Rep, c.n)
	for i := range xs {
		v, row := r.NormFloat64(), -1
		if i < c.rows {
			row = i
		}
		if c.cols == 0 {
			xs[i] = t.UnitHyper(i, v, row, row)
			continue
		}
		along := make([]float64, c.cols)
		for j := range along {
			if r.IntN(3) > 0 {
				along[j] = r.NormFloat64()
			}
		}
		xs[i] = t.AlongHyper(i, v, row, along)
	}
	y := hyperProgram(c.seed, xs, func(step int) {
		if step == stop && t.deferred {
			t.undefer()
		}
	})
	first = make([]float64, max(c.rows, 1))
	second = make([]float64, c.rows*max(c.cols, c.rows))
	if y.ID == 0 {
		return first, second, t.deferred
	}
	if t.HyperNaN(y.ID) {
		panic("NaN")
	}
	t.HyperFirst(first, y.ID)
	copy(second, t.HyperSecond(y.ID))
	if c.cols == 0 { // below the diagonal nothing is defined
		for i := range c.rows {
			clear(second[i*c.rows : i*c.rows+i])
		}
	}
	return first, second, t.deferred
}

// TestDeferredSecondDerivatives compares second derivatives that are deferred with those that each number has, on
// random programs. Numbers that get them in the middle of the program have the same, bit for bit.
func TestDeferredSecondDerivatives(t *testing.T) {
	var tracer Tracer
	deferred, nonzero := 0, 0
	for seed := range uint64(400) {
		c := hyperCase{seed: seed, n: 1 + int(seed%7), rows: 1 + int(seed%7)}
		switch seed % 4 {
		case 1:
			c.cols = 1 + int(seed%3)
		case 2:
			c.rows = min(c.rows, 2)
		case 3:
			c.n, c.rows = MaxHyper, MaxHyper
			if seed%8 == 3 {
				c.cols = MaxHyper
			}
		}
		what := fmt.Sprintf("%+v", c)
		first, second, _ := c.run(&tracer, false, -1)
		f, s, held := c.run(&tracer, true, -1)
		if held {
			deferred++
		}
		size := 0.0
		for _, d := range second {
			size = max(size, math.Abs(d))
		}
		for i, d := range second {
			if d != 0 {
				nonzero++
			}
			if !(math.Abs(s[i]-d) <= 1e-10*size) {
				t.Fatalf("%s: second derivative %d is %v if deferred, want %v ± %g", what, i, s[i], d, 1e-10*size)
			}
		}
		sameBits(t, what+": first derivatives if deferred", f, first, 1e-13)
		f, s, _ = c.run(&tracer, true, int(seed%40))
		sameBits(t, what+": first derivatives", f, first, 0)
		sameBits(t, what+": second derivatives", s, second, 0)
	}
	if deferred < 350 || nonzero < 400*10 {
		t.Errorf("%d of 400 were deferred, with %d nonzero derivatives", deferred, nonzero)
	}
}

// sameBits fails unless got is want but for relative differences of tol.
func sameBits(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i, v := range want {
		if d := got[i] - v; !(math.Abs(d) <= tol*math.Abs(v)) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// TestDeferralOutOfRange checks second derivatives that are in range although a weight, or a factor of one, is not.
func TestDeferralOutOfRange(t *testing.T) {
	scale := func(a Rep, c ...float64) Rep {
		for _, c := range c {
			a = Apply2(rules.Mul, a, Rep{V: c})
		}
		return a
	}
	for _, tt := range []struct {
		name     string
		f        func(x Rep) Rep
		want     float64
		deferred bool
	}{
		{"moderate", func(x Rep) Rep { return scale(Apply1(rules.Sq, scale(x, 1e15)), 1e-20, 1e-20) }, 2e-10, true},
		{"weight 0", func(x Rep) Rep { return scale(Apply1(rules.Sq, scale(x, 1e150)), 1e-200, 1e-200) }, 2e-100,
			false},
		{"small weight", func(x Rep) Rep { return scale(Apply1(rules.Sq, scale(x, 1e150)), 1e-150, 1e-160) }, 2e-10,
			false},
		{"infinite weight", func(x Rep) Rep { return scale(Apply1(rules.Sq, scale(x, 1e-150)), 1e200, 1e200) }, 2e100,
			false},
		{"small product", func(x Rep) Rep {
			a := scale(x, 1e150)
			return scale(Apply2(rules.Mul, a, a), 1e-130, 1e-120)
		}, 2e50, false},
		{"quotient", func(x Rep) Rep {
			a := scale(x, 1e100)
			return scale(Apply2(rules.Div, a, Apply2(rules.Add, Apply1(rules.Sq, x), Rep{V: 1})), 1e-150, 1e-130)
		}, -5e-181, false}, // f = c·x/(x²+1) at 1, with f″ = c·(2x³-6x)/(x²+1)³
	} {
		var tr Tracer
		tr.StartHyper(1, 1, 0, 0, false, true)
		y := tt.f(tr.UnitHyper(0, 1, 0, 0))
		if tr.HyperNaN(y.ID) {
			t.Errorf("%s: NaN", tt.name)
		}
		got := tr.HyperSecond(y.ID)[0]
		if !(math.Abs(got-tt.want) <= 1e-12*math.Abs(tt.want)) || tr.deferred != tt.deferred {
			t.Errorf("%s: %v, want %v; deferred is %v", tt.name, got, tt.want, tr.deferred)
		}
		tr.Close()
	}
}

// BenchmarkDeferral reports the time of a function whose intermediate values depend on all inputs if second derivatives
// are deferred, in units of the time with second derivatives of all numbers, from samples taken in turns.
func BenchmarkDeferral(b *testing.B) {
	for _, n := range []int{2, 3, 6, 12, 24} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			var tr Tracer
			xs := make([]Rep, n)
			run := func(one bool) time.Duration {
				start := time.Now()
				for range 10 {
					tr.StartHyper(n, n, 0, 0, false, one)
					for i := range xs {
						xs[i] = tr.UnitHyper(i, 0.1*float64(1+i), i, i)
					}
					v := xs[0]
					for _, x := range xs[1:] {
						v = Apply2(rules.Add, v, Apply2(rules.Mul, x, x))
					}
					for i := range 20 {
						v = Apply1(rules.Atan, Apply2(rules.Mul, v, xs[i%n]))
						v = Apply2(rules.Add, v, Apply2(rules.Mul, v, Rep{V: 0.5}))
					}
					if tr.HyperNaN(v.ID) || tr.deferred != one {
						b.Fatal("second derivatives are not deferred")
					}
					tr.HyperSecond(v.ID)
					tr.Close()
				}
				return time.Since(start)
			}
			shortest := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			for b.Loop() {
				for i, one := range []bool{true, false} {
					shortest[i] = min(shortest[i], run(one))
				}
			}
			b.ReportMetric(float64(shortest[0])/float64(shortest[1]), "deferred/not")
			b.ReportMetric(0, "ns/op")
		})
	}
}

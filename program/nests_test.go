package program

import (
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// told records f, which tells the recording of its loops if it is called with true, and returns the program.
func told(t testing.TB, tells bool, f func(x []core.Rep, next func(l *core.Loop)) []core.Rep, n int) *Program {
	t.Helper()
	var tr core.Tracer
	tr.StartRecording(n, 0, core.RecordOptions{Loops: true})
	defer tr.Close()
	xs := make([]core.Rep, n)
	for i := range xs {
		xs[i] = tr.Input(i, 0.5+float64(i%7)/8)
	}
	outs := f(xs, func(l *core.Loop) {
		if tells {
			l.Next()
		}
	})
	p, err := FromRecording(tr.Recorded(), outs)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// mixed computes n operations of x that do not repeat.
func mixed(x core.Rep, n int) core.Rep {
	ops := []rules.Op{rules.Sin, rules.Cos, rules.Tanh, rules.Exp, rules.Atan, rules.Sq}
	for i := range n {
		if i*i%7 < 3 {
			x = core.Apply2(rules.Mul, x, num(0.5))
		} else {
			x = core.Apply1(ops[i*i*i%11%len(ops)], x)
		}
	}
	return x
}

// TestMarkedLoops: loops that a search does not find are found if the code tells of them, and the values have the bits
// of single operations.
func TestMarkedLoops(t *testing.T) {
	add := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Add, a, b) }
	mul := func(a, b core.Rep) core.Rep { return core.Apply2(rules.Mul, a, b) }
	for _, c := range []struct {
		name          string
		n             int
		f             func(x []core.Rep, next func(l *core.Loop)) []core.Rep
		without, with int // statements: at least, and at most

	}{
		{"a body longer than a search finds", 17, func(x []core.Rep, next func(l *core.Loop)) (y []core.Rep) {
			var l core.Loop
			for _, v := range x {
				next(&l)
				y = append(y, mixed(v, longestPeriod+4))
			}
			return y
		}, 50000, longestPeriod + 10},
		{"a nest, of which a short loop covers most", 20, func(x []core.Rep, next func(l *core.Loop)) (y []core.Rep) {
			var l core.Loop
			for i := range 400 {
				next(&l)
				s := num(0)
				var in core.Loop
				for _, v := range x {
					next(&in)
					s = add(s, mul(mul(mul(mul(v, v), num(float64(i))), v), v))
				}
				y = append(y, core.Apply1(rules.Sin, s))
			}
			return y
		}, 3000, 125},
		{"steps in time, with operations between them", 40, func(x []core.Rep, next func(l *core.Loop)) []core.Rep {
			x = slices.Clone(x)
			var l core.Loop
			for range 30 {
				next(&l)
				var in core.Loop
				for i := range x {
					next(&in)
					x[i] = mul(core.Apply1(rules.Sin, x[i]), num(0.5))
				}
				x[0] = mixed(x[0], 10)
			}
			return x
		}, 30, 400},
	} {
		without, with := told(t, false, c.f, c.n), told(t, true, c.f, c.n)
		if n := len(without.Stmts); n < c.without {
			t.Errorf("%s: %d statements by a search alone", c.name, n)
		}
		if n := len(with.Stmts); n > c.with {
			t.Errorf("%s: %d statements of %d operations, %d by a search alone", c.name, n, with.Operations(),
				len(without.Stmts))
		}
		x := make([]float64, c.n)
		for i := range x {
			x[i] = math.Sin(float64(i))
		}
		want, _ := runMachine(without, [][]float64{x}, nil)
		got, _ := runMachine(with, [][]float64{x}, nil)
		compare(t, c.name, got, want, sameNumber)
	}
}

// BenchmarkLongBody converts recordings of a loop of 40 iterations of 15000 operations, which no search finds.
func BenchmarkLongBody(b *testing.B) {
	for _, tells := range []bool{false, true} {
		name := "searched"
		if tells {
			name = "marked"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := told(b, tells, func(x []core.Rep, next func(l *core.Loop)) (y []core.Rep) {
					var l core.Loop
					for _, v := range x {
						next(&l)
						y = append(y, mixed(v, 15000))
					}
					return y
				}, 40)
				b.ReportMetric(float64(len(p.Stmts)), "statements")
			}
		})
	}
}

package program

import (
	"math"
	"slices"
	"strings"
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

// TestNested: the loops that are taken of those that code has marked, for operations as letters, iterations that a loop
// takes or refuses, and the number of attempts.
func TestNested(t *testing.T) {
	ab, abc := strings.Repeat("ab", 20), strings.Repeat("abc", 20)
	long := strings.Repeat("ab", 200) + "c"
	wide := strings.Repeat(ab+"c", 100) + "d"
	narrow := strings.Repeat(long, 16) + "d"
	// runs appends n runs of count iterations of period operations, the first from at on, step apart.
	runs := func(list []core.Run, at, step, n, period, count int) []core.Run {
		for i := range n {
			list = append(list, core.Run{
				Start: int32(at + i*step), Period: int32(period), Count: int32(count - 1),
			})
		}
		return list
	}
	// equal returns n loops of count iterations of period operations, the first from at on, step apart.
	equal := func(at, step, n, period, count int) (list []stretch) {
		for i := range n {
			list = append(list, stretch{at + i*step, period, count})
		}
		return list
	}
	// period refuses the loops of so many operations.
	period := func(n int) func(s stretch) (int, bool) {
		return func(s stretch) (int, bool) { return s.end(), s.period == n }
	}
	for _, c := range []struct {
		name    string
		codes   string
		runs    []core.Run
		parts   []gap                       // all, if nil
		refused func(s stretch) (int, bool) // the next start, if there is no loop
		third   func(i int) bool            // none, if nil
		want    []stretch
		tries   int // 0 for as many as loops
	}{
		{name: "a loop", codes: "xx" + abc + "y", runs: runs(nil, 2, 0, 1, 3, 20), want: equal(2, 0, 1, 3, 20)},
		{name: "a last iteration that is another", codes: abc + "xxx", runs: runs(nil, 0, 0, 1, 3, 21),
			want: equal(0, 0, 1, 3, 20)},
		{name: "a first iteration that is another", codes: "xxx" + abc, runs: runs(nil, 0, 0, 1, 3, 21),
			want: equal(3, 0, 1, 3, 20)},
		{name: "equal operations before and after it", codes: "x" + abc + abc + abc,
			runs: runs(nil, 61, 0, 1, 3, 20), want: equal(1, 0, 1, 3, 60)},
		{name: "other operations before it", codes: "xxxxxxxxx" + abc, runs: runs(nil, 9, 0, 1, 3, 20),
			want: equal(9, 0, 1, 3, 20)},
		{name: "too few iterations", codes: abc[:45] + "x", runs: runs(nil, 0, 0, 1, 3, 15)},
		{name: "marks that are wrong", codes: abc, runs: []core.Run{{Start: -9, Period: 3, Count: 16},
			{Start: 5, Period: 0, Count: 16}, {Start: 3, Period: -3, Count: 16},
			{Start: 50, Period: 3, Count: 1 << 20}, {Start: 3, Period: 6, Count: 15}}},
		{name: "an operation with an operand before the iteration", codes: abc, runs: runs(nil, 0, 0, 1, 3, 20),
			third: func(i int) bool { return i%3 == 0 }},
		{name: "calls in it", codes: abc + "xbc" + abc, runs: runs(nil, 0, 0, 1, 3, 41),
			parts: []gap{{0, 60}, {61, 123}}, want: equal(0, 63, 2, 3, 20)},
		{name: "calls between parts of iterations", codes: abc + abc + abc, runs: runs(nil, 0, 0, 1, 3, 60),
			parts: []gap{{0, 59}, {60, 61}, {70, 180}}, want: []stretch{{0, 3, 19}, {72, 3, 36}}},
		{name: "a call after it with the same operations", codes: abc + "abcabc" + ab,
			runs: runs(runs(nil, 0, 0, 1, 3, 20), 66, 0, 1, 2, 20), parts: []gap{{0, 60}, {66, 106}},
			want: []stretch{{0, 3, 20}, {66, 2, 20}}},
		{name: "another loop of the same operations after it", codes: ab + "a" + strings.Repeat("ba", 20),
			runs: runs(nil, 0, 41, 2, 2, 20), want: equal(0, 41, 2, 2, 20)},
		{name: "iterations within it that begin elsewhere", codes: ab,
			runs:    runs(runs(nil, 0, 0, 1, 2, 20), 1, 0, 1, 2, 19),
			refused: func(s stretch) (int, bool) { return s.end(), s.start == 0 },
			want:    equal(1, 0, 1, 2, 19), tries: 2},
		{name: "iterations within it that begin at the same place", codes: ab,
			runs:    runs(runs(nil, 0, 0, 1, 2, 20), 4, 0, 1, 2, 18),
			refused: func(s stretch) (int, bool) { return s.end(), true }, tries: 1},
		{name: "another loop after it", codes: abc + "x" + ab, runs: runs(runs(nil, 0, 0, 1, 3, 20), 61, 0, 1, 2, 20),
			want: []stretch{{0, 3, 20}, {61, 2, 20}}},
		{name: "another loop after it at once", codes: abc + ab,
			runs: runs(runs(nil, 0, 0, 1, 3, 20), 60, 0, 1, 2, 20),
			want: []stretch{{0, 3, 20}, {60, 2, 20}}},
		{name: "another loop of as many operations after it", codes: ab + strings.Repeat("cd", 20),
			runs: runs(nil, 0, 40, 2, 2, 20), want: equal(0, 40, 2, 2, 20)},
		{name: "the same loop after it", codes: ab + "x" + ab, runs: runs(nil, 0, 41, 2, 2, 20),
			want: equal(0, 41, 2, 2, 20)},
		{name: "the same loop after it at once", codes: ab + ab + "x" + ab,
			runs: runs(runs(nil, 0, 40, 2, 2, 20), 81, 0, 1, 2, 20),
			want: []stretch{{0, 2, 40}, {81, 2, 20}}},
		{name: "loops that overlap", codes: abc + abc, runs: runs(runs(nil, 0, 0, 1, 3, 20), 30, 0, 1, 3, 20),
			want: equal(0, 0, 1, 3, 40)},
		{name: "an outer loop of few operations", codes: strings.Repeat(ab+"c", 100),
			runs: runs(runs(nil, 0, 0, 1, 41, 100), 0, 41, 100, 2, 20), want: equal(0, 0, 1, 41, 100)},
		{name: "inner loops of few operations", codes: strings.Repeat(long, 16),
			runs: runs(runs(nil, 0, 0, 1, 401, 16), 0, 401, 16, 2, 200), want: equal(0, 401, 16, 2, 200)},
		{name: "an outer loop that is refused", codes: strings.Repeat(ab+"c", 100),
			runs:    runs(runs(nil, 0, 0, 1, 41, 100), 0, 41, 100, 2, 20),
			refused: period(41), want: equal(0, 41, 100, 2, 20), tries: 101},
		{name: "inner loops that are refused", codes: strings.Repeat(long, 16),
			runs:    runs(runs(nil, 0, 0, 1, 401, 16), 0, 401, 16, 2, 200),
			refused: period(2), want: equal(0, 0, 1, 401, 16), tries: 17},
		{name: "an inner loop that goes on after the outer one", codes: strings.Repeat("c"+ab, 20) + "ab",
			runs:    runs(runs(nil, 0, 0, 1, 41, 20), 1, 41, 20, 2, 20),
			refused: period(41),
			want:    append(equal(1, 41, 19, 2, 20), stretch{1 + 19*41, 2, 21}), tries: 21},
		{name: "a nest whose middle is taken", codes: strings.Repeat(wide, 16),
			runs: runs(runs(runs(nil, 0, 0, 1, 4101, 16), 0, 4101, 16, 41, 100), 0, 41, 100, 2, 20),
			want: equal(0, 4101, 16, 41, 100)},
		{name: "a nest whose inner loops are taken", codes: strings.Repeat(narrow, 50),
			runs: func() []core.Run {
				list := runs(runs(nil, 0, 0, 1, 6417, 50), 0, 6417, 50, 401, 16)
				for i := range 50 {
					list = runs(list, i*6417, 401, 16, 2, 200)
				}
				return list
			}(), want: func() (list []stretch) {
				for i := range 50 {
					list = append(list, equal(i*6417, 401, 16, 2, 200)...)
				}
				return list
			}()},
		{name: "iterations that are several of a shorter loop", codes: abc + abc, runs: runs(nil, 0, 0, 1, 6, 20),
			want: equal(0, 0, 1, 3, 40)},
		{name: "and are refused", codes: abc + abc, runs: runs(nil, 0, 0, 1, 6, 20),
			refused: period(3), want: equal(0, 0, 1, 6, 20), tries: 2},
		{name: "iterations that are several of a shorter loop but for the end", codes: strings.Repeat("ababa", 20),
			runs: runs(nil, 0, 0, 1, 5, 20), want: equal(0, 0, 1, 5, 20)},
		{name: "a nest of one loop", codes: strings.Repeat(ab, 20),
			runs: runs(runs(nil, 0, 0, 1, 40, 20), 0, 40, 20, 2, 20),
			want: equal(0, 0, 1, 2, 400)},
		{name: "a nest of one loop that is refused", codes: strings.Repeat(ab, 20),
			runs:    runs(runs(nil, 0, 0, 1, 40, 20), 0, 40, 20, 2, 20),
			refused: period(2), want: equal(0, 0, 1, 40, 20), tries: 2},
		{name: "an outer loop whose first iterations are refused", codes: strings.Repeat(ab+"c", 100),
			runs:    runs(runs(nil, 0, 0, 1, 41, 100), 0, 41, 100, 2, 20),
			refused: func(s stretch) (int, bool) { return s.start + 20*41, s.start == 0 && s.period == 41 },
			want:    append(equal(0, 41, 20, 2, 20), stretch{20 * 41, 41, 80}), tries: 22},
	} {
		n := &nester{codes: []byte(c.codes), third: c.third}
		if n.third == nil {
			n.third = func(int) bool { return false }
		}
		tries := 0
		n.take = func(s stretch, end int) (stretch, bool, int) {
			tries++
			if end < s.end() || s.start < 0 || end > len(c.codes) {
				t.Fatalf("%s: the loop %v up to %d", c.name, s, end)
			}
			if c.refused != nil {
				if next, refused := c.refused(s); refused {
					return s, false, next
				}
			}
			return s, true, s.end()
		}
		parts := c.parts
		if parts == nil {
			parts = []gap{{0, len(c.codes)}}
		}
		const first = 7
		list := slices.Clone(c.runs)
		for i := range list {
			list[i].Start += first
		}
		got := n.nested(list, first, parts)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		want := c.tries
		if want == 0 {
			want = len(c.want)
		}
		if tries != want {
			t.Errorf("%s: %d attempts, want %d", c.name, tries, want)
		}
	}
}

// TestWithout: the parts that loops leave.
func TestWithout(t *testing.T) {
	loops := []stretch{{0, 2, 10}, {30, 2, 10}, {50, 1, 20}, {90, 1, 10}}
	for _, c := range []struct {
		parts []gap
		loops []stretch
		want  []gap
	}{
		{[]gap{{0, 100}}, nil, []gap{{0, 100}}},
		{[]gap{{0, 100}}, loops, []gap{{20, 30}, {70, 90}}},
		{[]gap{{0, 25}, {26, 80}, {85, 120}}, loops, []gap{{20, 25}, {26, 30}, {70, 80}, {85, 90}, {100, 120}}},
		{[]gap{{0, 20}, {20, 30}}, loops, []gap{{20, 30}}},
	} {
		if got := without(c.parts, c.loops); !slices.Equal(got, c.want) {
			t.Errorf("%v without %v: %v, want %v", c.parts, c.loops, got, c.want)
		}
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

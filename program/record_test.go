package program

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// record records f at x with the given parameters.
func record(t *testing.T, f func(x, params []core.Rep) []core.Rep, x []float64, params ...float64) *Program {
	t.Helper()
	var tr core.Tracer
	defer tr.Close()
	tr.StartRecording(len(x), len(params), core.RecordOptions{})
	return finish(t, &tr, f, x, params)
}

func finish(t *testing.T, tr *core.Tracer, f func(x, params []core.Rep) []core.Rep, x, params []float64) *Program {
	t.Helper()
	var xs, ps []core.Rep
	for i, v := range x {
		xs = append(xs, tr.Input(i, v))
	}
	for i, v := range params {
		ps = append(ps, tr.Input(len(x)+i, v))
	}
	outs := f(xs, ps)
	p, err := FromRecording(tr.Recorded(), outs)
	if err != nil {
		t.Fatal(err)
	}
	mustCheck(t, "recorded", p)
	return p
}

func num(v float64) core.Rep { return core.Rep{V: v} }

func TestFromRecording(t *testing.T) {
	p := record(t, func(x, params []core.Rep) []core.Rep {
		a := core.Apply2(rules.Mul, x[0], num(2))
		b := core.Apply3(rules.FMA, a, x[1], num(3))
		c := core.Apply3(rules.Select, num(1), params[0], b)
		core.Compare(core.OpGuardLt, a, b, true)
		core.Compare(core.OpGuardLe, num(7), a, false)
		core.Escape(core.OpGuardBits, a, 4)
		core.Escape(core.OpGuardInt, x[1], 5)
		y := core.Call(ruleF(0, 0), []core.Rep{c, num(1)})
		k := core.Apply1(rules.Exp, num(0)) // a constant: not recorded
		return []core.Rep{y[1], x[1], k, num(2), core.Apply2(rules.Add, y[0], k)}
	}, []float64{2, 5}, 1.5)
	want := mustParse(t, `%0:2 = input x
%2 = param 0
%3 = const 2
%4 = mul %0 %3
%5 = const 3
%6 = fma %4 %1 %5
%7 = const 1
%8 = select %7 %2 %6
guardlt %4 %6 = 1
%9 = const 7
guardle %9 %4 = 0
%10 = const 4
guardbits %4 %10 = 1
%11 = const 5
guardint %1 %11 = 1
%12 = const 1
%13:2 = call "f" [%8 %12]
%15 = add %13 %12
%16 = const 1
%17 = const 2
out y [%14 %1 %16 %17 %15]
`)
	if !Equal(p, want) {
		t.Fatalf("got\n%swant\n%s", p, want)
	}
	got, ok := runMachine(p, [][]float64{{2, 5}}, []float64{1.5})
	if !ok {
		t.Error("a guard failed where f was recorded")
	}
	compare(t, "values", got, [][]float64{{math.Sin(1.5), 5, 1, 2, 2.5}}, sameNumber)
}

func TestGuardsFailOnTheOtherBranch(t *testing.T) {
	less := func(x, _ []core.Rep) []core.Rep {
		if holds := x[0].V < x[1].V; true {
			core.Compare(core.OpGuardLt, x[0], x[1], holds)
			if holds {
				return []core.Rep{x[0]}
			}
		}
		return []core.Rep{x[1]}
	}
	escape := func(x, _ []core.Rep) []core.Rep {
		core.Escape(core.OpGuardBits, x[0], x[0].V)
		return []core.Rep{num(x[0].V)}
	}
	toInteger := func(x, _ []core.Rep) []core.Rep {
		core.Escape(core.OpGuardInt, x[0], math.Trunc(x[0].V))
		return []core.Rep{num(math.Trunc(x[0].V))}
	}
	const large = math.MaxInt &^ (1<<(strconv.IntSize/2) - 1) // a float64 has it
	for _, c := range []struct {
		name   string
		f      func(x, _ []core.Rep) []core.Rep
		at, x  []float64
		passes bool
	}{
		{"less, same", less, []float64{1, 2}, []float64{3, 4}, true},
		{"less, other", less, []float64{1, 2}, []float64{4, 3}, false},
		{"not less, tie", less, []float64{2, 1}, []float64{3, 3}, true},
		{"not less, NaN", less, []float64{2, 1}, []float64{nan, 3}, true},
		{"not less, other", less, []float64{2, 1}, []float64{3, 4}, false},
		{"value, same", escape, []float64{1, 0}, []float64{1, 5}, true},
		{"value, other", escape, []float64{1, 0}, []float64{1 + 0x1p-52, 5}, false},
		{"value, other zero", escape, []float64{0, 0}, []float64{negZero, 5}, false},
		{"value, NaN", escape, []float64{nan, 0}, []float64{nan, 5}, true},
		{"int, same", toInteger, []float64{2.5, 0}, []float64{2.9, 5}, true},
		{"int, other", toInteger, []float64{2.5, 0}, []float64{3, 5}, false},
		{"int, zeros", toInteger, []float64{0.5, 0}, []float64{-0.5, 5}, true},
		{"int, large", toInteger, []float64{float64(large), 0}, []float64{float64(large), 5}, true},
		{"int, other large", toInteger, []float64{float64(large), 0}, []float64{float64(large / 4 * 3), 5}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := record(t, c.f, c.at)
			for _, pass := range passes {
				if _, ok := runMachine(pass.do(p), [][]float64{c.x}, nil); ok != c.passes {
					t.Errorf("%s: the run said %v, want %v", pass, ok, c.passes)
				}
				q := VJP(pass.do(p), VJPOptions{Unit: true})
				if _, ok := runMachine(q, [][]float64{c.x}, nil); ok != c.passes {
					t.Errorf("VJP, %s: the run said %v, want %v", pass, ok, c.passes)
				}
			}
		})
	}
}

// A recording is cut into chunks; operations that take several records are not.
func TestLongRecording(t *testing.T) {
	const n = 3000
	p := record(t, func(x, _ []core.Rep) []core.Rep {
		s := x[0]
		for i := range n {
			s = core.Apply3(rules.FMA, s, x[1], num(float64(i%7)))
			if i%5 == 0 {
				s = core.Call(ruleF(0, 0), []core.Rep{s, x[2]})[1]
			}
		}
		return []core.Rep{s}
	}, []float64{0.5, 0.25, 3})
	s := 0.5
	for i := range n {
		if s = math.FMA(s, 0.25, float64(i%7)); i%5 == 0 {
			s = math.Sin(s)
		}
	}
	for _, pass := range passes {
		compare(t, pass.String(), run(t, pass.String(), pass.do(p), [][]float64{{0.5, 0.25, 3}}, nil), [][]float64{{s}},
			sameNumber)
	}
}

// A recording inside another captures the outer numbers; run over the outer trace,
// it is recorded there.
func TestNestedRecording(t *testing.T) {
	var outer core.Tracer
	outer.StartRecording(2, 0, core.RecordOptions{})
	defer outer.Close()
	// d/du of u²·a·b + u·a at u = 3a, where a and b are outer numbers.
	p := finish(t, &outer, func(x, _ []core.Rep) []core.Rep {
		u0 := core.Apply2(rules.Mul, x[0], num(3))
		var inner core.Tracer
		inner.StartRecording(1, 0, core.RecordOptions{Nested: true})
		u := inner.Input(0, u0.V)
		v := core.Apply2(rules.Mul, core.Apply3(rules.FMA, u, x[0], num(0)), core.Apply2(rules.Mul, u, x[1]))
		v = core.Apply2(rules.Add, v, core.Apply2(rules.Mul, x[0], u))
		rec := inner.Recorded()
		f, err := FromRecording(rec, []core.Rep{v})
		if err != nil {
			t.Fatal(err)
		}
		captures := append([]core.Rep{}, rec.Captures...)
		inner.Close()
		mustCheck(t, "inner", f)
		if len(captures) != 2 || f.Ins[1] != (Group{"captured", 2}) {
			t.Fatalf("got %d captures and %v, want 2", len(captures), f.Ins)
		}
		y, err := Over(VJP(f, VJPOptions{Unit: true}), [][]core.Rep{{u0}, captures}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}, []float64{2, 5}, nil)
	a, b := 1.5, 7.0
	u := 3 * a
	ins := [][]float64{{a, b}}
	want := [][]float64{{u*u*a*b + u*a, 2*u*a*b + a}}
	compare(t, "values", run(t, "outer", p, ins, nil), want, sameNumber)
	// g = d/du at u = 3a is 6a²b + a: gradient (12ab + 1, 6a²).
	got := run(t, "gradient", VJP(Simplify(p), VJPOptions{}), append(ins, []float64{0, 1}), nil)
	compare(t, "gradient", got[1:], [][]float64{{12*a*b + 1, 6 * a * a}}, toward(1))
}

// Over records a program as the function that it was recorded from.
func TestOver(t *testing.T) {
	each(t, 200, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		at := x.ins
		over := func(p *Program) *Program {
			var flat []float64
			for _, in := range x.ins {
				flat = append(flat, in...)
			}
			var tr core.Tracer
			defer tr.Close()
			tr.StartRecording(len(flat), len(x.params), core.RecordOptions{})
			want, _ := reference(p, x.ins, x.params)
			return finish(t, &tr, func(xs, params []core.Rep) []core.Rep {
				var ins [][]core.Rep
				for _, in := range x.ins {
					ins, xs = append(ins, xs[:len(in)]), xs[len(in):]
				}
				out, err := Over(p, ins, params)
				if err != nil {
					t.Fatal(err)
				}
				i := 0
				for _, g := range want {
					for _, v := range g {
						if !sameNumber(out[i].V, v) {
							t.Errorf("output %d: got %v, want %v", i, out[i].V, v)
						}
						i++
					}
				}
				return out
			}, flat, x.params)
		}
		q := over(x.p)
		for range 3 { // at the point and elsewhere, where guards may fail
			want, wantOK := reference(x.p, x.ins, x.params)
			got, ok := runMachine(q, [][]float64{flatten(x.ins)}, x.params)
			if ok != wantOK {
				t.Errorf("guards hold: got %v, want %v", ok, wantOK)
			}
			if ok {
				compare(t, "recorded again", [][]float64{flatten(got)}, [][]float64{flatten(want)}, sameNumber)
			}
			old := x.ins
			x.ins = nil
			for _, in := range old {
				x.ins = append(x.ins, directions(rng, len(in), 1))
			}
		}
		// A second time nothing changes: operations on constants are gone, lanes
		// and sums unrolled.
		x.ins = [][]float64{flatten(at)}
		if again := over(q); !Equal(again, q) {
			t.Errorf("over itself:\n%sand again:\n%s", q, again)
		}
	})
}

func flatten(v [][]float64) (flat []float64) {
	for _, w := range v {
		flat = append(flat, w...)
	}
	return flat
}

func TestOverOtherBranch(t *testing.T) {
	p := mustParse(t, "%0:2 = input x\nguardlt %0 %1 = 1\nout y [%0]\n")
	var tr core.Tracer
	tr.StartRecording(2, 0, core.RecordOptions{})
	defer tr.Close()
	_, err := Over(p, [][]core.Rep{{tr.Input(0, 2), tr.Input(1, 1)}}, nil)
	if !errors.Is(err, ErrGuard) {
		t.Errorf("got %v, want ErrGuard", err)
	}
}

func TestOutputThatIsNoNumber(t *testing.T) {
	var tr core.Tracer
	tr.StartRecording(1, 0, core.RecordOptions{})
	defer tr.Close()
	for _, id := range []int32{-1, 2} {
		if _, err := FromRecording(tr.Recorded(), []core.Rep{{Mark: core.Mark{ID: id}}}); err == nil {
			t.Errorf("id %d: no error", id)
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	r := anything
	r.customs = false
	each(t, 20, r, func(t *testing.T, rng *rand.Rand, x sample) {
		for _, p := range []*Program{x.p, Schedule(x.p), Schedule(Simplify(VJP(x.p, VJPOptions{Lanes: 2})))} {
			m := NewMachine(p)
			for i, in := range x.ins {
				copy(m.Input(i), in)
			}
			y := make([]float64, p.Outs[0].N)
			if n := testing.AllocsPerRun(5, func() { m.Run(); m.Output(0, y) }); n != 0 {
				t.Errorf("a run allocates %v times", n)
			}
		}
	})
}

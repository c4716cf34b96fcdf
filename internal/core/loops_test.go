package core

import (
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// operations records n operations of x.
func operations(x Rep, n int) {
	for range n {
		x = Apply1(rules.Neg, x)
	}
}

// recordLoops returns the runs that a recording of f keeps.
func recordLoops(f func(x Rep)) []Run {
	var t Tracer
	t.StartRecording(1, 0, RecordOptions{Loops: true})
	defer t.Close()
	f(t.Input(0, 1))
	return t.Recorded().Runs
}

// TestLoop: recordings keep the runs of iterations with as many operations as the one before that are long enough.
func TestLoop(t *testing.T) {
	// each runs a loop with so many operations in each iteration.
	each := func(x Rep, counts ...int) {
		var l Loop
		for _, n := range counts {
			l.Next()
			operations(x, n)
		}
	}
	repeat := func(n int, list ...int) []int { return slices.Repeat(list, n) }
	for _, c := range []struct {
		name string
		f    func(x Rep)
		want []Run
	}{
		{"equal iterations", func(x Rep) { operations(x, 3); each(x, repeat(20, 4)...) }, []Run{{5, 4, 19}}},
		{"the fewest", func(x Rep) { each(x, repeat(16, 2)...) }, []Run{{2, 2, 15}}},
		{"too few", func(x Rep) { each(x, repeat(15, 9)...) }, nil},
		{"few operations", func(x Rep) { each(x, repeat(31, 1)...) }, nil},
		{"one operation each", func(x Rep) { each(x, repeat(32, 1)...) }, []Run{{2, 1, 31}}},
		{"none", func(x Rep) { each(x, repeat(100, 0)...) }, nil},
		{"some iterations without any", func(x Rep) { each(x, repeat(40, 3, 0)...) }, []Run{{2, 3, 40}}},
		{"unequal iterations", func(x Rep) { each(x, repeat(40, 3, 4)...) }, nil},
		{"another length after some", func(x Rep) { each(x, append(repeat(18, 3), repeat(17, 5)...)...) },
			[]Run{{2, 3, 18}, {56, 5, 16}}},
		{"a loop within", func(x Rep) {
			var l Loop
			for range 17 {
				l.Next()
				each(x, repeat(20, 2)...)
				operations(x, 1)
			}
		}, func() (r []Run) {
			for i := range int32(17) {
				if i == 15 { // as soon as there are enough
					r = append(r, Run{2, 41, 16})
				}
				r = append(r, Run{2 + 41*i, 2, 19})
			}
			return r
		}()},
	} {
		if got := recordLoops(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLoopWithin: loops belong to the innermost recording of their goroutine that asks for them.
func TestLoopWithin(t *testing.T) {
	var none, outer, inner, plain Tracer
	loop := func(x Rep) {
		var l Loop
		for range 20 {
			l.Next()
			operations(x, 3)
		}
	}
	kept := func(t *Tracer) int { return len(t.Recorded().Runs) }
	none.StartRecording(1, 0, RecordOptions{})
	loop(none.Input(0, 1))
	outer.StartRecording(1, 0, RecordOptions{Loops: true})
	x := outer.Input(0, 1)
	loop(x)
	inner.StartRecording(1, 0, RecordOptions{Loops: true, Nested: true})
	loop(inner.Capture(x))
	plain.StartRecording(1, 0, RecordOptions{Nested: true})
	loop(plain.Input(0, 1)) // operations that are in neither
	if kept(&none) != 0 || kept(&outer) != 1 || kept(&inner) != 1 || kept(&plain) != 0 {
		t.Errorf("runs %d, %d, %d, %d", kept(&none), kept(&outer), kept(&inner), kept(&plain))
	}
	// The outer one is closed first, and opened again.
	outer.Close()
	loop(inner.Input(0, 1))
	if kept(&inner) != 2 {
		t.Errorf("%d runs after another recording has ended", kept(&inner))
	}
	inner.Close()
	outer.StartRecording(1, 0, RecordOptions{Loops: true})
	outer.StartRecording(1, 0, RecordOptions{Loops: true})
	loop(outer.Input(0, 1))
	if kept(&outer) != 1 {
		t.Errorf("%d runs of a recording that was begun again", kept(&outer))
	}
	// Other goroutines have other recordings, and one that is shared keeps none.
	done := make(chan int)
	go func() {
		var other Tracer
		other.StartRecording(1, 0, RecordOptions{Loops: true})
		defer other.Close()
		loop(other.Input(0, 1))
		done <- kept(&other)
	}()
	if n := <-done; n != 1 || kept(&outer) != 1 {
		t.Errorf("runs %d in another goroutine, and %d here", n, kept(&outer))
	}
	outer.StartRecording(1, 0, RecordOptions{Loops: true})
	outer.Begin(true, nil)
	loop(outer.Input(0, 1))
	if kept(&outer) != 0 {
		t.Errorf("%d runs of a recording that is shared", kept(&outer))
	}
	outer.StartRecording(1, 0, RecordOptions{})
	loop(outer.Input(0, 1))
	if kept(&outer) != 0 {
		t.Error("runs were kept that were not asked for")
	}
	outer.Close()
	if openRecordings.latest.Load() != nil {
		t.Error("recordings are open")
	}
}

// TestLoopOutlives: a loop that goes on in another trace does nothing.
func TestLoopOutlives(t *testing.T) {
	var tr Tracer
	var l Loop
	for range 3 {
		tr.StartRecording(1, 0, RecordOptions{Loops: true})
		x := tr.Input(0, 1)
		for range 40 {
			l.Next()
			operations(x, 2)
		}
	}
	if n := len(tr.Recorded().Runs); n != 0 {
		t.Errorf("%d runs", n)
	}
	tr.Close()
}

// TestLoopMemory: what is kept of many iterations is bounded, and a second recording allocates nothing.
func TestLoopMemory(t *testing.T) {
	var tr Tracer
	run := func() {
		tr.StartRecording(1, 0, RecordOptions{Loops: true})
		x := tr.Input(0, 1)
		var l, empty, single Loop
		for i := range 1_000_000 {
			empty.Next()
			if i < 300_000 {
				single.Next()
				operations(x, 1)
			}
		}
		for i := range 10_000 {
			l.Next()
			var in Loop
			for range 16 {
				in.Next()
				operations(x, 2)
			}
			operations(x, i%2)
		}
		tr.Close()
	}
	run()
	r := tr.Recorded()
	if n := 12 * len(r.Runs); n > 12*r.Len/30 {
		t.Errorf("%d bytes of runs, %d of operations", n, 12*r.Len)
	}
	if first := r.Runs[0]; first.Period != 1 || first.Count < 299_998 {
		t.Errorf("the first run is %v", first)
	}
	if n := testing.AllocsPerRun(1, run); n > 2 { // the view of the chunks
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkLoop measures an iteration of a loop: of a goroutine that does not record, of one that does, and with an
// operation, in loops of four iterations too.
func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name    string
		records bool
		f       func(x Rep)
	}{
		{"outside", false, func(Rep) {
			var l Loop
			for range 1000 {
				l.Next()
			}
		}},
		{"empty", true, func(Rep) {
			var l Loop
			for range 1000 {
				l.Next()
			}
		}},
		{"unmarked", true, func(x Rep) { operations(x, 1000) }},
		{"marked", true, func(x Rep) {
			var l Loop
			for range 1000 {
				l.Next()
				operations(x, 1)
			}
		}},
		{"short", true, func(x Rep) {
			for range 1000 / 4 {
				var l Loop
				for range 4 {
					l.Next()
					operations(x, 1)
				}
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var t Tracer
			t.StartRecording(1, 0, RecordOptions{Loops: c.records})
			defer t.Close()
			x := t.Input(0, 1)
			for b.Loop() {
				t.next, t.n, t.runs = t.first, 0, t.runs[:0]
				c.f(x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/iteration")
		})
	}
}

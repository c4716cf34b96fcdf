package core

import (
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestGoroutine holds that goroutines that live at the same time differ, and that one stays
// the same when its stack moves.
func TestGoroutine(t *testing.T) {
	const n = 50
	var ids [n]uintptr
	var wg, all sync.WaitGroup
	all.Add(n)
	for i := range n {
		wg.Go(func() {
			ids[i] = goroutine()
			all.Done()
			all.Wait()
			if deep(200) == 0 || goroutine() != ids[i] {
				t.Error("another goroutine after its stack grew")
			}
		})
	}
	wg.Wait()
	seen := map[uintptr]bool{0: true, goroutine(): true}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("%#x is there twice", id)
		}
		seen[id] = true
	}
}

// deep needs a large stack.
func deep(n int) int {
	var room [256]int
	if n > 0 {
		room[n%256] = deep(n - 1)
	}
	return room[n%256] + 1
}

// elsewhere does f in another goroutine.
func elsewhere(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}

// starts opens a tracer of each kind with two inputs.
var starts = map[string]func(t *Tracer){
	"record": func(t *Tracer) { t.StartRecording(2, 0, RecordOptions{Keep: true}) },
	"tape":   func(t *Tracer) { t.StartTape(2, 0) },
	"dual":   func(t *Tracer) { t.StartDual(2, 3, 0, false) },
}

// TestSecondRun: an operation elsewhere leaves no trace but the wish for another run, in
// which it does; a number of the first run is one of an earlier trace then.
func TestSecondRun(t *testing.T) {
	for name, start := range starts {
		var tr Tracer
		start(&tr)
		xs := []Rep{tr.Input(0, 2), tr.Input(1, 3)}
		var y Rep
		do := func() { y = Binary(rules.Mul, Unary(rules.Sq, xs[0], 4), xs[1], 12) }
		tr.Begin(false, nil)
		elsewhere(do)
		old := y
		if tr.next != 3 || y.V != 12 || y.T != &tr {
			t.Errorf("%s: first run: %v, next %d", name, y, tr.next)
		}
		if again, failed := tr.End(xs); !again || failed != nil {
			t.Errorf("%s: first run: again %v, %v", name, again, failed)
		}
		elsewhere(do)
		do()
		if again, failed := tr.End(xs); again || failed != nil || tr.next != 7 || y.ID != 6 || tr.Own(y) != 6 {
			t.Errorf("%s: second run: again %v, %v, %v, next %d", name, again, failed, y, tr.next)
		}
		if tr.Owns(old) {
			t.Errorf("%s: a number of the first run is one of the second", name)
		}
		elsewhere(do) // too late
		if tr.next != 7 {
			t.Errorf("%s: an operation after the end: next %d", name, tr.next)
		}
		tr.Close()
		elsewhere(do)
	}
}

// TestFailElsewhere: a panic elsewhere is kept for the end, one in the goroutine of the
// call is not.
func TestFailElsewhere(t *testing.T) {
	var tr, before Tracer
	before.StartTape(1, 0)
	kept := before.Input(0, 1)
	before.Close()
	tr.StartTape(1, 1)
	x := []Rep{tr.Input(0, 1)}
	tr.Begin(true, nil)
	do := func() { Unary(rules.Sq, Unary(rules.Sq, x[0], 1), 1) }
	elsewhere(do)
	a, ok := failedOf(t, &tr, x).(Abort)
	if _, limit := a.Err.(*LimitError); !ok || !limit {
		t.Errorf("got %v, want a LimitError", a)
	}
	tr.Begin(true, nil)
	elsewhere(func() { Binary(rules.Add, kept, x[0], 2) })
	if a, ok := failedOf(t, &tr, x).(Abort); !ok || a.Err != ErrForeignReal {
		t.Errorf("got %v, want ErrForeignReal", a)
	}
	defer func() {
		if v := recover(); v == nil {
			t.Error("no panic in the goroutine of the call")
		}
		tr.Close()
	}()
	tr.Begin(true, nil)
	do()
}

func failedOf(t *testing.T, tr *Tracer, x []Rep) any {
	again, failed := tr.End(x)
	if again || failed == nil {
		t.Errorf("again %v, failed %v", again, failed)
	}
	if _, failed := tr.End(x); failed != nil {
		t.Error("a failure is reported twice")
	}
	return failed
}

// TestUnwrittenElsewhere: an output that was not written stays one.
func TestUnwrittenElsewhere(t *testing.T) {
	var tr Tracer
	tr.StartTape(1, 0)
	defer tr.Close()
	x := tr.Input(0, 1)
	elsewhere(func() {
		for _, y := range append(Call(scale(2), []Rep{Poison()}), Unary(rules.Sq, Poison(), 1),
			Binary(rules.Add, Poison(), x, 1), Apply3(rules.FMA, Rep{}, Rep{V: 1}, Poison())) {
			if !y.Poisoned() && tr.Owns(y) == false {
				t.Errorf("%v", y)
			}
		}
		Compare(OpGuardLt, Poison(), Rep{}, false)
		Escape(OpGuardBits, Poison(), 0)
	})
}

// BenchmarkGoroutine measures the cost per operation of identifying the goroutine.
func BenchmarkGoroutine(b *testing.B) {
	var sum uintptr
	for b.Loop() {
		sum += goroutine()
	}
	if sum == 0 {
		b.Fatal("no goroutine")
	}
}

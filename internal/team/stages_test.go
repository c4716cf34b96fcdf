package team

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestStages: each task runs once, when all of the stages before are done, in each of many runs, with any number of
// processors and helpers that begin late.
func TestStages(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var ends []int
		tasks := 0
		for range rng.IntN(6) {
			tasks += rng.IntN(9)
			ends = append(ends, tasks)
		}
		stageOf := make([]int, tasks)
		before := make([]int, len(ends)) // tasks of earlier stages
		from := 0
		for i, end := range ends {
			before[i] = from
			for k := from; k < end; k++ {
				stageOf[k] = i
			}
			from = end
		}
		ran := make([]int, tasks) // written by whoever has the task, and read by the caller: the race detector looks on
		var done atomic.Int64
		wait := rng.IntN(3) == 0
		s := NewStages(1+rng.IntN(4), ends, func(task int) {
			if n := int(done.Load()); n < before[stageOf[task]] {
				t.Errorf("task %d of stage %d begins when %d tasks are done, want %d", task, stageOf[task], n,
					before[stageOf[task]])
			}
			if wait {
				time.Sleep(time.Duration(task%3) * 50 * time.Microsecond)
			}
			ran[task]++
			done.Add(1)
		})
		for run := range 20 {
			if run == 10 {
				old := runtime.GOMAXPROCS(1 + rng.IntN(4))
				defer runtime.GOMAXPROCS(old)
			}
			done.Store(0)
			if s.Run(); int(done.Load()) != tasks {
				t.Fatalf("%d of %d tasks are done at the end", done.Load(), tasks)
			}
			for k, n := range ran {
				if n != run+1 {
					t.Fatalf("run %d: task %d has run %d times", run+1, k, n)
				}
			}
		}
	}
}

// TestStagesHelp: helpers take part, and are gone at the end; a run allocates nothing.
func TestStagesHelp(t *testing.T) {
	var together, most atomic.Int32
	s := NewStages(3, []int{30, 60}, func(int) {
		if n := together.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		together.Add(-1)
	})
	if s.Run(); most.Load() < 2 || most.Load() > 3 {
		t.Errorf("%d tasks were under way at once, want 2 or 3", most.Load())
	}
	busy := func() (n int) {
		for _, h := range s.helpers {
			if h.busy.Load() {
				n++
			}
		}
		return n
	}
	for i := 0; i < 1000 && busy() > 0; i++ {
		time.Sleep(time.Millisecond)
	}
	if n := busy(); n > 0 {
		t.Errorf("%d helpers have not ended", n)
	}
	quick := NewStages(2, []int{4, 8}, func(int) {})
	if n := testing.AllocsPerRun(100, quick.Run); n > 0.5 {
		t.Errorf("a run allocates %v times", n)
	}
}

package team

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spin keeps the processor busy.
func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// TestRun: each task is run once, in ascending order for each worker, whatever their time and the number of workers.
func TestRun(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 8} {
		for _, tasks := range []int{0, 1, 2, 5, 100} {
			for _, cost := range []time.Duration{0, 20 * time.Microsecond} {
				last := make([]int, max(1, workers))
				runs := make([]atomic.Int32, tasks)
				m := New(workers, nil, func(worker, task int) error {
					if task <= last[worker] {
						t.Errorf("worker %d runs task %d after %d", worker, task, last[worker])
					}
					if task == 0 && worker > 0 {
						t.Errorf("worker %d runs task 0", worker)
					}
					last[worker] = task
					runs[task].Add(1)
					spin(cost)
					return nil
				})
				for call := range 3 {
					for i := range last {
						last[i] = -1
					}
					if err := m.Run(tasks); err != nil {
						t.Fatal(err)
					}
					for i := range runs {
						if n := int(runs[i].Load()); n != call+1 {
							t.Fatalf("%d workers, %d tasks: task %d has run %d times in %d calls", workers, tasks, i,
								n, call+1)
						}
					}
				}
			}
		}
	}
}

// TestShared: tasks that take long are divided, short ones are not.
func TestShared(t *testing.T) {
	for _, long := range []bool{true, false} {
		var mu sync.Mutex
		by := map[int]int{}
		m := New(2, nil, func(worker, task int) error {
			mu.Lock()
			by[worker]++
			mu.Unlock()
			if long {
				time.Sleep(2 * time.Millisecond)
			}
			return nil
		})
		for range 3 {
			if !long {
				m.cost = time.Nanosecond // whatever the machine did during the run before
			}
			if err := m.Run(20); err != nil {
				t.Fatal(err)
			}
		}
		if long != (by[1] > 0) {
			t.Errorf("long: %v, tasks by worker: %v", long, by)
		}
	}
}

// TestErrors: the error is that of the first task that fails, and the next run begins anew.
func TestErrors(t *testing.T) {
	bad := map[int]bool{}
	var ran atomic.Int32
	m := New(3, func(v any) error {
		if s, ok := v.(string); ok {
			return errors.New(s)
		}
		return fmt.Errorf("panic %v", v)
	}, func(worker, task int) error {
		ran.Add(1)
		spin(30 * time.Microsecond)
		switch {
		case bad[task] && task > 30:
			if worker > 0 { // that of the caller is the test
				runtime.Goexit()
			}
			return errors.New("runtime.Goexit was called")
		case bad[task] && task%2 > 0:
			panic(task)
		case bad[task]:
			return fmt.Errorf("task %d", task)
		}
		return nil
	})
	for _, c := range []struct {
		bad  []int
		want string
	}{{[]int{7, 8, 9}, "panic 7"}, {nil, "<nil>"}, {[]int{40, 6}, "task 6"},
		{[]int{45}, "runtime.Goexit was called"}, {[]int{0}, "task 0"}, {nil, "<nil>"}} {
		clear(bad)
		for _, k := range c.bad {
			bad[k] = true
		}
		ran.Store(0)
		err := m.Run(50)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%v fail: got %v, want %v", c.bad, got, c.want)
		}
		if n := int(ran.Load()); err == nil && n != 50 {
			t.Errorf("%v fail: %d tasks have run", c.bad, n)
		}
	}
	single := New(1, nil, func(int, int) error { return errors.New("no") })
	if single.Run(2) == nil {
		t.Error("one worker: no error")
	}
}

// TestNoAllocation: a run allocates nothing.
func TestNoAllocation(t *testing.T) {
	m := New(2, nil, func(int, int) error { spin(50 * time.Microsecond); return nil })
	m.Run(20)
	if n := testing.AllocsPerRun(50, func() { m.Run(20) }); n > 0.5 {
		t.Errorf("%v allocations", n)
	}
}

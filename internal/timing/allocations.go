package timing

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// Memory holds the effects of one call on memory.
type Memory struct {
	Allocs, Bytes float64
	// GC is the fraction of the processor time that the collector took, 0 if it did not run.
	GC float64
}

// Allocated measures f in as many calls as fit into a quarter of the budget. Allocs is the result of
// testing.AllocsPerRun.
func Allocated(f func() error, budget time.Duration) (Memory, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := time.Now()
	if err := f(); err != nil {
		return Memory{}, err
	}
	runs := int(min(max(budget/4/max(time.Since(start), 1), 1), 1000))
	var before, after runtime.MemStats
	gc, all := processor()
	runtime.ReadMemStats(&before)
	for range runs {
		if err := f(); err != nil {
			return Memory{}, err
		}
	}
	runtime.ReadMemStats(&after)
	gc2, all2 := processor()
	m := Memory{
		Allocs: math.Floor(float64(after.Mallocs-before.Mallocs) / float64(runs)),
		Bytes:  math.Floor(float64(after.TotalAlloc-before.TotalAlloc) / float64(runs)),
	}
	if m.Allocs == 0 {
		m.Bytes = 0 // of the runtime, not of f
	} else if all2 > all {
		m.GC = min(max((gc2-gc)/(all2-all), 0), 1)
	}
	return m, nil
}

// processor returns the processor time in seconds that the collector and the whole program have used. Both are updated
// at the end of a collection.
func processor() (gc, all float64) {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(s)
	return s[0].Value.Float64(), s[1].Value.Float64() - s[2].Value.Float64()
}

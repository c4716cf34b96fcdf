package core

import (
	"math"
	"sync"
	"sync/atomic"
)

// Generated code does not know a structural zero from another one. Where a zero meets a
// derivative that is not finite it leaves the product out and calls Skip. Which zeros
// were structural shows when the code runs again with NaN for its seeds: what anything
// has reached is NaN then, so that only structural zeros are left to skip. Such a run is
// a SkipPass. It concerns its goroutine alone; others may run the same code.

// A SkipPass is a run of generated code by one goroutine.
type SkipPass struct {
	Mark  bool   // seeds are NaN
	Fill  bool   // what is skipped is NaN, not 0
	Skips uint64 // how often Skip was called
	outer *SkipPass
}

var (
	skipped    atomic.Uint64
	skipPasses struct {
		running atomic.Int32
		mu      sync.RWMutex
		of      map[uintptr]*SkipPass // by goroutine
	}
)

// Begin says that this goroutine runs generated code now, and p is to count.
func (p *SkipPass) Begin() {
	all, me := &skipPasses, goroutine()
	p.Skips = 0
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of == nil {
		all.of = map[uintptr]*SkipPass{}
	}
	p.outer, all.of[me] = all.of[me], p
	all.running.Add(1)
}

// End ends what this goroutine began.
func (p *SkipPass) End() {
	all, me := &skipPasses, goroutine()
	all.mu.Lock()
	defer all.mu.Unlock()
	all.running.Add(-1)
	if p.outer == nil {
		delete(all.of, me)
	} else {
		all.of[me], p.outer = p.outer, nil
	}
}

// skipPass is the pass of this goroutine, nil if there is none.
func skipPass() *SkipPass {
	all := &skipPasses
	if all.running.Load() == 0 {
		return nil
	}
	all.mu.RLock()
	defer all.mu.RUnlock()
	return all.of[goroutine()]
}

// Skip is 0, and counts; in a pass with Fill it is NaN.
func Skip() float64 {
	skipped.Add(1)
	if p := skipPass(); p != nil {
		p.Skips++
		if p.Fill {
			return math.NaN()
		}
	}
	return 0
}

// Skipped is how often Skip was called, by all goroutines.
func Skipped() uint64 { return skipped.Load() }

// Seed is v, or in a pass with Mark what marks that: NaN where v is not 0.
func Seed(v float64) float64 {
	if v != 0 {
		if p := skipPass(); p != nil && p.Mark {
			return math.NaN()
		}
	}
	return v
}

// Seeds is v, or in a pass with Mark its marked copy in buf, which has its length.
func Seeds(buf, v []float64) []float64 {
	if p := skipPass(); p == nil || !p.Mark {
		return v
	}
	return Marked(buf, v)
}

// Marked writes NaN to buf where v is not 0, and 0 elsewhere.
func Marked(buf, v []float64) []float64 {
	for i, s := range v {
		buf[i] = 0
		if s != 0 {
			buf[i] = math.NaN()
		}
	}
	return buf
}

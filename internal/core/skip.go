package core

import (
	"math"
	"sync"
	"sync/atomic"
)

// Generated code does not distinguish structural zeros from others. If a zero meets a derivative that is not finite, it
// omits the product and calls Skip. To find out which zeros were structural, the code runs again with NaN for its
// seeds: everything that depends on a seed is then NaN, and only structural zeros are skipped. Such a run is a
// SkipPass. It concerns its goroutine alone; others may run the same code.

// A SkipPass observes a run of generated code by one goroutine.
type SkipPass struct {
	Mark  bool      // seeds are NaN
	Fill  bool      // skipped products are NaN, not 0
	Skips uint64    // number of calls of Skip
	outer *SkipPass // the pass of this goroutine that p interrupts, or nil
}

var (
	skipped    atomic.Uint64
	skipPasses struct {
		running atomic.Int32
		mu      sync.RWMutex
		of      map[uintptr]*SkipPass // by goroutine
	}
)

// Begin makes p the pass of this goroutine and resets its count.
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

// End ends the pass. The goroutine must be that of Begin.
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

// skipPass returns the pass of this goroutine, nil if there is none.
func skipPass() *SkipPass {
	all := &skipPasses
	if all.running.Load() == 0 {
		return nil
	}
	all.mu.RLock()
	defer all.mu.RUnlock()
	return all.of[goroutine()]
}

// Skip returns 0, or NaN in a pass with Fill, and counts the call.
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

// Skipped returns the number of calls of Skip in all goroutines.
func Skipped() uint64 { return skipped.Load() }

// Seed returns v. In a pass with Mark it returns NaN for a nonzero v.
func Seed(v float64) float64 {
	if v != 0 {
		if p := skipPass(); p != nil && p.Mark {
			return math.NaN()
		}
	}
	return v
}

// Seeds returns v. In a pass with Mark it returns buf, of the same length, filled by Marked.
func Seeds(buf, v []float64) []float64 {
	if p := skipPass(); p == nil || !p.Mark {
		return v
	}
	return Marked(buf, v)
}

// Marked sets buf[i] to NaN if v[i] is not 0, and to 0 otherwise, and returns buf.
func Marked(buf, v []float64) []float64 {
	for i, s := range v {
		buf[i] = 0
		if s != 0 {
			buf[i] = math.NaN()
		}
	}
	return buf
}

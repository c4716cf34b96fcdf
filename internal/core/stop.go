package core

import (
	"sync/atomic"

	"github.com/nabla-ad/nabla/rules"
)

// stops counts the calls of Stop with constants.
var stops atomic.Uint64

// Stop returns a as a number without derivative, which follows a in a replay.
func Stop(a Rep) Rep {
	switch {
	case a.ID == 0:
		stops.Add(1)
	case a.T != nil:
		a.T.stops.Add(1)
	}
	return Apply1(rules.Stop, a)
}

// Stops returns the number of calls of Stop so far with numbers of the innermost trace of x or, if x has constants
// only, with constants, which all goroutines count together.
func Stops(x []Rep) uint64 {
	if t := innermost(x); t != nil {
		return t.stops.Load()
	}
	return stops.Load()
}

package engine

import (
	"math"
	"slices"
)

// Surroundings is a snapshot of the data besides its argument that a function read when it was recorded: the bound
// struct, and the data that it may capture.
type Surroundings struct {
	f           *Function
	call        uint64 // the call of Keep; see Function.NewCall
	frozen, now []byte
	params      []float64
	read        []float64
}

// NewSurroundings returns the Surroundings of f. Keep must be called before Same.
func NewSurroundings(f *Function) *Surroundings { return &Surroundings{f: f} }

// Keep stores the current state of the bound struct.
func (s *Surroundings) Keep() {
	s.call = *s.f.call
	if c := s.f.def.Context; c != nil {
		s.frozen = c.Snapshot(s.frozen[:0])
		s.params = slices.Grow(s.params[:0], c.Params())[:c.Params()]
		c.Read(s.params)
	}
}

// Same reports whether a recording made at the time of Keep may still be used: the call is the same, or the bound
// struct is unchanged. It returns false if the function may have captured data that changes, since captured variables
// cannot be inspected.
func (s *Surroundings) Same() bool {
	if *s.f.call != 0 && *s.f.call == s.call {
		return true
	}
	if p := s.f.policy; s.f.def.Captures && !p.FixedCaptures && !p.NoStaleCheck {
		return false
	}
	c := s.f.def.Context
	if c == nil {
		return true
	}
	s.now = c.Snapshot(s.now[:0])
	s.read = slices.Grow(s.read[:0], c.Params())[:c.Params()]
	c.Read(s.read)
	return slices.Equal(s.now, s.frozen) && slices.EqualFunc(s.read, s.params, func(v, w float64) bool {
		return math.Float64bits(v) == math.Float64bits(w)
	})
}

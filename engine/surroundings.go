package engine

import (
	"math"
	"slices"
)

// Surroundings are what a function read besides its argument when it was recorded: the
// bound struct, and data that it may capture.
type Surroundings struct {
	f           *Function
	call        uint64 // when they were noted; see Function.NewCall
	frozen, now []byte
	params      []float64
	read        []float64
}

// NewSurroundings are those of f. Keep notes them for the first time.
func NewSurroundings(f *Function) *Surroundings { return &Surroundings{f: f} }

// Keep notes the bound struct as it is.
func (s *Surroundings) Keep() {
	s.call = *s.f.call
	if c := s.f.def.Context; c != nil {
		s.frozen = c.Snapshot(s.frozen[:0])
		s.params = slices.Grow(s.params[:0], c.Params())[:c.Params()]
		c.Read(s.params)
	}
}

// Same reports whether nothing can have changed since Keep that a recording may not
// outlive. What a function captures cannot be looked at.
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

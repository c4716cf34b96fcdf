package timingtest

import "time"

// A Clock advances only if a test advances it. The zero value shows the zero time.
type Clock struct{ t time.Time }

// Now returns the time.
func (c *Clock) Now() time.Time { return c.t }

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) { c.t = c.t.Add(d) }

// Elapsed returns by how much the clock was advanced so far.
func (c *Clock) Elapsed() time.Duration { return c.t.Sub(time.Time{}) }

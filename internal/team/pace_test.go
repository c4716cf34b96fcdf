package team

import (
	"testing"
	"time"
)

// TestPace: most runs are of the faster kind, also after that has changed, and whatever single runs take.
func TestPace(t *testing.T) {
	p := pace{helps: true, left: trial}
	count := func(runs int, alone, helped time.Duration) (helps int) {
		for i := range runs {
			now := alone
			if p.helps {
				helps++
				now = helped
			}
			if i%10 == 0 {
				now *= 30
			}
			if p.since < moving {
				now *= 3
			}
			p.took(now)
		}
		return helps
	}
	for _, c := range []struct {
		alone, helped time.Duration
		least, most   int
	}{{200, 100, 9500, 9800}, {100, 200, 200, 900}, {200, 100, 9000, 9800}} {
		if n := count(10000, c.alone*time.Microsecond, c.helped*time.Microsecond); n < c.least || n > c.most {
			t.Errorf("runs of %d µs, and %d with helpers: %d of 10000 have helpers, want %d to %d", c.alone, c.helped,
				n, c.least, c.most)
		}
	}
}

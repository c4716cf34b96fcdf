package team

import "time"

// A pace decides whether runs have helpers: those of the kind that took less time do, but for trials of the other kind.
type pace struct {
	helps bool
	trial bool // the runs of this kind are a trial
	since int  // runs of this kind so far
	left  int  // those that are still to come
	// Times of runs without and with helpers, about the mean of the last ones; 0 if there are none.
	times [2]time.Duration
}

const (
	period = 250 // runs between two trials
	trial  = 8   // runs of a trial
	moving = 4   // the first ones of a kind do not count: their data is near another processor
	clip   = 4   // a time counts as at most so many times the mean: a run may have been interrupted
)

// took notes the time of a run, and decides on the next one.
func (p *pace) took(now time.Duration) {
	if p.since++; p.since > moving {
		if t := &p.times[kind(p.helps)]; *t == 0 {
			*t = max(1, now)
		} else {
			*t = (7**t + min(now, clip**t)) / 8
		}
	}
	if p.left--; p.left > 0 {
		return
	}
	helps := !p.helps
	if p.trial {
		helps = p.times[1] < p.times[0]
	}
	if p.trial, p.left = !p.trial, trial; !p.trial {
		p.left = period
	}
	if p.helps != helps {
		p.helps, p.since = helps, 0
	}
}

func kind(helps bool) int {
	if helps {
		return 1
	}
	return 0
}

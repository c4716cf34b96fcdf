package gen

import "time"

// A Time is the time that a stage took.
type Time struct {
	Stage string
	Time  time.Duration
}

// Times returns the times of the stages so far, in the order in which they began. Stages of several packages are added
// up.
func (p *Program) Times() []Time { return p.times }

// timed adds the time since began to a stage.
func (p *Program) timed(stage string, began time.Time) {
	for i := range p.times {
		if p.times[i].Stage == stage {
			p.times[i].Time += time.Since(began)
			return
		}
	}
	p.times = append(p.times, Time{stage, time.Since(began)})
}

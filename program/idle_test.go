package program

import (
	"math/rand/v2"
	"testing"
)

// TestWithoutIdle: statements are divided where lanes on which an output or a guard depends meet others, and nowhere
// else.
func TestWithoutIdle(t *testing.T) {
	divided := 0
	each(t, 200, anything, func(t *testing.T, _ *rand.Rand, x sample) {
		p := x.p
		live := make([]bool, p.Slots)
		for _, s := range p.Result {
			live[s] = true
		}
		want := 0
		for i := len(p.Stmts) - 1; i >= 0; i-- {
			s := &p.Stmts[i]
			want++
			if !s.wide() {
				on := s.Op.Guard()
				for l := range s.Width() {
					on = on || live[s.D+l]
				}
				if on {
					for _, slot := range p.reads(nil, s) {
						live[slot] = true
					}
				}
				continue
			}
			per := int(s.terms() / s.N)
			for l := range s.N {
				if l > 0 && live[s.D+l] != live[s.D+l-1] {
					want++
					divided++
				}
				if !live[s.D+l] {
					continue
				}
				for _, o := range s.Operands() {
					for _, slot := range addresses(p, o, int(s.terms()))[int(l)*per:][:per] {
						live[slot] = true
					}
				}
			}
		}
		q := withoutIdle(p)
		if len(q.Stmts) != want {
			t.Errorf("got %d statements, want %d, in\n%s", len(q.Stmts), want, q)
		}
		compare(t, "divided", run(t, "divided", q, x.ins, x.params), run(t, "before", p, x.ins, x.params), sameBits)
	})
	if divided < 100 {
		t.Errorf("%d divisions: the test sees too few", divided)
	}
}

package gonumopt

import "testing"

// TestPredictor learns patterns of outcomes: after a while it predicts constant and alternating ones.
func TestPredictor(t *testing.T) {
	for pattern, wrong := range map[string]int{"y": 4, "n": 0, "yn": 8, "nnnnnnnnny": 8} {
		p, errors := newPredictor(), 0
		for i := range 40 {
			yes := pattern[i%len(pattern)] == 'y'
			if p.yes() != yes {
				errors++
			}
			p.add(yes)
		}
		if errors > wrong {
			t.Errorf("%q: %d predictions of 40 are wrong, want %d at most", pattern, errors, wrong)
		}
	}
}

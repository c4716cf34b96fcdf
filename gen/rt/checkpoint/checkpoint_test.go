package checkpoint_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
)

// A reversal holds the cost of reversing a loop by the schedule.
type reversal struct {
	forward   int   // steps that were run
	runs      []int // of each step
	snapshots int   // the most that there were
	together  int   // the most steps that were reversed at once
}

// reverse reverses n steps with as many snapshots, and fails where a step is not reversed
// in its turn.
func reverse(t *testing.T, n, snapshots, steps int) reversal {
	t.Helper()
	return continued(t, n, snapshots, steps, []int{0})
}

// continued reverses n steps where there are snapshots already.
func continued(t *testing.T, n, snapshots, steps int, at []int) reversal {
	t.Helper()
	out := reversal{runs: make([]int, n)}
	for end := n; end > 0; {
		now := at[len(at)-1]
		for {
			to := checkpoint.Next(now, end, snapshots-len(at), steps)
			if to < now || to > end || to == end && to != now {
				t.Fatalf("n=%d snapshots=%d steps=%d: from %d to %d of %d", n, snapshots, steps, now, to, end)
			}
			if to == now {
				break
			}
			for i := now; i < to; i++ {
				out.forward++
				out.runs[i]++
			}
			now = to
			if len(at) < snapshots {
				at = append(at, now)
			}
			out.snapshots = max(out.snapshots, len(at))
		}
		out.together = max(out.together, end-now)
		if end = now; end == at[len(at)-1] {
			at = at[:len(at)-1]
		}
		if end > 0 && len(at) == 0 {
			t.Fatalf("n=%d snapshots=%d steps=%d: no snapshot before step %d", n, snapshots, steps, end)
		}
	}
	return out
}

// TestOptimal compares with the closed form for the least number of steps that are run:
// r·n − C(s+r, s+1), with the smallest r for which C(s+r, s) is at least n; and that with
// the best of all schedules, found by dynamic programming.
func TestOptimal(t *testing.T) {
	const most = 120
	best := make([][]int, 9) // by snapshots and steps
	for s := range best {
		best[s] = make([]int, most+1)
		for n := 2; s > 0 && n <= most; n++ {
			best[s][n] = n * (n - 1) / 2 // without another snapshot
			for d := 1; s > 1 && d < n; d++ {
				best[s][n] = min(best[s][n], d+best[s-1][n-d]+best[s][d])
			}
		}
	}
	for s := 1; s < len(best); s++ {
		for n := 1; n <= most; n++ {
			r := 0
			for binomial(s+r, s) < n {
				r++
			}
			if closed := r*n - binomial(s+r, s+1); closed != best[s][n] {
				t.Fatalf("%d steps, %d snapshots: the closed form is %d, the best schedule has %d", n, s, closed,
					best[s][n])
			}
			got := reverse(t, n, s, 1)
			if got.forward != best[s][n] || got.snapshots > s || got.together > 1 {
				t.Errorf("%d steps, %d snapshots: %+v, want %d steps", n, s, got, best[s][n])
			}
			for i, k := range got.runs {
				if k > r {
					t.Errorf("%d steps, %d snapshots: step %d is run %d times, want at most %d", n, s, i, k, r)
				}
			}
		}
	}
}

func binomial(n, k int) int { return int(new(big.Int).Binomial(int64(n), int64(k)).Int64()) }

// TestSteps checks schedules that reverse several steps at once.
func TestSteps(t *testing.T) {
	for _, n := range []int{1, 2, 7, 50, 101, 1000} {
		for _, s := range []int{1, 2, 5, 30} {
			for _, steps := range []int{1, 3, 10, 2000} {
				got := reverse(t, n, s, steps)
				if got.snapshots > s || got.together > steps {
					t.Errorf("%d steps, %d snapshots, %d at once: %+v", n, s, steps, got)
				}
				parts := (n + steps - 1) / steps
				if want := reverse(t, parts, s, 1).forward * steps; got.forward > want {
					t.Errorf("%d steps, %d snapshots, %d at once: %d steps are run, want at most %d", n, s, steps,
						got.forward, want)
				}
			}
		}
	}
}

// TestLevels checks that each level costs less than one run of all steps, with about as
// many snapshots and steps at once as the root says.
func TestLevels(t *testing.T) {
	for levels := 2; levels <= 4; levels++ {
		for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 1000, 5000} {
			k := checkpoint.Size(n, levels)
			got := reverse(t, n, k, k)
			if got.forward > n*(levels-1) || n > 1 && levels == 2 && got.forward >= n {
				t.Errorf("%d steps, %d levels: %d steps are run", n, levels, got.forward)
			}
			if k > 1 && checkpoint.Reach(k-1, levels-1)*(k-1) >= n {
				t.Errorf("%d steps, %d levels: %d snapshots, fewer would do", n, levels, k)
			}
			factorial := math.Gamma(float64(levels))
			if bound := math.Pow(factorial*float64(n), 1/float64(levels)); float64(k) > bound+2 {
				t.Errorf("%d steps, %d levels: %d snapshots, want about %.0f", n, levels, k, bound)
			}
		}
	}
}

// TestUnknown reverses loops that end where nobody knows, as the code of package
// adjoint does: no step is run much more often than where the end is known.
func TestUnknown(t *testing.T) {
	for _, snapshots := range []int{2, 3, 8, 20} {
		for _, n := range []int{1, 2, 5, 30, 39, 40, 41, 500, 3000} {
			at, stride := []int{}, 1
			for now := 0; now < n; now++ {
				if len(at) >= snapshots {
					at, stride = thinned(at), stride*2
				}
				if now%stride == 0 && len(at) < snapshots {
					at = append(at, now)
				}
			}
			if len(at) > (snapshots+1)/2 {
				at = thinned(at)
			}
			got := continued(t, n, snapshots, 1, at)
			if want := reverse(t, n, (snapshots+1)/2, 1).forward; got.forward > want || got.snapshots > snapshots {
				t.Errorf("%d steps, %d snapshots: %d steps are run, with half of them from the start %d", n, snapshots,
					got.forward, want)
			}
		}
	}
}

func thinned(at []int) (out []int) {
	for i := 0; i < len(at); i += 2 {
		out = append(out, at[i])
	}
	return out
}

func TestReach(t *testing.T) {
	for s := range 30 {
		for r := range 30 {
			if got, want := checkpoint.Reach(s, r), binomial(s+r, s); got != want {
				t.Errorf("%d snapshots, %d runs: %d, want %d", s, r, got, want)
			}
		}
	}
	if got := checkpoint.Reach(1000, 1000); got != int(^uint(0)>>1) {
		t.Errorf("1000 snapshots, 1000 runs: %d", got)
	}
}

// TestLeast: fewer snapshots than none are none, and fewer steps at once than one are one.
func TestLeast(t *testing.T) {
	for _, c := range [][2]int{{0, -1}, {0, 0}, {3, 0}, {3, -2}, {-1, 1}, {-2, 0}} {
		free, steps := c[0], c[1]
		for end := range 9 {
			want := checkpoint.Next(0, end, max(free, 0), max(steps, 1))
			if got := checkpoint.Next(0, end, free, steps); got != want {
				t.Fatalf("Next(0, %d, %d, %d) = %d, want %d", end, free, steps, got, want)
			}
		}
	}
}

// TestFit: as many snapshots as fit, one for each step at most, and one at least.
func TestFit(t *testing.T) {
	for _, c := range [][4]int{ // steps, KiB, bytes, snapshots
		{1000, 1, 24, 42}, {1000, 1, 1024, 1}, {1000, 1, 1025, 1}, {10, 1, 24, 10}, {0, 1, 24, 1}, {1000, 64, 64, 1000},
		{math.MaxInt32, math.MaxInt32, 1 << 20, 2097151}, {5, 0, 0, 1}, {-1, -1, -1, 1},
	} {
		if got := checkpoint.Fit(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("Fit(%d, %d, %d) = %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}

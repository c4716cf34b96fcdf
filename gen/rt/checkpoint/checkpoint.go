// Package checkpoint decides when the reverse sweep of a long loop takes snapshots.
//
// A loop of n steps is reversed from its last step to its first, and each step needs the
// state before it. Where not all states can be kept, some are, as snapshots, and the
// others are computed again from the snapshot before them:
//
//	for end := n; end > 0; {
//		at := the step of the latest snapshot, whose state is taken up
//		for {
//			to := checkpoint.Next(at, end, free, steps)
//			if to == at {
//				break
//			}
//			run the steps from at to to, and take a snapshot there if one is free
//			at = to
//		}
//		reverse the steps from at to end, with all that they keep
//		end = at, and if the latest snapshot is of this step it becomes free
//	}
//
// The first run of the loop takes snapshots in the same way, from a snapshot before step 0
// on. The schedule is binomial: s snapshots and r runs of each step suffice for
// C(s+r, s) steps, and no schedule needs fewer steps to be run.
//
// Where n is not known before the loop ends, a snapshot is taken every stride steps, first
// every one; where there are too many, every other one is given up and the stride doubles.
// With a bound on snapshots half of them are given up at the end, so that there are some for
// the steps between those that are left.
//
// The schedule follows Griewank & Walther, "Algorithm 799: revolve", ACM Trans. Math.
// Softw. 26 (2000).
package checkpoint

// Next is up to where the steps from at on are run before the next snapshot, where the
// steps behind end are reversed already. It is at itself where the steps from at to end
// are to be reversed at once, which are no more than steps. Free is how many snapshots
// there can be besides that at step at; with none the state of the last steps is
// computed without.
//
// Next expects 0 ≤ at ≤ end, free ≥ 0 and steps ≥ 1; smaller numbers stand for these.
func Next(at, end, free, steps int) int {
	free, steps = max(free, 0), max(steps, 1)
	if end-at <= steps {
		return at
	}
	n := (end-at-1)/steps + 1 // parts of as many steps
	if free == 0 {
		return at + (n-1)*steps
	}
	return at + first(n, free+1)*steps
}

// first is how many of n parts are run before the next of s snapshots, s and n being at
// least 2.
func first(n, s int) int {
	// All of them can be reversed in r runs at most, and not in fewer.
	r := 1
	for Reach(s, r) < n {
		r++
	}
	// What is behind may take r runs with one snapshot less, what is before r-1 runs.
	return max(1, min(Reach(s, r-1), n-Reach(s-1, r-1)))
}

// Endless is a number of steps that no loop comes to.
func Endless() int { return int(^uint(0) >> 1) }

// Reach is how many steps can be reversed with s snapshots and no more than r runs of any
// step besides the reversal itself: C(s+r, s). Numbers that are too large are the largest
// there is.
func Reach(s, r int) int {
	const largest = int(^uint(0) >> 1)
	k, n := min(s, r), s+r
	if k < 0 {
		return 0
	}
	out := 1
	for i := 1; i <= k; i++ {
		f := n - k + i
		if out > largest/f {
			return largest
		}
		out = out * f / i // C(n-k+i, i)
	}
	return out
}

// Size is how many snapshots, and how many steps that are reversed at once, suffice for n
// steps with levels-1 runs of each besides its reversal: for two levels about the square
// root of n, for three about the cube root of 2n. Levels below 2 stand for 2.
func Size(n, levels int) int {
	levels = max(levels, 2)
	enough := func(k int) bool { return Reach(k, levels-1) >= (n+k-1)/k }
	hi := 1
	for !enough(hi) {
		hi *= 2
	}
	lo := hi / 2 // not enough, or 0
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

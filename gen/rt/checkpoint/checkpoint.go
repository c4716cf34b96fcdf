// Package checkpoint computes the checkpointing schedules of adjoint loops.
//
// A loop of n steps is reversed from its last step to its first, and each step needs the state
// before it. If not all states can be stored, some are, as snapshots, and the others are recomputed
// by advancing from the latest snapshot before them:
//
//	for end := n; end > 0; {
//		at := the step of the latest snapshot, whose state is restored
//		for {
//			to := checkpoint.Next(at, end, free, steps)
//			if to == at {
//				break
//			}
//			advance from step at to step to, and take a snapshot there if one is free
//			at = to
//		}
//		run the steps from at to end with recording, and reverse them
//		end = at, and if the latest snapshot is of this step it becomes free
//	}
//
// The forward sweep takes snapshots in the same way, starting with one before step 0. The schedule
// is binomial: s snapshots and r runs of each step suffice for C(s+r, s) steps, and no schedule
// needs fewer runs of steps.
//
// If n is not known before the loop ends, a snapshot is taken every stride steps, at first after
// every step; when the limit is reached, every other snapshot is dropped and the stride doubles.
// With a limit on snapshots, half of them are dropped at the end, so that there are free ones for
// the steps between those that remain.
//
// The schedule follows Griewank & Walther, "Algorithm 799: revolve", ACM Trans. Math. Softw. 26
// (2000).
package checkpoint

// Next returns the step to which to advance from step at before the next snapshot, given that the
// steps from end on are reversed already. It returns at if the steps from at to end, at most steps
// of them, are to be reversed as one segment. free is the number of snapshots that can be taken
// besides the one at step at; with none, the state of the last segment is recomputed without a
// snapshot.
//
// Next expects 0 ≤ at ≤ end, free ≥ 0 and steps ≥ 1; smaller values of free and steps are replaced
// by these bounds.
func Next(at, end, free, steps int) int {
	free, steps = max(free, 0), max(steps, 1)
	if end-at <= steps {
		return at
	}
	n := (end-at-1)/steps + 1 // number of segments
	if free == 0 {
		return at + (n-1)*steps
	}
	return at + first(n, free+1)*steps
}

// first returns the number of n segments to advance over before the next of s snapshots; s and n
// are at least 2.
func first(n, s int) int {
	// r is the smallest number of runs that suffices for all segments.
	r := 1
	for Reach(s, r) < n {
		r++
	}
	// The segments after the snapshot may take r runs with one snapshot less, those before it r-1
	// runs.
	return max(1, min(Reach(s, r-1), n-Reach(s-1, r-1)))
}

// Endless returns a number of steps that no loop reaches.
func Endless() int { return int(^uint(0) >> 1) }

// Reach returns the number of steps that can be reversed with s snapshots and at most r runs of any
// step besides the reversal itself: C(s+r, s), or the largest int if that is larger.
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

// Size returns a number of snapshots, which is also that of steps per segment, that suffices for n
// steps with levels-1 runs of each besides its reversal: for two levels about the square root of n,
// for three about the cube root of 2n. Levels below 2 stand for 2.
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

// Fit returns the number of snapshots of the given number of bytes for n steps in a memory of kib KiB: as many as fit,
// at most n, and at least one.
func Fit(n, kib, bytes int) int {
	fit := uint64(max(kib, 0)) << 10 / uint64(max(bytes, 1))
	return max(1, int(min(fit, uint64(max(n, 0)))))
}

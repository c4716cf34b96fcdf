package bench

import (
	"math"
	"slices"
)

// spread returns positions near the given ones, in their order, that have a distance of at least gap and are between
// from and to if there is room.
func spread(at []float64, gap, from, to float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	if room := to - from; float64(len(at)-1)*gap > room && len(at) > 1 {
		gap = room / float64(len(at)-1)
	}
	out := make([]float64, len(at))
	next := from
	for _, i := range order {
		out[i] = max(at[i], next)
		next = out[i] + gap
	}
	last := to
	for _, i := range slices.Backward(order) {
		out[i] = min(out[i], last)
		last = out[i] - gap
	}
	return out
}

// lanes returns a lane for each position, from 0 to n-1, so that marks in the same lane have a distance of at least
// size if that is possible. A mark is near the middle lane if there is room.
func lanes(at []float64, n int, size float64) []int {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, at[a]-at[b])) })
	last := make([]float64, n)
	for i := range last {
		last[i] = math.Inf(-1)
	}
	out := make([]int, len(at))
	for _, i := range order {
		best := -1
		for k := range n { // the middle, then outwards
			lane := n/2 + (k+1)/2*(1-2*(k%2))
			if lane < 0 || lane >= n {
				continue
			}
			if at[i]-last[lane] >= size {
				best = lane
				break
			}
			if best < 0 || last[lane] < last[best] {
				best = lane
			}
		}
		out[i], last[best] = best, at[i]
	}
	return out
}

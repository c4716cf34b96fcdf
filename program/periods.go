package program

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
)

// A stretch is a part of a sequence that repeats: count iterations of period elements each, from start on.
type stretch struct{ start, period, count int }

// end returns the position after the last iteration.
func (s stretch) end() int { return s.start + s.period*s.count }

const (
	window          = 1 << 16              // in which periods are looked for
	leastIterations = core.LeastIterations // of a stretch
	longestPeriod   = window / leastIterations
	leastStretch    = 64 // elements that a period must cover to be of use
	triedPeriods    = 16 // in each window, the most frequent ones
)

// A finder finds the stretches of a sequence of codes. A period is the distance of equal groups of eight codes; the
// ones that are most frequent in a window are tried on all of it. The period that covers most is taken first: the body
// of the outermost loop of a nest, unless an inner loop covers as much.
type finder struct {
	codes   []byte
	take    taker
	found   []stretch
	last    []int32     // hash of a group → where it was seen last, +1
	count   []int32     // period → number of groups
	periods []int       // that have not been taken or refused, ascending
	covers  []int       // period → codes in its stretches
	refused map[int]int // period → the end of the last stretch that is no loop
	reach   map[int]gap // period → the last part, beyond a window, that repeats with it
	gaps    []gap
}

// A gap is a part of the codes, from lo to before hi, in which no stretch has been found.
type gap struct{ lo, hi int }

// A taker returns the part of a stretch, and of an incomplete iteration after it up to an end, that is a loop, and
// reports whether there is one. The search goes on at next, which is behind the loop or, if there is none, the start.
type taker func(s stretch, end int) (loop stretch, ok bool, next int)

// stretches returns the loops in codes in order, each in one of the given parts, which ascend. tick is called for each
// window.
func stretches(codes []byte, parts []gap, take taker, tick func()) []stretch {
	f := &finder{codes: codes, take: take, last: make([]int32, window), count: make([]int32, longestPeriod+1),
		refused: map[int]int{}, reach: map[int]gap{}}
	for _, g := range parts {
		for g.hi-g.lo >= leastStretch {
			tick()
			g.lo = f.window(g.lo, min(g.lo+window, g.hi), g.hi)
		}
	}
	slices.SortFunc(f.found, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	return f.found
}

// window finds the stretches that begin between lo and hi. They end at limit or before it. It returns the end of the
// window, or that of the last stretch if that is behind it.
func (f *finder) window(lo, hi, limit int) int {
	f.candidates(lo, hi)
	f.gaps = append(f.gaps[:0], gap{lo, hi})
	next := hi
	f.measure()
	for {
		best, covered := -1, leastStretch-1
		for k, c := range f.covers { // the periods ascend: a longer one has to cover more
			if c > covered+covered/50 {
				best, covered = k, c
			}
		}
		if best < 0 {
			return next
		}
		period, found := f.periods[best], len(f.found)
		f.periods = slices.Delete(f.periods, best, best+1)
		f.covers = slices.Delete(f.covers, best, best+1)
		next = max(next, f.cover(period, hi, limit))
		if len(f.found) > found {
			f.measure()
		}
	}
}

// measure counts the codes that each of the periods covers in the gaps.
func (f *finder) measure() {
	f.covers = f.covers[:0]
	for _, p := range f.periods {
		c := 0
		for _, g := range f.gaps {
			f.each(p, g.lo, g.hi, func(s stretch, end int) int {
				c += s.period * s.count
				return end
			})
		}
		f.covers = append(f.covers, c)
	}
}

// candidates sets periods to those that are most frequent from lo to hi.
func (f *finder) candidates(lo, hi int) {
	size := min(bits.Len(uint(hi-lo))+2, 16) // a small part between loops takes little memory to clear
	last := f.last[:1<<size]
	clear(last)
	clear(f.count[:min(hi-lo, longestPeriod)+1])
	f.periods = f.periods[:0]
	for i := lo; i+8 <= hi; i++ {
		group := binary.LittleEndian.Uint64(f.codes[i:])
		at := group * 0x9e3779b97f4a7c15 >> (64 - size)
		before := int(last[at]) - 1
		last[at] = int32(i-lo) + 1
		if before < 0 || binary.LittleEndian.Uint64(f.codes[lo+before:]) != group {
			continue
		}
		if p := i - lo - before; p <= longestPeriod {
			if f.count[p] == 0 {
				f.periods = append(f.periods, p)
			}
			f.count[p]++
		}
	}
	slices.SortFunc(f.periods, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.count[b], f.count[a]), cmp.Compare(a, b))
	})
	f.periods = f.periods[:min(len(f.periods), triedPeriods)]
	slices.Sort(f.periods)
}

// each calls do for the stretches of a period from lo to hi, with the end of what repeats. do returns where the next
// one may begin.
func (f *finder) each(period, lo, hi int, do func(s stretch, end int) int) {
	least := period * (leastIterations - 1) // codes that equal those a period later, in a stretch
	for i := lo; i+least+period <= hi; {
		k := i + least - 1
		for k >= i && f.codes[k] == f.codes[k+period] {
			k--
		}
		if k >= i { // no stretch begins before this one
			i = k + 1
			continue
		}
		end := repeats(f.codes, i+least, period, hi)
		i = do(stretch{i, period, (end - i) / period}, end)
	}
}

// repeats returns the end, hi at most, of the part from i on in which each code equals that a period before it.
func repeats(codes []byte, i, period, hi int) int {
	x, y := codes[i:hi-period], codes[i+period:hi]
	k := 0
	for ; k+8 <= len(x); k += 8 {
		if d := binary.LittleEndian.Uint64(x[k:]) ^ binary.LittleEndian.Uint64(y[k:]); d != 0 {
			return i + period + k + bits.TrailingZeros64(d)/8
		}
	}
	for k < len(x) && x[k] == y[k] {
		k++
	}
	return i + period + k
}

// extent is repeats for a stretch that goes on behind a window. Of one that ends many times, where its iterations begin
// to depend on each other, the end of the codes is found once.
func (f *finder) extent(i, period, limit int) int {
	r := f.reach[period]
	if i < r.lo || i >= r.hi-period || r.hi > limit {
		r = gap{i, repeats(f.codes, i, period, limit)}
		f.reach[period] = r
	}
	return r.hi
}

// cover takes the stretches of a period out of the gaps. Those that reach the end hi of the window extend up to limit.
// It returns the end of the last one.
func (f *finder) cover(period, hi, limit int) int {
	var gaps []gap
	last := 0
	for _, g := range f.gaps {
		lo := g.lo
		f.each(period, g.lo, g.hi, func(s stretch, end int) int {
			if end == hi {
				if s.start < f.refused[period] {
					return end
				}
				end = f.extent(s.start, period, limit)
				s.count = (end - s.start) / period
			}
			s, ok, next := f.take(s, end)
			if !ok {
				if next == end {
					f.refused[period] = end
				}
				return next
			}
			f.found = append(f.found, s)
			if s.start > lo {
				gaps = append(gaps, gap{lo, s.start})
			}
			lo = s.end()
			last = max(last, lo)
			return next
		})
		if lo < g.hi {
			gaps = append(gaps, gap{lo, g.hi})
		}
	}
	f.gaps = gaps
	return last
}

package program

import "slices"

// Equal statements come in program order, and those of a loop are repeated in it: each reads, some statements later,
// slots that are as far from its own as in the iteration before. Statements of many lanes are made of such progressions
// where there are some, since contiguous operands, and those at equal distances, take less time than listed ones.

const (
	leastLanes = 16   // the shortest progression that gets a statement of its own
	mostStep   = 2048 // the longest body, in statements of one kind
	mostTries  = 64   // the number of statements that a progression is sought from
	effort     = 4    // comparisons for each statement after which the search ends
)

// emitProgressions appends statements that merge the given ones, which are equal and independent.
func (r *rewriter) emitProgressions(stmts []int32) {
	if len(stmts) < leastLanes {
		r.emit(stmts)
		return
	}
	s := newSteps(r, stmts)
	from := 0 // the first statement that is not emitted
	for at := 0; len(stmts)-at >= leastLanes && at-from < mostTries && s.left > 0; {
		step, count := s.find(at)
		if step == 0 {
			at++
			continue
		}
		if from < at {
			r.emit(stmts[from:at])
		}
		lanes := make([]int32, count)
		for j := range step {
			for i := range lanes {
				lanes[i] = stmts[at+j+i*step]
			}
			if s.backward(at+j, step) {
				slices.Reverse(lanes)
			}
			r.emit(lanes)
		}
		at += step * count
		from = at
	}
	if from < len(stmts) {
		r.emit(stmts[from:])
	}
}

// Steps has the slots that equal statements read.
type steps struct {
	n, reads int     // statements, and slots that each reads
	slots    []int32 // statement after statement
	left     int     // comparisons that may be made
}

// newSteps returns the slots of the new program that stmts read.
func newSteps(r *rewriter, stmts []int32) *steps {
	s := &steps{n: len(stmts)}
	for _, i := range stmts {
		t := &r.src.Stmts[i]
		ops := [3]Operand{t.A, t.B, t.C}
		for _, o := range ops[:t.Op.Arity()] {
			for l := range t.terms() {
				s.slots = append(s.slots, r.slot[r.src.at(o, l)])
			}
		}
		if s.reads == 0 {
			s.reads = len(s.slots)
			s.slots = slices.Grow(s.slots, s.reads*len(stmts))
		}
	}
	s.left = effort * len(s.slots)
	return s
}

// find returns the step for which the statements from a number on form progressions, and the number of them in each: of
// at least half of the statements, or otherwise the most. Step is 0 if there are less than leastLanes.
func (s *steps) find(at int) (step, count int) {
	covered := 0
	for q := 1; q <= min(mostStep, (s.n-at)/leastLanes) && s.left > 0; q++ {
		n := s.continues(at, q) / q
		if n < leastLanes || n*q <= covered {
			continue
		}
		if step, count, covered = q, n, n*q; 2*covered >= s.n-at {
			break
		}
	}
	return step, count
}

// continues returns the number of statements from at on of which each reads slots as far from those of the statement
// q before it as that from the one before.
func (s *steps) continues(at, q int) int {
	slots, back := s.slots[at*s.reads:], q*s.reads
	k := 2 * back
	for ; k < len(slots); k++ {
		if slots[k]-slots[k-back] != slots[k-back]-slots[k-2*back] {
			break
		}
	}
	s.left -= k - 2*back + 1
	return k / s.reads
}

// backward reports whether the first slot that statement i and the one step after it do not share descends.
func (s *steps) backward(i, step int) bool {
	x := s.slots[i*s.reads : (i+1)*s.reads]
	for k, slot := range s.slots[(i+step)*s.reads : (i+step+1)*s.reads] {
		if slot != x[k] {
			return slot < x[k]
		}
	}
	return false
}

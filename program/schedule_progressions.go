package program

import "slices"

// Equal statements come in program order, and those of a loop are repeated in it: each reads, some statements later,
// slots that are as far from its own as in the iteration before. Statements of many lanes are made of such progressions
// where there are some, since contiguous operands, and those at equal distances, take less time than listed ones.

const (
	leastLanes = 16   // the shortest progression that gets a statement of its own
	mostStep   = 2048 // the longest body, in statements of one kind
	mostTries  = 16   // the number of statements that a progression is sought from
	enough     = 64   // lanes, of which there need not be more
	effort     = 4    // comparisons for each statement after which the search ends
)

// emitProgressions appends statements that merge the given ones, which are equal and independent.
func (r *rewriter) emitProgressions(stmts []int32) {
	if len(stmts) < leastLanes {
		r.emit(stmts)
		return
	}
	s := newSteps(r, stmts)
	var rest []int32 // in no progression
	for at := 0; at < len(stmts); {
		first, step, count := s.next(at)
		rest = append(rest, stmts[at:first]...)
		lanes := make([]int32, count)
		for j := range step {
			for i := range lanes {
				lanes[i] = stmts[first+j+i*step]
			}
			if s.backward(first+j, step) {
				slices.Reverse(lanes)
			}
			r.emit(lanes)
		}
		at = first + step*count
	}
	if len(rest) > 0 {
		r.emit(rest)
	}
}

// Steps has the slots that equal statements read.
type steps struct {
	n, reads int     // statements, and slots that each reads
	slots    []int32 // statement after statement
	left     int     // comparisons that may be made
	last     int     // the step that was found last, 0 if none was
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

// next returns the first of the statements from a number on that begins progressions, their step, and the number of
// statements in each. It is the end, and step 0, if there are none.
func (s *steps) next(at int) (first, step, count int) {
	for i := at; i < min(at+mostTries, s.n) && s.last > 0; i++ { // of the same loop, after an exception
		if n := s.continues(i, s.last) / s.last; n >= leastLanes {
			return i, s.last, n
		}
	}
	for i := at; i < min(at+mostTries, s.n) && s.left > 0; i++ {
		if step, count := s.find(i); step > 0 {
			s.last = step
			return i, step, count
		}
	}
	return s.n, 0, 0
}

// find returns the best step for progressions from a statement on, and the number of statements in each, at least
// leastLanes: many, if they are next to each other better than if not. Step is 0 if there is none.
func (s *steps) find(at int) (step, count int) {
	best := 0
	for q := 1; q <= min(mostStep, (s.n-at)/leastLanes) && s.left > 0; q++ {
		n := s.continues(at, q) / q
		if n < leastLanes {
			continue
		}
		score := min(n, enough)
		if s.neighbours(at, q) {
			score *= 2
		}
		if score > best {
			step, count, best = q, n, score
		}
		if best >= 2*enough || best >= enough && 2*step*count >= s.n-at {
			break
		}
	}
	return step, count
}

// neighbours reports whether the slots that statements a step apart read are the same or next to each other.
func (s *steps) neighbours(at, step int) bool {
	from := at * s.reads
	for k := from; k < from+step*s.reads; k++ {
		if d := s.slots[k+step*s.reads] - s.slots[k]; d < -1 || d > 1 {
			return false
		}
	}
	return true
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

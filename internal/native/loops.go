package native

// Recorded loops are instructions that repeat with slots at fixed distances. Their code is a loop again: it is small,
// so that it stays near the processor, which decodes long code slower than it runs it.

// A segment is a stretch of the instructions: a loop of period instructions, or straight code if period is 0.
type segment struct{ from, to, period int }

const (
	mostPeriod  = 4096 // the longest body
	leastCount  = 4    // the fewest iterations
	leastLength = 64   // the fewest instructions of all iterations
	body        = 24   // shorter bodies are unrolled to about this
)

// grams are numbers of instructions that are compared to find a repetition. Long ones find the outer of two loops, of
// which the inner ones are not many instructions.
var grams = []int{64, 8}

// split appends the segments of code[from:to] to list. Straight ones have at most blockLength instructions, and so have
// loops unless two iterations are longer.
func split(list []segment, code []Instr, from, to int) []segment {
	d := newDetector(code[from:to], from)
	for _, s := range d.loops(code, from, to, grams) {
		if s.period > 0 {
			list = append(list, s)
			continue
		}
		for at := s.from; at < s.to; at += blockLength {
			list = append(list, segment{at, min(at+blockLength, s.to), 0})
		}
	}
	return list
}

// loops returns the segments of code[from:to], with the loops that repetitions of the grams lead to.
func (d *detector) loops(code []Instr, from, to int, grams []int) (list []segment) {
	if len(grams) == 0 {
		return []segment{{from, to, 0}}
	}
	straight := func(to int) {
		if from < to {
			list = append(list, d.loops(code, from, to, grams[1:])...)
		}
	}
	gram, power := grams[0], uint64(1)
	for range gram {
		power *= multiplier
	}
	retry := from        // where to look for a loop again after one was too short
	run, last := 0, 0    // positions with the same distance, and that distance
	most := min(8, gram) // positions that are enough
	for i := from; i+gram <= to; i++ {
		p := d.distance(i, gram, power, from)
		if p != last || p == 0 {
			run, last = 0, p
			continue
		}
		if run++; run < most || i-p < from || i < retry {
			continue
		}
		start, count := extent(code, i-p, p, from, to)
		if count < leastCount || count*p < leastLength {
			retry = i + p/2
			continue
		}
		shift := phase(code, start, p)
		if start += shift; shift > 0 {
			count--
		}
		length := p * max(1, min(body/p, count/leastCount))
		count = count * p / length
		straight(start)
		for count > 1 {
			n := min(count, max(2, blockLength/length))
			list = append(list, segment{start, start + n*length, length})
			start, count = start+n*length, count-n
		}
		from, run, last = start, 0, 0
		i = start - 1
	}
	straight(to)
	return list
}

// A detector finds where instructions like those that follow have occurred last.
type detector struct {
	offset int      // of the first instruction
	prefix []uint64 // hashes of the instructions before each one, as a polynomial in multiplier
	last   []int32  // hash of a gram → its position+1
}

const multiplier = 0x9e3779b97f4a7c15

func newDetector(code []Instr, offset int) *detector {
	size := 256
	for size < 2*len(code) && size < 1<<16 {
		size *= 2
	}
	d := &detector{offset: offset, prefix: make([]uint64, len(code)+1), last: make([]int32, size)}
	for i := range code {
		d.prefix[i+1] = d.prefix[i]*multiplier + code[i].signature()
	}
	return d
}

// near is the largest distance of a result and an operand that tells instructions apart.
const near = 64

// signature returns a number that is the same for the instructions of all iterations: of the operation and how far
// before the result the operands are, if they are near.
func (c *Instr) signature() uint64 {
	h := uint64(c.Op)
	if c.Op.defines() {
		if d := c.D - c.A; d < near {
			h += uint64(d) << 8
		}
		if d := c.D - c.B; d < near && operands[c.Op] > 1 {
			h += uint64(d) << 16
		}
	}
	return h
}

// distance returns the distance of instruction i to the last one from from on where the same signatures follow, in as
// many instructions as a gram has; 0 if there is none within reach. power is that of multiplier to gram.
func (d *detector) distance(i, gram int, power uint64, from int) int {
	hash := func(i int) uint64 {
		i -= d.offset
		return d.prefix[i+gram] - d.prefix[i]*power
	}
	h := hash(i)
	at := &d.last[(h^h>>32)*multiplier>>40&uint64(len(d.last)-1)]
	was := int(*at) - 1
	*at = int32(i) + 1
	if was < from || i-was > mostPeriod || hash(was) != h {
		return 0
	}
	return i - was
}

// steps reports whether b follows a as c follows b: the slots are at the same distances. Those of outcomes of guards
// are 0 in a loop, since there is no third outcome.
func steps(a, b, c *Instr) bool {
	if a.Op != c.Op || b.Op != c.Op {
		return false
	}
	n := operands[a.Op]
	return c.D-b.D == b.D-a.D && c.A-b.A == b.A-a.A &&
		(n < 2 || c.B-b.B == b.B-a.B) && (n < 3 || c.C-b.C == b.C-a.C)
}

// extent returns where the repetition with period p around position i begins, not before least, and how many whole
// iterations it has before to.
func extent(code []Instr, i, p, least, to int) (start, count int) {
	for j := i; j < i+p; j++ { // any two iterations of equal operations have some distances
		if j+p >= to || code[j].Op != code[j+p].Op {
			return i, 0
		}
	}
	start, end := i, i+2*p
	for end < to && steps(&code[end-2*p], &code[end-p], &code[end]) {
		end++
	}
	for start > least && steps(&code[start-1], &code[start-1+p], &code[start-1+2*p]) {
		start--
	}
	return start, (end - start) / p
}

// phase returns the number of instructions, less than p, after which the bodies of the loop from start on should begin:
// where the fewest values are computed in one iteration and used in the next.
func phase(code []Instr, start, p int) int {
	// A value of position a whose last use is at b > a, in the same iteration or a later one, crosses the beginnings
	// a+1 to b.
	at := map[int32]int{} // slot → position, of the values of two iterations
	for i := start; i < start+2*p; i++ {
		if code[i].Op.defines() {
			at[code[i].D] = i - start
		}
	}
	lastUse := make([]int, 2*p)
	for i := start; i < start+2*p; i++ {
		c := &code[i]
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < operands[c.Op] {
				if a, ok := at[s]; ok && a < i-start {
					lastUse[a] = i - start
				}
			}
		}
	}
	crossing := make([]int, 2*p+1)
	for a, b := range lastUse[:p] {
		if b > a {
			crossing[a+1]++
			if b+1 < len(crossing) {
				crossing[b+1]--
			}
		}
	}
	total := make([]int, p)
	now := 0
	for k := range 2 * p {
		now += crossing[k]
		total[k%p] += now
	}
	best := 0
	for k, n := range total {
		if n < total[best] {
			best = k
		}
	}
	return best
}

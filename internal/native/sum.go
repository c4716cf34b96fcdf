package native

// A sum is a statement that adds many terms, one after the other in each lane. Its code is a loop over the terms, for
// some lanes at a time, so that they do not wait for each other.
type sum struct {
	s *Stmt
	// Ranges have the terms, if those of all lanes are at equal distances; otherwise they are listed from list on, the
	// terms of a lane one after the other.
	ranges []termRange
	across int32 // distance of the lanes
	list   int32
	// Columns has the slot of the first term of each lane, if the terms of a lane are next to each other, but not those
	// of neighbouring lanes; otherwise it is nil.
	columns []int32
}

// A termRange has n terms, of which those of lane 0 are in the slots first, first + step, …
type termRange struct{ first, step, n int32 }

// sumLanes is the number of lanes, or vectors of lanes, that are added at a time.
const sumLanes = 8

func newSum(g *laneGenerator, s *Stmt) *sum {
	w := &sum{s: s}
	at := func(l, t int32) int32 { return s.A.at(g.list, l*s.Terms+t) }
	if s.N > 1 {
		w.across = at(1, 0) - at(0, 0)
	}
	if s.N >= lanes && w.across != 1 && w.inColumns(at) {
		return w
	}
	for t := int32(0); t < s.Terms && len(w.ranges) <= mostRanges; {
		r := termRange{first: at(0, t), n: 1}
		if t+1 < s.Terms {
			r.step = at(0, t+1) - r.first
		}
		for t+r.n < s.Terms && at(0, t+r.n) == r.first+r.n*r.step {
			r.n++
		}
		if t += r.n; r.n == 2 && t < s.Terms { // the second may begin a longer range
			r.n, t = 1, t-1
		}
		w.ranges = append(w.ranges, r)
	}
	if len(w.ranges) <= mostRanges && w.regular(at) {
		return w
	}
	w.ranges = nil
	if s.A.Stride == Gather {
		w.list = s.A.Base
		return w
	}
	w.list = int32(len(g.list))
	for k := range s.N * s.Terms {
		g.list = append(g.list, s.A.at(g.list, k))
	}
	return w
}

// inColumns sets columns, and reports whether there are some.
func (w *sum) inColumns(at func(l, t int32) int32) bool {
	columns := make([]int32, w.s.N)
	for l := range columns {
		columns[l] = at(int32(l), 0)
		for t := int32(1); t < w.s.Terms; t++ {
			if at(int32(l), t) != columns[l]+t {
				return false
			}
		}
	}
	w.columns = columns
	return true
}

// regular reports whether all lanes have the terms of lane 0 at the distance of the lanes.
func (w *sum) regular(at func(l, t int32) int32) bool {
	for l := int32(1); l < w.s.N; l++ {
		t := int32(0)
		for _, r := range w.ranges {
			for k := range r.n {
				if at(l, t) != r.first+k*r.step+l*w.across {
					return false
				}
				t++
			}
		}
	}
	return true
}

func (w *sum) reads(g *laneGenerator, visit func(slot int32)) {
	for k := range w.s.N * w.s.Terms {
		visit(w.s.A.at(g.list, k))
	}
}

func (w *sum) length() (n, most int32) { return 1, 1 }

func (w *sum) last(g *laneGenerator, _, _ int32, visit func(slot int32)) { w.reads(g, visit) }

func (w *sum) prepare(g *laneGenerator) {
	g.span(Operand{w.s.D, 1}, w.s.N)
	for _, first := range w.columns {
		g.span(Operand{first, 1}, w.s.Terms)
	}
	if w.columns != nil {
		return
	}
	for l := range w.s.N {
		if w.ranges == nil {
			g.span(Operand{w.list + l*w.s.Terms, Gather}, w.s.Terms)
		}
		for _, r := range w.ranges {
			g.span(Operand{r.first + l*w.across, r.step}, r.n)
		}
	}
	if last := (w.s.N - 1) * w.across; w.ranges != nil { // one address serves several lanes
		for _, r := range w.ranges {
			g.span(Operand{r.first, last}, 2)
			g.span(Operand{r.first + (r.n-1)*r.step, last}, 2)
		}
	}
}

// generate translates the sum: lanes next to each other as vectors, the others one by one.
func (w *sum) generate(g *laneGenerator, _, _ int32) {
	if w.columns != nil {
		w.transposed(g)
		return
	}
	from := int32(0)
	if w.ranges != nil && w.across == 1 {
		if g.width != lanes {
			from = w.blocks(g, from, mostLanes, sumLanes)
		}
		from = w.blocks(g, from, lanes, sumLanes)
		from = w.blocks(g, from, lanes, 1)
	}
	from = w.blocks(g, from, 1, sumLanes)
	if rest := w.s.N - from; rest > 0 {
		w.blocks(g, from, 1, rest)
	}
}

// transposed translates the sum of columns: vectors of lanes, the last one with those before it once more. Two terms of
// each lane are loaded together, which are half as many loads as of one number each. Larger vectors would need as many.
func (w *sum) transposed(g *laneGenerator) {
	e := &g.a.e
	e.setLanes(lanes)
	count := vectors(w.s.N, lanes)
	for from := int32(0); from < count; from += sumLanes {
		now := min(sumLanes, count-from)
		parts := max(1, w.s.Terms*now/blockLength) // of the terms, if one block takes too long
		for p := range parts {
			a, b := p*w.s.Terms/parts, (p+1)*w.s.Terms/parts
			g.room(int((b - a) * now))
			e.upper = true
			w.pairs(e, from, from+now, a, b)
		}
	}
}

// pairs translates the terms from a to b of the vectors from one to before another. The sums of the terms before are
// the results so far.
func (w *sum) pairs(e *encoder, from, to, a, b int32) {
	const first, second = sumLanes, sumLanes + 1 // registers of the terms
	each := func(do func(sum int8, lane int32)) {
		for v := from; v < to; v++ {
			do(int8(v-from), min(v*lanes, w.s.N-lanes))
		}
	}
	two := func(lane, term int32, index int8) func(l int32) place {
		return func(l int32) place { return place{slot: w.columns[lane+l] + term, index: index} }
	}
	each(func(sum int8, lane int32) {
		if a > 0 {
			e.load(sum, place{slot: w.s.D + lane, stride: 1})
			return
		}
		e.loadBoth(sum, second, two(lane, 0, 0))
		e.binary(Add, sum, sum, second, place{})
	})
	if a == 0 {
		a = 2
	}
	if n := (b - a) / 2; n > 0 {
		e.clearIndex(termIndex)
		e.count(countRegister, int(n))
		start := len(e.buf)
		each(func(sum int8, lane int32) {
			e.loadBoth(first, second, two(lane, a, termIndex))
			e.binary(Add, sum, sum, first, place{})
			e.binary(Add, sum, sum, second, place{})
		})
		e.advance(termIndex, 16)
		e.jump(countRegister, start)
	}
	each(func(sum int8, lane int32) {
		if (b-a)%2 > 0 { // the last one, with that before it
			e.loadBoth(first, second, two(lane, b-2, 0))
			e.binary(Add, sum, sum, second, place{})
		}
		e.store(sum, place{slot: w.s.D + lane, stride: 1})
	})
}

// blocks translates the lanes from a number on, several times some vectors, or single lanes if width is 1. It returns
// the number of the first lane that is left.
func (w *sum) blocks(g *laneGenerator, from, width, vectors int32) int32 {
	at := width * vectors
	count := (w.s.N - from) / at
	if count == 0 {
		return from
	}
	g.a.e.setLanes(width)
	most := max(1, blockLength/(w.s.Terms*vectors)) // blocks of lanes before a return to Go
	for left := count; left > 0; {
		now := min(left, most)
		parts := max(1, w.s.Terms*vectors/blockLength) // of the terms, if one block of lanes takes too long
		for p := range parts {
			a, b := p*w.s.Terms/parts, (p+1)*w.s.Terms/parts
			g.room(int(now * (b - a) * vectors))
			g.a.e.upper = g.a.e.upper || width > 1
			w.terms(g, from, now, width, vectors, a, b)
		}
		from, left = from+now*at, left-now
	}
	return from
}

// Index registers of the loops of a sum: of the terms, of the blocks of lanes among the terms, and of the results.
const termIndex, blockIndex, resultIndex = 1, 2, 3

// terms translates the terms from a to b for some blocks of lanes from a lane on. The sums of the terms before are the
// results so far.
func (w *sum) terms(g *laneGenerator, lane, count, width, vectors, a, b int32) {
	e := &g.a.e
	across := int32(4) * w.s.Terms // distance of the lanes, in bytes
	if w.ranges != nil {
		across = 8 * w.across
	}
	e.clearIndex(blockIndex)
	e.clearIndex(resultIndex)
	e.count(restRegister, int(count))
	start := len(e.buf)
	result := func(q int32) place {
		return place{slot: w.s.D + lane + q*width, index: resultIndex, stride: 1}
	}
	if a > 0 {
		for q := range vectors {
			e.load(int8(q), result(q))
		}
	}
	if w.ranges == nil {
		w.listed(e, lane, vectors, a, b)
	} else {
		t := int32(0)
		for _, r := range w.ranges {
			from, to := max(t, a)-t, min(t+r.n, b)-t
			if from < to {
				part := termRange{r.first + from*r.step + lane*w.across, r.step, to - from}
				w.strided(e, part, width, vectors, t+from == 0)
			}
			t += r.n
		}
	}
	for q := range vectors {
		e.store(int8(q), result(q))
	}
	e.advance(blockIndex, across*width*vectors)
	e.advance(resultIndex, 8*width*vectors)
	e.jump(restRegister, start)
}

// unrolled is the number of additions of an iteration over the terms.
const unrolled = 16

// strided translates the terms of a range, the first ones of all if first is set.
func (w *sum) strided(e *encoder, r termRange, width, vectors int32, first bool) {
	add := func(k int32) {
		for q := range vectors {
			at := place{slot: r.first + k*r.step + q*width*w.across, index: termIndex, stride: 1}
			if first {
				e.load(int8(q), at)
			} else {
				e.add(int8(q), at)
			}
		}
		first = false
	}
	e.setIndex(termIndex, blockIndex)
	if first {
		add(0)
		r.first, r.n = r.first+r.step, r.n-1
	}
	times := max(1, unrolled/vectors)
	if n := r.n / times; n > 1 {
		e.count(countRegister, int(n))
		start := len(e.buf)
		for k := range times {
			add(k)
		}
		e.advance(termIndex, 8*r.step*times)
		e.jump(countRegister, start)
		r.n -= n * times
	}
	for k := range r.n {
		add(k)
	}
}

// listed translates terms that are listed.
func (w *sum) listed(e *encoder, lane, vectors, a, b int32) {
	e.setIndex(termIndex, blockIndex)
	add := func(k int32) {
		for q := range vectors {
			e.addListed(int8(q), w.list+(lane+q)*w.s.Terms+a+k, termIndex, a+k == 0)
		}
	}
	n := b - a
	k := int32(0)
	if a == 0 {
		add(0)
		k = 1
	}
	times := max(1, unrolled/vectors)
	if loops := (n - k) / times; loops > 1 {
		e.count(countRegister, int(loops))
		start := len(e.buf)
		for u := range times {
			add(k + u)
		}
		e.advance(termIndex, 4*times)
		e.jump(countRegister, start)
		n -= loops * times
	}
	for ; k < n; k++ {
		add(k)
	}
}

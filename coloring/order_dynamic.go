package coloring

// Dynamic is a family of orders that choose the next vertex by its degree among the vertices already placed or among
// those still to be placed. The degrees are updated in buckets, at a cost linear in the edges. See Gebremedhin, Nguyen,
// Patwary and Pothen, "ColPack: software for graph coloring and related problems in scientific computing", ACM Trans.
// Math. Softw. 40 (2013).
type Dynamic struct {
	// Forward counts the neighbours of a vertex that follow it in the order instead of those that precede it.
	Forward bool
	// Descending builds the order from its end: the last vertex is the one of smallest degree among all, the one before
	// it the one of smallest degree among the rest, and so on. Otherwise the order is built from its beginning and the
	// largest degree is chosen.
	Descending bool
	// ColPack breaks ties as the ColPack library does, whose buckets are arrays in which the last vertex fills the gap
	// of a removed one. Otherwise the vertex that entered the bucket last is taken first. Neither is better in general.
	ColPack bool
}

// These are the dynamic orders with names in the literature.
var (
	// SmallestLast puts the vertex of smallest degree last and repeats this with the rest: a column or row colouring
	// then uses at most one colour more than the largest of these degrees.
	SmallestLast = Dynamic{Descending: true}
	// IncidenceDegree visits next the vertex with most visited neighbours.
	IncidenceDegree = Dynamic{}
	// DynamicLargestFirst visits next the vertex with most unvisited neighbours.
	DynamicLargestFirst = Dynamic{Forward: true}
)

func (d Dynamic) String() string {
	s := map[[2]bool]string{
		{false, true}:  "SmallestLast",
		{false, false}: "IncidenceDegree",
		{true, false}:  "DynamicLargestFirst",
		{true, true}:   "Dynamic(forward, descending)",
	}[[2]bool{d.Forward, d.Descending}]
	if d.ColPack {
		s += "(ColPack)"
	}
	return s
}

// permute builds the order by repeatedly taking a vertex of best degree from the buckets and updating the degrees of
// its unplaced neighbours, which change by one. A degree of -1 marks placed vertices.
func (d Dynamic) permute(g vertices) []int32 {
	n := g.size()
	degree, largest := degrees(g)
	// Degrees among the unplaced fall from the full degree, those among the placed rise from zero. If the order is
	// built from its end, the vertices that precede v are the unplaced ones.
	falling := d.Forward != d.Descending
	if !falling {
		clear(degree)
	}
	var q buckets = newLinked(n, int(largest)+1)
	if d.ColPack {
		q = newArrays(n, int(largest)+1)
	}
	for v := range degree {
		q.push(int32(v), degree[v])
	}
	perm := make([]int32, n)
	var buf []int32
	best := largest
	if d.Descending {
		best = 0
	}
	for t := range n {
		for q.peek(best) < 0 {
			if d.Descending {
				best++
			} else {
				best--
			}
		}
		v := q.peek(best)
		q.remove(v, best)
		degree[v] = -1
		if d.Descending {
			perm[n-1-t] = v
		} else {
			perm[t] = v
		}
		near := g.neighbors(v, buf[:0])
		for _, w := range near {
			if degree[w] < 0 {
				continue
			}
			q.remove(w, degree[w])
			if falling {
				degree[w]--
			} else {
				degree[w]++
			}
			q.push(w, degree[w])
		}
		buf = keep(g, buf, near)
		// The degrees changed by at most one, so the search for the next best degree resumes next to the last one.
		if d.Descending && falling {
			best = max(best-1, 0)
		} else if !d.Descending && !falling {
			best = min(best+1, largest)
		}
	}
	return perm
}

// buckets is a family of sets of vertices, one for each degree.
type buckets interface {
	// push inserts v into the bucket of its degree.
	push(v, degree int32)
	// remove deletes v from the bucket of its degree.
	remove(v, degree int32)
	peek(degree int32) int32 // returns the vertex to take next, or -1 if the bucket is empty
}

// linked are buckets as doubly linked lists; push and peek use the head.
type linked struct{ head, next, prev []int32 }

// newLinked returns empty buckets for n vertices and the degrees 0 to degrees-1.
func newLinked(n, degrees int) *linked {
	l := &linked{make([]int32, degrees), make([]int32, n), make([]int32, n)}
	for d := range l.head {
		l.head[d] = -1
	}
	return l
}

func (l *linked) push(v, d int32) {
	h := l.head[d]
	l.next[v], l.prev[v], l.head[d] = h, -1, v
	if h >= 0 {
		l.prev[h] = v
	}
}

func (l *linked) remove(v, d int32) {
	next, prev := l.next[v], l.prev[v]
	if prev < 0 {
		l.head[d] = next
	} else {
		l.next[prev] = next
	}
	if next >= 0 {
		l.prev[next] = prev
	}
}

func (l *linked) peek(d int32) int32 { return l.head[d] }

// arrays are buckets as dense arrays: the last vertex of a bucket takes the place of a removed one.
type arrays struct {
	of [][]int32 // degree → its vertices
	at []int32   // vertex → its position in its bucket
}

// newArrays returns empty buckets for n vertices and the degrees 0 to degrees-1.
func newArrays(n, degrees int) *arrays { return &arrays{make([][]int32, degrees), make([]int32, n)} }

func (a *arrays) push(v, d int32) {
	a.at[v] = int32(len(a.of[d]))
	a.of[d] = append(a.of[d], v)
}

func (a *arrays) remove(v, d int32) {
	b := a.of[d]
	last := b[len(b)-1]
	b[a.at[v]], a.at[last] = last, a.at[v]
	a.of[d] = b[:len(b)-1]
}

func (a *arrays) peek(d int32) int32 {
	if b := a.of[d]; len(b) > 0 {
		return b[len(b)-1]
	}
	return -1
}

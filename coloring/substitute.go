package coloring

// steps are the entries in the order of substitution. Entry slot[t] of the target
// is its component of a product less the entries terms[termPtr[t]:termPtr[t+1]],
// which earlier steps have found; no step needs memory beside the target.
type steps struct {
	edge    []int32 // -1 on the diagonal
	slot    []int32
	mirror  []int32 // the other entry of a symmetric pair in the target, or -1
	termPtr []int32
	terms   []int32
}

func newSteps(n int, r *recovery) *steps {
	return &steps{edge: make([]int32, 0, n), slot: make([]int32, 0, n), mirror: make([]int32, 0, n),
		termPtr: make([]int32, 1, n+1), terms: make([]int32, 0, len(r.terms))}
}

func (s *steps) add(edge, slot, mirror int32) {
	s.edge = append(s.edge, edge)
	s.slot = append(s.slot, slot)
	s.mirror = append(s.mirror, mirror)
}

// link turns the edges to subtract into entries.
func (s *steps) link(r *recovery) {
	slot := make([]int32, len(r.hub))
	for t, e := range s.edge {
		if e >= 0 {
			slot[e] = s.slot[t]
		}
	}
	next := 0 // in r.order
	for _, e := range s.edge {
		if e >= 0 {
			for _, term := range r.terms[r.termPtr[next]:r.termPtr[next+1]] {
				s.terms = append(s.terms, slot[term])
			}
			next++
		}
		s.termPtr = append(s.termPtr, int32(len(s.terms)))
	}
	s.edge = nil
}

func (d *Decompressor) substitute(data, col []float64, colStride int, row []float64, rowStride int) {
	for t, s := range d.source {
		var v float64
		if s.Row {
			v = row[int(s.Index)*rowStride+int(s.Color)]
		} else {
			v = col[int(s.Index)*colStride+int(s.Color)]
		}
		d.steps.finish(data, t, v)
	}
}

func (d *Decompressor) substituteFunc(data []float64, at func(Source) float64) {
	for t, s := range d.source {
		d.steps.finish(data, t, at(s))
	}
}

// finish subtracts from v the values recovered before and stores the result, also at its mirror image.
func (s *steps) finish(data []float64, t int, v float64) {
	for _, k := range s.terms[s.termPtr[t]:s.termPtr[t+1]] {
		v -= data[k]
	}
	data[s.slot[t]] = v
	if m := s.mirror[t]; m >= 0 {
		data[m] = v
	}
}

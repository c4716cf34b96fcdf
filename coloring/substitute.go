package coloring

// This file has the recovery by substitution: each entry is a component of a product less entries that earlier steps
// have recovered, in the order from the leaves to the roots of the two-coloured trees (recovery_trees.go).

// steps are the entries in the order of substitution. Step t stores at slot[t] of the target its component of a product
// less the elements terms[termPtr[t]:termPtr[t+1]] of the target, which earlier steps have stored. No memory besides
// the target is needed.
type steps struct {
	edge    []int32 // step → its edge, -1 for a diagonal entry; nil after link
	slot    []int32 // step → position of its entry in the target
	mirror  []int32 // step → position of the other entry of a symmetric pair, or -1
	termPtr []int32
	terms   []int32
}

// newSteps returns empty steps with capacity for n entries and the terms of r.
func newSteps(n int, r *recovery) *steps {
	return &steps{edge: make([]int32, 0, n), slot: make([]int32, 0, n), mirror: make([]int32, 0, n),
		termPtr: make([]int32, 1, n+1), terms: make([]int32, 0, len(r.terms))}
}

// add appends a step.
func (s *steps) add(edge, slot, mirror int32) {
	s.edge = append(s.edge, edge)
	s.slot = append(s.slot, slot)
	s.mirror = append(s.mirror, mirror)
}

// link computes terms from the edges that r subtracts, and releases edge. All steps must have been added, those with
// edges in r's order.
func (s *steps) link(r *recovery) {
	slot := make([]int32, len(r.hub))
	for t, e := range s.edge {
		if e >= 0 {
			slot[e] = s.slot[t]
		}
	}
	next := 0 // position in r.order
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

// substitute executes the steps on compressed matrices, as [Decompressor.Decompress] describes them.
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

// substituteFunc executes the steps with products read through at.
func (d *Decompressor) substituteFunc(data []float64, at func(Source) float64) {
	for t, s := range d.source {
		d.steps.finish(data, t, at(s))
	}
}

// finish subtracts from v, the component for step t, the entries recovered before, and stores the result at its entry
// and at the mirror image, if that belongs to the target.
func (s *steps) finish(data []float64, t int, v float64) {
	for _, k := range s.terms[s.termPtr[t]:s.termPtr[t+1]] {
		v -= data[k]
	}
	data[s.slot[t]] = v
	if m := s.mirror[t]; m >= 0 {
		data[m] = v
	}
}

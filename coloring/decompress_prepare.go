package coloring

import (
	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/sparsity"
)

// prepare computes the sources of all entries and, for substitution, the order of the steps, in linear time. An edge of
// a bipartite graph has the number of its entry, so no other mapping is needed there.
func (d *Decompressor) prepare() error {
	c := d.coloring
	d.pattern = c.target()
	switch {
	case c.problem.Wanted != nil && c.problem.Structure == Symmetric:
		d.preparePartial()
	case c.problem.Structure == Symmetric:
		return d.prepareSymmetric()
	case c.problem.Partition == Bidirectional:
		if c.problem.Decompression == Substitution {
			d.steps = newSteps(d.pattern.NNZ(), c.recovery)
			for _, e := range c.recovery.order {
				d.steps.add(e, e, -1)
				d.source = append(d.source, d.edgeSource(e))
			}
			d.steps.link(c.recovery)
			return nil
		}
		d.source = make([]Source, d.pattern.NNZ())
		for e := range d.source {
			d.source[e] = d.edgeSource(int32(e))
		}
	default:
		d.source = make([]Source, 0, d.pattern.NNZ())
		_, n := d.pattern.Dims()
		for j := range n {
			for _, i := range d.pattern.Col(j) {
				if c.problem.Partition == Row {
					d.source = append(d.source, Source{int32(j), int32(c.rows[i] - 1), true})
				} else {
					d.source = append(d.source, Source{int32(i), int32(c.cols[j] - 1), false})
				}
			}
		}
	}
	d.byColor()
	return nil
}

// preparePartial computes the sources of the wanted entries of a symmetric matrix, and of its triangle if that is the
// target.
func (d *Decompressor) preparePartial() {
	c := d.coloring
	switch d.target {
	case Upper:
		d.pattern = d.pattern.Triangle(blas.Upper)
	case Lower:
		d.pattern = d.pattern.Triangle(blas.Lower)
	}
	d.source = make([]Source, 0, d.pattern.NNZ())
	_, n := d.pattern.Dims()
	for j := range n {
		for _, i := range d.pattern.Col(j) {
			row, column := readAt(c.pattern, i, j)
			d.source = append(d.source, Source{int32(row), int32(c.cols[column] - 1), false})
		}
	}
}

// edgeSource returns the source of the entry of edge e: the component of its spoke (or child, in a tree) in the product
// of the colour of its hub (or parent).
func (d *Decompressor) edgeSource(e int32) Source {
	c := d.coloring
	h := c.recovery.hub[e]
	s := c.g.other(e, h)
	switch n := int32(c.g.cols); {
	case c.problem.Structure == Symmetric:
		return Source{s, int32(c.cols[h] - 1), false}
	case h < n:
		return Source{s - n, int32(c.cols[h] - 1), false}
	default:
		return Source{s, int32(c.rows[h-n] - 1), true}
	}
}

// prepareSymmetric computes the target pattern, sources and steps of a symmetric problem. A diagonal entry is read from
// the product of its own colour; the two entries of an edge share one source. With substitution, the diagonal entries
// precede the edges, which follow in the order of recovery.
func (d *Decompressor) prepareSymmetric() error {
	c, g := d.coloring, d.coloring.g
	n := g.n
	substitution := c.problem.Decompression == Substitution
	if substitution {
		d.steps = newSteps(c.pattern.NNZ(), c.recovery)
	}
	slot := make([][2]int32, len(g.ends)) // edge → positions of its lower and upper entry in the target, plus one
	ptr := make([]int, n+1)
	idx := make([]int, 0, c.pattern.NNZ())
	s := 0 // the edge of the next off-diagonal entry is g.edge[s]
	for j := range n {
		for _, i := range c.pattern.Col(j) {
			e := int32(-1)
			if i != j {
				e = g.edge[s]
				s++
			}
			if d.target == Upper && i > j || d.target == Lower && i < j {
				continue
			}
			k := int32(len(idx))
			idx = append(idx, i)
			source := Source{int32(j), int32(c.cols[j] - 1), false}
			switch {
			case substitution && e < 0:
				d.steps.add(-1, k, -1)
			case substitution:
				if i > j {
					slot[e][0] = k + 1
				} else {
					slot[e][1] = k + 1
				}
				continue
			case e >= 0:
				source = d.edgeSource(e)
			}
			d.source = append(d.source, source)
		}
		ptr[j+1] = len(idx)
	}
	if d.target != Full {
		p, err := sparsity.New(n, n, ptr, idx)
		if err != nil {
			return err
		}
		d.pattern = p
	}
	if !substitution {
		d.byColor()
		return nil
	}
	for _, e := range c.recovery.order {
		k, mirror := slot[e][0]-1, slot[e][1]-1
		if k < 0 {
			k, mirror = mirror, k
		}
		d.steps.add(e, k, mirror)
		d.source = append(d.source, d.edgeSource(e))
	}
	d.steps.link(c.recovery)
	return nil
}

// byColor sorts the entries by the product that they are read from, with a stable counting sort.
func (d *Decompressor) byColor() {
	columns := int32(d.coloring.colColors)
	all := make([]int32, len(d.source))
	for k := range all {
		all[k] = int32(k)
	}
	colors := d.coloring.Colors()
	// of returns the index of the product that entry k is read from, column colours before row colours.
	of := func(k int32) int32 {
		if s := d.source[k]; s.Row {
			return columns + s.Color
		} else {
			return s.Color
		}
	}
	d.entries = countingSort(all, colors, of)
	d.colorPtr = make([]int32, colors+1)
	for k := range d.source {
		d.colorPtr[of(int32(k))+1]++
	}
	for t := range colors {
		d.colorPtr[t+1] += d.colorPtr[t]
	}
}

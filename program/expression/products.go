package expression

import (
	"cmp"
	"container/heap"
	"slices"
)

// A product is two arcs that follow each other.
type product struct{ x, y int32 }

// A counted is a product and the number of paths that it was in when that number last changed.
type counted struct {
	product
	n int
}

// counts is a heap of products, those in the most paths first.
type counts []counted

func (c counts) Len() int      { return len(c) }
func (c counts) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c counts) Less(i, j int) bool {
	a, b := &c[i], &c[j]
	return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) < 0
}
func (c *counts) Push(v any) { *c = append(*c, v.(counted)) }
func (c *counts) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// products multiplies the arcs of the path of each pair. Two arcs that follow each other in several paths are
// multiplied first, those in the most paths before others.
func (f *factoriser) products() (v []number, ok []bool) {
	in := map[product][]int32{} // pairs that have had the product
	count := map[product]int{}  // pairs that have it
	var queue counts
	add := func(t product, k int32, by int) {
		if by > 0 {
			in[t] = append(in[t], k)
		}
		if count[t] += by; count[t] > 1 {
			heap.Push(&queue, counted{t, count[t]})
		}
	}
	for k := range f.pairs {
		arcs := f.pairs[k].arcs
		for i := 1; i < len(arcs); i++ {
			add(product{arcs[i-1], arcs[i]}, int32(k), 1)
		}
	}
	for queue.Len() > 0 {
		best := heap.Pop(&queue).(counted)
		if count[best.product] != best.n { // it has changed since, and is in the queue again if it is in several paths
			continue
		}
		x, y := &f.arcs[best.x], &f.arcs[best.y]
		from, to := x.from, y.to
		e := f.arcOf(from, to, f.g.times(f.g.times(one, x.p), y.p))
		list := in[best.product]
		delete(in, best.product)
		count[best.product] = 0
		for _, k := range list {
			arcs := f.pairs[k].arcs
			i := slices.Index(arcs, best.x)
			if i < 0 || i+1 == len(arcs) || arcs[i+1] != best.y {
				continue
			}
			if i > 0 {
				add(product{arcs[i-1], best.x}, k, -1)
				add(product{arcs[i-1], e}, k, 1)
			}
			if i+2 < len(arcs) {
				add(product{best.y, arcs[i+2]}, k, -1)
				add(product{e, arcs[i+2]}, k, 1)
			}
			arcs[i] = e
			f.pairs[k].arcs = slices.Delete(arcs, i+1, i+2)
		}
	}
	v, ok = make([]number, len(f.pairs)), make([]bool, len(f.pairs))
	for k := range f.pairs {
		p := &f.pairs[k]
		v[k], ok[k] = one, p.root == p.leaf || len(p.arcs) > 0
		for _, e := range p.arcs {
			v[k] = f.g.times(v[k], f.arcs[e].p)
		}
		ok[k] = ok[k] && !f.g.zero(v[k])
	}
	return v, ok
}

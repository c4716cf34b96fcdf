package coloring

import "slices"

// neutralize gives colour 0 to all vertices whose product is not read, renumbers the remaining colours in their order,
// and returns their number. It modifies color and the hubs in r. An edge that can be read from either end is read from
// an end whose colour is needed anyway, or else from one that cover chooses.
func neutralize(g *graph, color []int32, colors int, r *recovery) int {
	// needed maps a colour to whether an entry is read from its product.
	needed := make([]bool, colors+1)
	for v := range g.diag {
		needed[color[v]] = needed[color[v]] || g.diag[v]
	}
	// either maps an edge to whether it is free.
	either := make([]bool, len(g.ends))
	for _, e := range r.free {
		either[e] = true
	}
	for e, h := range r.hub {
		if !either[e] {
			needed[color[h]] = true
		}
	}
	cover(g, color, r.free, needed)
	for _, e := range r.free {
		if a := g.ends[e][0]; needed[color[a]] {
			r.hub[e] = a
		} else {
			r.hub[e] = g.ends[e][1]
		}
	}
	renumbered := make([]int32, colors+1)
	n := int32(0)
	for c := 1; c <= colors; c++ {
		if needed[c] {
			n++
			renumbered[c] = n
		}
	}
	for v, c := range color {
		color[v] = renumbered[c]
	}
	return int(n)
}

// cover marks further colours as needed until every edge has an end of a needed colour. It is the greedy vertex cover
// of the graph whose vertices are colours: in each round the colour that covers most of the remaining pairs is marked.
func cover(g *graph, color []int32, edges []int32, needed []bool) {
	var pairs [][2]int32
	for _, e := range edges {
		a, b := color[g.ends[e][0]], color[g.ends[e][1]]
		if !needed[a] && !needed[b] {
			pairs = append(pairs, [2]int32{min(a, b), max(a, b)})
		}
	}
	slices.SortFunc(pairs, func(x, y [2]int32) int {
		if x[0] != y[0] {
			return int(x[0] - y[0])
		}
		return int(x[1] - y[1])
	})
	pairs = slices.Compact(pairs)
	open := make([]int32, len(needed)) // colour → number of its pairs without a needed colour
	// with maps a colour to its pairs.
	with := make([][]int32, len(needed))
	for k, p := range pairs {
		for _, c := range p {
			open[c]++
			with[c] = append(with[c], int32(k))
		}
	}
	for covered := 0; covered < len(pairs); {
		best := 0
		for c := range open {
			if open[c] > open[best] {
				best = c
			}
		}
		needed[best] = true
		for _, k := range with[best] {
			if p := &pairs[k]; p[0] >= 0 {
				open[p[0]]--
				open[p[1]]--
				p[0] = -1
				covered++
			}
		}
	}
}

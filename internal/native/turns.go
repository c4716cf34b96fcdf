package native

import "slices"

// The lanes of long loops take turns: as soon as the first lanes of a loop have what they need of those before it, they
// are computed, while that is in the cache, and not after all lanes of the loops before.

const (
	longLoop  = 4       // blocks of a loop from which its lanes take turns with those of others
	mostTurns = 1 << 18 // turns times items, beyond which the items are translated one after the other
)

var (
	leastTurn int32 = 512         // lanes of a turn
	turnOf    int32 = blockLength // instructions of the lanes of a loop that are translated at once
)

// turns translates the items from from to before end, of one part.
func (g *laneGenerator) turns(from, end int) {
	turn := g.turn(from, end)
	if turn == 0 {
		for _, it := range g.items[from:end] {
			n, most := it.length()
			for at := int32(0); at < n; {
				to := after(at, n, most)
				it.generate(g, at, to)
				at = to
			}
		}
		return
	}
	t := &taking{g: g, done: make([]int32, end), asked: make([]int32, end), needs: make([][]need, end)}
	for i, it := range g.items[:from] {
		t.done[i], _ = it.length()
	}
	for first := from; first < end; {
		i := end - 1
		to := int32(0)
		for ; ; i-- { // the first one that is not done has what it needs
			n, most := g.items[i].length()
			if t.done[i] == n {
				continue
			}
			if n > turn {
				most = turn
			}
			if to = after(t.done[i], n, most); i == first || t.ready(i, to) {
				break
			}
		}
		g.items[i].generate(g, t.done[i], to)
		t.done[i] = to
		for first < end {
			if n, _ := g.items[first].length(); t.done[first] < n {
				break
			}
			first++
		}
	}
}

// after returns the end of a block of n lanes that begins at a lane and has at most so many: the rest is less than a
// vector only if there is none.
func after(at, n, most int32) int32 {
	to := min(n, at+most)
	if n-to < mostLanes {
		to = n
	}
	return to
}

// turn returns the number of lanes of a turn, 0 if there is no use in turns.
func (g *laneGenerator) turn(from, end int) int32 {
	turn, long, blocks := int32(0), 0, 0
	for _, it := range g.items[from:end] {
		n, most := it.length()
		if n < longLoop*most {
			continue
		}
		if long++; turn == 0 || most < turn {
			turn = max(most, leastTurn)
		}
	}
	for _, it := range g.items[from:end] {
		n, _ := it.length()
		blocks += 1 + int(n/max(turn, 1))
	}
	if long < 2 || blocks*(end-from) > mostTurns {
		return 0
	}
	return turn
}

// Taking is the state of items that take turns.
type taking struct {
	g     *laneGenerator
	done  []int32  // item → lanes that are translated
	asked []int32  // item → the lane up to which needs has what the next lanes need
	needs [][]need // item → what is perhaps not done yet
}

// A need is that lanes of an item are done.
type need struct{ item, lanes int32 }

// ready reports whether all is done that the next lanes of an item, up to a lane, read.
func (t *taking) ready(i int, to int32) bool {
	if t.asked[i] != to {
		t.asked[i] = to
		t.ask(i, to)
	}
	list := t.needs[i]
	for len(list) > 0 {
		if n := list[len(list)-1]; t.done[n.item] < n.lanes {
			break
		}
		list = list[:len(list)-1]
	}
	t.needs[i] = list
	return len(list) == 0
}

// ask sets what the next lanes of an item, up to a lane, need. Slots of one item mostly follow one another.
func (t *taking) ask(i int, to int32) {
	g, list := t.g, t.needs[i][:0]
	g.items[i].last(g, t.done[i], to, func(slot int32) {
		w := g.writer[slot] - 1
		if w < 0 || int(w) == i {
			return
		}
		lanes, _ := g.items[w].length()
		if column := g.column(slot); column >= 0 {
			lanes = slot - column + 1
		}
		if n := len(list); n > 0 && list[n-1].item == w {
			list[n-1].lanes = max(list[n-1].lanes, lanes)
		} else if t.done[w] < lanes {
			list = append(list, need{w, lanes})
		}
	})
	t.needs[i] = list
}

// column returns the first slot of the result of a loop that has slot, -1 if slot is of no loop.
func (g *laneGenerator) column(slot int32) int32 {
	if g.writer[slot] == 0 {
		return -1
	}
	w, ok := g.items[g.writer[slot]-1].(*group)
	if !ok {
		return -1
	}
	k, found := slices.BinarySearch(w.bases, slot)
	if !found {
		k--
	}
	if k < 0 || slot >= w.bases[k]+w.n { // the sum of a column
		return -1
	}
	return w.bases[k]
}

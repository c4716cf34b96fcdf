package export

import "slices"

// blocks are the parts of a function one after another: code without loops, and loops. Block 0 has no loop. A loop
// computes all classes of its number of iterations that it can: those which read other classes of the loop only in the
// lane of the iteration.
type blocks struct {
	iter []int         // of each block
	with map[int][]int // number of iterations → blocks, in order
}

// place sets the block of c to the first one that can have it.
func (b *blocks) place(c *class) {
	if b.with == nil {
		b.with = map[int][]int{}
		b.append(1)
	}
	least := 0
	for i := range c.args {
		a := &c.args[i]
		switch {
		case a.from == nil:
		case a.within(c):
			least = max(least, a.from.block)
		default:
			least = max(least, a.from.block+1)
		}
	}
	if c.from != nil {
		least = max(least, c.from.block)
		if c.iter > 1 || c.from.iter > 1 {
			least = max(least, c.from.block+1)
		}
	}
	list := b.with[c.iter]
	if i, _ := slices.BinarySearch(list, least); i < len(list) {
		c.block = list[i]
	} else {
		c.block = b.append(c.iter)
	}
}

// append adds a block and returns its number.
func (b *blocks) append(iter int) int {
	at := len(b.iter)
	b.iter = append(b.iter, iter)
	b.with[iter] = append(b.with[iter], at)
	return at
}

// within reports whether c can read a in the block that computes it: code without loops in the order of lines, and a
// loop in the iteration that computes it.
func (a *arg) within(c *class) bool {
	if c.iter == 1 {
		return a.from.iter == 1
	}
	return a.from.kind == lanes && a.from.iter == c.iter && a.at.identity() && c.terms == 1
}

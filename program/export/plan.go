package export

import (
	"cmp"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// A plan is what an exported function does, in no language: blocks of classes, one after another, and then outputs.
type plan struct {
	blocks [][]*class // in the order of the code
	iter   []int
	outs   []program.Group
	out    *outputs
	work   int // numbers of memory
}

// DefaultUnroll is the value of Options.Unroll that 0 stands for.
const DefaultUnroll = 16

// planOf plans p.
func planOf(p *program.Program, lines []line, o Options) *plan {
	least := o.Unroll
	if least <= 0 {
		least = DefaultUnroll
	}
	least = max(least, 2)
	lines, slots := expanded(folded(lines, p.Slots, p.Result), p.Slots)
	q := &planner{lines: lines, least: least}
	q.label(slots)
	q.chains(p.Result)
	q.classify()
	if len(q.blocks.iter) == 0 {
		q.blocks.with = map[int][]int{}
		q.blocks.append(1)
	}
	out := q.outputs(p)
	f := &plan{blocks: make([][]*class, len(q.blocks.iter)), iter: q.blocks.iter, outs: p.Outs, out: out}
	q.uses(out)
	guards := 0
	for _, c := range q.classes {
		f.blocks[c.block] = append(f.blocks[c.block], c)
	}
	for b, list := range f.blocks {
		if f.iter[b] == 1 {
			slices.SortStableFunc(list, func(x, y *class) int { return cmp.Compare(x.line, y.line) })
		}
		for _, c := range list {
			if c.op.Guard() {
				c.guard = guards + 1
				guards += c.iter
			}
		}
	}
	f.work = allocate(q.classes)
	return f
}

// uses finds which classes are read, and which from memory and until when.
func (p *planner) uses(out *outputs) {
	read := func(c *class, block int) {
		c.used = true
		if c.n > 1 && (c.kind == pack || c.block != block) {
			c.array = true
			c.until = max(c.until, block)
		}
	}
	for _, c := range p.classes {
		for _, a := range c.args {
			if a.from != nil {
				read(a.from, c.block)
				a.from.raw = a.from.raw || a.from.array
			}
		}
		if c.from != nil {
			c.from.used = true
		}
	}
	end := len(p.blocks.iter)
	for _, s := range out.stores {
		if s.direct {
			s.from.used = true
			continue
		}
		read(s.from, end)
		s.from.raw = s.from.raw || s.group == 0
	}
	for _, s := range out.single {
		if s.from != nil {
			read(s.from, end)
			s.from.raw = true
		}
	}
}

// allocate gives classes that are in memory their places, and returns how many numbers these are. Two classes share
// memory if none of the blocks from the one that computes a class to the last that reads it is one of the other's.
func allocate(classes []*class) int {
	var list []*class
	for _, c := range classes {
		if c.array {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *class) int { return cmp.Compare(a.block, b.block) })
	var live []*class // in the order of their offsets
	size := 0
	for _, c := range list {
		live = slices.DeleteFunc(live, func(d *class) bool { return d.until < c.block })
		at, k := 0, 0
		for ; k < len(live) && live[k].offset < at+c.n; k++ {
			at = live[k].offset + live[k].n
		}
		c.offset = at
		live = slices.Insert(live, k, c)
		size = max(size, at+c.n)
	}
	return size
}

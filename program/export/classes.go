package export

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// Lines of code that do the same become loops. Lines have the same label if they perform the same operation on
// arguments that have the same labels: inputs of one group, constants that are equal, or results of lines with the same
// label. So lines with the same label do not depend on each other, and an argument of all of them is in one place: a
// group of inputs, or a class.

// A class is what one part of the exported code computes. It is
//
//   - one line,
//   - lines with the same label, the lanes of a loop,
//   - a part of a long sum: the terms one after another, or a loop that adds some in each iteration, or
//   - lines with the same label that are too few for a loop but are read by one, as an array: a pack.
type class struct {
	kind  kind
	op    program.Op
	line  int // index of the first line, which orders lines of code
	slot  int32
	n     int   // numbers that it computes
	iter  int   // iterations of the loop, 1 if it is in none
	terms int   // of the inner loop of each sum, otherwise 1
	args  []arg // arguments; of a sum its terms, in order; the members of a pack
	from  *class
	last  bool // no other part of the sum follows
	value float64
	group int
	at    int
	holds bool
	guard int // number of the guard of the first lane
	lines []int32

	block  int
	array  bool // its numbers are in memory
	raw    bool // memory has them with the signs of zeros
	offset int  // in memory
	until  int  // last block that reads the memory
	used   bool // another part of the code reads it
}

type kind uint8

const (
	single kind = iota // one line
	lanes              // a loop over lines
	part               // some terms of a sum, one after another
	reduce             // a loop that adds terms to a sum
	pack               // single classes, as an array
	copied             // inputs, as an array
)

// An arg is what a class reads: numbers of a class or of a group of inputs, or constants. One number of a class is the
// same in all iterations if the stride of the index is 0.
type arg struct {
	from   *class
	group  int       // of inputs, or parameters, if from is nil
	values []float64 // constants, one for each iteration, or nil
	at     index
}

// parameters is the group of an arg that reads parameters.
const parameters = -1

// A planner makes classes of lines.
type planner struct {
	lines   []line
	lineOf  []int32   // slot → line
	labels  []int32   // line → label
	depth   []int32   // label → longest path from the inputs
	members [][]int32 // label → lines, in order
	order   []int32   // labels, arguments first
	least   int       // number of lanes of a loop
	classes []*class
	place   []place          // line → where its result is
	single  map[int32]*class // line → class of an input or a constant
	packs   map[int32]*class // label → pack
	blocks  blocks
}

// A place is a number of a class.
type place struct {
	class *class
	lane  int32
}

// longSum is the number of terms from which sums are written as loops over terms instead of lanes, if their lanes are
// at most manySums, and inlineTerms the number up to which the terms of each lane are written out.
const (
	longSum     = 64
	manySums    = 32
	inlineTerms = 16
)

// label gives lines labels.
func (p *planner) label(slots int32) {
	p.lineOf = make([]int32, slots)
	uses := map[uint64]int{}
	for i, x := range p.lines {
		if !x.op.Guard() {
			p.lineOf[x.d] = int32(i)
		}
		for _, a := range x.args {
			if y := &p.lines[p.lineOf[a]]; y.op == program.Const {
				uses[math.Float64bits(y.value)]++
			}
		}
	}
	p.labels = make([]int32, len(p.lines))
	known := map[string]int32{}
	var key []byte
	for i := range p.lines {
		x := &p.lines[i]
		key = append(key[:0], byte(x.op))
		depth := int32(0)
		switch {
		case x.op == program.Input:
			key = binary.AppendVarint(key, int64(x.group))
		case x.op == program.Const:
			// Constants that few lines use differ from lane to lane.
			if bits := math.Float64bits(x.value); uses[bits] >= p.least {
				key = binary.LittleEndian.AppendUint64(key, bits)
			}
		case x.op.Guard() && x.holds:
			key = append(key, 1)
		case x.op.Guard():
			key = append(key, 0)
		}
		if len(x.args) == 2 && x.args[0] == x.args[1] { // x + x is no sum of neighbours
			key = append(key, 2)
		}
		for _, a := range x.args {
			l := p.labels[p.lineOf[a]]
			key = binary.LittleEndian.AppendUint32(key, uint32(l))
			depth = max(depth, p.depth[l]+1)
		}
		l, ok := known[string(key)]
		if !ok {
			l = int32(len(p.depth))
			known[string(key)] = l
			p.depth = append(p.depth, depth)
			p.members = append(p.members, nil)
		}
		p.labels[i] = l
		p.members[l] = append(p.members[l], int32(i))
	}
	p.order = make([]int32, len(p.depth))
	for l := range p.order {
		p.order[l] = int32(l)
	}
	slices.SortStableFunc(p.order, func(a, b int32) int { return cmp.Compare(p.depth[a], p.depth[b]) })
}

// classify makes classes of all lines.
func (p *planner) classify() {
	p.place = make([]place, len(p.lines))
	p.single, p.packs = map[int32]*class{}, map[int32]*class{}
	for _, l := range p.order {
		list := p.members[l]
		x := &p.lines[list[0]]
		switch {
		case x.op == program.Input, x.op == program.Param, x.op == program.Const:
		case len(list) >= p.least && !(x.op == program.Sum && len(x.args) >= longSum && len(list) <= manySums):
			p.loop(list)
		default:
			for _, i := range list {
				if x := &p.lines[i]; x.op == program.Sum && len(x.args) >= min(p.least, longestLine) {
					p.long(i)
				} else {
					p.one(i)
				}
			}
		}
	}
}

// add places c in a block.
func (p *planner) add(c *class) *class {
	p.blocks.place(c)
	p.classes = append(p.classes, c)
	return c
}

// newClass returns a class of the lines of list, of so many iterations.
func (p *planner) newClass(k kind, list []int32, n, iter int) *class {
	x := &p.lines[list[0]]
	return &class{kind: k, op: x.op, line: int(list[0]), slot: x.d, n: n, iter: iter, terms: 1, lines: list,
		value: x.value, group: x.group, at: x.at, holds: x.holds, last: true}
}

// one makes a class of line i alone.
func (p *planner) one(i int32) *class {
	c := p.newClass(single, []int32{i}, 1, 1)
	for _, a := range p.lines[i].args {
		c.args = append(c.args, p.arg([]int32{a}, 1))
	}
	p.place[i] = place{c, 0}
	return p.add(c)
}

// leaf returns the class of line i, an input, a parameter or a constant.
func (p *planner) leaf(i int32) *class {
	c, ok := p.single[i]
	if !ok {
		c = p.one(i)
		p.single[i] = c
	}
	return c
}

// loop makes a class of lines with one label.
func (p *planner) loop(list []int32) {
	list = p.ordered(list)
	c := p.newClass(lanes, list, len(list), len(list))
	args := p.lines[list[0]].args
	first := -1
	for _, a := range args {
		if l := int(p.labels[p.lineOf[a]]); first < 0 || l == first {
			first = l
		} else {
			first = -1
			break
		}
	}
	if len(args) > inlineTerms && first >= 0 && p.lines[p.lineOf[args[0]]].op != program.Const {
		c.terms = len(args)
		var all []int32
		for _, i := range list {
			all = append(all, p.lines[i].args...)
		}
		c.args = []arg{p.arg(all, c.terms)}
	} else {
		slots := make([]int32, len(list))
		for k := range args {
			for l, i := range list {
				slots[l] = p.lines[i].args[k]
			}
			c.args = append(c.args, p.arg(slots, 1))
		}
	}
	for l, i := range list {
		p.place[i] = place{c, int32(l)}
	}
	p.add(c)
}

// ordered returns lines with one label in the order of the lanes of their loop: as they are, reversed, or in the order
// of the loops that most arguments are from.
func (p *planner) ordered(list []int32) []int32 {
	order := slices.Clone(list)
	if p.descends(list) {
		slices.Reverse(order)
	}
	best := p.aligned(order)
	for k, a := range p.lines[list[0]].args {
		c := p.place[p.lineOf[a]].class
		if c == nil || c.kind != lanes || c.n != len(list) {
			continue
		}
		by := make([]int32, len(list))
		for _, i := range list {
			by[p.place[p.lineOf[p.lines[i].args[k]]].lane] = i + 1
		}
		if slices.Contains(by, 0) {
			continue
		}
		for l := range by {
			by[l]--
		}
		if n := p.aligned(by); n > best {
			best, order = n, by
		}
	}
	return order
}

// aligned returns the number of arguments that lines, in this order, read in the lane of their own.
func (p *planner) aligned(list []int32) (n int) {
	for k := range p.lines[list[0]].args {
		good := true
		for l, i := range list {
			at := p.place[p.lineOf[p.lines[i].args[k]]]
			if at.class == nil || at.class.n != len(list) || int(at.lane) != l {
				good = false
				break
			}
		}
		if good {
			n++
		}
	}
	return n
}

// descends reports whether most arguments of lines with one label are in descending order.
func (p *planner) descends(list []int32) bool {
	down := 0
	for k := range p.lines[list[0]].args {
		last := int32(0)
		for l, i := range list {
			at := p.element(p.lines[i].args[k])
			switch {
			case l == 0:
			case at == last-1:
				down++
			case at == last+1:
				down--
			}
			last = at
		}
	}
	return down > 0
}

// element returns the lane of a slot in its class, or its index in its group of inputs.
func (p *planner) element(slot int32) int32 {
	i := p.lineOf[slot]
	if x := &p.lines[i]; x.op == program.Input || x.op == program.Param {
		return int32(x.at)
	}
	return p.place[i].lane
}

func (p *planner) elements(slots []int32) []int {
	list := make([]int, len(slots))
	for i, s := range slots {
		list[i] = int(p.element(s))
	}
	return list
}

// arg returns the argument that reads slots, some terms in each iteration. They have the same label, or are constants.
func (p *planner) arg(slots []int32, terms int) arg {
	first := p.lineOf[slots[0]]
	x := &p.lines[first]
	uniform := !slices.ContainsFunc(slots, func(s int32) bool { return s != slots[0] })
	switch x.op {
	case program.Const:
		values, equal := make([]float64, len(slots)), true
		for i, s := range slots {
			values[i] = p.lines[p.lineOf[s]].value
			equal = equal && math.Float64bits(values[i]) == math.Float64bits(values[0])
		}
		if equal {
			return arg{from: p.leaf(first)}
		}
		return arg{values: values}
	case program.Input, program.Param:
		if uniform {
			return arg{from: p.leaf(first)}
		}
		a := arg{group: x.group, at: indexOf(p.elements(slots), terms)}
		if x.op == program.Param {
			a.group = parameters
		}
		return a
	}
	if uniform {
		at := p.place[first]
		return arg{from: at.class, at: index{start: int(at.lane)}}
	}
	if c := p.place[first].class; c.kind == lanes {
		return arg{from: c, at: indexOf(p.elements(slots), terms)}
	}
	c := p.packed(p.labels[first])
	list := make([]int, len(slots))
	for i, s := range slots {
		list[i], _ = slices.BinarySearch(c.lines, p.lineOf[s])
	}
	return arg{from: c, at: indexOf(list, terms)}
}

// packed returns the pack of the lines with label l.
func (p *planner) packed(l int32) *class {
	c, ok := p.packs[l]
	if ok {
		return c
	}
	list := p.members[l]
	c = p.newClass(pack, list, len(list), 1)
	for _, i := range list {
		c.args = append(c.args, arg{from: p.place[i].class})
	}
	c.line = int(list[len(list)-1]) // after its members
	p.packs[l] = c
	return p.add(c)
}

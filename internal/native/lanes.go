package native

import (
	"math"
	"slices"
)

// A Stmt is an operation on N lanes. The result of lane l is in slot D + l, which no other statement writes and none
// before reads. The guards have D as [Instr] has it, the same for all lanes. Store and Output write to the lanes of B,
// which are different slots, and have no D. If Terms is not 0, the operation is Add and lane l is the sum of the terms
// l·Terms to (l+1)·Terms - 1 of A, added one after the other.
type Stmt struct {
	Op      Op
	N, D    int32
	Terms   int32
	A, B, C Operand
}

// An Operand is where the lanes of an operand are: lane l is in slot Base + l·Stride, or, if Stride is [Gather], in
// the slot that element Base + l of the list has.
type Operand struct{ Base, Stride int32 }

// Gather is the stride of operands that are listed.
const Gather = math.MinInt32

// at returns the slot of lane l.
func (o Operand) at(list []int32, l int32) int32 {
	if o.Stride == Gather {
		return list[o.Base+l]
	}
	return o.Base + l*o.Stride
}

// operandsOf returns the operands of s, and their number.
func (s *Stmt) operandsOf() (list [3]Operand, count int) {
	if s.Terms > 0 {
		return [3]Operand{s.A}, 1
	}
	return [3]Operand{s.A, s.B, s.C}, operands[s.Op]
}

const (
	manyTerms  = 32  // sums of more are loops over the terms
	mostBody   = 256 // instructions of a loop over the lanes
	mostRanges = 8   // stretches of equal distances in the terms of a sum; more are listed
)

// Widths returns the numbers of lanes that vectors may have, ascending.
func Widths() []int32 {
	if mostLanes > lanes {
		return []int32{lanes, mostLanes}
	}
	return []int32{lanes}
}

// CompileLanes is [Compile] for statements of lanes, whose operands may be listed. A vector of lanes at a time is
// computed by vector instructions, and statements of as many lanes that follow one another in one loop. The vectors
// have width lanes, one of [Widths], if there are as many; if it is 0, those that are fastest in each loop. The code
// keeps a list of its own.
func CompileLanes(stmts []Stmt, list []int32, ends []int, kept []bool, areas Areas, width int32) *Code {
	if !Supported() || len(kept) > MostSlots || len(stmts) == 0 {
		return nil
	}
	g, starts, blocks := generateLanes(stmts, list, ends, slices.Clone(kept), areas, width)
	if g.a.e.mixed {
		areas = Areas{}
		g, starts, blocks = generateLanes(stmts, list, ends, slices.Clone(kept), areas, width)
	}
	c := newCode(g.a.e.buf, starts, blocks, areas)
	if c != nil {
		c.list = g.list
	}
	return c
}

// generateLanes is [generate] for statements of lanes. It returns the generator with the code.
func generateLanes(stmts []Stmt, list []int32, ends []int, kept []bool, areas Areas, width int32) (g *laneGenerator,
	starts, blocks []int) {
	g = &laneGenerator{list: slices.Clone(list), slots: len(kept), width: width, writer: make([]int32, len(kept)),
		a: &allocator{whole: newValues(len(kept), kept)}}
	g.a.e.areas = areas
	var last []int // part → number of items up to its end
	from := 0
	for _, end := range ends {
		g.part = len(g.items)
		g.divide(stmts[from:end])
		last = append(last, len(g.items))
		from = end
	}
	g.cross()
	from = 0
	for _, end := range last {
		for _, i := range g.items[from:end] {
			i.prepare(g)
		}
		g.turns(from, end)
		g.block()
		from = end
		blocks = append(blocks, len(g.starts))
	}
	return g, g.starts, blocks
}

// span notes that one address is used for the n lanes of an operand.
func (g *laneGenerator) span(o Operand, n int32) {
	if o.Stride != Gather {
		g.a.e.span(o.Base, o.Base+(n-1)*o.Stride)
		return
	}
	for _, slot := range g.list[o.Base : o.Base+n] { // they are addressed from the beginning of the file
		g.a.e.mixed = g.a.e.mixed || g.a.e.areas.holds(slot)
	}
}

// An item is a stretch of statements that is translated as a whole, or some lanes at a time.
type item interface {
	// reads calls visit with all slots that the item reads, except those that it keeps in registers.
	reads(g *laneGenerator, visit func(slot int32))
	// prepare is called once, when all items are known, before the item is translated.
	prepare(g *laneGenerator)
	// length returns the number of lanes, and of those that a block has at most; 1 and 1 if the item is translated at
	// once.
	length() (n, most int32)
	// last calls visit with slots. If these have their values, and the lanes of each item get theirs in order, all that
	// the lanes from from to before to read have theirs.
	last(g *laneGenerator, from, to int32, visit func(slot int32))
	// generate translates the lanes from from to before to. The calls are in order.
	generate(g *laneGenerator, from, to int32)
}

// A laneGenerator translates statements of lanes.
type laneGenerator struct {
	list   []int32
	slots  int     // of the file
	width  int32   // lanes of vectors, 0 if they are chosen
	writer []int32 // slot → the item that writes it, +1; 0 if none does
	part   int     // the first item of the part
	a      *allocator
	items  []item
	starts []int // positions of the blocks
	length int   // instructions that the current block runs; 0 if there is none
}

// room begins a block, or another one if the current one runs long enough, for n more instructions.
func (g *laneGenerator) room(n int) {
	if g.length >= blockLength {
		g.block()
	}
	if g.length == 0 {
		g.starts = append(g.starts, len(g.a.e.buf))
	}
	g.length += max(n, 1)
}

// block ends the current block.
func (g *laneGenerator) block() {
	if g.length > 0 {
		g.a.e.end()
		g.length = 0
	}
}

// mostGroups is the number of earlier loops over as many lanes that a statement may join.
const mostGroups = 8

// divide appends the items of a part. A statement joins an earlier loop over as many lanes if its operands are there by
// then: best that which computes them.
func (g *laneGenerator) divide(stmts []Stmt) {
	var scalars *scalarItem
	groups := map[int32][]*group{}
	for i := range stmts {
		s := &stmts[i]
		switch {
		case s.Terms > manyTerms:
			if s.N > 1 || !g.accumulate(s) {
				scalars = nil
				g.append(newSum(g, s))
				g.written(s, len(g.items)-1)
			}
		case s.N < lanes:
			if scalars == nil || len(scalars.code) >= blockLength {
				scalars = new(scalarItem)
				g.append(scalars)
			}
			scalars.add(g, s)
			g.written(s, len(g.items)-1)
		default:
			if w := g.latest(s); w != nil && w.add(g, s) {
				g.written(s, w.item)
				break
			}
			list := groups[s.N]
			at := slices.IndexFunc(list, func(w *group) bool { return w.add(g, s) })
			if at < 0 {
				w := newGroup(s, len(g.items))
				if !w.add(g, s) { // it has operands at too many distances
					w.list = true
					w.add(g, s)
				}
				g.append(w)
				scalars = nil
				if len(list) == mostGroups {
					list = list[1:]
				}
				at = len(list)
				list = append(list, w)
				groups[s.N] = list
			}
			g.written(s, list[at].item)
		}
	}
}

// latest returns the group of the part that computes the last one of the operands of s, nil if it is none.
func (g *laneGenerator) latest(s *Stmt) *group {
	at := int32(0)
	ops, count := s.operandsOf()
	for _, o := range ops[:count] {
		at = max(at, g.writer[o.at(g.list, 0)])
	}
	if int(at) <= g.part {
		return nil
	}
	w, _ := g.items[at-1].(*group)
	return w
}

func (g *laneGenerator) append(it item) { g.items = append(g.items, it) }

// written notes that an item writes the result of s.
func (g *laneGenerator) written(s *Stmt, item int) {
	if s.Op.defines() {
		for l := range s.N {
			g.writer[s.D+l] = int32(item) + 1
		}
	}
}

// accumulate adds the terms of s in the loop that computes nearly all of them, and reports whether it could.
func (g *laneGenerator) accumulate(s *Stmt) bool {
	at := g.writer[s.A.at(g.list, s.Terms-1-mostAround)] - 1
	if at < 0 || int(at) < g.part {
		return false
	}
	w, ok := g.items[at].(*group)
	if !ok || !w.accumulate(g, s) {
		return false
	}
	g.written(s, int(at))
	return true
}

// cross sets keep for the slots that an item writes and another one reads.
func (g *laneGenerator) cross() {
	for i, it := range g.items {
		now := int32(i) + 1
		it.reads(g, func(slot int32) {
			if writer := g.writer[slot]; writer != 0 && writer != now {
				g.a.whole.keep[slot] = true
			}
		})
	}
}

// A scalarItem has statements of few lanes, as instructions for one lane each.
type scalarItem struct{ code []Instr }

func (it *scalarItem) add(g *laneGenerator, s *Stmt) {
	for l := range s.N {
		if s.Terms > 0 {
			first := s.A.at(g.list, l*s.Terms)
			if s.Terms == 1 {
				it.code = append(it.code, Instr{Op: Move, D: s.D + l, A: first})
				continue
			}
			for t := int32(1); t < s.Terms; t++ {
				d := s.D + l
				if t+1 < s.Terms {
					d = g.a.whole.virtual(g.slots, d)
				}
				it.code = append(it.code, Instr{Op: Add, D: d, A: first, B: s.A.at(g.list, l*s.Terms+t)})
				first = d
			}
			continue
		}
		c := Instr{Op: s.Op, D: s.D + l, A: s.A.at(g.list, l)}
		switch s.Op {
		case GuardLt, GuardLe, GuardEq:
			c.D = s.D
		case Store, Output:
			c.D = s.B.at(g.list, l)
		}
		if operands[s.Op] > 1 {
			c.B = s.B.at(g.list, l)
		}
		if operands[s.Op] > 2 {
			c.C = s.C.at(g.list, l)
		}
		it.code = append(it.code, c)
	}
}

func (it *scalarItem) reads(g *laneGenerator, visit func(slot int32)) {
	for i := range it.code {
		c := &it.code[i]
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < operands[c.Op] && int(s) < g.slots {
				visit(s)
			}
		}
	}
}

func (it *scalarItem) prepare(*laneGenerator)                                    {}
func (it *scalarItem) length() (n, most int32)                                   { return 1, 1 }
func (it *scalarItem) last(g *laneGenerator, _, _ int32, visit func(slot int32)) { it.reads(g, visit) }

func (it *scalarItem) generate(g *laneGenerator, _, _ int32) {
	g.room(len(it.code))
	g.a.e.setLanes(1)
	g.a.straight(it.code)
}

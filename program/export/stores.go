package export

import (
	"cmp"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// A store copies numbers of a class to outputs: lanes to positions in a group.
type store struct {
	group     int
	from      *class
	n         int
	lanes     index
	positions index
	direct    bool // the loop that computes the class does it
}

// A fill writes constants to a whole group of outputs: pattern again and again. What else the group has is written
// after it.
type fill struct {
	group   int
	pattern []float64
}

// outputs are what is written at the end.
type outputs struct {
	fills  []fill
	stores []store
	single []outNumber
	start  int // block before which fills are written, and from which loops may store
}

// An outNumber is one number of a group.
type outNumber struct {
	group, at int
	from      *class // nil for a constant
	lane      int
	value     float64
}

// outputs finds how the outputs are written. Inputs that are outputs become classes.
func (p *planner) outputs(prog *program.Program) *outputs {
	out := new(outputs)
	at := 0
	for g, group := range prog.Outs {
		slots := prog.Result[at : at+group.N]
		at += group.N
		byClass := map[*class][][2]int{} // lane and position
		var order []*class
		var constants []outNumber
		var inputs []int // positions
		for pos, slot := range slots {
			i := p.lineOf[slot]
			switch x := &p.lines[i]; x.op {
			case program.Const:
				v := x.value
				if g > 0 {
					v += 0 // a derivative has no -0
				}
				constants = append(constants, outNumber{group: g, at: pos, value: v})
			case program.Input, program.Param:
				inputs = append(inputs, pos)
			default:
				c := p.place[i]
				if c.class.n == 1 {
					out.single = append(out.single, outNumber{group: g, at: pos, from: c.class})
					break
				}
				if byClass[c.class] == nil {
					order = append(order, c.class)
				}
				byClass[c.class] = append(byClass[c.class], [2]int{int(c.lane), pos})
			}
		}
		for _, c := range order {
			out.add(g, c, byClass[c], p.least)
		}
		p.inputs(out, g, slots, inputs)
		out.constants(g, group.N, constants, p)
	}
	slices.SortStableFunc(out.single, func(a, b outNumber) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.at, b.at))
	})
	out.start = p.start()
	for i := range out.stores {
		s := &out.stores[i]
		s.direct = s.from.block >= out.start && s.lanes.identity() && s.n == s.from.n && s.from.kind != pack
	}
	return out
}

// add adds stores of numbers of c. A lane that is several outputs is in several stores.
func (out *outputs) add(g int, c *class, list [][2]int, least int) {
	slices.SortFunc(list, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var sets [][][2]int
	for i, e := range list {
		k := 0
		for ; k < i && list[i-k-1][0] == e[0]; k++ {
		}
		if k == len(sets) {
			sets = append(sets, nil)
		}
		sets[k] = append(sets[k], e)
	}
	for _, set := range sets {
		if len(set) < least {
			for _, e := range set {
				out.single = append(out.single, outNumber{group: g, at: e[1], from: c, lane: e[0]})
			}
			continue
		}
		lane, pos := make([]int, len(set)), make([]int, len(set))
		for i, e := range set {
			lane[i], pos[i] = e[0], e[1]
		}
		out.stores = append(out.stores, store{group: g, from: c, n: len(set), lanes: indexOf(lane, 1),
			positions: indexOf(pos, 1)})
	}
}

// inputs adds the outputs of a group that are inputs. Many are read into an array.
func (p *planner) inputs(out *outputs, g int, slots []int32, positions []int) {
	byLabel := map[int32][]int{}
	var labels []int32
	for _, pos := range positions {
		l := p.labels[p.lineOf[slots[pos]]]
		if byLabel[l] == nil {
			labels = append(labels, l)
		}
		byLabel[l] = append(byLabel[l], pos)
	}
	for _, l := range labels {
		list := byLabel[l]
		if len(list) < p.least {
			for _, pos := range list {
				out.single = append(out.single, outNumber{group: g, at: pos, from: p.leaf(p.lineOf[slots[pos]])})
			}
			continue
		}
		read := make([]int32, len(list))
		for i, pos := range list {
			read[i] = slots[pos]
		}
		c := p.newClass(copied, []int32{p.lineOf[read[0]]}, len(list), len(list))
		c.args = []arg{p.arg(read, 1)}
		p.add(c)
		out.stores = append(out.stores, store{group: g, from: c, n: len(list), lanes: index{stride: 1},
			positions: indexOf(list, 1)})
	}
}

// constants adds the constants of a group of n outputs.
func (out *outputs) constants(g, n int, list []outNumber, p *planner) {
	if len(list) >= 2*p.least && 2*len(list) >= n {
		values := make([]float64, n)
		known := make([]bool, n)
		for _, c := range list {
			values[c.at], known[c.at] = c.value, true
		}
		pattern := periodic(values, known)
		out.fills = append(out.fills, fill{g, pattern})
		list = slices.DeleteFunc(list, func(c outNumber) bool {
			return math.Float64bits(pattern[c.at%len(pattern)]) == math.Float64bits(c.value)
		})
	}
	out.single = append(out.single, list...)
}

// longestPeriod limits the length of the pattern of a fill.
const longestPeriod = 64

// periodic returns the shortest pattern that, written again and again, has nearly as many of the known values as any.
func periodic(values []float64, known []bool) (best []float64) {
	most := -1
	for n := 1; n <= min(longestPeriod, len(values)); n++ {
		pattern, hits := make([]float64, n), 0
		for k := range pattern {
			count, top := map[uint64]int{}, 0
			for i := k; i < len(values); i += n {
				if known[i] {
					b := math.Float64bits(values[i])
					if count[b]++; count[b] > top {
						top, pattern[k] = count[b], values[i]
					}
				}
			}
			hits += top
		}
		if hits > most+n { // a longer pattern pays only for more hits than it has numbers
			most, best = hits, pattern
		}
	}
	return best
}

// start returns the first block after all blocks that read inputs or compare.
func (p *planner) start() int {
	last := 0
	for _, c := range p.classes {
		reads := c.op.Guard()
		for _, a := range c.args {
			reads = reads || a.from == nil && a.values == nil
		}
		if reads {
			last = max(last, c.block)
		}
	}
	return last + 1
}

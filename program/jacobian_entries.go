package program

import (
	"slices"

	"github.com/nabla-ad/nabla/rules"
)

// EntriesOptions selects entries of a Jacobian.
type EntriesOptions struct {
	// Group is the output group that is differentiated with respect to input group 0.
	Group int
	// Rows and Cols are the size of the leading part of the Jacobian that Ptr and Index refer to.
	Rows, Cols int
	// Ptr and Index hold the selected entries in compressed column form: the rows of column j are
	// Index[Ptr[j]:Ptr[j+1]], ascending.
	Ptr, Index []int
	// Symmetric computes only entries on and above the diagonal and copies them below it. The selection must be
	// symmetric.
	Symmetric bool
	// Others adds the output group "others" with the entries of the Jacobian that are structurally nonzero and not
	// selected. Entries returns their positions.
	Others bool
	// Alone omits the outputs of the program: group 0 is empty.
	Alone bool
	// Forward computes the Jacobian by columns (tangent sweeps) instead of rows (reverse sweeps).
	Forward bool
	// Strong writes structural zeros as -0; see the package comment.
	Strong bool
}

// An Entry is the position of a Jacobian entry.
type Entry struct{ Row, Col int }

// Entries returns p with selected derivatives of one output group with respect to input group 0 as the output group
// "entries", in the order of the options. Each row, or column, takes a sweep of its own over the statements it depends
// on; [EntriesCost] returns the number of statements that all sweeps visit, which is the time to build the program.
//
// With o.Others it also returns the positions of the group "others".
func Entries(p *Program, o EntriesOptions) (*Program, []Entry) {
	p = single(p)
	b := derive(p)
	e := sweepEntries(b, p, o)
	b.output("entries", b.result(e.got, o.Strong))
	if o.Others {
		b.output("others", b.result(e.others, o.Strong))
	}
	return b.p, e.places
}

// sweepEntries appends statements for the entries to b and returns their slots. The outputs of p, unless o.Alone,
// become those of b.
func sweepEntries(b *builder, p *Program, o EntriesOptions) *entries {
	if o.Alone {
		b.output("y", nil)
	} else {
		b.p.Outs = append(b.p.Outs, p.Outs...)
		b.p.Result = append(b.p.Result, p.Result...)
	}
	e := &entries{EntriesOptions: o, got: make([]int32, len(o.Index))}
	for k := range e.got {
		e.got[k] = -1
	}
	outs := p.groupResult(o.Group)[:o.Rows]
	x := p.activeInput()
	if o.Forward {
		e.forward(b, p, outs, x)
	} else {
		e.reverse(b, p, outs, x)
	}
	for k, s := range e.got {
		if s < 0 {
			e.got[k] = b.zero(false)
		}
	}
	return e
}

// groupResult returns the slots of an output group.
func (p *Program) groupResult(group int) []int32 {
	at := total(p.Outs[:group])
	return p.Result[at : at+p.Outs[group].N]
}

// activeInput returns the index of the statement that defines input group 0, the first of them.
func (p *Program) activeInput() int {
	return slices.IndexFunc(p.Stmts, func(s Stmt) bool { return s.Op == Input })
}

// entries holds the result of the sweeps over a Jacobian.
type entries struct {
	EntriesOptions
	got    []int32 // slots of the selected entries, -1 for a structural zero
	others []int32 // slots of the other entries
	places []Entry // positions of the other entries
}

// put records that slot holds the entry of row i and column j.
func (e *entries) put(i, j int, slot int32) {
	if j >= e.Cols || e.Symmetric && i > j {
		return
	}
	if k, ok := slices.BinarySearch(e.Index[e.Ptr[j]:e.Ptr[j+1]], i); ok {
		e.got[e.Ptr[j]+k] = slot
		if e.Symmetric && i < j {
			if k, ok := slices.BinarySearch(e.Index[e.Ptr[i]:e.Ptr[i+1]], j); ok {
				e.got[e.Ptr[i]+k] = slot
			}
		}
		return
	}
	if e.Others {
		e.others = append(e.others, slot)
		e.places = append(e.places, Entry{i, j})
	}
}

// wanted reports for each row, or column, whether it has to be swept.
func (e *entries) wanted(byRow bool) []bool {
	if byRow {
		rows := make([]bool, e.Rows)
		for i := range rows {
			rows[i] = e.Others
		}
		for _, i := range e.Index {
			rows[i] = true
		}
		return rows
	}
	cols := make([]bool, e.Cols)
	for j := range cols {
		cols[j] = e.Others || e.Ptr[j] < e.Ptr[j+1]
	}
	return cols
}

// reverse computes the entries by rows: one reverse sweep for each output in outs, over the cone that it depends on. in
// is the statement of input group 0.
func (e *entries) reverse(b *builder, p *Program, outs []int32, in int) {
	v := newReverser(b, p, 1, e.Strong, false)
	v.cone = newCone(p, true)
	one := b.constant(1)
	x := &p.Stmts[in]
	rows := e.wanted(true)
	for i, s := range outs {
		if !rows[i] || !v.on[s] {
			continue
		}
		v.push(s, one, false)
		for {
			k, ok := v.cone.next()
			if !ok {
				break
			}
			v.step(k)
			if k != in {
				v.full[k] = 0
			}
		}
		if v.full[in] != 0 { // contributions to all inputs at once
			for j, slot := range v.lanesAdjoint(in, x, false) {
				e.put(i, j, slot)
			}
			v.full[in] = 0
		} else {
			v.cone.slots = compact(v.cone.slots)
			for _, s := range v.cone.slots {
				if j := s - x.D; j < x.N { // no slot before the inputs depends on them
					run, neg, _ := v.lane(s)
					if neg {
						run = v.op1(rules.Neg, 1, Run(run))
					}
					e.put(i, int(j), run)
				}
			}
		}
		for _, s := range v.cone.slots {
			v.head[s] = 0
		}
		v.cone.slots, v.list, v.fulls = v.cone.slots[:0], v.list[:0], v.fulls[:0]
	}
}

// compact sorts s and removes duplicates. It modifies s.
func compact(s []int32) []int32 {
	slices.Sort(s)
	return slices.Compact(s)
}

// forward computes the entries by columns: one tangent sweep for each input, over the cone that depends on it and leads
// to an output in outs. in is the statement of input group 0.
func (e *entries) forward(b *builder, p *Program, outs []int32, in int) {
	own := p.owners()
	at, list := p.readers(p.leading(outs, own))
	f := newPusher(b, p, 1, e.Strong)
	c := newCone(p, false)
	one := b.constant(1)
	row := make(map[int32][]int, len(outs)) // slot → rows; an output may occur in several
	for i, s := range outs {
		row[s] = append(row[s], i)
	}
	x := &p.Stmts[in]
	cols := e.wanted(false)
	for j := range cols {
		if !cols[j] {
			continue
		}
		moved := func(slot int32) {
			c.slots = append(c.slots, slot)
			for _, r := range list[at[slot]:at[slot+1]] {
				c.reach(r)
			}
			for _, i := range row[slot] {
				e.put(i, j, f.tan[slot])
			}
		}
		f.tan[x.D+int32(j)] = one
		moved(x.D + int32(j))
		for {
			k, ok := c.next()
			if !ok {
				break
			}
			f.step(k)
			for l, s := int32(0), &p.Stmts[k]; l < s.N; l++ {
				if f.tan[s.D+l] >= 0 {
					moved(s.D + l)
				}
			}
		}
		for _, s := range c.slots {
			f.tan[s] = -1
		}
		c.slots = c.slots[:0]
	}
}

// EntriesCost returns the number of statements that the sweeps of [Entries] visit in forward and in reverse mode, each
// at most limit. Calls with many arguments count more. It stops counting at limit, so that its own cost is bounded by
// it.
func EntriesCost(p *Program, o EntriesOptions, limit int) (forward, reverse int) {
	p = single(p)
	own := p.owners()
	e := &entries{EntriesOptions: o}
	outs := p.groupResult(o.Group)[:o.Rows]
	x := &p.Stmts[p.activeInput()]
	leading := p.leading(outs, own)
	at, list := p.readers(leading)
	forward = limit
	c := newCone(p, false)
	cols := e.wanted(false)
	for j := 0; j < len(cols) && c.visits < limit; j++ {
		if !cols[j] {
			continue
		}
		reach := func(slot int32) {
			for _, r := range list[at[slot]:at[slot+1]] {
				c.reach(r)
			}
		}
		if j&63 == 0 {
			p.task.Step("derivation", j, len(cols))
		}
		reach(x.D + int32(j))
		for c.visits < limit {
			k, ok := c.next()
			if !ok {
				break
			}
			s := &p.Stmts[k]
			c.visits += int(s.terms())/8 + p.inlinedCost(s) // a wide statement takes longer
			for l := range s.N {
				reach(s.D + l)
			}
		}
	}
	forward = min(c.visits, limit)
	on := p.depends(false)
	c = newCone(p, true)
	rows := e.wanted(true)
	for i, s := range outs {
		if c.visits >= limit {
			break
		}
		if i&63 == 0 {
			p.task.Step("derivation", i, len(outs))
		}
		if !rows[i] || !on[s] {
			continue
		}
		c.reach(own[s])
		for c.visits < limit {
			k, ok := c.next()
			if !ok {
				break
			}
			s := &p.Stmts[k]
			c.visits += p.inlinedCost(s)
			for _, o := range s.Operands() {
				c.visits += int(s.terms()) / 8
				for l := range s.terms() {
					if slot := p.at(o, l); on[slot] {
						c.reach(own[slot])
					}
					if o.Stride == 0 {
						break
					}
				}
			}
		}
	}
	return forward, min(c.visits, limit)
}

package expression

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// Options configures [Differentiate].
type Options struct {
	// Group is the output group that is differentiated with respect to input group 0.
	Group int
	// Rows and Cols are the size of the leading part of the Jacobian that is wanted; 0 means all of it.
	Rows, Cols int
	// Symmetric declares that the Jacobian is symmetric, that of a gradient. Entries on and above the diagonal are
	// computed, and copied below it.
	Symmetric bool
	// Exact applies only those rules that keep every bit; see [Rules].
	Exact bool
	// Limit bounds the work: the arcs that are visited by the factorisation, and the statements by sweeps. 0 means
	// DefaultLimit.
	Limit int
}

// DefaultLimit is the default of Options.Limit, with which Differentiate takes about a second at most.
const DefaultLimit = 1 << 22

// A Method is a way in which the entries of a Jacobian are computed.
type Method uint8

// The methods.
const (
	Factorised Method = iota // a factorised derivative graph, the algorithm D*
	Forward                  // a tangent sweep for each column
	Reverse                  // a reverse sweep for each row
)

func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return "invalid"
}

var methodNames = [...]string{"factorised", "forward", "reverse"}

// A Matrix is a Jacobian as expressions: the entries that are not zero everywhere.
type Matrix struct {
	// Entries holds the positions, column after column.
	Entries []program.Entry
	// Method is the one with the fewest operations.
	Method Method
	// Operations is the number of operations of a program with each method, values included; 0 for one that was not
	// tried since it exceeded the limit of work, or would have.
	Operations [len(methodNames)]int

	rows, cols int
	name       string // of the entries as an output group
	candidate
}

// A candidate is a graph with the entries of a Jacobian.
type candidate struct {
	g       *graph
	outs    []output // those of the program
	entries []int32  // nodes, for each of Matrix.Entries
}

// Differentiate returns the Jacobian of an output group of p. It factorises the derivative graph and, for comparison,
// computes the entries by sweeps in forward and in reverse mode, and takes the method with the fewest operations. It
// returns nil without an error if all of them exceed the limit of work.
//
// Outputs of group 0 keep every bit of their values. Errors are a [*ProgramError] and an [*OptionsError].
func Differentiate(p *program.Program, o Options) (*Matrix, error) {
	if err := o.check(p); err != nil {
		return nil, err
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	g := newGraph(levelOf(o.Exact))
	slot, err := g.load(p)
	if err != nil {
		return nil, err
	}
	outs := outputsOf(p, slot)
	m := &Matrix{rows: o.Rows, cols: o.Cols, name: "jac"}
	roots := outs[o.Group].nodes
	if m.rows == 0 {
		m.rows = len(roots)
	}
	if m.cols == 0 {
		m.cols = p.Ins[0].N
	}
	leaves := make([]int32, m.cols)
	for j := range leaves {
		leaves[j] = g.input(j)
	}
	roots = roots[:m.rows]
	places, work := g.structure(roots, leaves, o)
	if work > o.Limit {
		return nil, nil
	}
	swept := m.sweeps(p, places, o)
	found := m.factorised(g, outs, roots, leaves, places, o)
	if !found && !swept {
		return nil, nil
	}
	m.drop(places, o.Symmetric)
	return m, nil
}

// check returns an error if o does not fit p.
func (o *Options) check(p *program.Program) error {
	rows, cols := -1, -1
	if o.Group >= 0 && o.Group < len(p.Outs) {
		rows = p.Outs[o.Group].N
	}
	if len(p.Ins) > 0 {
		cols = p.Ins[0].N
	}
	switch {
	case rows < 0:
		return &OptionsError{"Group", o.Group, fmt.Sprintf("one of the %d output groups, counted from 0", len(p.Outs))}
	case cols < 0:
		return &ProgramError{Problem: "it has no inputs to differentiate with respect to"}
	case o.Rows < 0 || o.Rows > rows:
		return &OptionsError{"Rows", o.Rows, fmt.Sprintf("at most %d, the size of the output group; 0 is all", rows)}
	case o.Cols < 0 || o.Cols > cols:
		return &OptionsError{"Cols", o.Cols, fmt.Sprintf("at most %d, the size of the input group; 0 is all", cols)}
	case o.Symmetric && cmp.Or(o.Rows, rows) != cmp.Or(o.Cols, cols):
		return &OptionsError{"Rows", cmp.Or(o.Rows, rows), fmt.Sprintf("%d, since the matrix is symmetric",
			cmp.Or(o.Cols, cols))}
	case o.Limit < 0:
		return &OptionsError{"Limit", o.Limit, "a positive limit; 0 is the default"}
	}
	return nil
}

// outputsOf returns the output groups of p as nodes.
func outputsOf(p *program.Program, slot []int32) []output {
	outs, at := make([]output, len(p.Outs)), 0
	for i, group := range p.Outs {
		outs[i] = output{group.Name, make([]int32, group.N)}
		for j := range group.N {
			outs[i].nodes[j] = slot[p.Result[at]]
			at++
		}
	}
	return outs
}

// structure returns the positions at which a path leads from a root to a leaf, column after column, and the number of
// nodes that were visited, which is more than the limit if the search was given up.
func (g *graph) structure(roots, leaves []int32, o Options) (places []program.Entry, work int) {
	need, on := g.reach(roots), g.varied(leaves)
	users := make([][]int32, len(g.nodes))
	for id := range int32(len(g.nodes)) {
		if !need[id] || !on[id] {
			continue
		}
		for i, a := range g.args(id) {
			if !on[a] {
				continue
			}
			if _, ok := g.partial(id, i); ok {
				users[a] = append(users[a], id)
			}
		}
	}
	rows := map[int32][]int{}
	for i, r := range roots {
		rows[r] = append(rows[r], i)
	}
	seen := make([]int32, len(g.nodes)) // column+1 of the last visit
	for j, leaf := range leaves {
		first := len(places)
		seen[leaf] = int32(j) + 1
		for queue := []int32{leaf}; len(queue) > 0; {
			id := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if work++; work > o.Limit {
				return nil, work
			}
			for _, i := range rows[id] {
				if !o.Symmetric || i <= j {
					places = append(places, program.Entry{Row: i, Col: j})
				}
			}
			for _, u := range users[id] {
				if int(u) < len(seen) && seen[u] != int32(j)+1 {
					seen[u] = int32(j) + 1
					queue = append(queue, u)
				}
			}
		}
		slices.SortFunc(places[first:], func(a, b program.Entry) int { return cmp.Compare(a.Row, b.Row) })
	}
	return places, work
}

// better makes c the candidate of m if it takes fewer operations than the one so far.
func (m *Matrix) better(method Method, c candidate) {
	roots := make([][]int32, 0, len(c.outs)+1)
	for _, o := range c.outs {
		roots = append(roots, o.nodes)
	}
	n := max(1, c.g.operations(append(roots, c.entries)...))
	if m.g == nil || n < m.Operations[m.Method] {
		m.Method, m.candidate = method, c
	}
	if m.Operations[method] == 0 || n < m.Operations[method] {
		m.Operations[method] = n
	}
}

// factorised adds the candidate of the factorised derivative graph. It returns false at the limit of work.
func (m *Matrix) factorised(g *graph, outs []output, roots, leaves []int32, places []program.Entry, o Options) bool {
	from, to := make([]int32, len(places)), make([]int32, len(places))
	for k, e := range places {
		from[k], to[k] = roots[e.Row], leaves[e.Col]
	}
	v, ok, done := g.derivatives(from, to, o.Limit)
	if !done {
		return false
	}
	c := candidate{g, outs, make([]int32, len(places))}
	for k := range v {
		if ok[k] {
			c.entries[k] = g.node(v[k])
		} else {
			c.entries[k] = g.constant(0)
		}
	}
	m.better(Factorised, c)
	return true
}

// sweeps adds the candidates of sweeps: both, or the one with fewer statements if they are many. It returns false at
// the limit of work.
func (m *Matrix) sweeps(p *program.Program, places []program.Entry, o Options) bool {
	e := program.EntriesOptions{Group: o.Group, Rows: m.rows, Cols: m.cols, Ptr: make([]int, m.cols+1)}
	for _, at := range places {
		e.Ptr[at.Col+1]++
		e.Index = append(e.Index, at.Row)
	}
	for j := range m.cols {
		e.Ptr[j+1] += e.Ptr[j]
	}
	const few = 1 << 16
	forward, reverse := program.EntriesCost(p, e, o.Limit)
	if min(forward, reverse) >= o.Limit {
		return false
	}
	for _, method := range [...]Method{Reverse, Forward} {
		cost, other := reverse, forward
		if method == Forward {
			cost, other = forward, reverse
		}
		if cost > few && (cost > other || cost == other && method == Forward) {
			continue
		}
		e.Forward = method == Forward
		q, _ := program.Entries(p, e)
		q = program.Simplify(q)
		for _, l := range [...]level{bare, levelOf(o.Exact)} { // a rule may replace what is shared
			g := newGraph(l)
			slot, err := g.load(q)
			if err != nil { // p has been loaded before
				panic("expression: " + err.Error())
			}
			outs := outputsOf(q, slot)
			last := len(outs) - 1
			m.better(method, candidate{g, outs[:last], outs[last].nodes})
		}
	}
	return true
}

// drop sets the entries to those of places that are not the constant 0, with their mirror images if only one of the two
// was computed.
func (m *Matrix) drop(places []program.Entry, symmetric bool) {
	nodes := m.entries
	m.entries = nil
	type entry struct {
		at   program.Entry
		node int32
	}
	var list []entry
	for k, at := range places {
		if m.g.zero(number{id: nodes[k]}) {
			continue
		}
		list = append(list, entry{at, nodes[k]})
		if symmetric && at.Row != at.Col {
			list = append(list, entry{program.Entry{Row: at.Col, Col: at.Row}, nodes[k]})
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.at.Col, b.at.Col), cmp.Compare(a.at.Row, b.at.Row))
	})
	for _, e := range list {
		m.Entries = append(m.Entries, e.at)
		m.entries = append(m.entries, e.node)
	}
}

// made reports whether m was returned by Differentiate.
func (m *Matrix) made() bool { return m != nil && m.g != nil }

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) {
	if !m.made() {
		return 0, 0
	}
	return m.rows, m.cols
}

// Expression returns entry k of m.Entries, with inputs named after their groups as by [Of]. It is the zero Expression
// if there is no such entry.
func (m *Matrix) Expression(k int) Expression {
	if !m.made() || k < 0 || k >= len(m.entries) {
		return Expression{}
	}
	return Expression{m.g, m.entries[k]}.copied()
}

// Dense returns a program with the outputs of the differentiated one and all entries, row after row, as the output
// group "jac". It is nil for a Matrix that Differentiate has not made.
func (m *Matrix) Dense() *program.Program {
	if !m.made() {
		return nil
	}
	all := make([]int32, m.rows*m.cols)
	zero := m.g.constant(0)
	for i := range all {
		all[i] = zero
	}
	for k, e := range m.Entries {
		all[e.Row*m.cols+e.Col] = m.entries[k]
	}
	return m.g.program(append(slices.Clone(m.outs), output{"jac", all}))
}

// Sparse returns a program with the selected entries, those in rows index[ptr[j]:ptr[j+1]], ascending, of column j, as
// the output group "entries", and those that are not selected as the group "others", with their positions. Before them
// are the outputs of the differentiated program, or an empty group if alone is set. It is nil for a Matrix that
// Differentiate has not made.
func (m *Matrix) Sparse(ptr, index []int, alone bool) (*program.Program, []program.Entry) {
	if !m.made() {
		return nil, nil
	}
	got, others := make([]int32, len(index)), []int32(nil)
	zero := m.g.constant(0)
	for k := range got {
		got[k] = zero
	}
	var places []program.Entry
	for k, e := range m.Entries {
		if at, ok := slices.BinarySearch(index[ptr[e.Col]:ptr[e.Col+1]], e.Row); ok {
			got[ptr[e.Col]+at] = m.entries[k]
			continue
		}
		others, places = append(others, m.entries[k]), append(places, e)
	}
	outs := slices.Clone(m.outs)
	if alone {
		outs = []output{{name: "y"}}
	}
	return m.g.program(append(outs, output{"entries", got}, output{"others", others})), places
}

// Simplify returns p after the rules have been applied, those that keep every bit alone if exact is set. Outputs of
// group 0 keep every bit in either case. Common subexpressions are computed once, and what no output needs is omitted.
// The error is a [*ProgramError].
func Simplify(p *program.Program, exact bool) (*program.Program, error) {
	var best *program.Program
	for _, l := range [...]level{bare, levelOf(exact)} { // a rule may replace what is shared
		g := newGraph(l)
		slot, err := g.load(p)
		if err != nil {
			return nil, err
		}
		if q := g.program(outputsOf(p, slot)); best == nil || q.Operations() < best.Operations() {
			best = q
		}
	}
	return best, nil
}

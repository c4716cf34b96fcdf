package export

import (
	"fmt"
	"math"
	"regexp"

	"github.com/nabla-ad/nabla/program"
)

// A language has what differs between Go and C. Its methods return lines of code, or expressions.
type language interface {
	let(name, value string) string   // a variable that is not changed
	start(name, value string) string // one that is
	set(place, value string) string
	loop(counter string, n int) string // up to end
	end() string
	fail(condition, guard string) string // return if the condition holds
	constant(v float64) string
	zero() string                  // adds 0 to what is before it
	table(list []int) string       // the name of a constant array
	numbers(list []float64) string // the same of numbers
	value(op program.Op, args []string) string
	comparison(op program.Op, a, b string) string
	input(group, at int) string            // a number of a group of inputs, or of the parameters
	element(m memory, index string) string // a number of m
	pending() string                       // declarations that expressions returned before need
	result(group int, value string) bool   // takes the value of a group that is a number, if there are such groups
	output(group, at int) string           // a number of a group of outputs
	begin(group int) string                // before writing to a group, up to finish
	finish() string                        //
	stored(group int, line string) string  // a line that writes to a group elsewhere
	copies(to, from memory) string         // all numbers
	repeats(group, n, total int) string    // the first n numbers of a group again and again
}

// A memory is a part of the memory of the function, of the parameters, or of a group of inputs or outputs.
type memory struct {
	space    space
	group    int
	start, n int
}

type space uint8

const (
	work space = iota
	ins        // the group may be parameters
	outs
)

// A codeWriter writes the body of a function.
type codeWriter struct {
	language
	plan   *plan
	text   []byte
	direct map[*class][]store
	// loaded holds the names of the values that the current loop has loaded, by their expressions.
	loaded map[string]string
	names  int
}

// code writes the body of a function.
func code(s language, p *plan) string {
	w := &codeWriter{language: s, plan: p, direct: map[*class][]store{}}
	for _, s := range p.out.stores {
		if s.direct {
			w.direct[s.from] = append(w.direct[s.from], s)
		}
	}
	for b, list := range p.blocks {
		if b == p.out.start {
			w.fills()
		}
		if p.iter[b] > 1 {
			w.loops(b, list)
			continue
		}
		for _, c := range list {
			w.straight(c)
		}
	}
	if len(p.blocks) <= p.out.start {
		w.fills()
	}
	w.outputs()
	return string(w.text)
}

// add adds lines, and before them what they need.
func (w *codeWriter) add(lines string) {
	w.text = append(append(w.text, w.pending()...), lines...)
}

// memory returns the place of c.
func (c *class) memory() memory { return memory{space: work, start: c.offset, n: c.n} }

// lane returns a number of c outside loops.
func (w *codeWriter) lane(c *class, l int) string {
	if c.n == 1 {
		return variable(c.slot)
	}
	return w.element(c.memory(), fmt.Sprint(l))
}

// straight writes a class of code without loops.
func (w *codeWriter) straight(c *class) {
	args := make([]string, len(c.args))
	for i, a := range c.args {
		args[i] = w.lane(a.from, a.at.start)
	}
	v := variable(c.slot)
	switch {
	case c.op.Guard():
		w.add(w.fail(failing(w.comparison(c.op, args[0], args[1]), c.holds), fmt.Sprint(c.guard)))
	case !c.used:
	case c.kind == pack:
		for i, a := range args {
			w.add(w.set(w.element(c.memory(), fmt.Sprint(i)), a))
		}
	case c.op == program.Input:
		w.add(w.let(v, w.input(c.group, c.at)))
	case c.op == program.Param:
		w.add(w.let(v, w.input(parameters, c.at)))
	case c.op == program.Const:
		w.add(w.let(v, w.constant(c.value)))
	case c.op == program.Sum && c.from != nil:
		w.add(w.set(v, sum(append([]string{v}, args...))))
	case c.op == program.Sum && !c.last:
		w.add(w.start(v, sum(args)))
	case c.op == program.Sum:
		w.add(w.let(v, sum(args)))
	default:
		w.add(w.let(v, w.value(c.op, args)))
	}
}

// loops writes a block that is a loop.
func (w *codeWriter) loops(b int, list []*class) {
	for _, c := range list {
		if c.kind == reduce && c.from == nil { // -0 + x is x for all x
			w.add(w.start(variable(c.slot), w.constant(math.Copysign(0, -1))))
		}
	}
	w.loaded = map[string]string{}
	before := w.text
	w.text = nil
	declarations := ""
	for _, c := range list {
		line := w.iteration(b, c)
		declarations += w.pending()
		w.add(line)
	}
	body := w.text
	w.text = before
	w.add(declarations + w.repeat("i", w.plan.iter[b], string(body)))
}

// repeat returns a loop. Its counter has no name if the body does not use it.
func (w *codeWriter) repeat(counter string, n int, body string) string {
	if !regexp.MustCompile(`\b` + counter + `\b`).MatchString(body) {
		counter = ""
	}
	return w.loop(counter, n) + body + w.end()
}

// iteration returns what a loop does for c.
func (w *codeWriter) iteration(b int, c *class) string {
	v, text := variable(c.slot), ""
	if c.terms > 1 {
		text = w.start(v, w.constant(math.Copysign(0, -1)))
		text += w.repeat("k", c.terms, w.set(v, v+" + "+w.place(c, c.args[0])))
		return text + w.results(c, v)
	}
	args := make([]string, len(c.args))
	for i, a := range c.args {
		switch {
		case a.from != nil && (a.from.n == 1 || a.from.block == b):
			args[i] = variable(a.from.slot)
			continue
		}
		place := w.place(c, a)
		name, ok := w.loaded[place]
		if !ok {
			name = fmt.Sprintf("u%d", w.names)
			w.names++
			w.loaded[place] = name
			text += w.let(name, place)
		}
		args[i] = name
	}
	switch {
	case c.op.Guard():
		guard := "i"
		if c.guard > 0 {
			guard = fmt.Sprintf("i + %d", c.guard)
		}
		return text + w.fail(failing(w.comparison(c.op, args[0], args[1]), c.holds), guard)
	case c.kind == reduce:
		return text + w.set(v, sum(append([]string{v}, args...)))
	case c.kind == copied:
		v = args[0]
	case c.op == program.Sum:
		text += w.let(v, sum(args))
	default:
		text += w.let(v, w.value(c.op, args))
	}
	return text + w.results(c, v)
}

// place returns the expression for what c reads from memory in an iteration.
func (w *codeWriter) place(c *class, a arg) string {
	if a.values != nil {
		return w.numbers(a.values) + "[i]"
	}
	if a.from != nil && a.from.n == 1 {
		return variable(a.from.slot)
	}
	m := memory{space: ins, group: a.group}
	if a.from != nil {
		m = a.from.memory()
	}
	return w.at(m, a.at, c.iter, c.terms)
}

// at returns the element of m in an iteration.
func (w *codeWriter) at(m memory, at index, n, terms int) string {
	least, width := at.span(n, terms)
	m.start, m.n = m.start+least, width
	return w.element(m, at.expression(least, terms, w.table))
}

// results returns the lines that store v, the value of c in an iteration.
func (w *codeWriter) results(c *class, v string) string {
	text := ""
	if c.array {
		value := v
		if !c.raw && !c.positive() {
			value += w.zero()
		}
		text = w.set(w.at(c.memory(), index{stride: 1}, c.n, 1), value)
	}
	for _, s := range w.direct[c] {
		text += w.stored(s.group, w.set(w.at(memory{space: outs, group: s.group}, s.positions, s.n, 1),
			w.derivative(s.group, c, v)))
	}
	return text
}

// derivative returns v, which is of c, as a number of a group of outputs. A derivative, an output of another group than
// the first, has no -0.
func (w *codeWriter) derivative(group int, c *class, v string) string {
	if group > 0 && !c.positive() {
		return v + w.zero()
	}
	return v
}

// fills writes the constants of groups.
func (w *codeWriter) fills() {
	for _, f := range w.plan.out.fills {
		w.add(w.begin(f.group))
		for k, v := range f.pattern {
			w.add(w.set(w.output(f.group, k), w.constant(v)))
		}
		w.add(w.repeats(f.group, len(f.pattern), w.plan.outs[f.group].N) + w.finish())
	}
}

// outputs writes the outputs that loops do not store.
func (w *codeWriter) outputs() {
	single, stores := w.plan.out.single, w.plan.out.stores
	for g := range w.plan.outs {
		var lines string
		line := func(s string) { lines += w.pending() + s }
		for ; len(single) > 0 && single[0].group == g; single = single[1:] {
			s := single[0]
			value := w.constant(s.value)
			if s.from != nil {
				value = w.derivative(g, s.from, w.lane(s.from, s.lane))
			}
			if !w.result(g, value) {
				line(w.set(w.output(g, s.at), value))
			}
		}
		for ; len(stores) > 0 && stores[0].group == g; stores = stores[1:] {
			s := stores[0]
			if s.direct {
				continue
			}
			to, from := memory{space: outs, group: g, start: s.positions.start, n: s.n}, s.from.memory()
			ready := g == 0 || !s.from.raw || s.from.positive() // as outputs are
			if ready && s.positions.run() && s.lanes.run() {
				from.start, from.n = from.start+s.lanes.start, s.n
				line(w.copies(to, from))
				continue
			}
			value := w.at(s.from.memory(), s.lanes, s.n, 1)
			if s.from.raw {
				value = w.derivative(g, s.from, value)
			}
			set := w.set(w.at(memory{space: outs, group: g}, s.positions, s.n, 1), value)
			line(w.repeat("i", s.n, set))
		}
		if lines != "" {
			w.add(w.begin(g) + lines + w.finish())
		}
	}
}

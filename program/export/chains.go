package export

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// folded returns lines with a constant in place of each whose arguments are constants, and x + x in place of 2·x, which
// is the same number: derivatives of squares multiply much, and processors can add at the same time. Lines that nothing
// needs then are left out. result are the slots of outputs.
func folded(lines []line, slots int32, result []int32) []line {
	at := make([]int32, slots) // slot → line + 1 of a constant
	changed := false
	for i := range lines {
		x := &lines[i]
		switch {
		case x.op == program.Const:
			at[x.d] = int32(i) + 1
			continue
		case x.op == program.Op(rules.Mul) && (at[x.args[0]] == 0) != (at[x.args[1]] == 0):
			a, b := x.args[0], x.args[1]
			if at[a] > 0 {
				a, b = b, a
			}
			if lines[at[b]-1].value == 2 {
				*x = line{op: program.Op(rules.Add), d: x.d, args: []int32{a, a}}
				changed = true
			}
			continue
		case x.op.Guard() || len(x.args) == 0 || slices.ContainsFunc(x.args, func(a int32) bool { return at[a] == 0 }):
			continue
		}
		values := make([]float64, len(x.args))
		for k, a := range x.args {
			values[k] = lines[at[a]-1].value
		}
		v := values[0]
		switch op := rules.Op(x.op); {
		case x.op == program.Sum:
			for _, a := range values[1:] {
				v += a
			}
		case len(values) == 1:
			v = rules.Value1(op, v)
		case len(values) == 2:
			v = rules.Value2(op, v, values[1])
		default:
			v = rules.Value3(op, v, values[1], values[2])
		}
		*x = line{op: program.Const, d: x.d, value: v}
		at[x.d] = int32(i) + 1
		changed = true
	}
	if !changed {
		return lines
	}
	needed := make([]bool, slots)
	for _, s := range result {
		needed[s] = true
	}
	for i := len(lines) - 1; i >= 0; i-- {
		x := &lines[i]
		if x.op.Guard() || needed[x.d] {
			for _, a := range x.args {
				needed[a] = true
			}
		}
	}
	return slices.DeleteFunc(lines, func(x line) bool { return !x.op.Guard() && !needed[x.d] })
}

// expanded returns lines with additions of two terms in place of sums of more, and the number of slots. The additions
// have new slots but for the last of a sum.
func expanded(lines []line, slots int32) ([]line, int32) {
	more := 0
	for i := range lines {
		if lines[i].op == program.Sum {
			more += max(len(lines[i].args)-2, 0)
		}
	}
	all := make([]line, 0, len(lines)+more)
	for _, x := range lines {
		if x.op != program.Sum || len(x.args) < 2 {
			all = append(all, x)
			continue
		}
		s := x.args[0]
		for k, a := range x.args[1:] {
			d := x.d
			if k < len(x.args)-2 {
				d = slots
				slots++
			}
			all = append(all, line{op: program.Op(rules.Add), d: d, args: []int32{s, a}})
			s = d
		}
	}
	return all, slots
}

// chains makes sums of chains of additions whose partial sums have no other use, with the same rounding. Lines with one
// label are treated alike, and a chain does not begin before a line whose label has more or fewer lines than the rest
// of it: the terms of a sum that are additions remain a loop of their own.
func (p *planner) chains(result []int32) {
	uses := make([]int32, len(p.lines))
	for i := range p.lines {
		for _, a := range p.lines[i].args {
			uses[p.lineOf[a]]++
		}
	}
	for _, s := range result {
		uses[p.lineOf[s]] += 2
	}
	once := make([]bool, len(p.depth))
	for l, list := range p.members {
		once[l] = p.lines[list[0]].op == program.Op(rules.Add) &&
			!slices.ContainsFunc(list, func(i int32) bool { return uses[i] != 1 })
	}
	left := make([]int, len(p.depth)) // label → operand that continues the chain, or -1
	length := make([]int32, len(p.depth))
	absorbed := make([]bool, len(p.depth))
	found := false
	for _, l := range p.order {
		left[l] = -1
		x := &p.lines[p.members[l][0]]
		if x.op != program.Op(rules.Add) {
			continue
		}
		length[l] = 2
		a, b := p.labels[p.lineOf[x.args[0]]], p.labels[p.lineOf[x.args[1]]]
		open := func(k int32) bool { return once[k] && len(p.members[k]) == len(p.members[l]) }
		switch {
		case open(a) && (!open(b) || length[a] >= length[b]):
			left[l] = 0
		case open(b):
			left[l], a = 1, b
		default:
			continue
		}
		found = true
		absorbed[a] = true
		length[l] = length[a] + 1
	}
	if !found {
		return
	}
	var lines []line
	var labels []int32
	for i, x := range p.lines {
		l := p.labels[i]
		if absorbed[l] {
			continue
		}
		if left[l] >= 0 {
			terms := make([]int32, 0, length[l])
			for j := int32(i); ; {
				y, k := &p.lines[j], left[p.labels[j]]
				if k < 0 {
					terms = append(terms, y.args[1], y.args[0])
					break
				}
				terms = append(terms, y.args[1-k])
				j = p.lineOf[y.args[k]]
			}
			slices.Reverse(terms)
			x = line{op: program.Sum, d: x.d, args: terms}
		}
		lines = append(lines, x)
		labels = append(labels, l)
	}
	p.lines, p.labels = lines, labels
	for l := range p.members {
		p.members[l] = p.members[l][:0]
	}
	for i, x := range lines {
		if !x.op.Guard() {
			p.lineOf[x.d] = int32(i)
		}
		p.members[labels[i]] = append(p.members[labels[i]], int32(i))
	}
	p.order = slices.DeleteFunc(p.order, func(l int32) bool { return absorbed[l] })
}

// positive reports whether c is never -0: it is the sum of a number and 0.
func (c *class) positive() bool {
	if c.op != program.Op(rules.Add) {
		return false
	}
	for _, a := range c.args {
		if a.from != nil && a.from.op == program.Const && a.from.value == 0 && !math.Signbit(a.from.value) {
			return true
		}
	}
	return false
}

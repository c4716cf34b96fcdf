package expression

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A node is one operation of a graph. Nodes are comparable: two with equal fields are one node.
type node struct {
	op   program.Op // Input, Param, Const or an elementary function
	arg  [3]int32   // nodes; the first op.Arity are used
	k    int32      // index of an input or a parameter
	bits uint64     // of a constant
}

// A graph is an acyclic graph of operations in which equal operations are one node. The arguments of a node have
// smaller numbers than the node.
type graph struct {
	names  []string        // of the inputs, and then of the parameters
	groups []program.Group // the inputs as groups of a program, in order
	params int             // number of parameters
	nodes  []node
	index  map[node]int32
	level  level
}

// A level says which rules are applied.
type level uint8

const (
	bare     level = iota // none
	bitwise               // those that keep every bit
	allRules              // all
)

// levelOf returns the level for a flag of users.
func levelOf(exact bool) level {
	if exact {
		return bitwise
	}
	return allRules
}

// none stands for no node.
const none = -1

func newGraph(l level) *graph { return &graph{index: map[node]int32{}, level: l} }

// add returns the node n, which is new or has been added before.
func (g *graph) add(n node) int32 {
	if id, ok := g.index[n]; ok {
		return id
	}
	id := int32(len(g.nodes))
	g.nodes = append(g.nodes, n)
	g.index[n] = id
	return id
}

func (g *graph) input(k int) int32 { return g.add(node{op: program.Input, k: int32(k)}) }

func (g *graph) constant(v float64) int32 {
	if v != v {
		v = math.NaN() // one NaN for all payloads
	}
	return g.add(node{op: program.Const, bits: math.Float64bits(v)})
}

// value returns the value of a constant.
func (g *graph) value(id int32) (float64, bool) {
	n := &g.nodes[id]
	return math.Float64frombits(n.bits), n.op == program.Const
}

// apply returns op of nodes, after constant folding and the rules; see make.
func (g *graph) apply(op rules.Op, arg ...int32) int32 {
	var a [3]int32
	copy(a[:], arg)
	return g.make(op, a, g.level)
}

// make returns op of the nodes arg, with constants folded and the rules of level l applied.
func (g *graph) make(op rules.Op, arg [3]int32, l level) int32 {
	if id, ok := g.fold(op, arg); ok {
		return id
	}
	if op == rules.Add || op == rules.Mul { // the order does not matter: constants second, older nodes first
		_, first := g.value(arg[0])
		_, second := g.value(arg[1])
		if first && !second || first == second && arg[0] > arg[1] {
			arg[0], arg[1] = arg[1], arg[0]
		}
	}
	n := node{op: program.Op(op), arg: arg}
	if id, ok := g.index[n]; ok {
		return id
	}
	if id, ok := g.rewritten(n, l); ok {
		return id
	}
	return g.add(n)
}

// fold returns the constant that op of arg is, if it is one.
func (g *graph) fold(op rules.Op, arg [3]int32) (int32, bool) {
	var v [3]float64
	for i := range op.Arity() {
		x, ok := g.value(arg[i])
		if !ok {
			if op == rules.Select && i > 0 {
				if v[0] != 0 {
					return arg[1], true
				}
				return arg[2], true
			}
			return none, false
		}
		v[i] = x
	}
	return g.constant(evaluate(op, v)), true
}

// evaluate returns the value of op.
func evaluate(op rules.Op, v [3]float64) float64 {
	switch op.Arity() {
	case 1:
		return rules.Value1(op, v[0])
	case 2:
		return rules.Value2(op, v[0], v[1])
	}
	return rules.Value3(op, v[0], v[1], v[2])
}

// load adds the statements of p and returns the node of each slot. The statements that the first output group needs
// keep every bit of their values and their form, which later ones share. The error is a *ProgramError.
func (g *graph) load(p *program.Program) ([]int32, error) { return g.loadAs(p, g.level) }

// loadAs is load with the rules of another level.
func (g *graph) loadAs(p *program.Program, usual level) ([]int32, error) {
	if err := program.Check(p); err != nil {
		return nil, &ProgramError{Problem: err.Error()}
	}
	g.groups, g.params, g.names = p.Ins, p.Params, defaultNames(p)
	keep := needed(p)
	slot := make([]int32, p.Slots)
	first := make([]int, len(p.Ins)+1)
	for i, in := range p.Ins {
		first[i+1] = first[i] + in.N
	}
	for i := range p.Stmts {
		s := &p.Stmts[i]
		switch {
		case s.Op.Guard():
			return nil, &ProgramError{Problem: fmt.Sprintf("it compares values (%v), and an expression has no "+
				"branches; write both sides with nabla.Where", s.Op)}
		case s.Op == program.Call:
			return nil, &ProgramError{Problem: fmt.Sprintf("it calls the rule %q, which is no expression",
				p.Customs[s.K].Name())}
		}
		for l := range s.N {
			d, which := s.D+l, usual
			if keep[s.D+l] {
				which = bare
			}
			switch s.Op {
			case program.Input:
				slot[d] = g.input(first[s.K] + int(l))
			case program.Param:
				slot[d] = g.add(node{op: program.Param, k: l})
			case program.Const:
				slot[d] = g.constant(p.Consts[s.K+l])
			case program.Sum:
				id := slot[address(p, s.A, l*s.K)]
				for k := int32(1); k < s.K; k++ {
					id = g.make(rules.Add, [3]int32{id, slot[address(p, s.A, l*s.K+k)]}, which)
				}
				slot[d] = id
			default:
				var a [3]int32
				for i, o := range s.Operands() {
					a[i] = slot[address(p, o, l)]
				}
				slot[d] = g.make(rules.Op(s.Op), a, which)
			}
		}
	}
	return slot, nil
}

// needed reports for each slot of p whether the first output group depends on it.
func needed(p *program.Program) []bool {
	keep := make([]bool, p.Slots)
	if len(p.Outs) > 0 {
		for _, s := range p.Result[:p.Outs[0].N] {
			keep[s] = true
		}
	}
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		s := &p.Stmts[i]
		terms := int32(1)
		if s.Op == program.Sum {
			terms = s.K
		}
		for l := range s.Width() {
			if s.Op == program.Call || !keep[s.D+l] {
				continue
			}
			for _, o := range s.Operands() {
				for k := range terms {
					keep[address(p, o, l*terms+k)] = true
				}
			}
		}
	}
	return keep
}

// address returns the slot that address l of o is.
func address(p *program.Program, o program.Operand, l int32) int32 {
	if o.Stride == program.Gather {
		return p.Index[o.Base+l]
	}
	return o.Base + l*o.Stride
}

// reach reports for each node whether one of the nodes in roots depends on it.
func (g *graph) reach(roots ...[]int32) []bool {
	on := make([]bool, len(g.nodes))
	for _, list := range roots {
		for _, id := range list {
			on[id] = true
		}
	}
	for id := len(g.nodes) - 1; id >= 0; id-- {
		if on[id] {
			for _, a := range g.args(int32(id)) {
				on[a] = true
			}
		}
	}
	return on
}

// args returns the arguments of a node.
func (g *graph) args(id int32) []int32 {
	n := &g.nodes[id]
	return n.arg[:n.op.Arity()]
}

// operations returns the number of operations that roots take.
func (g *graph) operations(roots ...[]int32) int {
	count := 0
	for id, on := range g.reach(roots...) {
		if on && g.nodes[id].op.Elementary() {
			count++
		}
	}
	return count
}

// An output is a group of outputs of a program.
type output struct {
	name  string
	nodes []int32
}

// program returns a program with the inputs and parameters of g that computes outs. Additions in a row whose
// intermediate results have no other use become one ordered sum.
func (g *graph) program(outs []output) *program.Program {
	p := &program.Program{Ins: g.groups, Params: g.params}
	uses := make([]int32, len(g.nodes))
	roots := make([][]int32, len(outs))
	for i, o := range outs {
		roots[i] = o.nodes
		for _, id := range o.nodes {
			uses[id] += 2 // an output is no part of a sum
		}
	}
	on := g.reach(roots...)
	for id := range g.nodes {
		if on[id] {
			for _, a := range g.args(int32(id)) {
				uses[a]++
			}
		}
	}
	slot := make([]int32, len(g.nodes))
	emit := func(s program.Stmt) int32 {
		s.D = p.Slots
		p.Stmts = append(p.Stmts, s)
		p.Slots += s.N
		return s.D
	}
	var inputs []int32 // slot of each input
	for i, in := range p.Ins {
		d := emit(program.Stmt{Op: program.Input, N: int32(in.N), K: int32(i)})
		for l := range in.N {
			inputs = append(inputs, d+int32(l))
		}
	}
	params := int32(0)
	if p.Params > 0 {
		params = emit(program.Stmt{Op: program.Param, N: int32(p.Params)})
	}
	inner := g.chains(on, uses)
	for i := range g.nodes {
		id, n := int32(i), &g.nodes[i]
		if !on[i] || inner[i] {
			continue
		}
		switch n.op {
		case program.Input:
			slot[i] = inputs[n.k]
		case program.Param:
			slot[i] = params + n.k
		case program.Const:
			p.Consts = append(p.Consts, math.Float64frombits(n.bits))
			slot[i] = emit(program.Stmt{Op: program.Const, N: 1, K: int32(len(p.Consts) - 1)})
		default:
			if n.op == program.Op(rules.Add) && inner[n.arg[0]] {
				terms := g.terms(id, inner)
				base := int32(len(p.Index))
				for _, t := range terms {
					p.Index = append(p.Index, slot[t])
				}
				slot[i] = emit(program.Stmt{Op: program.Sum, N: 1, K: int32(len(terms)),
					A: program.Operand{Base: base, Stride: program.Gather}})
				continue
			}
			s := program.Stmt{Op: n.op, N: 1}
			for k, o := range [3]*program.Operand{&s.A, &s.B, &s.C} {
				if k < n.op.Arity() {
					*o = program.Slot(slot[n.arg[k]])
				}
			}
			slot[i] = emit(s)
		}
	}
	for _, o := range outs {
		p.Outs = append(p.Outs, program.Group{Name: o.name, N: len(o.nodes)})
		for _, id := range o.nodes {
			p.Result = append(p.Result, slot[id])
		}
	}
	return p
}

// chains reports for each node whether it is an addition that only another addition uses, as its first argument.
func (g *graph) chains(on []bool, uses []int32) []bool {
	inner := make([]bool, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		if !on[i] || n.op != program.Op(rules.Add) {
			continue
		}
		if a := n.arg[0]; g.nodes[a].op == n.op && uses[a] == 1 {
			inner[a] = true
		}
	}
	return inner
}

// terms returns the terms of a sum, in order.
func (g *graph) terms(id int32, inner []bool) []int32 {
	var reversed []int32
	for {
		n := &g.nodes[id]
		reversed = append(reversed, n.arg[1])
		if !inner[n.arg[0]] {
			reversed = append(reversed, n.arg[0])
			break
		}
		id = n.arg[0]
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}

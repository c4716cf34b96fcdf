package series

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A plan computes the series of one operation up to some order, for the operands that are series, the active ones, and
// for the outcomes of the choices that its expressions make. It has two parts: the values of all nodes, with guards
// that check the choices, and the recurrences that compute one degree after the other.
type plan struct {
	nodes  []node
	active []int // the nodes that have a series; the position is the slot
	slots  int   // of nodes, and of the products of recurrences
	code   []instr
}

// A node is an operand, a number, or an operation on earlier nodes. It has a value and, unless it is passive, a series.
type node struct {
	kind nodeKind
	op   rules.Op
	args [3]int32
	num  float64
	want int32 // of a guard, the outcome
}

type nodeKind uint8

const (
	operand nodeKind = iota // one of the operands of the operation
	number                  // a number of the table
	result                  // the operation itself
	applied                 // another operation
	guard                   // a choice, whose outcome must be that of the plan
)

// An instr computes part k of a series.
type instr struct {
	code opcode
	dst  int32 // slot
	a, b int32 // slots
	// val and val2 are nodes whose values enter: that of the series b, or a passive operand.
	val, val2 int32
	scale     float64
	need      int32 // the highest degree that is needed
}

type opcode uint8

// Instructions. a and b are the parts below and at k of series, a0 and b0 the values.
const (
	doEuler    opcode = iota // k·a[k]
	doCopy                   // a[k]
	doNeg                    // -a[k]
	doAdd                    // a[k] + b[k]
	doSub                    // a[k] - b[k]
	doScale                  // a[k]·val
	doUnscale                // a[k]/val
	doMul                    // part k of a·b
	doSq                     // part k of a²
	doDiv                    // part k of a/b; val2 is the quotient
	doRatio                  // the same for a passive a
	doTimes                  // part k of a·b for a of degree 1 or more
	doOver                   // part k of a/b for a of degree 1 or more
	doIntegral               // scale·a[k]/k
	doLast                   // scale·(part k of a·b)/k for a of degree 1 or more
	doSum                    // a[k] + b[k] of terms of one result, each from doIntegral or doLast
)

// A builder makes a plan from the values of the operands.
type builder struct {
	p       *plan
	vals    []float64
	passive []bool
	known   map[node]int32 // applied nodes and numbers
	need    []int          // node → highest degree needed, 0 if the value suffices
	terms   map[int32][]term
	slot    []int32 // node → slot, -1 if it has none
	emitted []bool
	shared  map[instr]int32 // instructions on parts without a value → index in code, with dst, need and scale 0
}

// A term is the product of the derivative of an operand with a partial derivative.
type term struct {
	arg   int32
	steps []step
	scale float64
}

// A step multiplies by the series of a node, or divides by it.
type step struct {
	by     int32
	divide bool
}

// newPlan returns the plan of op up to the given order at the operands x, with the result v. active says which operands
// are series. vals receives the values of all nodes.
func newPlan(op rules.Op, order int, x []float64, active []bool, v float64) *plan {
	b := &builder{p: &plan{}, known: map[node]int32{}, terms: map[int32][]term{}, shared: map[instr]int32{}}
	var args [3]int32
	for i, x := range x {
		args[i] = b.add(node{kind: operand, num: float64(i)}, x, !active[i])
	}
	root := b.add(node{kind: result, op: op, args: args}, v, false)
	b.known[node{kind: applied, op: op, args: args}] = root
	b.expand(root, order)
	b.slot, b.emitted = make([]int32, len(b.vals)), make([]bool, len(b.vals))
	for i := range b.vals {
		b.slot[i] = -1
		if !b.passive[i] && b.need[i] > 0 {
			b.slot[i] = int32(len(b.p.active))
			b.p.active = append(b.p.active, i)
		}
	}
	b.p.slots = len(b.p.active)
	b.emit(root)
	for i := range b.slot {
		if b.slot[i] >= 0 {
			b.emit(int32(i))
		}
	}
	return b.p
}

func (b *builder) add(n node, v float64, passive bool) int32 {
	b.p.nodes = append(b.p.nodes, n)
	b.vals, b.passive, b.need = append(b.vals, v), append(b.passive, passive), append(b.need, 0)
	return int32(len(b.vals) - 1)
}

// num returns the node of a number.
func (b *builder) num(v float64) int32 {
	n := node{kind: number, num: v}
	if v != v || v == 0 && math.Signbit(v) { // not a usable key
		return b.add(n, v, true)
	}
	id, ok := b.known[n]
	if !ok {
		id = b.add(n, v, true)
		b.known[n] = id
	}
	return id
}

// apply returns the node of an operation, and the chosen operand of a choice.
func (b *builder) apply(op rules.Op, args [3]int32) int32 {
	var x [3]float64
	n := op.Arity()
	for i := range n {
		x[i] = b.vals[args[i]]
	}
	if op == rules.Max || op == rules.Min {
		i := rules.Chosen(op, x[0], x[1])
		b.add(node{kind: guard, op: op, args: args, want: int32(i)}, 0, true)
		return args[i]
	}
	if id, ok := b.folded(op, args, x); ok {
		return id
	}
	key := node{kind: applied, op: op, args: args}
	if id, ok := b.known[key]; ok {
		return id
	}
	passive := true
	for i := range n {
		passive = passive && (b.passive[args[i]] || rules.Partial(op, i) == nil)
	}
	id := b.add(key, value(op, x), passive)
	b.known[key] = id
	return id
}

// folded returns the node that is equal to an operation on numbers, or on a passive node and a number. An order or an
// exponent that is first increased and then decreased is the same node, so that jn(n-1, x) and jn(n+1, x) have one
// derivative in common.
func (b *builder) folded(op rules.Op, args [3]int32, x [3]float64) (id int32, ok bool) {
	numbers := true
	for _, a := range args[:op.Arity()] {
		numbers = numbers && b.p.nodes[a].kind == number
	}
	if numbers {
		return b.num(value(op, x)), true
	}
	if op != rules.Add && op != rules.Sub || !b.passive[args[0]] || b.p.nodes[args[1]].kind != number {
		return 0, false
	}
	of, shift := args[0], x[1]
	if op == rules.Sub {
		shift = -shift
	}
	if n := b.p.nodes[of]; n.kind == applied && n.op == rules.Add && b.p.nodes[n.args[1]].kind == number {
		of, shift = n.args[0], shift+b.vals[n.args[1]]
	} else if op == rules.Add {
		return 0, false
	}
	if shift == 0 {
		return of, true
	}
	return b.apply(rules.Add, [3]int32{of, b.num(shift)}), true
}

// value returns op(x).
func value(op rules.Op, x [3]float64) float64 {
	switch op.Arity() {
	case 1:
		return rules.Value1(op, x[0])
	case 2:
		return rules.Value2(op, x[0], x[1])
	}
	return rules.Value3(op, x[0], x[1], x[2])
}

// choose returns the branch of a Select, e, in the partial derivative of node of, and records the choice.
func (b *builder) choose(e *rules.Expr, of int32) *rules.Expr {
	c := b.resolve(e.Args[0], of)
	i := int32(1)
	if b.vals[c] == 0 {
		i = 2
	}
	b.add(node{kind: guard, op: rules.Select, args: [3]int32{c}, want: i}, 0, true)
	return e.Args[i]
}

// resolve returns the node of an expression in the partial derivative of node of.
func (b *builder) resolve(e *rules.Expr, of int32) int32 {
	switch e.Kind {
	case rules.Num:
		return b.num(e.Num)
	case rules.ArgX, rules.ArgY, rules.ArgZ:
		return b.p.nodes[of].args[e.Kind-rules.ArgX]
	case rules.ArgV:
		return of
	}
	if e.Op == rules.Select {
		return b.resolve(b.choose(e, of), of)
	}
	var args [3]int32
	for i, a := range e.Args {
		args[i] = b.resolve(a, of)
	}
	return b.apply(e.Op, args)
}

// expand makes the parts of node id up to degree need available, by those of its operands and partial derivatives.
func (b *builder) expand(id int32, need int) {
	if need <= b.need[id] || b.passive[id] {
		return
	}
	b.need[id] = need
	n := b.p.nodes[id]
	switch {
	case n.kind == operand:
		return
	case algebraic(n.op):
		for _, a := range n.args[:n.op.Arity()] {
			b.expand(a, need)
		}
		if n.op == rules.FMA {
			b.expand(b.apply(rules.Mul, [3]int32{n.args[0], n.args[1]}), need)
		}
		return
	}
	if b.terms[id] == nil {
		b.terms[id] = b.derivative(id)
	}
	for _, t := range b.terms[id] {
		b.expand(t.arg, need)
		for _, s := range t.steps {
			b.expand(s.by, need-1)
		}
	}
}

// algebraic reports whether op has a recurrence of its own.
func algebraic(op rules.Op) bool {
	switch op {
	case rules.Add, rules.Sub, rules.Neg, rules.Mul, rules.MulZ, rules.Sq, rules.Div, rules.DivZ, rules.Inv, rules.FMA:
		return true
	}
	return false
}

// derivative returns the terms of E v for node id.
func (b *builder) derivative(id int32) (terms []term) {
	n := b.p.nodes[id]
	for i := range n.op.Arity() {
		if b.passive[n.args[i]] || rules.Partial(n.op, i) == nil {
			continue
		}
		t := term{arg: n.args[i], scale: 1}
		steps, neg := rules.Steps(n.op, i)
		if neg {
			t.scale = -1
		}
		for s := len(steps) - 1; s >= 0; s-- { // a tangent is multiplied by the last step first
			b.factor(&t, steps[s], id, false)
		}
		terms = append(terms, t)
	}
	return terms
}

// factor adds the factors of e, a factor of the partial derivative of node of, to t.
func (b *builder) factor(t *term, e *rules.Expr, of int32, divide bool) {
	if e.Kind == rules.Num {
		if divide {
			t.scale /= e.Num
		} else {
			t.scale *= e.Num
		}
		return
	}
	if e.Kind == rules.Call {
		switch e.Op {
		case rules.Mul, rules.Div:
			b.factor(t, e.Args[0], of, divide)
			b.factor(t, e.Args[1], of, divide != (e.Op == rules.Div))
			return
		case rules.Neg:
			t.scale = -t.scale
			b.factor(t, e.Args[0], of, divide)
			return
		case rules.Inv:
			b.factor(t, e.Args[0], of, !divide)
			return
		case rules.Sq:
			b.factor(t, e.Args[0], of, divide)
			b.factor(t, e.Args[0], of, divide)
			return
		case rules.Select:
			b.factor(t, b.choose(e, of), of, divide)
			return
		}
	}
	t.steps = append(t.steps, step{b.resolve(e, of), divide})
}

// emit appends the instructions of node id, after those of the nodes whose parts of the same degree it reads.
func (b *builder) emit(id int32) {
	if b.passive[id] || b.slot[id] < 0 || b.emitted[id] {
		return
	}
	b.emitted[id] = true
	n := b.p.nodes[id]
	switch {
	case n.kind == operand:
	case algebraic(n.op):
		b.emitAlgebraic(id, n)
	default:
		for i, t := range b.terms[id] {
			b.emit(t.arg)
			b.emitTerm(id, t, i == 0)
		}
	}
}

// code appends an instruction for node id.
func (b *builder) code(id int32, i instr) {
	i.dst, i.need = b.slot[id], int32(b.need[id])
	b.p.code = append(b.p.code, i)
}

// emitAlgebraic appends the instruction of an operation of arithmetic.
func (b *builder) emitAlgebraic(id int32, n node) {
	for _, a := range n.args[:n.op.Arity()] {
		b.emit(a)
	}
	x, y := n.args[0], n.args[1]
	onX, onY := !b.passive[x], n.op.Arity() > 1 && !b.passive[y]
	binary := func(c opcode) { b.code(id, instr{code: c, a: b.slot[x], b: b.slot[y], val: y, val2: x}) }
	unary := func(c opcode, a, val int32) { b.code(id, instr{code: c, a: b.slot[a], val: val}) }
	switch n.op {
	case rules.Neg:
		unary(doNeg, x, 0)
	case rules.Sq:
		unary(doSq, x, x)
	case rules.Inv:
		b.code(id, instr{code: doRatio, b: b.slot[x], val: x, val2: id})
	case rules.Add:
		switch {
		case onX && onY:
			binary(doAdd)
		case onX:
			unary(doCopy, x, 0)
		default:
			unary(doCopy, y, 0)
		}
	case rules.Sub:
		switch {
		case onX && onY:
			binary(doSub)
		case onX:
			unary(doCopy, x, 0)
		default:
			unary(doNeg, y, 0)
		}
	case rules.Mul, rules.MulZ:
		switch {
		case onX && onY:
			binary(doMul)
		case onX:
			unary(doScale, x, y)
		default:
			unary(doScale, y, x)
		}
	case rules.Div, rules.DivZ:
		switch {
		case onX && onY:
			b.code(id, instr{code: doDiv, a: b.slot[x], b: b.slot[y], val: y, val2: id})
		case onX:
			unary(doUnscale, x, y)
		default:
			b.code(id, instr{code: doRatio, b: b.slot[y], val: y, val2: id})
		}
	case rules.FMA:
		b.emitFMA(id, n)
	}
}

// emitFMA appends the sum of a product and the last operand.
func (b *builder) emitFMA(id int32, n node) {
	m, z := b.apply(rules.Mul, [3]int32{n.args[0], n.args[1]}), n.args[2]
	b.emit(m)
	switch {
	case b.passive[m]:
		b.code(id, instr{code: doCopy, a: b.slot[z]})
	case b.passive[z]:
		b.code(id, instr{code: doCopy, a: b.slot[m]})
	default:
		b.code(id, instr{code: doAdd, a: b.slot[m], b: b.slot[z]})
	}
}

// emitTerm appends the instructions of a term of node id, the first one or a further one.
func (b *builder) emitTerm(id int32, t term, first bool) {
	need := b.need[id]
	at := b.part(instr{code: doEuler, a: b.slot[t.arg]}, need)
	last := instr{code: doIntegral, scale: t.scale}
	for i, s := range t.steps {
		switch {
		case b.passive[s.by] && s.divide:
			at = b.part(instr{code: doUnscale, a: at, val: s.by}, need)
		case b.passive[s.by]:
			at = b.part(instr{code: doScale, a: at, val: s.by}, need)
		case b.slot[s.by] < 0: // order 1: only the value is needed
			c := doScale
			if s.divide {
				c = doUnscale
			}
			at = b.part(instr{code: c, a: at, val: s.by}, need)
		case s.divide:
			at = b.part(instr{code: doOver, a: at, b: b.slot[s.by], val: s.by}, need)
		case i == len(t.steps)-1:
			last = instr{code: doLast, b: b.slot[s.by], val: s.by, scale: t.scale}
		default:
			at = b.part(instr{code: doTimes, a: at, b: b.slot[s.by], val: s.by}, need)
		}
	}
	last.a = at
	if first {
		b.code(id, last)
		return
	}
	last.dst, last.need = int32(b.p.slots), int32(need)
	b.p.slots++
	b.p.code = append(b.p.code, last)
	b.code(id, instr{code: doSum, a: b.slot[id], b: last.dst})
}

// part returns the slot of a series without a value, computed by i up to degree need. Equal ones are computed once.
func (b *builder) part(i instr, need int) int32 {
	at, ok := b.shared[i]
	if !ok {
		at = int32(len(b.p.code))
		b.shared[i] = at
		i.dst = int32(b.p.slots)
		b.p.slots++
		b.p.code = append(b.p.code, i)
	}
	c := &b.p.code[at]
	c.need = max(c.need, int32(need))
	return c.dst
}

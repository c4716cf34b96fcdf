package series

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// An Arithmetic applies operations to series of one Space. It owns the memory for intermediate results and the plans of
// the operations, so that an operation allocates nothing when it occurs again. It is for one goroutine at a time.
type Arithmetic struct {
	space  *Space
	order  int                       // the highest degree that is computed, at most that of the space
	strong bool                      // coefficients are marked as structural zeros
	plans  *[rules.NumOps][4][]*plan // by operation and active operands
	vals   []float64                 // node → value
	slots  [][]float64               // slot → coefficients
	degs   []int                     // slot → degree
	memory []float64
}

// maxPlans is the number of plans kept for one operation. Only powers with an integer exponent at 0, whose derivatives
// end, and functions with several forms have more than one.
const maxPlans = 64

// NewArithmetic returns an arithmetic for series of s.
func NewArithmetic(s *Space) *Arithmetic {
	return &Arithmetic{space: s, order: s.order, plans: new([rules.NumOps][4][]*plan)}
}

// Start selects the highest degree that is computed from now on, at most that of the space, and strong mode.
func (m *Arithmetic) Start(order int, strong bool) { m.order, m.strong = order, strong }

// Order returns the highest degree that is computed.
func (m *Arithmetic) Order() int { return m.order }

// Space returns the space of the series.
func (m *Arithmetic) Space() *Space { return m.space }

// A Series is an operand: a value and coefficients. Parts above Degree are structurally zero; Degree is 0 for a
// constant, which has no coefficients. In strong mode it is 0 or the order.
type Series struct {
	Value  float64
	C      []float64
	Degree int
}

// Apply writes the coefficients of v = op(x, y) to dst and returns their degree. y is ignored if op has one operand. A
// degree of 0 means that v is a constant, and dst is not written. op must not be a rules.Op.Choice or have three
// operands. dst must not overlap the operands.
func (m *Arithmetic) Apply(op rules.Op, dst []float64, v float64, x, y Series) (degree int) {
	degree = m.apply(op, dst, v, x, y)
	if degree == 0 {
		return 0
	}
	m.fill(dst, degree)
	_, end := m.space.Block(1)
	for i, c := range dst[:end] {
		if c-c != 0 {
			dst[i] = m.first(op, i, v, x, y)
		}
	}
	return degree
}

// first returns coefficient i of v = op(x, y), of degree 1, from the factors of the partial derivatives. Recurrences
// multiply and add in another order, in which a product may overflow, or infinities of both signs may not meet.
func (m *Arithmetic) first(op rules.Op, i int, v float64, x, y Series) float64 {
	sum := math.Copysign(0, -1)
	add := func(arg int, s Series) {
		if s.Degree == 0 || rules.Partial(op, arg) == nil || m.strong && isStructural(s.C[i]) {
			return
		}
		var p float64
		switch {
		case op.Arity() == 1:
			p = rules.Partial1(op, x.Value, v)
		case arg == 0:
			p = rules.PartialX2(op, x.Value, y.Value, v)
		default:
			p = rules.PartialY2(op, x.Value, y.Value, v)
		}
		switch {
		case !rules.Extreme(op, arg, p):
			sum += p*s.C[i] + 0
		case op.Arity() == 1:
			sum += rules.Factors1(op, x.Value, v).Times(s.C[i]) + 0
		default:
			sum += rules.Factors2(op, arg, x.Value, y.Value, v).Times(s.C[i]) + 0
		}
	}
	if add(0, x); op.Arity() == 2 {
		add(1, y)
	}
	return sum
}

// fill sets the parts of dst above degree to zero.
func (m *Arithmetic) fill(dst []float64, degree int) {
	clear(dst[m.space.off[degree+1]:m.space.off[m.order+1]])
}

func (m *Arithmetic) apply(op rules.Op, dst []float64, v float64, x, y Series) int {
	onX := x.Degree > 0 && rules.Partial(op, 0) != nil
	onY := op.Arity() > 1 && y.Degree > 0 && rules.Partial(op, 1) != nil
	if !onX && !onY {
		return 0
	}
	if !onX {
		x.C, x.Degree = nil, 0
	}
	if !onY {
		y.C, y.Degree = nil, 0
	}
	if m.space.line() && !m.strong {
		switch op {
		case rules.Mul, rules.MulZ:
			return m.mul(dst, x, y)
		case rules.Add:
			if onX && onY {
				return m.add(dst, x.C, y.C, x.Degree, y.Degree, 1)
			}
		case rules.Sub:
			if onX && onY {
				return m.add(dst, x.C, y.C, x.Degree, y.Degree, -1)
			}
		}
		return m.runLine(m.find(op, v, x, y), dst, x, y)
	}
	return m.runBlocks(m.find(op, v, x, y), dst, x, y)
}

// add writes x + sign·y, in one direction.
func (m *Arithmetic) add(dst, x, y []float64, dx, dy int, sign float64) int {
	both := min(dx, dy)
	for k, v := range x[:both] {
		dst[k] = v + sign*y[k]
	}
	copy(dst[both:dx], x[both:dx])
	for k := both; k < dy; k++ {
		dst[k] = sign * y[k]
	}
	return max(dx, dy)
}

// mul writes x·y, in one direction.
func (m *Arithmetic) mul(dst []float64, x, y Series) int {
	switch {
	case x.Degree == 0:
		for k, v := range y.C[:y.Degree] {
			dst[k] = x.Value * v
		}
		return y.Degree
	case y.Degree == 0:
		for k, v := range x.C[:x.Degree] {
			dst[k] = v * y.Value
		}
		return x.Degree
	}
	d := min(m.order, x.Degree+y.Degree)
	for k := 1; k <= d; k++ {
		dst[k-1] = mulAt(&x, &y, k)
	}
	return d
}

// mulAt returns coefficient k of x·y, in one direction.
func mulAt(x, y *Series, k int) float64 {
	switch {
	case k > x.Degree && k > y.Degree:
		return dot(x.C, y.C, x.Degree, y.Degree, k)
	case k > x.Degree:
		return x.Value*y.C[k-1] + dot(x.C, y.C, x.Degree, y.Degree, k)
	case k > y.Degree:
		return x.C[k-1]*y.Value + dot(x.C, y.C, x.Degree, y.Degree, k)
	}
	return x.C[k-1]*y.Value + x.Value*y.C[k-1] + dot(x.C, y.C, x.Degree, y.Degree, k)
}

// planned returns the plans of op with the given active operands.
func (m *Arithmetic) planned(op rules.Op, x, y bool) *[]*plan {
	i := 0
	if x {
		i = 1
	}
	if y {
		i += 2
	}
	return &m.plans[op][i]
}

// find returns the plan of v = op(x, y) whose choices are those at the operands, and leaves the values of its nodes in
// m.vals.
func (m *Arithmetic) find(op rules.Op, v float64, x, y Series) *plan {
	at := m.planned(op, x.Degree > 0, y.Degree > 0)
	list := *at
	for i, p := range list {
		if m.evaluate(p, v, x.Value, y.Value) {
			if i > 0 {
				list[0], list[i] = p, list[0]
			}
			return p
		}
	}
	args, active := []float64{x.Value, y.Value}[:op.Arity()], []bool{x.Degree > 0, y.Degree > 0}[:op.Arity()]
	p := newPlan(op, m.space.order, args, active, v)
	if len(list) == maxPlans {
		list = list[:0]
	}
	*at = append(list, p)
	m.evaluate(p, v, x.Value, y.Value)
	return p
}

// evaluate computes the values of the nodes of p and reports whether its guards hold.
func (m *Arithmetic) evaluate(p *plan, v, x, y float64) bool {
	if cap(m.vals) < len(p.nodes) {
		m.vals = make([]float64, 2*len(p.nodes))
	}
	vals := m.vals[:cap(m.vals)]
	for i := range p.nodes {
		n := &p.nodes[i]
		switch n.kind {
		case operand:
			vals[i] = x
			if n.num == 1 {
				vals[i] = y
			}
		case number:
			vals[i] = n.num
		case result:
			vals[i] = v
		case applied:
			switch n.op.Arity() {
			case 1:
				vals[i] = rules.Value1(n.op, vals[n.args[0]])
			case 2:
				vals[i] = rules.Value2(n.op, vals[n.args[0]], vals[n.args[1]])
			default:
				vals[i] = rules.Value3(n.op, vals[n.args[0]], vals[n.args[1]], vals[n.args[2]])
			}
		case guard:
			if n.outcome(vals) != n.want {
				return false
			}
		}
	}
	return true
}

// outcome returns the position of the operand that a choice selects.
func (n *node) outcome(vals []float64) int32 {
	if n.op != rules.Select {
		return int32(rules.Chosen(n.op, vals[n.args[0]], vals[n.args[1]]))
	}
	if vals[n.args[0]] == 0 {
		return 2
	}
	return 1
}

// open gives every slot of p its memory and returns the slots and their degrees. dst is that of the result.
func (m *Arithmetic) open(p *plan, dst []float64, x, y Series) ([][]float64, []int) {
	size := m.space.Size()
	if cap(m.slots) < p.slots {
		m.slots, m.degs = make([][]float64, 2*p.slots), make([]int, 2*p.slots)
	}
	if len(m.memory) < p.slots*size {
		m.memory = make([]float64, 2*p.slots*size)
	}
	slots, degs := m.slots[:p.slots], m.degs[:p.slots]
	for s := range slots {
		slots[s], degs[s] = m.memory[s*size:(s+1)*size:(s+1)*size], 0
	}
	for s, id := range p.active {
		switch n := &p.nodes[id]; n.kind {
		case operand:
			slots[s], degs[s] = x.C, x.Degree
			if n.num == 1 {
				slots[s], degs[s] = y.C, y.Degree
			}
		case result:
			slots[s] = dst
		}
	}
	return slots, degs
}

// degrees computes the degrees of the results of p.
func (m *Arithmetic) degrees(p *plan, degs []int) {
	for i := range p.code {
		c := &p.code[i]
		d := m.order
		switch c.code {
		case doEuler, doCopy, doNeg, doScale, doUnscale, doIntegral:
			d = degs[c.a]
		case doAdd, doSub, doSum:
			d = max(degs[c.a], degs[c.b])
		case doMul:
			d = degs[c.a] + degs[c.b]
		case doSq:
			d = 2 * degs[c.a]
		}
		degs[c.dst] = min(d, m.order, int(c.need))
	}
}

// resultDegree returns the degree of the result.
func (p *plan) resultDegree(degs []int) int {
	for s, id := range p.active {
		if p.nodes[id].kind == result {
			return degs[s]
		}
	}
	return 0
}

// square returns the sum of a[j]·a[k-j] for j = 1 … k-1, of which each product occurs twice.
func square(a []float64, d, k int) float64 {
	s := 0.0
	for j := max(1, k-d); 2*j < k; j++ {
		s += a[j-1] * a[k-j-1]
	}
	s += s
	if k%2 == 0 && k/2 <= d {
		s += a[k/2-1] * a[k/2-1]
	}
	return s
}

// at returns coefficient k of a series of degree d.
func at(a []float64, d, k int) float64 {
	if k > d {
		return 0
	}
	return a[k-1]
}

// valued returns a·v for coefficient k of a series of degree d, 0 above it.
func valued(a []float64, d, k int, v float64) float64 {
	if k > d {
		return 0
	}
	return a[k-1] * v
}

// runLine executes the recurrences of p in one direction and returns the degree of the result.
func (m *Arithmetic) runLine(p *plan, dst []float64, x, y Series) int {
	slots, degs := m.open(p, dst, x, y)
	m.degrees(p, degs)
	vals := m.vals[:cap(m.vals)]
	for k := 1; k <= m.order; k++ {
		for i := range p.code {
			c := &p.code[i]
			if k > degs[c.dst] {
				continue
			}
			a, da := slots[c.a], degs[c.a]
			var v float64
			switch c.code {
			case doEuler:
				v = float64(k) * a[k-1]
			case doCopy:
				v = a[k-1]
			case doNeg:
				v = -a[k-1]
			case doAdd, doSum:
				v = at(a, da, k) + at(slots[c.b], degs[c.b], k)
			case doSub:
				v = at(a, da, k) - at(slots[c.b], degs[c.b], k)
			case doScale:
				v = a[k-1] * vals[c.val]
			case doUnscale:
				v = a[k-1] / vals[c.val]
			case doMul:
				b := Series{vals[c.val], slots[c.b], degs[c.b]}
				v = mulAt(&Series{vals[c.val2], a, da}, &b, k)
			case doSq:
				v = square(a, da, k) + valued(a, da, k, 2*vals[c.val])
			case doDiv, doRatio:
				b, db, q := slots[c.b], degs[c.b], slots[c.dst]
				v = -valued(b, db, k, vals[c.val2]) - dot(q, b, k-1, db, k)
				if c.code == doDiv {
					v += at(a, da, k)
				}
				v /= vals[c.val]
			case doTimes:
				v = valued(a, da, k, vals[c.val]) + dot(a, slots[c.b], da, degs[c.b], k)
			case doOver:
				v = (at(a, da, k) - dot(slots[c.dst], slots[c.b], k-1, degs[c.b], k)) / vals[c.val]
			case doIntegral:
				v = c.scale * at(a, da, k) / float64(k) // the degree is that of a sum
			case doLast:
				v = valued(a, da, k, vals[c.val]) + dot(a, slots[c.b], da, degs[c.b], k)
				v = c.scale * v / float64(k)
			}
			slots[c.dst][k-1] = v
		}
	}
	return p.resultDegree(degs)
}

// runBlocks executes the recurrences of p in any space and mode, and returns the degree of the result.
func (m *Arithmetic) runBlocks(p *plan, dst []float64, x, y Series) int {
	slots, degs := m.open(p, dst, x, y)
	if m.strong {
		for i := range p.code {
			degs[p.code[i].dst] = min(m.order, int(p.code[i].need))
		}
	} else {
		m.degrees(p, degs)
	}
	for k := 1; k <= m.order; k++ {
		for i := range p.code {
			if c := &p.code[i]; k <= degs[c.dst] {
				m.block(c, slots, degs, k)
			}
		}
	}
	return p.resultDegree(degs)
}

// block executes c for the parts of degree k.
func (m *Arithmetic) block(c *instr, slots [][]float64, degs []int, k int) {
	s, vals := m.space, m.vals[:cap(m.vals)]
	dst := s.part(slots[c.dst], k)
	zero := 0.0
	if m.strong {
		zero = structural
	}
	// part returns block k of a slot, nil above its degree.
	part := func(slot int32) []float64 {
		if k > degs[slot] {
			return nil
		}
		return s.part(slots[slot], k)
	}
	if c.code == doSum { // dst is a
		if k > degs[c.a] {
			fillWith(dst, zero)
		}
		m.axpy(dst, 1, part(c.b))
		return
	}
	fillWith(dst, zero)
	switch c.code {
	case doEuler:
		m.axpy(dst, float64(k), part(c.a))
	case doCopy:
		m.axpy(dst, 1, part(c.a))
	case doNeg:
		m.axpy(dst, -1, part(c.a))
	case doAdd:
		m.axpy(dst, 1, part(c.a))
		m.axpy(dst, 1, part(c.b))
	case doSub:
		m.axpy(dst, 1, part(c.a))
		m.axpy(dst, -1, part(c.b))
	case doScale:
		m.axpy(dst, vals[c.val], part(c.a))
	case doUnscale:
		m.axpy(dst, 1, part(c.a))
		m.divide(dst, vals[c.val])
	case doMul:
		m.axpy(dst, vals[c.val], part(c.a))
		m.axpy(dst, vals[c.val2], part(c.b))
		s.inner(dst, slots[c.a], slots[c.b], degs[c.a], degs[c.b], k, m.strong)
	case doSq:
		m.axpy(dst, 2*vals[c.val], part(c.a))
		s.inner(dst, slots[c.a], slots[c.a], degs[c.a], degs[c.a], k, m.strong)
	case doDiv, doRatio:
		m.axpy(dst, vals[c.val2], part(c.b))
		s.inner(dst, slots[c.dst], slots[c.b], k-1, degs[c.b], k, m.strong)
		m.negate(dst)
		if c.code == doDiv {
			m.axpy(dst, 1, part(c.a))
		}
		m.divide(dst, vals[c.val])
	case doTimes, doLast:
		m.axpy(dst, vals[c.val], part(c.a))
		s.inner(dst, slots[c.a], slots[c.b], degs[c.a], degs[c.b], k, m.strong)
		if c.code == doLast {
			m.scale(dst, c.scale, k)
		}
	case doOver:
		s.inner(dst, slots[c.dst], slots[c.b], k-1, degs[c.b], k, m.strong)
		m.negate(dst)
		m.axpy(dst, 1, part(c.a))
		m.divide(dst, vals[c.val])
	case doIntegral:
		m.axpy(dst, 1, part(c.a))
		m.scale(dst, c.scale, k)
	}
}

// fillWith sets all elements of dst to v.
func fillWith(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// axpy adds v·a to dst.
func (m *Arithmetic) axpy(dst []float64, v float64, a []float64) {
	if m.strong {
		for i, c := range a {
			dst[i] += strongMul(c, v)
		}
		return
	}
	dst = dst[:len(a)]
	for i, c := range a {
		dst[i] += c * v
	}
}

// divide divides dst by v.
func (m *Arithmetic) divide(dst []float64, v float64) {
	for i, c := range dst {
		if m.strong {
			dst[i] = strongDiv(c, v)
		} else {
			dst[i] = c / v
		}
	}
}

// negate changes the sign of dst.
func (m *Arithmetic) negate(dst []float64) {
	for i, c := range dst {
		if m.strong {
			dst[i] = strongMul(c, -1)
		} else {
			dst[i] = -c
		}
	}
}

// scale multiplies dst by v/k.
func (m *Arithmetic) scale(dst []float64, v float64, k int) {
	for i, c := range dst {
		if m.strong && isStructural(c) {
			continue
		}
		dst[i] = v * c / float64(k)
		if dst[i] == 0 {
			dst[i] = math.Abs(dst[i]) // no structural zero
		}
	}
}

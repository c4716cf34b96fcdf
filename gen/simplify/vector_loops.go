package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Vectors returns a copy of f in which kernels compute the arithmetic of innermost loops that count up from a constant,
// or down to one, and the kernels; nil if no loop has one. A kernel is a function of a number of iterations n, a
// multiple of [ir.VectorLanes] and not 0, slices of float64 and numbers. Its body is a loop from 0 to n-1, or back,
// which declares float64 variables, and sets or adds to elements of the slices, whose indices are the index plus a
// constant. Expressions have the operations of vectors. Before and after the loop, variables are loaded from the first
// elements of a slice and stored there: sums, which are not read in it, and others that are assigned in each iteration
// after all that reads them, and do not depend on themselves. No iteration stores elements that others access. So the
// iterations may be done as vectors, in which a variable of the iteration before is another vector whose lanes are
// shifted by one, and the lanes of a term are added to a sum in their order.
//
// The loop in f is divided (loop distribution; Kennedy & McKinley 1990): a block of iterations is done by the kernel as
// far as it can, then the rest of the body by a loop, such as statements under a condition. Values go from one to the
// other in arrays. The loop as it was does the iterations that are left, and all if there are few or if one of them
// would be out of the bounds of a slice: kernels check nothing.
//
//	for i := 0; i < n; i++ {          if 31 < n && n <= len(x) && n <= len(xBar) {
//	    e := x[i] * t * t                 mid := n - n%4
//	    xBar[i] += t * x[i]               for b := 0; b < mid; b += 16 {
//	    if e > 1 { s += e }                   m := min(16, mid - b)
//	}                                         kernel(m, xBar[b:], x[b:], t, e1[:])
//	                                          for k := 0; k < m; k++ { if e1[k] > 1 { s += e1[k] } }
//	                                      }
//	                                      for i := mid; i < n; i++ { … }
//	                                  } else {
//	                                      for i := 0; i < n; i++ { … }
//	                                  }
//
// Distinct means that no two parameters lead to the same memory, work is the parameter that leads to the tape or nil.
// It comes last: kernels have no derivatives.
func Vectors(f *ir.Func, distinct bool, work *ir.Var) (g *ir.Func, kernels []*ir.Func) {
	g, vars := ir.Clone(f, nil)
	if work != nil {
		work = vars[work]
	}
	v := &vectorizer{f: g, batcher: batcher{names: ir.NamerOf(g),
		aliases: analyseAliases(g, distinct, work, func(*ir.Var) bool { return false })}}
	v.buffers = buffersOf(g, work)
	v.parts = partsOf(g, unshared(g, func(*ir.Var) bool { return distinct }, v.buffers), v.buffers)
	g.Body = replaceLoops(g.Body, v.loop)
	if len(v.kernels) == 0 {
		return nil, nil
	}
	return g, v.kernels
}

// vectorBlock is the number of iterations that a kernel does before others, which read its results from arrays: so few
// that the processor begins the next ones while it waits for the others.
const vectorBlock = 16

// vectorCosts has the number of iterations from which a call of a kernel pays, and from which one with a loop for the
// rest does; that from which kernels of their own record old values, in blocks of as many, see recordFirst; and the
// largest number that a call does, as the goroutine cannot be preempted in it. If always is set, every kernel pays.
var vectorCosts = struct {
	few, many, record, call int64
	always                  bool
}{16, 32, 1 << 12, 1 << 15, false}

// A vectorizer applies Vectors to the copy f.
type vectorizer struct {
	batcher
	f       *ir.Func
	kernels []*ir.Func
	parts   map[*ir.Label]map[*ir.Var]*ir.Var // see partsOf
	buffers *buffers
}

// loop returns the statements that replace l.
func (v *vectorizer) loop(l *ir.Loop) ir.Block {
	if l.V == nil || l.Checkpoint != nil || !isInnermost(l.Body) || !isRegular(l, v.aliases.use) ||
		size(l.Body) > maxBatchedSize {
		return ir.Block{l}
	}
	d := &vectorLoop{of: v, down: l.Step < 0, end: l.Hi, distribution: &distribution{batcher: &v.batcher, l: l},
		carried: map[*ir.Var]int{}, sums: map[*ir.Var]bool{}, slices: map[*ir.Var]*vectorSlice{},
		parts: v.parts[l.L]}
	var constant bool
	if d.down {
		d.lo, constant = constInt(addConst(l.Hi, 1))
		d.end = addConst(l.Lo, 1)
	} else {
		d.lo, constant = constInt(l.Lo)
	}
	if !constant || d.lo < 0 || d.lo > maxVectorOffset {
		return ir.Block{l}
	}
	if end, ok := constInt(d.end); ok && end < d.lo+vectorCosts.few {
		return ir.Block{l}
	}
	d.body = v.separateTerms(l.Body)
	if !d.analyse() {
		return ir.Block{l}
	}
	return d.emit()
}

// separateTerms returns the body of a loop in which terms that are added to a variable, if they are more than a
// product, are values of declarations.
func (v *vectorizer) separateTerms(body ir.Block) (out ir.Block) {
	for _, s := range body {
		if add, ok := s.(*ir.Add); ok && len(add.P.Path) == 0 && isFloat64(add.E.Type()) && operations(add.E) > 1 {
			t := &ir.Var{Name: v.names.Name("term"), Type: add.E.Type()}
			out = append(out, &ir.Let{At: add.At, V: t, E: add.E})
			s = &ir.Add{At: add.At, P: add.P, E: t.Load()}
		}
		out = append(out, s)
	}
	return out
}

// isFloat64 reports whether t is float64.
func isFloat64(t types.Type) bool { return types.Identical(t, types.Typ[types.Float64]) }

// operations returns the number of operations on numbers in e.
func operations(e ir.Expr) (n int) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e.(type) {
		case *ir.Unary, *ir.Binary, *ir.Math:
			if isFloat64(e.Type()) {
				n++
			}
		}
		return true
	})
	return n
}

// A vectorLoop is the division of a loop. The kernel has elements that are set or added to, values that others read
// from arrays, and all that these depend on.
type vectorLoop struct {
	*distribution
	of       *vectorizer
	down     bool             // the loop counts down
	lo       int64            // the least index
	end      ir.Expr          // the largest index + 1
	carried  map[*ir.Var]int  // variable → the statement that gives it its value for the next iteration
	sums     map[*ir.Var]bool // that one statement adds to, and nothing else uses
	possible []bool           // statement → it can be in the kernel
	inKernel []bool
	slices   map[*ir.Var]*vectorSlice
	order    []*ir.Var           // the keys of slices
	parts    map[*ir.Var]*ir.Var // see partsOf
}

// mayAlias reports whether p and q, memory in any iteration, may overlap.
func (d *vectorLoop) mayAlias(p, q *ir.Place) bool {
	a, b := d.parts[p.Root], d.parts[q.Root]
	if a != nil && b != nil && a != b && !crossesRef(p, 1) && !crossesRef(q, 1) && d.inside.writes[p.Root] == 0 &&
		d.inside.writes[q.Root] == 0 {
		return false
	}
	return d.aliases.mayAlias(d.anyIteration(p), d.anyIteration(q))
}

// A vectorSlice has the least and the largest constant that is added to the index in elements of a slice.
type vectorSlice struct{ least, most int64 }

// vector reports whether e is an expression of vectors, and calls visit for the variables that it reads, apart from
// slices.
func (d *vectorLoop) vector(e ir.Expr, visit func(v *ir.Var)) bool {
	if !isFloat64(e.Type()) {
		return false
	}
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Load:
		if len(e.P.Path) == 0 {
			visit(e.P.Root)
			return true
		}
		return d.isElement(e.P) || d.isUniform(e.P)
	case *ir.Unary:
		return e.Op == token.SUB && d.vector(e.X, visit)
	case *ir.Binary:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO:
			return d.vector(e.X, visit) && d.vector(e.Y, visit)
		}
	case *ir.Math:
		return ir.VectorMath(e.Name) && d.vector(e.Args[0], visit)
	}
	return false
}

// maxVectorOffset is the largest constant that is added to the index of an element, or subtracted from it, so that
// distances of elements are offsets of instructions.
const maxVectorOffset = 1 << 20

// isElement reports whether p is an element of a slice of float64 whose index is that of the loop plus a constant, and
// never negative.
func (d *vectorLoop) isElement(p *ir.Place) bool {
	base, k, ok := d.splitIndex(p)
	return ok && base == nil && d.lo+k >= 0 && k <= maxVectorOffset && k >= -maxVectorOffset &&
		types.Identical(p.Root.Type, types.NewSlice(types.Typ[types.Float64]))
}

// isUniform reports whether p is memory of a float64 that is the same in all iterations.
func (d *vectorLoop) isUniform(p *ir.Place) bool {
	if len(p.Path) == 0 || !isFloat64(p.Type()) || d.inside.writes[p.Root] > 0 || d.aliases.use.addressed[p.Root] ||
		p.Root.Kind == ir.Global {
		return false
	}
	for _, s := range p.Path {
		if s.Index != nil && !(isSimple(s.Index) && isFixed(s.Index, d.l.V, d.inside, d.aliases.use)) {
			return false
		}
	}
	for j := range d.body {
		for _, w := range d.written(j) {
			if (len(w.Path) > 0 || d.aliases.use.addressed[w.Root]) && d.mayAlias(w, p) {
				return false
			}
		}
	}
	return true
}

func (d *vectorLoop) splitIndex(p *ir.Place) (base ir.Expr, k int64, ok bool) {
	c := &cutter{use: d.aliases.use}
	return c.splitIndex(p, d.l.V, d.inside)
}

// analyse chooses the statements of the kernel. It reports false if there is none or it does not pay.
func (d *vectorLoop) analyse() bool {
	d.inside = usageOf(d.body)
	d.facts = make([]stmtFacts, len(d.body))
	for i, s := range d.body {
		d.facts[i] = factsOf(s)
	}
	d.possible = make([]bool, len(d.body))
	certain := len(certainOf(d.body))
	for i, s := range d.body[:certain] {
		if set, ok := s.(*ir.Set); ok && d.carries(i, set) {
			d.carried[set.P.Root] = i
		}
		if add, ok := s.(*ir.Add); ok && d.accumulates(i, add) {
			d.sums[add.P.Root] = true
		}
	}
	known := make([]bool, len(d.body))
	for i := range d.body[:certain] {
		d.search(i, known)
	}
	for changed := true; changed; { // a statement outside may read what another one stores
		changed = false
		d.fill()
		for i := range d.body {
			if d.inKernel[i] && d.stored(i) != nil && !d.alone(i) {
				d.possible[i], changed = false, true
			}
		}
	}
	return d.pays()
}

// writesOnce reports whether p, which a statement writes, is a variable for a float64 that nothing else in the loop
// writes.
func (d *vectorLoop) writesOnce(p *ir.Place) bool {
	v := p.Root
	return len(p.Path) == 0 && isFloat64(v.Type) && d.inside.writes[v] == 1 && !d.aliases.use.addressed[v] &&
		v.Kind != ir.Global
}

// carries reports whether statement i, an assignment, gives a variable its value for the next iteration: the only one,
// after all reads.
func (d *vectorLoop) carries(i int, s *ir.Set) bool {
	v := s.P.Root
	if !d.writesOnce(s.P) {
		return false
	}
	for j := i; j < len(d.body); j++ {
		if d.facts[j].reads[v] {
			return false
		}
	}
	return true
}

// accumulates reports whether statement i, an addition, is the only one that uses a variable.
func (d *vectorLoop) accumulates(i int, s *ir.Add) bool {
	v := s.P.Root
	if !d.writesOnce(s.P) {
		return false
	}
	for j := range d.body {
		if j != i && d.facts[j].reads[v] {
			return false
		}
	}
	return true
}

// stored returns the memory that statement i sets or adds to, nil if it is another statement.
func (d *vectorLoop) stored(i int) *ir.Place {
	if p := ir.Target(d.body[i]); p != nil && len(p.Path) > 0 {
		return p
	}
	return nil
}

// carriedBy returns the variable whose value for the next iteration statement i assigns, nil if there is none.
func (d *vectorLoop) carriedBy(i int) *ir.Var {
	if s, ok := d.body[i].(*ir.Set); ok && len(s.P.Path) == 0 {
		if _, ok := d.carried[s.P.Root]; ok {
			return s.P.Root
		}
	}
	return nil
}

// source returns the statement that gives v its value, in the iteration before if v is carried; -1 if it is none of the
// body itself.
func (d *vectorLoop) source(v *ir.Var) int {
	if i, ok := d.carried[v]; ok {
		return i
	}
	return slices.IndexFunc(d.body, func(s ir.Stmt) bool {
		let, ok := s.(*ir.Let)
		return ok && let.V == v
	})
}

// search finds out whether statement i can be in the kernel. A statement that depends on itself cannot.
func (d *vectorLoop) search(i int, known []bool) bool {
	if known[i] {
		return d.possible[i]
	}
	known[i] = true
	var e ir.Expr
	switch s := d.body[i].(type) {
	case *ir.Let:
		if s.E == nil || d.inside.writes[s.V] > 1 || d.aliases.use.addressed[s.V] {
			return false
		}
		e = s.E
	case *ir.Set:
		if p := d.stored(i); p == nil && d.carriedBy(i) == nil || p != nil && !d.isElement(p) {
			return false
		}
		e = s.E
	case *ir.Add:
		if p := d.stored(i); p == nil && !d.isSum(i) || p != nil && !d.isElement(p) {
			return false
		}
		e = s.E
	default:
		return false
	}
	var read []*ir.Var
	if !d.vector(e, func(v *ir.Var) { read = append(read, v) }) {
		return false
	}
	for _, v := range read {
		if d.aliases.use.addressed[v] || v.Kind == ir.Global {
			return false
		}
		if at := d.source(v); at >= 0 && !d.search(at, known) || at < 0 && d.inside.writes[v] > 0 {
			return false
		}
	}
	for _, r := range d.facts[i].effects.reads {
		if len(r.Path) > 0 && !d.before(i, r) {
			return false
		}
	}
	d.possible[i] = true
	return true
}

// isSum reports whether statement i adds to a sum.
func (d *vectorLoop) isSum(i int) bool {
	s, ok := d.body[i].(*ir.Add)
	return ok && len(s.P.Path) == 0 && d.sums[s.P.Root]
}

// written returns the memory that statement j writes or adds to.
func (d *vectorLoop) written(j int) []*ir.Place {
	y := d.facts[j].effects
	return slices.Concat(y.writes, y.adds)
}

// before reports whether the memory r, which statement i reads, has its value before the loop: statements write it, if
// at all, in the same iteration and not earlier.
func (d *vectorLoop) before(i int, r *ir.Place) bool {
	for j := range d.body {
		for _, w := range d.written(j) {
			if (len(w.Path) > 0 || d.aliases.use.addressed[w.Root]) &&
				d.mayAlias(w, r) && !(j >= i && d.sameElement(w, r)) {
				return false
			}
		}
	}
	return true
}

// fill sets inKernel: for possible stores, for values of several operations that other statements read, and for all
// that these depend on.
func (d *vectorLoop) fill() {
	d.inKernel = make([]bool, len(d.body))
	var add func(i int)
	add = func(i int) {
		if d.inKernel[i] {
			return
		}
		d.inKernel[i] = true
		for v := range d.facts[i].reads {
			if at := d.source(v); at >= 0 {
				add(at)
			}
		}
	}
	for i, s := range d.body {
		if d.possible[i] && (d.stored(i) != nil || d.isSum(i)) {
			add(i)
		}
		if let, ok := s.(*ir.Let); ok && d.possible[i] && operations(let.E) > 1 {
			for j := range d.body {
				if d.facts[j].reads[let.V] && !d.possible[j] {
					add(i)
				}
			}
		}
	}
}

// alone reports whether nothing but statements of the kernel before it, in the same iteration, reads or writes the
// element that statement i stores.
func (d *vectorLoop) alone(i int) bool {
	p := d.stored(i)
	for j := range d.body {
		for _, q := range d.written(j) {
			if j != i && d.mayAlias(p, q) {
				return false
			}
		}
		for _, r := range d.facts[j].effects.reads {
			if d.mayAlias(p, r) && !(d.inKernel[j] && j <= i && d.sameElement(p, r)) {
				return false
			}
		}
	}
	return true
}

// repeated reports whether declaration i of the kernel is made again outside of it, where its value is read: it is as
// cheap as a load from an array.
func (d *vectorLoop) repeated(i int) bool {
	let, ok := d.body[i].(*ir.Let)
	if !ok || operations(let.E) > 1 {
		return false
	}
	switch e := let.E.(type) {
	case *ir.Binary:
		if e.Op == token.QUO {
			return false
		}
	case *ir.Math:
		return false
	}
	for v := range d.facts[i].reads {
		if at := d.source(v); at >= 0 && !d.repeated(at) {
			return false
		}
	}
	for _, r := range d.facts[i].effects.reads { // not what the kernel has overwritten by then
		for j := range d.body {
			if p := d.stored(j); p != nil && d.inKernel[j] && len(r.Path) > 0 &&
				d.mayAlias(p, r) {
				return false
			}
		}
	}
	return true
}

// saved returns the variable of statement i of the kernel, declared or carried, if others read it from an array; nil
// otherwise.
func (d *vectorLoop) saved(i int) *ir.Var {
	v := d.carriedBy(i)
	if let, ok := d.body[i].(*ir.Let); ok && !d.repeated(i) {
		v = let.V
	}
	for j := range d.body {
		if d.facts[j].reads[v] && !d.inKernel[j] {
			return v
		}
	}
	return nil
}

// pays reports whether the kernel has enough operations for the arrays that it needs.
func (d *vectorLoop) pays() bool {
	if vectorCosts.always && slices.Contains(d.inKernel, true) {
		return true
	}
	work, arrays, stores, sums := 0, 0, 0, 0
	for i, s := range d.body {
		if !d.inKernel[i] {
			continue
		}
		switch s := s.(type) {
		case *ir.Let:
			work += operations(s.E)
		case *ir.Set:
			work += operations(s.E)
		case *ir.Add:
			work += operations(s.E) + 1
		}
		switch {
		case d.stored(i) != nil:
			stores++
		case d.isSum(i):
			sums++
		}
		if d.saved(i) != nil {
			arrays++
		}
	}
	// A sum has to wait for each addition, during which scalar instructions do some work.
	switch whole := !slices.Contains(d.inKernel, false); {
	case whole && sums == 0:
		return stores > 0
	case whole && stores > 0:
		return work > sums
	}
	return work >= 2*arrays+4+4*sums
}

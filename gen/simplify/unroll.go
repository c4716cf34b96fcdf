package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// Limits of unrolling.
const (
	maxTripCount    = 4
	maxUnrolledSize = 400 // size of all copies of the body together
)

// Unroll completely unrolls counted loops with constant bounds and at most four iterations, unless the result would be
// too large or an iteration leaves the loop. The index becomes a constant, and integer expressions and branches that
// become constant are folded, so that [Scalars] sees constant indices of arrays. Inner loops are unrolled first.
//
//	for l, n i int = 0; i < 2; i += 1 {       let t float64 = x[0]
//	    let t float64 = x[i]                  v[0] = t * t
//	    v[i] = t * t                          let t2 float64 = x[1]
//	}                                         v[1] = t2 * t2
func Unroll(f *ir.Func) {
	u := &unroller{names: ir.NamerOf(f)}
	f.Body = u.block(f.Body)
	if u.changed {
		ir.Normalize(f)
	}
}

// An unroller applies Unroll to one function.
type unroller struct {
	names   *ir.Namer
	changed bool
}

// block unrolls the loops in b and in its nested blocks.
func (u *unroller) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		s = mapBlocks(s, u.block)
		if l, ok := s.(*ir.Loop); ok {
			if list, ok := u.unrollLoop(l); ok {
				u.changed = true
				out = append(out, list...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// indexValues returns the values of the index of l in order, and whether the bounds are constants and there are at most
// maxTripCount of them. Bounds are limited so that i += l.Step does not overflow.
func indexValues(l *ir.Loop) (list []int64, ok bool) {
	if l.V == nil {
		return nil, false
	}
	lo, aok := constInt(l.Lo)
	hi, bok := constInt(l.Hi)
	const most = 1 << 31
	if !aok || !bok || max(lo, -lo, hi, -hi, l.Step, -l.Step) > most {
		return nil, false
	}
	for i := lo; l.Step > 0 && i < hi || l.Step < 0 && i > hi; i += l.Step {
		if len(list) == maxTripCount {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

// unrollLoop returns the statements that replace l and whether it can be unrolled.
func (u *unroller) unrollLoop(l *ir.Loop) (out ir.Block, ok bool) {
	list, ok := indexValues(l)
	if !ok || len(list)*size(l.Body) > maxUnrolledSize || ir.EndsInJump(l.Body) || containsLeave(l.Body, l.L) {
		return nil, false
	}
	// A constant has no address.
	if usageOf(l.Body).addressed[l.V] {
		return nil, false
	}
	for k, i := range list {
		index := fitConst(l.V.Type, i)
		// The index type cannot represent the value on 32 bits.
		if index == nil {
			return nil, false
		}
		out = append(out, u.copyBody(l, index, k > 0)...)
	}
	return out, true
}

// copyBody returns the body of l with its index replaced by a constant and constants folded, in a scope if an iteration
// can end early. If rename is set, the variables and labels that it declares get new names, as names must be unique in
// a function; only the first copy keeps them.
func (u *unroller) copyBody(l *ir.Loop, index ir.Expr, rename bool) ir.Block {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	if rename {
		vars, labels = renamed(l.Body, u.names)
		// A leave of the iteration becomes a leave of the scope of its copy.
		labels[l.Next] = &ir.Label{Name: u.names.Name(l.Next.Name)}
	}
	m := &ir.Map{
		Var:   ir.Renaming(vars),
		Label: ir.Renaming(labels),
		Expr: func(e ir.Expr) ir.Expr {
			if v := ir.VarOf(e); v != nil && v == l.V {
				return index
			}
			return fold(e)
		},
		Stmt: foldBranch,
	}
	body := m.Block(l.Body)
	if containsLeave(l.Body, l.Next) {
		next := l.Next
		if rename {
			next = labels[next]
		}
		return ir.Block{&ir.Scope{At: l.At, L: next, Body: body}}
	}
	return body
}

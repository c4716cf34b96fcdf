package shortcut

import (
	"fmt"
	"go/constant"
	"maps"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An env holds the facts known at one point of a region; nil if control does not get there.
type env struct {
	vals map[*ir.Var]value
	// stored is set once a constant has been stored to memory. Facts about memory hold no longer.
	stored bool
}

func (e *env) clone() *env {
	if e == nil {
		return nil
	}
	return &env{maps.Clone(e.vals), e.stored}
}

// join returns the facts known where control comes from a point with e or one with f.
func (r *region) join(e, f *env) *env {
	switch {
	case e == nil:
		return f.clone()
	case f == nil:
		return e.clone()
	}
	out := &env{vals: map[*ir.Var]value{}, stored: e.stored || f.stored}
	for _, m := range []map[*ir.Var]value{e.vals, f.vals} {
		for v := range m {
			out.vals[v] = r.lookup(e, v).join(r.lookup(f, v))
		}
	}
	return out
}

// equal reports whether two points have the same facts.
func (r *region) equal(e, f *env) bool {
	if e == nil || f == nil {
		return e == f
	}
	for _, m := range []map[*ir.Var]value{e.vals, f.vals} {
		for v := range m {
			if !r.lookup(e, v).same(r.lookup(f, v)) {
				return false
			}
		}
	}
	return e.stored == f.stored
}

// An equality is the assumption that a number in memory is a constant.
type equality struct {
	place *ir.Place
	c     constant.Value
}

// A mode tells which values stores of a region leave in memory.
type mode uint8

const (
	// deferred stores leave the value that is there and have the derivative of the new one. The shortcut stores the
	// values after them.
	deferred mode = iota
	// immediate stores leave the new value, which is a constant, and its derivative.
	immediate
	// plain stores, those of shortcuts, leave the new value and the derivative that is there.
	plain
)

// An access is a read or write of memory: of an alias class, and of a place if that is known.
type access struct {
	class any
	place *ir.Place
}

// current stands for the value that an assignment overwrites.
var current = &ir.Var{Name: "current"}

// A region is a list of statements that is evaluated partially, for assumed constants. Out receives its statements as
// they are executed at the constants: with conditions that are known decided, and with the values of stores grafted.
type region struct {
	ir.Writer
	p *Program
	c *completer
	// end is the label whose leaves end the region, nil if only its last statement does.
	end       *ir.Label
	final     *env // where the region ends, joined over all ways
	leavesEnd bool // some statement is a leave of end
	labels    map[*ir.Label]*env
	inner     map[*ir.Label]bool // labels of statements of the region
	declared  map[*ir.Var]bool   // variables that the region declares, or that do not outlive it
	once      map[*ir.Var]bool   // of these, those that are assigned by their declaration only
	addressed map[*ir.Var]bool   // variables whose address is taken
	fresh     map[*ir.Var]bool   // slices and pointers to memory that the region allocates
	assumed   []equality         // of numbers in memory
	assigned  map[*ir.Var]bool   // other variables that the region assigns
	stores    []ir.Expr          // values that the region stores to memory: constants, and expressions of current
	stored    []access           // where
	targets   []*ir.Place        // the places in memory that it assigns to, if they are known
	loads     []access           // its reads of memory
	mode      mode
	// symbols stand for the unknown values of variables that are assigned more than once: those of an assignment, or
	// those at the head of a loop.
	symbols map[symbolKey]*ir.Var
	symbol  map[*ir.Var]bool // the set of them
	quiet   int              // > 0 while nothing is written to Out
	failure string           // why the region cannot be evaluated, empty if it can
	names   *ir.Namer
	depth   int
}

// newRegion returns a region for the statements of b, in which the leaves of end end it.
func (c *completer) newRegion(b ir.Block, end *ir.Label, assumed []equality, m mode) *region {
	r := &region{c: c, p: c.program, end: end, names: c.names, labels: map[*ir.Label]*env{},
		inner: map[*ir.Label]bool{}, declared: map[*ir.Var]bool{}, once: map[*ir.Var]bool{},
		addressed: c.addressed, fresh: map[*ir.Var]bool{},
		assumed: assumed, assigned: map[*ir.Var]bool{}, symbols: map[symbolKey]*ir.Var{}, symbol: map[*ir.Var]bool{},
		mode: m}
	r.scan(b)
	return r
}

// scan finds the labels and variables that b declares.
func (r *region) scan(b ir.Block) {
	sets := map[*ir.Var]int{}
	declare := func(v *ir.Var) {
		if v != nil {
			r.declared[v], r.once[v] = true, true
		}
	}
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			declare(s.V)
			sets[s.V]++
		case *ir.Call:
			for _, v := range s.Results {
				if v != nil {
					sets[v]++
				}
			}
		case *ir.Copy:
			if s.N != nil {
				sets[s.N]++
			}
		case *ir.Scope:
			r.inner[s.L] = true
		case *ir.Loop:
			r.inner[s.L], r.inner[s.Next] = true, true
			declare(s.V)
		}
		if p := ir.Target(s); p != nil && !p.Indirect() {
			sets[p.Root] += 2
		}
		return true
	})
	for v, n := range sets {
		if n > 1 {
			delete(r.once, v)
		}
	}
}

// fail records that the region cannot be evaluated.
func (r *region) fail(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

// emit writes a statement, unless the region is evaluated for the facts at the head of a loop.
func (r *region) emit(s ir.Stmt) {
	if r.quiet == 0 {
		r.Emit(s)
	}
}

// run evaluates b as the region and returns the statements, and the facts at its end.
func (r *region) run(b ir.Block, at *env) (ir.Block, *env) {
	var rest *env
	out := r.Nested(func() { rest = r.block(b, at.clone()) })
	r.final = r.join(r.final, rest)
	return out, r.final
}

// lookup returns the value of a variable.
func (r *region) lookup(at *env, v *ir.Var) value {
	x, ok := at.vals[v]
	switch {
	case r.addressed[v]:
		return value{}
	case ok && x.kind != unknown:
		return x
	case r.declared[v] && r.once[v] || !r.declared[v] && !ok:
		return value{kind: symbolic, e: v.Load()}
	}
	return value{}
}

// valueAt returns the value of e, which is assigned to p, as an expression of current, and p in canonical form.
func (r *region) valueAt(at *env, p *ir.Place, e ir.Expr) (value, *ir.Place) {
	q := r.canonical(at, p)
	if was := r.assumption(at, q); was.kind == exact {
		x := r.eval(at, e)
		if x.equal(was) {
			x = value{kind: symbolic, e: ir.LoadOf(current.Place(), p.Type())}
		}
		return x, q
	}
	overwritten := func(p *ir.Place) *ir.Map {
		return &ir.Map{Expr: func(x ir.Expr) ir.Expr {
			if l, ok := x.(*ir.Load); ok && equalPlace(l.P, p) {
				return ir.LoadOf(current.Place(), l.T)
			}
			return x
		}}
	}
	x := r.eval(at, overwritten(p).RewriteExpr(e))
	if x.kind == symbolic && q != nil {
		x.e = overwritten(q).RewriteExpr(x.e)
	}
	return x, q
}

// isCurrent reports whether x is the value that is overwritten.
func isCurrent(x value) bool { return x.kind == symbolic && ir.VarOf(x.e) == current }

// storable reports whether x is a value that two sides may both store: an expression of the value that it overwrites
// and of variables that the region does not declare.
func (r *region) storable(x value) bool {
	return x.kind == exact || x.kind == symbolic && !readsMemory(x.e) && !mentions(x.e, func(v *ir.Var) bool {
		return r.declared[v] && v.Kind != ir.Param || r.symbol[v]
	})
}

// A symbolKey identifies an unknown value: of a variable, after a statement or at the head of a loop.
type symbolKey struct {
	s ir.Stmt
	v *ir.Var
}

// unknownAt returns an unknown value as a symbol, and drops the facts known by its name.
func (r *region) unknownAt(at *env, s ir.Stmt, v *ir.Var) value {
	k := symbolKey{s, v}
	w := r.symbols[k]
	if w == nil {
		x := *v
		w = &x
		r.symbols[k], r.symbol[w] = w, true
	}
	r.forget(at, func(v *ir.Var) bool { return v == w })
	return value{kind: symbolic, e: w.Load()}
}

// assign notes that s assigns a value to a variable.
func (r *region) assign(at *env, s ir.Stmt, v *ir.Var, x value) {
	if x.kind == unknown && !r.once[v] {
		x = r.unknownAt(at, s, v)
	}
	if !r.declared[v] {
		r.assigned[v] = true
	}
	at.vals[v] = x
}

// forget drops facts that mention variables for which is holds.
func (r *region) forget(at *env, is func(*ir.Var) bool) {
	if at == nil {
		return
	}
	for v, x := range at.vals {
		if x.kind == symbolic && mentions(x.e, is) {
			at.vals[v] = value{}
		}
	}
}

// store notes that e, a constant or an expression of the value that it overwrites, is stored to memory: all that was
// known of memory may have changed.
func (r *region) store(at *env, e ir.Expr, to access) {
	r.stores = append(r.stores, e)
	r.stored = append(r.stored, to)
	at.stored = true
	for v, x := range at.vals {
		if x.kind == symbolic && readsMemory(x.e) {
			at.vals[v] = value{}
		}
	}
}

// conflict returns why deferred stores would be read, empty if they are not.
func (r *region) conflict() string {
	for _, l := range r.loads {
		if !r.overwrites(l) && slices.ContainsFunc(r.stored, func(s access) bool { return s.class == l.class }) {
			return "it reads memory that it stores to"
		}
	}
	return ""
}

// overwrites reports whether l reads a place that the region assigns to, for its new value.
func (r *region) overwrites(l access) bool {
	return l.place != nil && slices.ContainsFunc(r.targets, func(p *ir.Place) bool { return equalPlace(p, l.place) })
}

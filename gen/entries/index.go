package entries

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A copied is a variable at one of its versions, of which another is a copy.
type copied struct {
	of      *ir.Var
	version int
}

// A scope holds the indices that variables in a block have.
type scope struct {
	id      int
	indices map[string]*ir.Var
}

// A declaration says where a variable has been declared.
type declaration struct {
	scope, seq int
	made       bool    // by the builder
	active     []int   // the scopes around it
	is         ir.Expr // what it was made to hold, if that is a computation with variables that are assigned once
}

// declare records the declaration of v.
func (b *builder) declare(v *ir.Var) {
	d := declaration{scope: b.scopes[len(b.scopes)-1].id, seq: len(b.declared)}
	for _, s := range b.scopes {
		d.active = append(d.active, s.id)
	}
	b.declared[v] = d
}

// let declares a new variable that is assigned once.
func (b *builder) let(name string, e ir.Expr) *ir.Var {
	v := &ir.Var{Name: b.names.Name(name), Type: e.Type()}
	b.Emit(&ir.Let{At: b.At, V: v, E: e})
	b.declare(v)
	d := b.declared[v]
	d.made = true
	b.declared[v] = d
	return v
}

// atom returns e as a constant or a variable that is assigned once, declared if necessary.
func (b *builder) atom(e ir.Expr, name string) ir.Expr {
	if _, ok := e.(*ir.Const); ok {
		return e
	}
	if v := ir.VarOf(e); v != nil && !b.mutable[v] && b.isOwn(v) {
		return e
	}
	return b.let(name, e).Load()
}

// isOwn reports whether v is a variable of the function, as package variables are not.
func (b *builder) isOwn(v *ir.Var) bool { return v.Kind != ir.Global }

// assigned notes that a place has been assigned.
func (b *builder) assigned(p *ir.Place) {
	if !p.Indirect() {
		b.bump(p.Root)
	}
}

func (b *builder) bump(v *ir.Var) { b.versions[v]++ }

// reassigned notes that a dot may have been assigned.
func (b *builder) reassigned(v *ir.Var) {
	if h := b.held[v]; h != nil {
		for _, t := range h.private {
			b.bump(ir.VarOf(t.index))
		}
		if h.list != nil {
			h.list.state++
		}
	}
	if w := b.views[v]; w != nil {
		if at := ir.VarOf(w.base); at != nil {
			b.bump(at)
		}
	}
}

func asInt(e ir.Expr) ir.Expr {
	if types.Identical(e.Type(), intType) {
		return e
	}
	if c, ok := e.(*ir.Const); ok {
		return &ir.Const{Typed: ir.Typed{T: intType}, Val: c.Val}
	}
	return &ir.Convert{Typed: ir.Typed{T: intType}, X: e}
}

// index returns base + e as a constant or as a variable that is assigned once. The same variable is returned for the
// same computation, as far as the values that it reads are known not to change.
func (b *builder) index(base, e ir.Expr) ir.Expr {
	sum := asInt(base)
	if e != nil {
		e = asInt(e)
		p, isP := constant(sum)
		q, isQ := constant(e)
		switch {
		case isP && isQ:
			sum = ir.Count(int64(p) + int64(q))
		case isP && p == 0:
			sum = e
		case !(isQ && q == 0):
			sum = ir.NewBinary(intType, token.ADD, sum, e)
		}
	}
	if _, ok := sum.(*ir.Const); ok {
		return sum
	}
	if v := ir.VarOf(sum); v != nil && !b.mutable[v] && b.isOwn(v) {
		return sum
	}
	key, pure := b.key(sum)
	if key == "" {
		return b.let("k", sum).Load()
	}
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if v := b.scopes[i].indices[key]; v != nil {
			return v.Load()
		}
	}
	v := b.let("k", sum)
	if of := ir.VarOf(sum); of != nil {
		b.copies[v] = copied{of, b.versions[of]}
	}
	if pure {
		d := b.declared[v]
		d.is = sum
		b.declared[v] = d
	}
	b.scopes[len(b.scopes)-1].indices[key] = v
	return v.Load()
}

// key returns a text that is equal for computations of integers with the same result, "" if e is not such a
// computation. pure reports that e reads no variable that is assigned twice.
func (b *builder) key(e ir.Expr) (text string, pure bool) {
	var out strings.Builder
	pure = true
	var write func(e ir.Expr) bool
	write = func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const:
			if e.Val == nil {
				out.WriteString("0")
			} else {
				out.WriteString(e.Val.ExactString())
			}
			return true
		case *ir.Load:
			v := ir.VarOf(e)
			if v == nil || !b.isOwn(v) {
				return false
			}
			if is := b.declared[v].is; is != nil {
				return write(is)
			}
			out.WriteString("v" + strconv.Itoa(b.id(v)))
			if b.mutable[v] {
				pure = false
				out.WriteString("#" + strconv.Itoa(b.versions[v]))
			}
			return true
		case *ir.Binary:
			out.WriteString("(")
			ok := write(e.X)
			out.WriteString(e.Op.String())
			ok = write(e.Y) && ok
			out.WriteString(")")
			return ok
		case *ir.Unary:
			out.WriteString(e.Op.String())
			return write(e.X)
		case *ir.Convert:
			out.WriteString(e.T.String() + " ")
			return ir.IsInteger(e.X.Type()) && write(e.X)
		}
		return false
	}
	if !write(e) {
		return "", false
	}
	return out.String(), pure
}

// id returns a number of v.
func (a *analysis) id(v *ir.Var) int {
	if a.ids[v] == 0 {
		a.ids[v] = len(a.ids) + 1
	}
	return a.ids[v]
}

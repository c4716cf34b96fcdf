package print

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Vectors are printed as methods of package archsimd and functions of package avx.

// avxPath is the path of the package with the operations on vectors that archsimd lacks.
const avxPath = "github.com/nabla-ad/nabla/gen/rt/avx"

// isVector reports whether t is ir.Vector.
func isVector(t types.Type) bool { return types.Identical(t, ir.Vector) }

// avx returns a name of package avx.
func (p *printer) avx(name string) string { return p.qualified(types.NewPackage(avxPath, "avx"), name) }

// archsimd returns a name of package archsimd.
func (p *printer) archsimd(name string) string {
	return p.qualified(types.NewPackage(ir.VectorPath, "archsimd"), name)
}

// vectorMethods maps operators to methods of vectors.
var vectorMethods = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div"}

// vector returns an expression whose value is a vector; "" if e is another expression or a
// variable.
func (p *printer) vector(e ir.Expr) string {
	if !isVector(e.Type()) {
		return ""
	}
	switch e := e.(type) {
	case *ir.Unary:
		if e.Op == token.SUB {
			return p.avx("Neg") + "(" + p.expr(e.X, nil) + ")"
		}
		return p.expr(e.X, nil)
	case *ir.Binary:
		return p.prec(e.X, nil, postfix) + "." + vectorMethods[e.Op] + "(" + p.expr(e.Y, nil) + ")"
	case *ir.Math:
		if e.Name == "math.Sqrt" {
			return p.prec(e.Args[0], nil, postfix) + ".Sqrt()"
		}
		return p.avx("Abs") + "(" + p.expr(e.Args[0], nil) + ")"
	case *ir.Convert:
		return p.toVector(e.X)
	}
	return ""
}

// toVector returns a number broadcast to a vector, or four numbers in memory as one. Numbers are
// loaded from memory or constants, see package avx.
func (p *printer) toVector(e ir.Expr) string {
	switch {
	case ir.HasInfo(e.Type(), types.IsInteger):
		return p.avx("Int") + "(" + p.expr(&ir.Convert{Typed: ir.Typed{T: types.Typ[types.Int64]}, X: e},
			nil) + ", " + p.scratchRow() + ")"
	case constantExpr(e):
		// Constants are loaded from a package-level array: a move from a scalar register would be
		// an instruction that must not occur between vector instructions, see package avx.
		p.consts = append(p.consts, p.numberText(e))
		at := "&" + p.file.consts[p.f] + "[" + strconv.Itoa(len(p.consts)-1) + "]"
		return p.avx("Get") + "(" + at + ", " + p.scratchRow() + ")"
	}
	l, ok := e.(*ir.Load)
	if !ok {
		p.refuse("a vector made of a %T", e)
	}
	at := p.expr(&ir.Addr{Typed: ir.Typed{T: types.NewPointer(e.Type())}, P: l.P}, nil)
	if types.Identical(e.Type(), types.Typ[types.Float64]) {
		return p.avx("Get") + "(" + at + ", " + p.scratchRow() + ")"
	}
	return p.archsimd("LoadFloat64x4") + "(" + at + ")"
}

// scratchRow returns the name of memory through which a kernel moves numbers between scalars and
// vectors: the last row of its last parameter.
func (p *printer) scratchRow() string {
	if p.scratch == "" {
		p.scratch = p.names.Name("via")
	}
	return p.scratch
}

// declareScratch declares the scratch row.
func (p *printer) declareScratch() {
	rows := p.f.Params[len(p.f.Params)-1]
	n := rows.Type.(*types.Pointer).Elem().(*types.Array).Len()
	p.line("%s := &%s[%d]", p.scratch, p.name(rows), n-1)
}

// storeVector prints an assignment of a vector to memory, and reports whether s is one.
func (p *printer) storeVector(s *ir.Set) bool {
	c, ok := s.E.(*ir.Convert)
	if !ok || !isVector(c.X.Type()) || isVector(c.T) {
		return false
	}
	at := p.expr(&ir.Addr{Typed: ir.Typed{T: types.NewPointer(c.T)}, P: s.P}, nil)
	if isArray(c.T) {
		p.line("%s.Store(%s)", p.prec(c.X, nil, postfix), at)
	} else {
		p.line("%s(%s, %s, %s)", p.avx("Put"), at, p.expr(c.X, nil), p.scratchRow())
	}
	return true
}

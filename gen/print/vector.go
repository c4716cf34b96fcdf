package print

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Vectors are computed with by methods of package archsimd and functions of package avx.

const avxPath = "github.com/nabla-ad/nabla/gen/rt/avx"

func isVector(t types.Type) bool { return types.Identical(t, ir.Vector) }

// avx is a name of package avx.
func (p *printer) avx(name string) string { return p.qualified(types.NewPackage(avxPath, "avx"), name) }

// archsimd is a name of package archsimd.
func (p *printer) archsimd(name string) string {
	return p.qualified(types.NewPackage(ir.VectorPath, "archsimd"), name)
}

var vectorMethods = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div"}

// vector is an expression whose value is a vector; empty if e is none, or a variable.
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

// toVector is a number, or four in memory, as a vector. Numbers come from memory or are
// constants, see package avx.
func (p *printer) toVector(e ir.Expr) string {
	switch {
	case hasInfo(e.Type(), types.IsInteger):
		return p.avx("Int") + "(" + p.expr(&ir.Convert{Typed: ir.Typed{T: types.Typ[types.Int64]}, X: e},
			nil) + ", " + p.via() + ")"
	case constantExpr(e):
		p.consts = append(p.consts, p.float(e))
		return p.avx("Get") + "(&" + p.file.consts[p.f] + "[" + strconv.Itoa(len(p.consts)-1) + "], " + p.via() + ")"
	}
	l, ok := e.(*ir.Load)
	if !ok {
		p.refuse("a vector made of a %T", e)
	}
	at := p.expr(&ir.Addr{Typed: ir.Typed{T: types.NewPointer(e.Type())}, P: l.P}, nil)
	if types.Identical(e.Type(), types.Typ[types.Float64]) {
		return p.avx("Get") + "(" + at + ", " + p.via() + ")"
	}
	return p.archsimd("LoadFloat64x4") + "(" + at + ")"
}

// via is memory that a kernel is given for what goes from numbers to vectors and back: the
// last row of its last parameter.
func (p *printer) via() string {
	if p.viaName == "" {
		p.viaName = p.names.Name("via")
	}
	return p.viaName
}

// setVia declares it.
func (p *printer) setVia() {
	rows := p.f.Params[len(p.f.Params)-1]
	n := rows.Type.(*types.Pointer).Elem().(*types.Array).Len()
	p.line("%s := &%s[%d]", p.viaName, p.name(rows), n-1)
}

// store prints an assignment of a vector to memory, and reports whether s is one.
func (p *printer) store(s *ir.Set) bool {
	c, ok := s.E.(*ir.Convert)
	if !ok || !isVector(c.X.Type()) || isVector(c.T) {
		return false
	}
	at := p.expr(&ir.Addr{Typed: ir.Typed{T: types.NewPointer(c.T)}, P: s.P}, nil)
	if isArray(c.T) {
		p.line("%s.Store(%s)", p.prec(c.X, nil, postfix), at)
	} else {
		p.line("%s(%s, %s, %s)", p.avx("Put"), at, p.expr(c.X, nil), p.via())
	}
	return true
}

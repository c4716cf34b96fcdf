package randprog

import "fmt"

// mul returns a product, which is rounded separately in exact programs.
func (g *generator) mul(x, y string) string {
	if g.opts.Exact {
		return "float64(" + x + "*" + y + ")"
	}
	return "(" + x + "*" + y + ")"
}

// smooth holds expressions of one variable with bounded derivatives.
var smooth = []string{
	"math.Sin($0)", "math.Cos($0)", "math.Tanh($0)", "math.Atan($0)", "math.Erf($0)", "math.Exp(-0.25*math.Abs($0))",
	"math.Sqrt(1 + float64($0*$0))*0.5", "math.Log1p(float64($0*$0))*0.5", "math.Hypot($0, 1)*0.5",
	"math.Log(2 + math.Cos($0))",
	"math.Pow(2 + math.Sin($0), 1.5)*0.25", "math.Cbrt(2 + math.Sin($0))", "math.Asinh($0)",
	"math.Exp2(math.Sin($0))*0.5",
	"math.Expm1(math.Sin($0))*0.25", "math.Asin(math.Sin($0)*0.5)", "math.Abs($0)", "math.Floor($0)*0.25",
	"math.Trunc($0)*0.125",
	"math.Round($0)*0.25", "math.Sinh(math.Sin($0))*0.5", "math.Cosh(math.Sin($0))*0.5",
	"math.Log2(3 + math.Sin($0))*0.5",
	"math.Tan(math.Sin($0))*0.25", "math.Acos(math.Cos($0)*0.5)*0.5", "math.Gamma(2 + math.Sin($0)*0.5)*0.25",
}

// zeros holds products whose first factor is exactly 0 if a number is 0 or a half, or always: the cotangent of the
// second factor is 0 there, though most of them change with the first.
var zeros = []string{
	"(math.Sin($0) * math.Log(2 + math.Cos($1)))", "(math.Tanh($0 - 0.5) * math.Exp(-0.25*math.Abs($1)))",
	"(math.Atan($0) * (math.Sin($1) / (2 + math.Cos($0))))", "(math.Sin($0 + 0.5) * math.Sqrt(1 + float64($1*$1))*0.5)",
	"(math.Tanh($0) * math.Pow(2 + math.Sin($1), 1.5))*0.25", "(($0 - $0) * math.Sin($1))",
	"(math.Sin($0) * math.Tanh($0) * $1)*0.5",
}

// float returns an expression of depth d without calls that write memory.
func (g *generator) float(d int) *Node {
	if d <= 0 {
		switch g.IntN(8) {
		case 0:
			return node(Float, g.oneOf("0.5", "1.25", "-0.75", "half", "(0.3 - 0.8)", "2.0"))
		case 1, 2, 3:
			return g.place()
		}
		return g.pick(Float)
	}
	x := g.float(d - 1)
	two := func(text string) *Node { return node(Float, text, x, g.float(d-2)) }
	if g.opts.Complex && g.chance(4) {
		return two(g.oneOf(complexParts...))
	}
	if g.opts.Containers && g.chance(4) {
		if e := g.containerFloat(x); e != nil {
			return e
		}
	}
	switch g.IntN(28) {
	case 27:
		if g.has(Mine) {
			return node(Float, g.oneOf("float64(*$0)", "float64(*$0 * *$0)*0.5", "float64(*$0 + mine($1))*0.5"),
				g.pick(Mine), x)
		}
	case 26:
		return two(g.oneOf(zeros...))
	case 0, 1:
		return two("($0 + $1)*0.5")
	case 2:
		return two("($0 - $1)*0.5")
	case 3:
		return two(g.mul("math.Sin($0)", "$1"))
	case 4:
		return two("($0 / (2 + math.Cos($1)))")
	case 5:
		return two("(math.Sqrt(1+math.Abs($0)) - $1)*0.5")
	case 6:
		return two(g.oneOf("math.Max($0, $1)", "math.Min($0, $1)", "max($0, $1)", "min($0, $1, 3)", "max(0.25, $0)",
			"min($1, $0)"))
	case 7:
		return node(Float, "-($0)", x)
	case 8:
		return node(Float, "float64($0)*0.125", g.integer(1))
	case 9:
		return node(Float, g.oneOf("tree($0, $1%4)", "fac($0, $1)", "pick($1, $0)*0.5",
			"curves($0, $2, $1)*0.5", "chosen($2, $0, $1)*0.5"), x, g.index(), g.float(d-2))
	case 10:
		if g.has(Struct) {
			return node(
				Float,
				g.oneOf("$0.sum()", "$0.moved($1).A", "$0.moved($1).sum()", "$0.plus($1)"),
				g.structure(),
				x,
			)
		}
	case 11:
		return two(g.oneOf("mean($0, $1, 0.5)", "mean($0)", "mean([]float64{$0, $1}...)"))
	case 12:
		if g.maySort && g.chance(4) {
			return node(Float, "order(weights)*0.25")
		}
		return node(Float, g.oneOf("table[uint($0)%4]", "weights[uint($0)%3]", "mean(weights[uint($0)%3:]...)"),
			g.integer(0))
	case 13:
		return node(Float, "float64(text($0&3)+ints($1))*0.125", g.index(), g.index())
	case 14:
		return two("matrix($0, $1)*0.125")
	case 15:
		if g.maySort {
			return node(Float, "order($0)*0.25", g.pick(Slice))
		}
		return two(g.oneOf(zeros...))
	case 16:
		return two(g.oneOf("math.Atan2($0, 2 + math.Cos($1))", "math.Hypot($0, 1 + math.Abs($1))*0.5",
			"math.FMA($0, 0.5, $1)*0.5",
			"math.Copysign($0, $1)", "math.Pow(1.5 + math.Sin($0)*0.5, math.Sin($1))*0.5"))
	case 17:
		if g.has(Small) {
			return node(Float, "float64($0)", g.small(d-1))
		}
	case 18:
		if e := g.pureCall(d); e != nil {
			return e
		}
	case 19:
		if g.has(Struct) {
			return node(Float, "(P{A: $0, V: $1}).sum()", x, g.array())
		}
	case 20:
		return two(g.mul("$0", "math.Tanh($1)"))
	case 21:
		return node(Float, "[]float64{$0, $1}[uint($2)%2]", x, g.float(0), g.index())
	}
	return node(Float, g.oneOf(smooth...), x)
}

// place returns a float that can be assigned to.
func (g *generator) place() *Node {
	switch g.IntN(8) {
	case 0, 1, 2:
		return node(Float, g.oneOf("$0[uint($1)%uint(len($0))]", "$0[0]", "$0[len($0)-1]"), g.pick(Slice), g.integer(0))
	case 3:
		if g.has(Array) {
			return node(Float, "$0[uint($1)%3]", g.pick(Array), g.integer(0))
		}
	case 4:
		if g.has(Struct) {
			return node(Float, g.oneOf("$0.A", "$0.B", "$0.V[1]"), g.oneNode(g.pick(Struct), g.pointer()))
		}
	case 5:
		if g.has(Wide) {
			return node(Float, g.oneOf("$0.A", "$0.C", "$0.R.B", "$0.P.V[1]"), g.pick(Wide))
		}
	case 6:
		if g.has(Ref) {
			return node(Float, "*$0", g.pick(Ref))
		}
	}
	return g.pick(Float)
}

func (g *generator) oneNode(list ...*Node) *Node { return list[g.IntN(len(list))] }

// index returns an integer that is not negative.
func (g *generator) index() *Node {
	if len(g.ctx.indices) == 0 {
		return node(Int, fmt.Sprint(g.IntN(4)))
	}
	return node(Int, g.oneOf(g.ctx.indices...))
}

// integer returns an integer expression of depth d.
func (g *generator) integer(d int) *Node {
	if d <= 0 {
		if g.chance(3) {
			return node(Int, fmt.Sprint(g.IntN(5)))
		}
		return g.index()
	}
	x, y := g.integer(d-1), g.integer(d-1)
	switch g.IntN(7) {
	case 0:
		return node(Int, "len($0)", g.pick(Slice))
	case 1:
		return node(Int, "(int(math.Floor(4*math.Sin($0))) + $1)", g.float(0), x)
	}
	return node(Int, g.oneOf("($0 + $1)", "($0 - $1)", "(($0)*2 % 7)", "(($0) &^ 1)", "(($0)<<1)", "min($0, $1)"), x, y)
}

// cond returns a condition of depth d.
func (g *generator) cond(d int) *Node {
	switch g.IntN(8) {
	case 0:
		return node(Bool, fmt.Sprintf("($0)%%3 == %d", g.IntN(3)), g.integer(1))
	case 1:
		if d > 0 {
			return node(Bool, "($0 && $1)", g.cond(d-1), g.cond(d-1))
		}
	case 2:
		if d > 0 {
			return node(Bool, "($0 || !($1))", g.cond(d-1), g.cond(d-1))
		}
	case 3:
		if g.has(Bool) {
			return g.pick(Bool)
		}
	}
	return node(Bool, "$0 "+g.oneOf("<", ">", "<=", ">=", "!=")+" $1", g.float(1), g.float(1))
}

// small returns a float32 expression of depth d.
func (g *generator) small(d int) *Node {
	if d > 0 {
		x := g.small(d - 1)
		switch g.IntN(6) {
		case 0:
			return node(Small, "($0 + $1)*0.5", x, g.small(d-2))
		case 1:
			return node(Small, "small($0)", g.float(d-1))
		case 2:
			return node(Small, "mean($0, $1)", x, g.small(d-2))
		case 3:
			return node(Small, "$0 / (2 + small(math.Cos(float64($1))))", x, g.small(d-2))
		case 4:
			return node(Small, "-($0)", x)
		}
	}
	return g.pick(Small)
}

// view returns a slice of existing memory, which is nearly never empty.
func (g *generator) view() *Node {
	s := g.pick(Slice)
	switch g.IntN(9) {
	case 7:
		return node(Slice, "$0[:min(len($0)+1, cap($0))]", s)
	case 0:
		return node(Slice, "$0[len($0)/2:]", s)
	case 1:
		return node(Slice, "$0[:len($0)-len($0)/2]", s)
	case 2:
		return node(Slice, "$0[:1]", s)
	case 3:
		return node(Slice, "$0[:len($0)/2+1:len($0)]", s)
	case 4:
		return node(Slice, "$0[len($0)-1:len($0):len($0)]", s)
	case 5:
		if g.has(Array) {
			return node(Slice, "$0"+g.oneOf("[:]", "[1:]", "[:2]"), g.pick(Array))
		}
	case 6:
		if g.has(Rows) {
			return node(Slice, "$0[uint($1)%3]", g.pick(Rows), g.integer(0))
		}
	}
	return s
}

// fresh returns a slice of new memory, or the result of an append.
func (g *generator) fresh() *Node {
	switch g.IntN(8) {
	case 0:
		return node(Slice, "make([]float64, 3)")
	case 1:
		return node(Slice, "make([]float64, 1, 4)")
	case 2:
		return node(Slice, "make([]float64, len($0))", g.pick(Slice))
	case 3:
		return node(Slice, "[]float64{2: $0, 0: $1}", g.float(1), g.float(0))
	case 4:
		return g.clipped(node(Slice, "append([]float64(nil), $0...)", g.pick(Slice)))
	case 5:
		return g.clipped(node(Slice, "slices.Clone($0)", g.pick(Slice)))
	}
	return g.appended()
}

// appended returns an append: one that reallocates, one that overwrites elements of another slice, or one that may do
// either.
func (g *generator) appended() *Node {
	s := g.pick(Slice)
	text := g.oneOf("append($0[:len($0):len($0)], $1)", "append($0[:len($0)-len($0)/2], $1)", "append($0[:1], $1, $2)",
		"append($0, $1)", "append($0, $1, $2)", "append($0[:1], $3...)", "append($0[:len($0)-1], $1)")
	return g.clipped(node(Slice, text, s, g.float(1), g.float(0), g.pick(Slice)))
}

// clipped clips a slice in exact programs, in which nothing may depend on its capacity.
func (g *generator) clipped(n *Node) *Node {
	n.Text = g.clippedText(n.Text)
	return n
}

// clippedText is clipped for text.
func (g *generator) clippedText(text string) string {
	if g.opts.Exact {
		return "clip(" + text + ")"
	}
	return text
}

// array returns an array value.
func (g *generator) array() *Node {
	if g.has(Array) && g.chance(2) {
		return g.pick(Array)
	}
	return node(Array, "[3]float64{$0, 2: $1}", g.float(1), g.float(0))
}

// structure returns a struct value.
func (g *generator) structure() *Node {
	switch g.IntN(6) {
	case 0:
		return node(Struct, "(*$0)", g.pointer())
	case 1:
		if g.has(Wide) {
			return node(Struct, "$0.P", g.pick(Wide))
		}
	case 2:
		return node(Struct, "(P{A: $0, V: $1, X: $2})", g.float(1), g.array(), g.pick(Slice))
	case 3:
		return node(Struct, "$0.moved($1)", g.pick(Struct), g.float(0))
	}
	return g.pick(Struct)
}

// pointer returns a pointer to a struct.
func (g *generator) pointer() *Node {
	switch g.IntN(5) {
	case 0:
		if g.has(Wide) {
			return node(Pointer, g.oneOf("$0.R", "(&$0.P)"), g.pick(Wide))
		}
	case 1:
		return node(Pointer, "(&$0)", g.pick(Struct))
	}
	if g.has(Pointer) {
		return g.pick(Pointer)
	}
	return node(Pointer, "(&$0)", g.pick(Struct))
}

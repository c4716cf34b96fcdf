package randprog

import "fmt"

// stmt returns a statement of any kind that is possible here.
func (g *generator) stmt() *Node {
	if g.opts.Complex && g.chance(6) {
		return g.complexStmt()
	}
	if g.opts.Containers && g.chance(2) {
		if s := g.containerStmt(); s != nil {
			return s
		}
	}
	for {
		var s *Node
		switch g.IntN(14) {
		case 0, 1, 2:
			s = g.assignment()
		case 3, 4:
			s = g.declaration()
		case 5, 6:
			s = g.memory()
		case 7:
			s = g.composite()
		case 8:
			s = g.writingCall()
		case 9, 10:
			s = g.control()
		case 11:
			s = g.oddity()
		case 12:
			s = g.retyped()
		case 13:
			if g.chance(3) {
				s = g.escapingLoopVariables()
			} else {
				s = g.retyped()
			}
		}
		if s != nil {
			return s
		}
	}
}

// define returns the declaration of a variable, which need not be used.
func (g *generator) define(kind Kind, name, text string, kids ...*Node) *Node {
	g.local(kind, name)
	return stmt(name+" := "+text+"\n_ = "+name, kids...)
}

// tame returns a float that stays bounded however often it is computed from itself.
func (g *generator) tame(d int) *Node {
	if g.ctx.tripWeight <= 1 && g.chance(3) {
		return g.float(d)
	}
	return node(Float, g.oneOf("math.Sin($0)", "math.Tanh($0)", "math.Atan($0)*0.5", "math.Cos($0)*0.25"), g.float(d))
}

// assignment returns an assignment. Accumulations stay bounded, see tame.
func (g *generator) assignment() *Node {
	switch g.IntN(13) {
	case 0, 1:
		return stmt(g.oneOf("$0 += $1", "$0 -= $1"), g.place(), g.tame(1))
	case 2:
		return stmt("$0 *= $1", g.place(),
			node(Float, g.oneOf("math.Sin($0)", "0.5", "math.Exp(-math.Abs($0))"), g.float(1)))
	case 3:
		return stmt("$0 /= $1", g.place(), node(Float, "(2 + math.Cos($0))", g.float(1)))
	case 4, 5:
		return stmt("$0 = $1", g.place(), g.float(2))
	case 6:
		return stmt("$0, $1 = $2, $3", g.place(), g.place(), g.float(1), g.float(1))
	case 7:
		return stmt("$0, $1, $2 = $1, ($2+$0)*0.5, $0", g.place(), g.place(), g.place())
	case 8:
		return stmt("n = $0\nn %= 9", g.integer(2))
	case 9:
		return stmt("n "+g.oneOf("+=", "-=", "^=")+" $0\nn %= 9", g.integer(1))
	case 10:
		if g.has(Small) {
			return stmt(g.oneOf("$0 = $1", "$0 = ($0 + $1)*0.5", "$0 -= small(math.Sin(float64($1)))"), g.pick(Small),
				g.small(2))
		}
	case 11:
		if g.has(Bool) {
			return stmt(g.oneOf("$0 = $1", "$0 = $0 != ($1)", "$0 = !$0 || $1"), g.pick(Bool), g.cond(1))
		}
	case 12:
		if g.has(Float) && g.ctx.tripWeight <= 3 {
			return stmt("$0++", g.pick(Float)).or("$0--")
		}
	}
	return nil
}

// declaration returns a declaration, with a new name or one that shadows an outer variable.
func (g *generator) declaration() *Node {
	switch g.IntN(12) {
	case 0, 1:
		e := node(Float, "float64($0)", g.float(2))
		if g.ctx.depth > 2 && !g.ctx.redeclares && g.chance(4) {
			g.ctx.redeclares = true
			name := g.oneOf("a", "b")
			if g.ctx.self != nil {
				name = "b" // a may be a result, which a return without values has to see
			}
			return g.define(Float, name, "$0", e) // shadows an outer variable
		}
		return g.define(Float, g.name(g.oneOf("f", "f", "f", "t", "d", "aDot", "zeros", "_f")), "$0", e)
	case 2:
		i := g.name("i")
		e := g.integer(1)
		g.ctx.indices = append(g.ctx.indices, i)
		return stmt(i+" := int(uint($0 + 16)%8)\n_ = "+i, e)
	case 3:
		e := g.view()
		return g.define(Slice, g.name("s"), "$0", e)
	case 4:
		e := g.fresh()
		return g.define(Slice, g.name("s"), "$0", e)
	case 5:
		if g.has(Struct) {
			e := g.structure()
			return g.define(Struct, g.name("p"), "$0", e)
		}
	case 6:
		if g.has(Struct) {
			e := node(Pointer, g.oneOf("$0", "new(P)", "&P{B: $1, A: $2}", "chain($0, $3, 2)"), g.pointer(), g.float(1),
				g.float(0), g.pointer())
			return g.define(Pointer, g.name("q"), "$0", e)
		}
	case 7:
		e := g.array()
		return g.define(Array, g.name("v"), "$0", e)
	case 8:
		e := node(Ref, g.oneOf("&$0", "new(float64)"), g.addressable())
		return g.define(Ref, g.name("r"), "$0", e)
	case 9:
		if g.ctx.depth < 3 {
			e := node(Rows, g.oneOf("[][]float64{$0, $1, $0}", "[][]float64{1: $1, 0: $0, 2: {$2, 1}}",
				"append([][]float64{$0}, $1, $1[:1])"), g.view(), g.pick(Slice), g.float(1))
			return g.define(Rows, g.name("m"), "$0", e)
		}
	case 10:
		e := g.float(1)
		return g.define(Small, g.name("g"), "small($0)", e)
	case 11:
		e := g.cond(1)
		return g.define(Bool, g.name("b"), "$0", e)
	}
	return nil
}

// addressable returns a float whose address can be taken.
func (g *generator) addressable() *Node {
	for {
		if p := g.place(); p.Text != "0" {
			return p
		}
	}
}

// memory returns a statement about slices.
func (g *generator) memory() *Node {
	s, t := g.pick(Slice), g.pick(Slice)
	switch g.IntN(14) {
	case 13:
		// Two appends to one slice with capacity: the second overwrites the element of the first.
		a, b, c := g.name("s"), g.name("s"), g.name("s")
		return stmt(a+" := make([]float64, 1, 3)\n"+b+" := append("+a+", $0)\n"+c+" := append("+a+", $1)\n$2, "+c+
			"[0] = "+b+"[1], $0\n"+a+"[0] += $1\n$3 = ("+b+"[0] + $3)*0.5",
			g.float(1), g.float(1), g.place(), g.place())
	case 0:
		return stmt("{\ni, j := uint($1)%uint(len($0)), uint($2)%uint(len($0))\n$0[i], $0[j] = $0[j], $0[i]\n}", s,
			g.integer(0), g.integer(0))
	case 1:
		if len(g.ctx.assignable) > 1 {
			a, b := g.oneOf(g.ctx.assignable...), g.oneOf(g.ctx.assignable...)
			if a != b {
				return stmt("$0, $1 = $1, $0", node(Slice, a), node(Slice, b))
			}
		}
	case 2:
		if len(g.ctx.assignable) > 0 {
			return stmt("$0 = $1", node(Slice, g.oneOf(g.ctx.assignable...)), g.view())
		}
	case 3:
		if len(g.ctx.assignable) > 0 {
			return stmt("if len($0) < 10 {\n$0 = $1\n}", node(Slice, g.oneOf(g.ctx.assignable...)), g.appended())
		}
	case 4:
		return stmt("copy($0, $1)", g.view(), g.view())
	case 5:
		return stmt(g.oneOf("copy($0[1:], $0)", "copy($0, $0[len($0)/2:])", "copy($0[len($0)/2:], $0)"), s)
	case 6:
		return stmt("n = (n + copy($0, $1)) % 9", s, t)
	case 7:
		return stmt(g.oneOf("clear($0[len($0)/2:])", "clear($0[:1])", "clear($0[1:])"), s)
	case 8:
		if g.has(Rows) {
			m := g.pick(Rows)
			return stmt(g.oneOf(
				"$0[0], $0[1] = $0[1], $0[0]",
				"$0[uint($1)%3] = $2",
				"$0[1] = "+g.clippedText(
					"append($0[1][:1:1], $3)",
				),
				"$0[2], $0[0][0] = $2, $3",
			), m, g.index(), g.view(),
				g.float(1))
		}
	case 9:
		// A slice that is overwritten by an append to an overlapping one.
		v := g.name("s")
		return stmt("if len($0) > 1 {\n"+v+" := append($0[:1], $1)\n"+v+"[0] = ("+v+"[1] + $0[1])*0.5\n}", s,
			g.float(1))
	case 10:
		if g.has(Ref) {
			return stmt(g.oneOf("$0 = &$1", "*$0 = $1", "$0, *$0 = &$1, $2"), g.pick(Ref), g.addressable(), g.float(1))
		}
	case 11:
		return stmt("$0[uint($1)%uint(len($0))] = ($0[0] + $2[len($2)-1])*0.5", s, g.integer(0), t)
	case 12:
		if len(g.ctx.assignable) > 1 {
			return stmt("$0, $1 = swapped($0, $1)", node(Slice, g.oneOf(g.ctx.assignable...)),
				node(Slice, g.oneOf(g.ctx.assignable...)))
		}
	}
	return nil
}

// composite returns a statement about structs and arrays.
func (g *generator) composite() *Node {
	if !g.has(Struct) {
		return nil
	}
	switch g.IntN(9) {
	case 0:
		return stmt("$0 = $1", g.pick(Struct), g.structure())
	case 1:
		if g.has(Pointer) {
			return stmt("*$0 = $1", g.pick(Pointer), g.structure())
		}
	case 2:
		if g.has(Wide) {
			return stmt(g.oneOf("$0.P, $0.C = $1, $2", "$0.R = $3", "$0 = Q{P: $1, C: $2, R: $3}"), g.pick(Wide),
				g.structure(), g.float(1), g.pointer())
		}
	case 3:
		return stmt("$0 = $1", g.pick(Array), g.array())
	case 4:
		return stmt("$0[$2] -= $1", g.pick(Array), g.tame(1), node(Int, fmt.Sprint(g.IntN(3))))
	case 5:
		s := g.name("g")
		n := stmt(s+" := []P{{A: $0}, $1, 3: $2}\nfor i, e := range "+s+" {\ne.A += $3\n"+s+
			"[(i+1)%4].V[i%3] -= e.A*0.5\n}",
			g.float(1), g.pick(Struct), g.structure(), g.tame(1))
		g.declare(Struct, s+"[n&3]")
		g.declare(Array, s+"[2].V")
		return n
	case 6:
		return stmt("if len($0.X) < 6 {\n$0.X = $1\n}", g.pick(Struct), g.view())
	case 7:
		v, w := g.name("v"), g.name("v")
		return stmt(v+" := [2]P{$0, $1}\n"+w+" := "+v+"\n"+w+"[1].A, "+v+"[0].V = $2, "+w+"[1].V\n$3 = ("+v+"[1].A + "+
			w+"[1].A)*0.5",
			g.pick(Struct), g.structure(), g.float(1), g.place())
	case 8:
		p := g.pick(Struct)
		return stmt("$0, $1 = $1, $0", p, g.pick(Struct))
	}
	return nil
}

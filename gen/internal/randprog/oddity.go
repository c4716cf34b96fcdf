package randprog

import "strconv"

// oddity returns a statement with a rarely used feature of the language.
func (g *generator) oddity() *Node {
	switch g.IntN(17) {
	case 9:
		// A pointer to a slice.
		if len(g.ctx.assignable) > 0 {
			p := g.name("m")
			return stmt(p+" := &$0\n(*"+p+")[0] = $1\n*"+p+" = $2\n$3 = ($3 - (*"+p+")[0])*0.5",
				node(Slice, g.oneOf(g.ctx.assignable...)), g.float(1), g.view(), g.place())
		}
	case 10:
		// A pointer to an array.
		if g.has(Array) {
			p := g.name("m")
			return stmt(p+" := &$0\n"+p+"[1] = $1\nfor i := range "+p+" {\n"+p+"[2-i] = ("+p+
				"[i] + $2)*0.5\n}\nmv := *"+p+"\nmv[0] = 0.5\n$2 = mv[2]*0.5 - "+p+"[0]*0.5",
				g.pick(Array), g.float(1), g.pick(Float)).braced()
		}
	case 11:
		// Slices of pointers, arrays of slices.
		if g.has(Struct) {
			p := g.name("m")
			return stmt(p+" := []*P{$0, &$1, $0}\n"+p+"[0].A = $2\n"+p+"[1], "+p+"[2] = "+p+"[2], "+p+"[1]\n"+p+
				"[1].B = ("+p+"[2].A + "+p+"[0].B)*0.5", g.pointer(), g.pick(Struct), g.float(1))
		}
	case 12:
		p := g.name("m")
		return stmt(p+" := [2][]float64{$0, $1}\n"+p+"[0], "+p+"[1] = "+p+"[1], "+p+"[0][:1]\n"+p+"[1][0] = $2\nmc := "+
			p+"\nmc[0] = mc[1]\n$3 = ("+p+"[0][0] - mc[0][0])*0.5",
			g.view(), g.view(), g.float(1), g.place()).braced()
	case 13:
		// A type without a name, a pointer to one, and a pointer to a pointer.
		p := g.name("m")
		return stmt(p+" := struct {\ns float64\nx []float64\n}{$0, $1}\nmc := &"+p+"\nmd := &mc\nmc.x[0], (*md).s = "+p+
			".s, mc.x[len(mc.x)-1]*0.5\n$2 = "+p+".s*0.5",
			g.float(1), g.view(), g.place()).braced()
	case 14:
		// A linked list.
		return stmt("type cell struct {\nv float64\nnext *cell\n}\nvar head *cell\nfor i := range 3 {\nhead = "+
			"&cell{$0, head}\n$1 = ($1 + head.v)*float64(i)*0.25\n}\nfor mc := head; mc != nil; mc = mc.next {\n$1 "+
			"= ($1 + mc.v)*0.5\nmc.v = $1\n}\n$1 -= head.next.v*0.5",
			g.float(1), g.place()).braced()
	case 15:
		if g.has(Pointer) {
			return stmt("$0 = P.plus(*$1, $2)*0.5 + (*P).push($1, $2, 1)*0.5", g.pick(Float), g.pick(Pointer),
				g.pick(Float))
		}
	case 16:
		// Slices of float32.
		if g.has(Small) {
			return stmt("mu := []small{$0, small($1), $0}\nmw := append(mu[:1], $2)\nmu[2] -= mw[1]*0.5\n$0 = "+
				"(mu[1] + mean(mu...))*0.5", g.pick(Small), g.float(1), g.small(1)).braced()
		}
	case 8:
		// Memory that changes, or a package-level variable that is never written.
		v := g.name("w")
		return stmt(v+" := $0\nif $1 {\n"+v+" = "+g.oneOf("weights",
			"weights[1:]")+"\n}\n$2 = ("+v+"[0] + "+v+"[len("+v+")-1])*0.5", g.view(), g.cond(1), g.place())
	case 0:
		if g.has(Pointer) {
			return stmt("n, $0.V[uint(n)%3], $0.N = int(uint8(n*77))%5, $0.A, n&7", g.pick(Pointer))
		}
	case 1:
		if g.has(Pointer) {
			return stmt("switch $0.next() {\ncase $1, $0.next() - 1:\n$2 -= 0.5\ncase $0.next():\n$2 += 0.25\n}",
				g.pick(Pointer), g.index(), g.place())
		}
	case 2:
		if g.has(Pointer) {
			return stmt("$1[$0.next()%len($1)] *= 0.5", g.pick(Pointer), g.pick(Slice))
		}
	case 3:
		s := g.name("e")
		d := g.IntN(3)
		return stmt("var "+s+" []*int\nfor i := 0; i < 5; i++ {\njump := func(d int) { i += d }\nif "+s+" = append("+s+
			", &i); $0 {\njump(1)\ncontinue\n}\njump("+
			strconv.Itoa(d)+")\n}\nfor _, e := range "+s+" {\nn = (n*3 + *e) % 9\n}", g.cond(0))
	case 4:
		if g.has(Pointer) && g.ctx.tripWeight <= 6 {
			return stmt("for $0.N = 0; $0.N < len($1); $0.N++ {\n$1[$0.N] -= $2\n}\n$0.N = 1", g.pick(Pointer),
				g.pick(Slice), g.tame(0))
		}
	case 5:
		if g.has(Pointer) {
			q := g.pick(Pointer)
			return stmt("for i := 0; $0.next() != 3 && i < 5; i, $2 = i+1, $2*0.5 {\nif $1 {\ncontinue\n}\n$2 += "+
				"float64($0.N)*0.25\n}", q, g.cond(0), g.pick(Float))
		}
	case 6:
		if g.has(Ref) {
			v := g.name("f")
			return stmt("for "+v+" := $0; n < 3; n++ {\n$1 = &"+v+"\n"+v+" *= 0.5\n}",
				node(Float, "float64($0)", g.float(1)), g.pick(Ref))
		}
	case 7:
		f, x := g.name("f"), g.name("c")
		if g.has(Struct) {
			// A method value copies its receiver.
			p := g.pick(Struct)
			return stmt(f+" := $0.plus\n$0.A = $1\n"+x+" := "+f+"($2)\n$3 = ("+x+" - $0.A)*0.5", p, g.float(1),
				g.float(1), g.place())
		}
	}
	return nil
}

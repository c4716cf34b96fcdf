package randfunc

import "math"

// Options select the number of outputs and the kinds of statements of a program. The zero value means one output and
// neither nested derivatives nor escapes.
type Options struct {
	M       int  // number of outputs; 0 means 1
	Nested  bool // allow nested derivatives, Grad and Box
	Escapes bool // allow Escape, which calls Real.Value
}

// New decodes a program with o.M outputs, and the given number of points to evaluate it at, from data. Every sequence
// of bytes is valid, so that a fuzzer may change any byte; missing bytes are 0, and without any the program returns its
// input. The first byte selects the number of inputs (1 to 4), whether arguments are brought into the domains of
// functions, and whether points have special and extreme components.
func New(data []byte, points int, o Options) (*Prog, [][]float64) {
	g := &generator{data: data, o: o}
	head := g.byte()
	n := 1 + int(head&3)
	g.bounded = head&4 == 0
	wild := head&8 != 0
	m := max(o.M, 1)
	p := g.prog(n, m, 0, 1+g.below(14), 0)
	xs := make([][]float64, points)
	for i := range xs {
		xs[i] = make([]float64, n)
		for j := range xs[i] {
			if wild {
				xs[i][j] = g.constant()
			} else {
				xs[i][j] = (float64(g.byte())*256+float64(g.byte()))/16384 - 2
			}
		}
	}
	return p, xs
}

// A generator decodes a program: each decision takes a byte or two from data. Once data is used up, decisions are 0 and
// no statements are added.
type generator struct {
	data []byte
	o    Options
	// bounded is set for programs in which the arguments of functions are transformed into their domains.
	bounded    bool
	p          *Prog // the program, or nested function, being decoded
	blockDepth int   // number of If and For statements around the current block
	funcDepth  int   // number of Grad and Box statements around p
}

// byte removes and returns the next byte of data, or returns 0 if there is none.
func (g *generator) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

// below takes a byte and returns a number in [0, n), for n up to 256.
func (g *generator) below(n int) int { return int(g.byte()) % n }

// specials are constants at which rules often have special cases. extremes are those that overflow, underflow, or have
// no finite value.
var specials = []float64{0, 1, -1, 0.5, 2, -2, 3, -0.5, 10, 0.1, 1e-3, -7, 0.25, math.Pi, 1e3, math.Copysign(0, -1)}
var extremes = []float64{1e300, -1e300, 1e-300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}

// constant returns a constant for a program or a component of a point: with even odds one of specials, otherwise mostly
// one of [-2, 2), and rarely one of extremes, unless the program is bounded.
func (g *generator) constant() float64 {
	b := int(g.byte())
	switch {
	case b < 128 || len(g.data) == 0:
		return specials[b%len(specials)]
	case b < 248 || g.bounded:
		return (float64(b)*256+float64(g.byte()))/8192 - 6
	}
	return extremes[b-248]
}

// prog returns a program of n inputs, m outputs and caps captured numbers, with up to stmts statements at the top
// level. It is nested in as many functions as in says. Besides inputs and captured numbers it has four variables, which
// the first outputs return.
func (g *generator) prog(n, m, caps, stmts, in int) *Prog {
	outer, deep := g.p, g.blockDepth
	p := &Prog{N: n, M: m, Caps: caps, Vars: n + caps + 4, Scratch: 3}
	g.p, g.blockDepth, g.funcDepth = p, 0, in
	p.Body = g.block(stmts)
	for i := range m {
		out := n + caps + i%4
		if i >= 4 {
			out = i % p.Vars
		}
		p.Outs = append(p.Outs, out)
	}
	if size(p.Body) == 0 {
		p.Outs[0] = 0
	}
	g.p, g.blockDepth, g.funcDepth = outer, deep, in-1
	return p
}

// variable returns the index of any variable.
func (g *generator) variable() int { return g.below(g.p.Vars) }

// target returns the index of a variable to assign: mostly one of the four that are neither inputs nor captured.
func (g *generator) target() int {
	if b := int(g.byte()); b < 200 {
		return g.p.N + g.p.Caps + b%(g.p.Vars-g.p.N-g.p.Caps)
	}
	return g.variable()
}

// block returns the statements that n calls of stmt decode, or fewer if data is used up.
func (g *generator) block(n int) (body []Stmt) {
	for range n {
		if len(g.data) == 0 {
			break
		}
		body = append(body, g.stmt()...)
	}
	return body
}

// stmt returns a statement, after those that bring its arguments into the domain of its function, or nil if the decoded
// kind is not allowed: by the options, or because blocks or functions are nested too deep. Most bytes select function
// calls.
func (g *generator) stmt() []Stmt {
	switch b := g.byte(); {
	case b < 60: // arithmetic
		return g.apply(g.below(8))
	case b < 155:
		return g.apply(g.below(len(functions)))
	case b < 165:
		return []Stmt{{Kind: Const, D: g.target(), C: g.constant()}}
	case b < 180:
		return []Stmt{{Kind: Where, D: g.target(), Cond: Cond(g.below(int(numConds))), A: g.variables(4)}}
	case b < 187:
		return []Stmt{{Kind: Store, K: g.below(g.p.Scratch), A: g.variables(1)}}
	case b < 194:
		return []Stmt{{Kind: Load, K: g.below(g.p.Scratch), D: g.target()}}
	case b < 197:
		return []Stmt{{Kind: StoreAt, A: g.variables(2)}}
	case b < 201:
		return []Stmt{{Kind: LoadAt, D: g.target(), A: g.variables(1)}}
	case b < 206:
		return []Stmt{{Kind: Output, K: g.below(g.p.M), D: g.target(), A: g.variables(1)}}
	case b < 209:
		if !g.o.Escapes {
			return nil
		}
		return []Stmt{{Kind: Escape, D: g.target(), A: g.variables(1)}}
	case b < 225:
		if g.blockDepth > 1 {
			return nil
		}
		s := Stmt{Kind: If, Cond: Cond(g.below(int(LtAnd))), A: g.variables(2)}
		g.blockDepth++
		s.Body, s.Else = g.block(1+g.below(3)), g.block(g.below(3))
		g.blockDepth--
		return []Stmt{s}
	case b < 238:
		if g.blockDepth > 1 {
			return nil
		}
		s := Stmt{Kind: For, K: 1 + g.below(5), A: g.variables(2)}
		g.blockDepth++
		s.Body = g.block(1 + g.below(4))
		g.blockDepth--
		return []Stmt{s}
	}
	if !g.o.Nested || g.funcDepth > 0 {
		return nil
	}
	s := Stmt{Kind: Grad, D: g.target(), Engine: g.below(5)}
	if g.byte()&1 != 0 {
		s.Kind = Box
	}
	s.A = g.variables(1 + g.below(3))
	if s.Kind == Grad {
		s.Caps = g.variables(g.below(3))
		s.K = g.below(len(s.A))
	}
	s.Sub = g.prog(len(s.A), 1, len(s.Caps), 1+g.below(5), g.funcDepth+1)
	return []Stmt{s}
}

// variables returns the indices of n variables, which may be equal.
func (g *generator) variables(n int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = g.variable()
	}
	return a
}

// fnIndex returns the index in functions of the function with the given name. It panics if there is none.
func fnIndex(name string) int {
	for i := range functions {
		if functions[i].name == name {
			return i
		}
	}
	panic("randfunc: no function " + name)
}

// The indices of the functions that transform arguments into domains.
var fnSq, fnTanh, fnScale, fnAddConst = fnIndex("Sq"), fnIndex("Tanh"), fnIndex("Scale"), fnIndex("AddConst")

// apply returns a call of function f with variables as arguments. In bounded programs, calls in front of it transform
// the arguments as the domains of the function require, and store them in variables.
func (g *generator) apply(f int) (out []Stmt) {
	fn := &functions[f]
	s := Stmt{Kind: Apply, Fn: f, D: g.target(), A: g.variables(fn.arity)}
	switch fn.comp {
	case scale, addConst, powConst:
		s.C = g.constant()
	case ldexp, polygamma, jn, yn:
		s.K = g.below(4)
	}
	if g.bounded {
		for i := range min(fn.arity, 3) {
			tmp := s.D
			if i > 0 { // the target already holds the first argument
				tmp = g.p.Vars - 1
				if tmp == s.D {
					tmp--
				}
			}
			step := func(f, a int, c float64) {
				out = append(out, Stmt{Kind: Apply, Fn: f, D: tmp, A: []int{a}, C: c})
			}
			switch fn.in[i] {
			case positive:
				step(fnSq, s.A[i], 0)
				step(fnAddConst, tmp, 0.5)
			case above1:
				step(fnSq, s.A[i], 0)
				step(fnAddConst, tmp, 1.5)
			case unit:
				step(fnTanh, s.A[i], 0)
				step(fnScale, tmp, 0.9)
			case small:
				step(fnTanh, s.A[i], 0)
				step(fnScale, tmp, 3)
			case zeroTwo:
				step(fnTanh, s.A[i], 0)
				step(fnScale, tmp, 0.9)
				step(fnAddConst, tmp, 1)
			default:
				continue
			}
			s.A[i] = tmp
		}
	}
	return append(out, s)
}

package randprog

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Options of programs. The zero value is ready to use.
type Options struct {
	// Exact makes programs whose results do not depend on the compiler, bit for bit: products are rounded separately,
	// and results do not depend on capacities that append chooses.
	Exact bool
	// Panics makes programs that may panic on purpose.
	Panics bool
	// Short makes short programs only, which call no large functions.
	Short bool
	// Checkpoints marks half of the loops for checkpointing, and gives half of the programs functions in mutual
	// recursion.
	Checkpoints bool
	// Complex makes programs with complex numbers.
	Complex bool
	// Containers makes programs with maps, interface values, functions in memory, package variables that are written,
	// and sorting with closures.
	Containers bool
}

// New returns the program of a seed.
func New(seed uint64, opts Options) *Program { return program(seed, rand.NewPCG(seed, 7), opts) }

// FromBytes returns the program whose random decisions are taken from bytes, so that similar bytes make similar
// programs. Its seed is a hash of them.
func FromBytes(data []byte, opts Options) *Program {
	h := fnv.New64a()
	h.Write(data)
	seed := h.Sum64()
	return program(seed, &byteSource{data, rand.NewPCG(seed, 7)}, opts)
}

// A byteSource is a source of random numbers that begins with given bytes.
type byteSource struct {
	bytes []byte
	rest  rand.Source
}

func (d *byteSource) Uint64() uint64 {
	if len(d.bytes) == 0 {
		return d.rest.Uint64()
	}
	b := uint64(d.bytes[0])
	d.bytes = d.bytes[1:]
	return b * 0x0101010101010101 // numbers are made of the high bits, or of the low ones
}

// program makes the program of a source of random numbers.
func program(seed uint64, src rand.Source, opts Options) *Program {
	g := &generator{Rand: rand.New(src), opts: opts}
	g.maySort = g.chance(256) && !opts.Short
	p := &Program{Seed: seed, Sig: Signature(g.IntN(int(numSignatures))), Exact: opts.Exact}
	if g.sums = g.chance(3); g.sums {
		p.Sig %= Several
	}
	g.short = !g.chance(8) || opts.Short
	g.old = g.chance(4)
	g.scratch = opts.Containers && g.chance(2)
	g.helpers()
	if opts.Checkpoints && g.chance(2) {
		g.mutual()
	}
	if g.chance(4) && len(g.callable) > 0 && !g.scratch {
		g.functions = append(g.functions, g.secondFunction())
	}
	p.Body = g.mainBody(p.Sig)
	p.Own, p.Old = g.functions, g.old
	for _, n := range append([]*Node{p.Body}, p.Own...) {
		g.spellAliases(n)
		if g.old {
			toGo121(n)
		}
	}
	return p
}

// A generator makes a program.
type generator struct {
	*rand.Rand
	opts      Options
	n         int  // number of names
	maySort   bool // functions that sort may be called, which lowers all of package sort
	short     bool // the program has few statements, as most have
	sums      bool // it consists mostly of loops that accumulate sums
	old       bool // it is for Go 1.21
	scratch   bool // it writes package variables
	functions []*Node
	callable  []*helper // functions that may be called
	cycle     *cycle    // functions in mutual recursion, or nil
	// shared is a call with a number that G also makes, empty if there is no G.
	shared string
	ctx    context
}

// A context describes the position of a statement.
type context struct {
	vars       map[Kind][]string // readable and assignable variables
	indices    []string          // readable integers
	assignable []string          // slices that may be assigned as a whole
	loops      []string          // labels of enclosing statements that continue may refer to
	breaks     []string          // and of those that only break may refer to
	tripWeight int               // number of executions
	depth      int
	budget     int // statements left
	self       *helper
	inClosure  bool // of a closure
	redeclares bool // a name is declared again in this scope
	ret        func() *Node
}

// enter opens a scope, which leave closes.
func (g *generator) enter() (leave func()) {
	saved := g.ctx
	vars := make(map[Kind][]string, len(saved.vars))
	for k, v := range saved.vars {
		vars[k] = v[:len(v):len(v)]
	}
	g.ctx.vars = vars
	g.ctx.indices = g.ctx.indices[:len(g.ctx.indices):len(g.ctx.indices)]
	g.ctx.assignable = g.ctx.assignable[:len(g.ctx.assignable):len(g.ctx.assignable)]
	g.ctx.loops = g.ctx.loops[:len(g.ctx.loops):len(g.ctx.loops)]
	g.ctx.breaks = g.ctx.breaks[:len(g.ctx.breaks):len(g.ctx.breaks)]
	g.ctx.depth++
	g.ctx.redeclares = false
	return func() {
		saved.budget = g.ctx.budget
		g.ctx = saved
	}
}

// declare adds variables to the scope.
func (g *generator) declare(kind Kind, names ...string) {
	g.ctx.vars[kind] = append(g.ctx.vars[kind], names...)
}

// local declares a variable and the places within it.
func (g *generator) local(kind Kind, name string) {
	g.declare(kind, name)
	switch kind {
	case Slice:
		g.ctx.assignable = append(g.ctx.assignable, name)
	case Struct, Pointer:
		g.declare(Array, name+".V")
	case Ref:
		g.declare(Float, "(*"+name+")")
	case Rows:
		g.declare(Slice, name+"[0]", name+"[2]")
	}
}

// has reports whether there are variables of all the kinds.
func (g *generator) has(kinds ...Kind) bool {
	for _, k := range kinds {
		if len(g.ctx.vars[k]) == 0 {
			return false
		}
	}
	return true
}

// name returns a new name with the given prefix.
func (g *generator) name(letter string) string {
	g.n++
	return fmt.Sprintf("%s%d", letter, g.n)
}

// oneOf returns one of the texts.
func (g *generator) oneOf(of ...string) string { return of[g.IntN(len(of))] }

// chance returns true with probability 1/n.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// pick returns a variable of a kind.
func (g *generator) pick(kind Kind) *Node { return node(kind, g.oneOf(g.ctx.vars[kind]...)) }

// block returns statements in a scope of their own, whose variables flow into variables outside of it.
func (g *generator) block() *Node {
	outer := map[Kind]int{}
	for k, v := range g.ctx.vars {
		outer[k] = len(v)
	}
	leave := g.enter()
	defer leave()
	b := node(Block, "")
	for range 1 + g.IntN(5) {
		if g.ctx.budget > 0 {
			g.ctx.budget--
			b.Kids = append(b.Kids, g.stmt())
		}
	}
	if outer[Float] == 0 {
		return b
	}
	to := g.ctx.vars[Float][g.IntN(outer[Float])]
	for _, v := range g.ctx.vars[Float][outer[Float]:] {
		if g.IntN(4) > 0 {
			b.Kids = append(b.Kids, stmt(to+" = ("+to+" + $0)*0.5", node(Float, v)))
		}
	}
	for _, v := range g.ctx.vars[Slice][outer[Slice]:] {
		if g.IntN(4) > 0 {
			b.Kids = append(b.Kids, stmt(to+" = ("+to+" - $0[0])*0.5", node(Slice, v)))
		}
	}
	for _, v := range g.ctx.vars[Small][outer[Small]:] {
		b.Kids = append(b.Kids, stmt(to+" = ("+to+" - float64($0))*0.5", node(Small, v)))
	}
	return b
}

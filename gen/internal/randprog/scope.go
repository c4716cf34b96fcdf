package randprog

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Options of programs. The zero value will do.
type Options struct {
	// Exact makes programs that do bit for bit the same by any compiler: products are
	// rounded by themselves, and no program depends on how far append makes room.
	Exact bool
	// Panics makes programs that may panic on purpose.
	Panics bool
	// Short makes short programs only, which call nothing large.
	Short bool
	// Checkpoints marks half of the loops for checkpointing.
	Checkpoints bool
}

// New is the program of a seed.
func New(seed uint64, opts Options) *Program { return program(seed, rand.NewPCG(seed, 7), opts) }

// Of is the program of bytes, each of which decides something, so that programs of like
// bytes are alike. Its seed tells it from others.
func Of(data []byte, opts Options) *Program {
	h := fnv.New64a()
	h.Write(data)
	seed := h.Sum64()
	return program(seed, &decisions{data, rand.NewPCG(seed, 7)}, opts)
}

// decisions is a source of random numbers that begins with given ones.
type decisions struct {
	left []byte
	rest rand.Source
}

func (d *decisions) Uint64() uint64 {
	if len(d.left) == 0 {
		return d.rest.Uint64()
	}
	b := uint64(d.left[0])
	d.left = d.left[1:]
	return b * 0x0101010101010101 // numbers are made of the first bits, or of the last
}

func program(seed uint64, src rand.Source, opts Options) *Program {
	g := &generator{Rand: rand.New(src), opts: opts}
	g.sorts = g.chance(256) && !opts.Short
	p := &Program{Seed: seed, Sig: Signature(g.IntN(int(numSignatures))), Exact: opts.Exact}
	if g.sums = g.chance(3); g.sums {
		p.Sig %= Several
	}
	g.short = !g.chance(8) || opts.Short
	g.old = g.chance(4)
	g.helpers()
	if g.chance(4) && len(g.known) > 0 {
		g.own = append(g.own, g.other())
	}
	p.Body = g.main(p.Sig)
	p.Own, p.Old = g.own, g.old
	for _, n := range append([]*Node{p.Body}, p.Own...) {
		g.spelled(n)
		if g.old {
			older(n)
		}
	}
	return p
}

// generator makes a program.
type generator struct {
	*rand.Rand
	opts  Options
	n     int  // of names
	sorts bool // what sorts, with all of package sort, may be called
	short bool // the program has few statements, as most have
	sums  bool // and what has most weight are loops that leave sums
	old   bool // it is for Go 1.21
	own   []*Node
	known []*helper // functions that may be called
	// shared is a call with a number that G has, empty if there is no G.
	shared string
	at     context
}

// context is where a statement stands.
type context struct {
	vars   map[Kind][]string // what may be read and written
	index  []string          // integers that may be read
	header []string          // slices that may be assigned as a whole
	loops  []string          // labels of what is around and can be continued
	breaks []string          // or only broken
	weight int               // how often it runs
	depth  int
	fuel   int // statements left
	self   *helper
	inside bool // of a closure
	again  bool // a name is declared again in this scope
	ret    func() *Node
}

// enter opens a scope.
func (g *generator) enter() (leave func()) {
	saved := g.at
	vars := make(map[Kind][]string, len(saved.vars))
	for k, v := range saved.vars {
		vars[k] = v[:len(v):len(v)]
	}
	g.at.vars = vars
	g.at.index = g.at.index[:len(g.at.index):len(g.at.index)]
	g.at.header = g.at.header[:len(g.at.header):len(g.at.header)]
	g.at.loops = g.at.loops[:len(g.at.loops):len(g.at.loops)]
	g.at.breaks = g.at.breaks[:len(g.at.breaks):len(g.at.breaks)]
	g.at.depth++
	g.at.again = false
	return func() {
		saved.fuel = g.at.fuel
		g.at = saved
	}
}

func (g *generator) declare(kind Kind, names ...string) {
	g.at.vars[kind] = append(g.at.vars[kind], names...)
}

// local declares a variable and what is in it.
func (g *generator) local(kind Kind, name string) {
	g.declare(kind, name)
	switch kind {
	case Slice:
		g.at.header = append(g.at.header, name)
	case Struct, Pointer:
		g.declare(Array, name+".V")
	case Ref:
		g.declare(Float, "(*"+name+")")
	case Rows:
		g.declare(Slice, name+"[0]", name+"[2]")
	}
}

// has reports whether there is something of all the kinds.
func (g *generator) has(kinds ...Kind) bool {
	for _, k := range kinds {
		if len(g.at.vars[k]) == 0 {
			return false
		}
	}
	return true
}

// name is a new name that begins with a letter.
func (g *generator) name(letter string) string {
	g.n++
	return fmt.Sprintf("%s%d", letter, g.n)
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// pick is a variable of a kind.
func (g *generator) pick(kind Kind) *Node { return node(kind, g.one(g.at.vars[kind]...)) }

// block is statements in a scope of their own. What they declare flows into what is
// around.
func (g *generator) block() *Node {
	outer := map[Kind]int{}
	for k, v := range g.at.vars {
		outer[k] = len(v)
	}
	leave := g.enter()
	defer leave()
	b := node(Block, "")
	for range 1 + g.IntN(5) {
		if g.at.fuel > 0 {
			g.at.fuel--
			b.Kids = append(b.Kids, g.stmt())
		}
	}
	if outer[Float] == 0 {
		return b
	}
	to := g.at.vars[Float][g.IntN(outer[Float])]
	for _, v := range g.at.vars[Float][outer[Float]:] {
		if g.IntN(4) > 0 {
			b.Kids = append(b.Kids, stmt(to+" = ("+to+" + $0)*0.5", node(Float, v)))
		}
	}
	for _, v := range g.at.vars[Slice][outer[Slice]:] {
		if g.IntN(4) > 0 {
			b.Kids = append(b.Kids, stmt(to+" = ("+to+" - $0[0])*0.5", node(Slice, v)))
		}
	}
	for _, v := range g.at.vars[Small][outer[Small]:] {
		b.Kids = append(b.Kids, stmt(to+" = ("+to+" - float64($0))*0.5", node(Small, v)))
	}
	return b
}

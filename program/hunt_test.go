package program

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/rules"
)

var (
	huntPrograms = flag.Int("programs", 0, "`number` of random programs of TestHunt; 0 for the usual")
	huntSeed     = flag.Uint64("seed", 1, "`seed` of the first of them")
)

// TestHunt runs random programs in all kinds of machines, and compares the bits with those of the interpreter:
// programs as they are, or repeated as recordings of loops are, and reverse sweeps of half of them.
//
//	go test ./program -run TestHunt -v -timeout 0 -args -programs 1000000
func TestHunt(t *testing.T) {
	n := longtest.Cases(*huntPrograms, 200, 1000, 20000)
	operations, sweeps := 0, 0
	start := time.Now()
	for i := range n {
		hunt(t, *huntSeed+uint64(i), &operations, &sweeps)
		if t.Failed() {
			return
		}
		if i%100000 == 99999 {
			t.Logf("%d programs agree, %v", i+1, time.Since(start).Round(time.Second))
		}
	}
	t.Logf("%d programs from seed %d, %d reverse sweeps, %d operations; %d runs borrowed an input, %d an output, "+
		"%d copied one in the search for NaNs, and divided ones had %d stages and %d tasks", n, *huntSeed, sweeps,
		operations, loans[0].Load(), loans[1].Load(), loans[2].Load(), loans[3].Load(), loans[4].Load())
}

// hunt compares one program.
func hunt(t *testing.T, seed uint64, operations, sweeps *int) {
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("seed %d: %v", seed, v)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 31))
	r := []recipe{anything, zeroes, smooth, kinked, smooth.withLanes(), kinked.withLanes(), folds}[rng.IntN(7)]
	r.size = 5 + rng.IntN(60)
	// The sign of a NaN, which copysign reads, is that which the processor gives it.
	r.binary = slices.DeleteFunc(slices.Clone(r.binary), func(op rules.Op) bool { return op == rules.Copysign })
	x := r.random(rng)
	p := x.p
	if rng.IntN(3) == 0 {
		p = repeatedly(rng, p)
	}
	*operations += p.Operations()
	runMachine(p, x.ins, x.params)
	for _, in := range x.ins {
		for i := range in {
			in[i] = rng.NormFloat64()
		}
	}
	if rng.IntN(2) > 0 {
		runMachine(p, x.ins, x.params)
		return
	}
	*sweeps++
	q := Simplify(VJP(p, VJPOptions{Lanes: 1 + rng.IntN(3)}))
	ins := slices.Clone(x.ins)
	for _, g := range q.Ins[len(ins):] {
		in := make([]float64, g.N)
		for i := range in {
			in[i] = rng.NormFloat64()
		}
		ins = append(ins, in)
	}
	runMachine(q, ins, x.params)
}

// repeatedly returns the statements of p several times, each time with results of the time before in the place of some
// inputs, as a recorded loop has them.
func repeatedly(rng *rand.Rand, p *Program) *Program {
	q := rewrite(p)
	var inputs []int32
	for i := range p.Stmts {
		if s := &p.Stmts[i]; s.Op == Input {
			for l := range int32(p.Ins[s.K].N) {
				inputs = append(inputs, s.D+l)
			}
		}
	}
	times := 2 + rng.IntN(30)
	feed := min(len(inputs), 1+rng.IntN(3))
	for k := range times {
		for i := range p.Stmts {
			s := &p.Stmts[i]
			if s.Op.Arity() == 0 && k > 0 || s.Op.Guard() && k > 0 {
				continue
			}
			q.place(s, q.add(q.mapped(s)))
		}
		if k+1 < times {
			for j := range feed {
				q.slot[inputs[j]] = q.slot[p.Result[(k+j)%len(p.Result)]]
			}
		}
	}
	return q.finish()
}

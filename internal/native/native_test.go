package native

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"testing"
	"time"
)

// interpret runs instructions by Go's arithmetic.
func interpret(code []Instr, m []float64) bool {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for _, c := range code {
		a := m[c.A]
		holds := false
		switch c.Op {
		case Add:
			m[c.D] = a + m[c.B]
		case Sub:
			m[c.D] = a - m[c.B]
		case Mul:
			m[c.D] = a * m[c.B]
		case Div:
			m[c.D] = a / m[c.B]
		case Neg:
			m[c.D] = -a
		case Abs:
			m[c.D] = math.Abs(a)
		case Sq:
			m[c.D] = a * a
		case Sqrt:
			m[c.D] = math.Sqrt(a)
		case Inv:
			m[c.D] = 1 / a
		case Move:
			m[c.D] = a
		case Lt:
			m[c.D] = truth(a < m[c.B])
		case Le:
			m[c.D] = truth(a <= m[c.B])
		case Eq:
			m[c.D] = truth(a == m[c.B])
		case Select:
			if m[c.D] = m[c.C]; a != 0 {
				m[c.D] = m[c.B]
			}
		case Store:
			m[c.D] = a
		case Output:
			m[c.D] = a + 0
		case GuardLt:
			holds = a < m[c.B]
		case GuardLe:
			holds = a <= m[c.B]
		case GuardEq:
			holds = a == m[c.B]
		}
		if c.Op.guard() && holds != (c.D != 0) {
			return false
		}
	}
	return true
}

var special = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, math.MaxFloat64,
	-0.5, 2, 1e-310}

// random returns a program over n inputs, whose operands are mostly recent, with a file of inputs and the guards'
// outcomes for it.
func random(rng *rand.Rand, n, length int, guards bool) ([]Instr, []float64) {
	m := make([]float64, n, n+length)
	for i := range m {
		if m[i] = rng.NormFloat64(); rng.IntN(8) == 0 {
			m[i] = special[rng.IntN(len(special))]
		}
	}
	var code []Instr
	reach := 1 + rng.IntN(60)
	for range length {
		last := int32(Store)
		if guards {
			last = int32(numOps)
		}
		c := Instr{Op: Op(1 + rng.Int32N(last-1))}
		for _, to := range []*int32{&c.A, &c.B, &c.C} {
			if *to = int32(rng.IntN(len(m))); rng.IntN(4) > 0 {
				*to = int32(len(m) - 1 - rng.IntN(min(reach, len(m))))
			}
		}
		if c.Op.guard() {
			if !interpret([]Instr{{Op: c.Op, D: 1, A: c.A, B: c.B}}, m) {
				c.D = 0
			} else {
				c.D = 1
			}
		} else {
			c.D = int32(len(m))
			m = append(m, 0)
			interpret([]Instr{c}, m)
		}
		code = append(code, c)
	}
	return code, m[:n]
}

// repeating returns a program with loops among straight code, over n inputs, and a file of inputs. The bodies read
// inputs and earlier results at fixed distances, results of the iterations before, and their own.
func repeating(rng *rand.Rand, n int) ([]Instr, []float64) {
	code, inputs := random(rng, n, 100+rng.IntN(100), false)
	m := slices.Grow(slices.Clone(inputs), 4000)
	const behind = 1 << 20 // where stores are, until the length of the file is known
	stored := int32(behind)
	add := func(c Instr) {
		if c.Op.defines() {
			c.D = int32(len(m))
			m = append(m, 0)
			interpret([]Instr{c}, m)
		} else if c.Op.guard() {
			c.D = 0
			if interpret([]Instr{{Op: c.Op, D: 1, A: c.A, B: c.B}}, m) {
				c.D = 1
			}
		} else {
			c.D = stored
			stored++
		}
		code = append(code, c)
	}
	before := code
	code = nil
	for _, c := range before {
		add(c)
	}
	for range 1 + rng.IntN(3) {
		// An operand is relative to the end of the file at the beginning of an iteration, or moves by itself.
		type operand struct {
			slot, stride int32
			relative     bool
		}
		var ops []Op
		var operands [][3]operand
		width := int32(0)
		period := 1 + rng.IntN(30)
		for range period {
			op := Op(1 + rng.Int32N(int32(Store)-1))
			switch rng.IntN(12) {
			case 0:
				op = GuardLt + Op(rng.IntN(3))
			case 1:
				op = Store + Op(rng.IntN(2))
			}
			ops = append(ops, op)
			if op.defines() {
				width++
			}
		}
		rank, iterations := int32(0), 1+rng.IntN(30)
		for _, op := range ops {
			var o [3]operand
			for k := range o {
				switch stride := int32(rng.IntN(5) - 2); rng.IntN(4) {
				case 0:
					o[k] = operand{int32(rng.IntN(len(m))), 0, false}
				case 1:
					slot := min(max(int32(rng.IntN(len(m))), 64), int32(len(m))-64)
					o[k] = operand{slot, stride, false}
				case 2:
					o[k] = operand{rank - 1 - rng.Int32N(1+min(3*width, 90)), 0, true}
					if rank > 0 && rng.IntN(3) == 0 {
						o[k] = operand{int32(len(m)) + rng.Int32N(rank), 0, false} // of the first iteration
					}
				default: // of this iteration or of up to three before
					o[k] = operand{rank - 1 - rng.Int32N(1+min(3*width, 90)), 0, true}
				}
			}
			operands = append(operands, o)
			if op.defines() {
				rank++
			}
		}
		exception := rng.IntN(4 * iterations * period) // at one place, or none, the rule does not hold
		for k := range int32(iterations) {
			base := int32(len(m))
			for j, op := range ops {
				c := Instr{Op: op}
				for i, to := range []*int32{&c.A, &c.B, &c.C} {
					o := operands[j][i]
					if *to = o.slot + k*o.stride; o.relative {
						*to += base
					}
					if int(k)*period+j == exception && i == rng.IntN(3) {
						*to = int32(rng.IntN(len(m)))
					}
				}
				add(c)
			}
		}
		for range rng.IntN(20) {
			add(Instr{Op: Add, A: int32(rng.IntN(len(m))), B: int32(rng.IntN(len(m)))})
		}
	}
	for i := range code {
		if c := &code[i]; !c.Op.defines() && !c.Op.guard() {
			c.D += int32(len(m)) - behind
		}
	}
	return code, append(m, make([]float64, stored-behind)...)
}

// TestLoops: programs that repeat compute the bits of an interpreter, and nearly all of their loops are found.
func TestLoops(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	instructions, looped, loops := 0, 0, 0
	for range 3000 {
		code, m := repeating(rng, 150)
		for _, s := range split(nil, code, 0, len(code)) {
			instructions += s.to - s.from
			if s.period > 0 && newLoop(code[s.from:s.to], s.period) != nil {
				loops++
				looped += s.to - s.from
			}
		}
		checkCode(t, rng, code, 150, len(m), m[:150])
	}
	t.Logf("%d loops, %d of %d instructions", loops, looped, instructions)
	wantOutside(t)
	if loops < 1500 || looped < instructions/6 {
		t.Errorf("%d loops with %d of %d instructions: too few", loops, looped, instructions)
	}
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// TestRandom: random programs compute the bits of an interpreter, whatever is kept, and stop at guards that fail.
func TestRandom(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		check(t, rng, 1+rng.IntN(40), 1+rng.IntN(400), round%2 == 0)
	}
	for range 3 {
		check(t, rng, 40, 3*blockLength+rng.IntN(1000), true)
	}
}

func check(t *testing.T, rng *rand.Rand, n, length int, guards bool) {
	t.Helper()
	code, inputs := random(rng, n, length, guards)
	checkCode(t, rng, code, n, n+length, inputs)
}

// checkCode compares a program over n inputs, with results in a file of some size, with the interpreter, where it
// stores some of them too.
func checkCode(t *testing.T, rng *rand.Rand, code []Instr, n, size int, inputs []float64) {
	t.Helper()
	share, length, first := rng.IntN(3), len(code), int32(size)
	for i := 0; i < len(code); i++ { // stores of earlier results
		if share > 0 && rng.IntN(5*share*share) == 0 {
			c := Instr{Op: Store + Op(rng.IntN(2)), D: int32(size), A: int32(rng.IntN(n))}
			for k := i - 1; k >= 0 && rng.IntN(4) > 0; k-- {
				if code[k].Op.defines() {
					c.A = code[k].D
				}
			}
			code = slices.Insert(code, i, c)
			size++
		}
		if length > 1000 {
			i += 20
		}
	}
	length = len(code)
	kept := make([]bool, size)
	for i := range kept {
		kept[i] = share == 0 || rng.IntN(10) == 0
	}
	ends := []int{length}
	if rng.IntN(3) == 0 {
		ends = []int{rng.IntN(length), length}
	}
	out := newOutside(rng, int32(n), first, int32(size))
	c := Compile(code, ends, slices.Clone(kept), out.areas)
	if c == nil {
		t.Fatal("not compiled")
	}
	out.used(c)
	want, got := make([]float64, len(kept)), make([]float64, len(kept))
	for range 2 {
		copy(want, inputs)
		copy(got, inputs)
		ok := interpret(code, want)
		all := true
		out.take(got)
		for part := range ends {
			all = all && c.Run(part, got, &out.in[0], &out.out[0])
		}
		out.give(t, got)
		if all != ok {
			t.Fatalf("guards: got %v, want %v", all, ok)
		}
		if ok {
			for i := range code {
				d, op := code[i].D, code[i].Op
				if !op.guard() && (kept[d] || !op.defines()) && !same(got[d], want[d]) {
					t.Fatalf("instruction %d, %+v: got %v, want %v", i, code[i], got[d], want[d])
				}
			}
		}
		inputs[rng.IntN(n)] = rng.NormFloat64() // guards may fail now
	}
}

// TestFreed: the memory of a code is freed when nothing refers to it.
func TestFreed(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	before := mapped.Load()
	for range 100 {
		if Compile([]Instr{{Op: Sq, D: 1}}, []int{1}, []bool{false, true}, Areas{}) == nil {
			t.Fatal("not compiled")
		}
	}
	for deadline := time.Now().Add(10 * time.Second); mapped.Load() > before+1; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatalf("%d codes are mapped, want about %d", mapped.Load(), before)
		}
	}
}

// TestInterrupted: code runs in several goroutines while garbage is collected and the profiler interrupts it.
func TestInterrupted(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip(err) // the test is profiled itself
	}
	defer pprof.StopCPUProfile()
	code, inputs := random(rand.New(rand.NewPCG(3, 4)), 20, 2*blockLength, false)
	kept := make([]bool, 20+len(code))
	for i := range kept {
		kept[i] = i%7 == 0
	}
	c := Compile(code, []int{len(code)}, kept, Areas{})
	want := make([]float64, len(kept))
	copy(want, inputs)
	interpret(code, want)
	var wait sync.WaitGroup
	stop := make(chan bool)
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		wait.Go(func() {
			m := make([]float64, len(kept))
			for {
				select {
				case <-stop:
					return
				default:
				}
				clear(m)
				copy(m, inputs)
				c.Run(0, m, nil, nil)
				for i := range code {
					if d := code[i].D; kept[d] && !same(m[d], want[d]) {
						t.Errorf("slot %d is %v, want %v", d, m[d], want[d])
						return
					}
				}
			}
		})
	}
	garbage := make([][]byte, 20)
	for i := range 20 {
		garbage[i] = make([]byte, 1<<16)
		runtime.GC()
	}
	close(stop)
	wait.Wait()
}

func BenchmarkRun(b *testing.B) {
	for _, length := range []int{100, 1000, 10000, 100000} {
		code, inputs := random(rand.New(rand.NewPCG(1, 1)), 20, length, false)
		kept := make([]bool, 20+length)
		for i := range kept {
			kept[i] = i%10 == 0
		}
		b.Run(fmt.Sprintf("%d", length), func(b *testing.B) {
			c := Compile(code, []int{length}, kept, Areas{})
			if c == nil {
				b.Skip("no machine code here")
			}
			m := make([]float64, len(kept))
			copy(m, inputs)
			for b.Loop() {
				c.Run(0, m, nil, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(length), "ns/operation")
			b.ReportMetric(float64(c.Size())/float64(length), "bytes/operation")
		})
		b.Run(fmt.Sprintf("compile/%d", length), func(b *testing.B) {
			for b.Loop() {
				Compile(code, []int{length}, kept, Areas{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(length), "ns/operation")
		})
	}
}

// FuzzCompile is TestRandom and TestLoops for other seeds.
func FuzzCompile(f *testing.F) {
	f.Add(uint64(1), uint16(30), uint16(300), uint8(0))
	f.Add(uint64(2), uint16(150), uint16(0), uint8(1))
	f.Add(uint64(3), uint16(50), uint16(60), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, inputs, length uint16, kind uint8) {
		if !supported() {
			t.Skip("no machine code here")
		}
		rng := rand.New(rand.NewPCG(seed, 9))
		switch kind % 3 {
		case 1:
			code, m := repeating(rng, 150)
			checkCode(t, rng, code, 150, len(m), m[:150])
			return
		case 2:
			checkLanes(t, rng, 30+int(inputs%200), 1+int(length%200))
			return
		}
		check(t, rng, 1+int(inputs%200), 1+int(length%3000), seed%2 == 0) // with guards or without
	})
}

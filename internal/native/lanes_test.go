package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// expand returns statements of lanes as instructions, and the number of slots with those of partial sums, which are
// from size on.
func expand(stmts []Stmt, list []int32, size int) ([]Instr, int) {
	var code []Instr
	for _, s := range stmts {
		for l := range s.N {
			if s.Terms > 0 {
				last := s.A.at(list, l*s.Terms)
				for t := int32(1); t < s.Terms; t++ {
					code = append(code, Instr{Op: Add, D: int32(size), A: last, B: s.A.at(list, l*s.Terms+t)})
					last = int32(size)
					size++
				}
				code = append(code, Instr{Op: Move, D: s.D + l, A: last})
				continue
			}
			c := Instr{Op: s.Op, D: s.D + l, A: s.A.at(list, l)}
			switch {
			case s.Op.guard():
				c.D = s.D
			case !s.Op.defines():
				c.D = s.B.at(list, l)
			}
			if operands[s.Op] > 1 {
				c.B = s.B.at(list, l)
			}
			if operands[s.Op] > 2 {
				c.C = s.C.at(list, l)
			}
			code = append(code, c)
		}
	}
	return code, size
}

// A lanesMaker makes random statements of lanes.
type lanesMaker struct {
	rng   *rand.Rand
	stmts []Stmt
	list  []int32
	m     []float64 // the file: the values so far
	width []int32   // numbers of lanes that are frequent
	reach int       // how many statements back operands often are
	loose int32     // if not 0, operands are whole results, or of the first slots, as many
	apart int32     // the first slots, as many, are not read by one operand with others, nor listed
	sums  bool      // half of the statements are sums of results
	last  Operand   // the last one whose lanes are at a distance
}

// operand returns an operand of n lanes, often a result or close to one.
func (k *lanesMaker) operand(n int32) Operand {
	for range 20 {
		listed := len(k.list)
		if o := k.anywhere(n); k.allowed(o, n) {
			return o
		}
		k.list = k.list[:listed]
	}
	return Operand{int32(len(k.m)) - 1, 0}
}

// allowed reports whether an operand of n lanes keeps what is apart so.
func (k *lanesMaker) allowed(o Operand, n int32) bool {
	areas := Areas{{0, k.apart}}
	if o.Stride != Gather {
		return !areas.divide(o.Base, o.Base+(n-1)*o.Stride)
	}
	return !slices.ContainsFunc(k.list[o.Base:o.Base+n], areas.holds)
}

// anywhere is operand without regard to apart.
func (k *lanesMaker) anywhere(n int32) Operand {
	size := int32(len(k.m))
	if k.loose > 0 {
		size = k.loose
	}
	if k.rng.IntN(3) > 0 {
		for range 5 {
			s := k.stmts[max(0, len(k.stmts)-1-k.rng.IntN(k.reach)):]
			if len(s) == 0 || !s[0].Op.defines() || s[0].N < n {
				continue
			}
			choice := k.rng.IntN(8)
			if k.loose > 0 {
				choice = 2
			}
			switch at := s[0].D + k.rng.Int32N(s[0].N-n+1); choice {
			case 0:
				return Operand{at + n - 1, -1}
			case 1:
				return Operand{at, 0}
			default:
				return Operand{at, 1}
			}
		}
	}
	switch k.rng.IntN(4) {
	case 0:
		return Operand{k.rng.Int32N(size), 0}
	case 1:
		o := Operand{int32(len(k.list)), Gather}
		for range n {
			k.list = append(k.list, k.rng.Int32N(size))
		}
		return o
	}
	if k.rng.IntN(2) == 0 { // beside another one
		o := Operand{k.last.Base + 2*k.rng.Int32N(2) - 1, k.last.Stride}
		if end := o.Base + (n-1)*o.Stride; min(o.Base, end) >= 0 && max(o.Base, end) < size {
			k.last = o
			return o
		}
	}
	stride := k.rng.Int32N(9) - 4
	if n > 1 {
		stride = max(min(stride, (size-1)/(n-1)), -(size-1)/(n-1))
	}
	base := k.rng.Int32N(size - max(stride, -stride)*(n-1))
	if stride < 0 {
		base -= stride * (n - 1)
	}
	k.last = Operand{base, stride}
	return k.last
}

// sum returns a sum of terms, of which many are in an order that its code knows.
func (k *lanesMaker) sum(n int32) Stmt {
	s := Stmt{Op: Add, N: n, Terms: 1 + k.rng.Int32N(12)}
	if k.rng.IntN(3) == 0 {
		s.Terms = 1 + k.rng.Int32N(100)
	}
	size := int32(len(k.m))
	if k.loose > 0 {
		size = k.loose
	}
	var slots []int32
	choice := k.rng.IntN(5)
	if k.sums {
		choice = 1
	}
	switch choice {
	case 0: // at equal distances of lanes and of terms
		across, along := k.rng.Int32N(5)-2, k.rng.Int32N(5)-2
		if k.rng.IntN(3) == 0 {
			across = 1
		}
		for l := range n {
			for t := range s.Terms {
				slots = append(slots, ((size/2+l*across+t*along)%size+size)%size)
			}
		}
	case 4: // terms of a lane are next to each other
		if s.Terms = min(s.Terms, size); k.rng.IntN(4) > 0 {
			s.Terms = min(manyTerms+1+k.rng.Int32N(20), size)
		}
		for range n {
			first := k.rng.Int32N(size - s.Terms + 1)
			for t := range s.Terms {
				slots = append(slots, first+t)
			}
		}
		if k.rng.IntN(8) == 0 {
			slots[k.rng.IntN(len(slots))] = k.rng.Int32N(size)
		}
	case 1: // a result, with something around it
		r := k.stmts[k.rng.IntN(len(k.stmts))]
		if !r.Op.defines() {
			break
		}
		s.N = 1
		for l := k.rng.Int32N(2) * k.rng.Int32N(min(6, r.N)); l < r.N; l++ {
			slots = append(slots, r.D+l)
		}
		for range k.rng.IntN(3) {
			slots = slices.Insert(slots, k.rng.IntN(min(6, len(slots))), k.rng.Int32N(size))
		}
		for range k.rng.IntN(6) {
			slots = append(slots, k.rng.Int32N(size))
		}
		if k.rng.IntN(8) == 0 {
			slots[k.rng.IntN(len(slots))] = k.rng.Int32N(size)
		}
		switch k.rng.IntN(8) {
		case 0: // one of the first lanes comes last
			at := k.rng.IntN(min(6, len(slots)))
			slot := slots[at]
			slots = append(slices.Delete(slots, at, at+1), slot)
		case 1: // a lane comes twice
			at := k.rng.IntN(min(8, len(slots)))
			slots = slices.Insert(slots, at, slots[at])
		case 2: // the end of one result and the beginning of the next
			if shift := 1 + k.rng.Int32N(6); r.D+r.N+shift <= int32(len(k.m)) {
				for i := range slots {
					slots[i] = min(slots[i]+shift, int32(len(k.m))-1)
				}
			}
		}
		if s.Terms = int32(len(slots)); k.rng.IntN(10) == 0 { // another lane
			s.N = 2
			for range s.Terms {
				slots = append(slots, k.rng.Int32N(size))
			}
		}
	}
	if slots == nil {
		s.A = k.operand(s.N * s.Terms % 5000)
		if s.N*s.Terms >= 5000 {
			s.N, s.Terms = 1, 1
			s.A = k.operand(1)
		}
		return s
	}
	s.A = Operand{int32(len(k.list)), Gather}
	k.list = append(k.list, slots...)
	return s
}

// add adds a random statement.
func (k *lanesMaker) add() {
	n := k.width[k.rng.IntN(len(k.width))]
	s := Stmt{Op: Op(1 + k.rng.Int32N(int32(Store)-1)), N: n}
	choice := k.rng.IntN(6)
	if k.sums && k.rng.IntN(2) == 0 {
		choice = 0
	}
	switch choice {
	case 0:
		if len(k.stmts) > 0 {
			if sum := k.sum(n); sum.A.Stride != Gather || k.allowed(sum.A, sum.N*sum.Terms) {
				s = sum
			}
		}
	case 1:
		if k.rng.IntN(3) == 0 {
			s.Op = GuardLt + Op(k.rng.IntN(3))
		}
	}
	if s.Terms == 0 {
		s.A, s.B, s.C = k.operand(n), k.operand(n), k.operand(n)
	}
	if s.Op.guard() {
		for outcome := range int32(2) {
			s.D = outcome
			if code, _ := expand([]Stmt{s}, k.list, 0); interpret(code, k.m) {
				k.stmts = append(k.stmts, s)
				return
			}
		}
		return // the lanes have both outcomes
	}
	s.D = int32(len(k.m))
	k.m = append(k.m, make([]float64, s.N)...)
	code, size := expand([]Stmt{s}, k.list, len(k.m))
	file := append(k.m, make([]float64, size-len(k.m))...)
	interpret(code, file)
	k.m = file[:len(k.m)]
	k.stmts = append(k.stmts, s)
}

// checkLanes compares random statements with the interpreter.
func checkLanes(t *testing.T, rng *rand.Rand, n, count int, width ...int32) {
	t.Helper()
	if width == nil {
		w := 4 + rng.Int32N(40)
		width = []int32{1 + rng.Int32N(40), 1 + rng.Int32N(10), w, w, w - rng.Int32N(3)}
	}
	k := &lanesMaker{rng: rng, width: width, m: make([]float64, n), reach: 3 + rng.IntN(3)*rng.IntN(30)}
	for i := range k.m {
		if k.m[i] = rng.NormFloat64(); rng.IntN(20) == 0 {
			k.m[i] = special[rng.IntN(len(special))]
		}
	}
	inputs := slices.Clone(k.m)
	if rng.IntN(2) == 0 {
		k.apart = 1 + rng.Int32N(int32(n-1))
	}
	if len(width) == 1 && rng.IntN(2) == 0 {
		k.loose = int32(n)
	}
	k.sums = len(width) == 1 && rng.IntN(3) == 0
	for range count {
		k.add()
	}
	// Outputs are stored in slots of their own.
	stmts := slices.Clone(k.stmts)
	size := int32(len(k.m))
	share := rng.IntN(3)
	for i := len(stmts) - 1; i >= 0; i-- {
		s := stmts[i]
		if s.Op.defines() && rng.IntN(4) == 0 {
			from := rng.Int32N(s.N)
			lanes := 1 + rng.Int32N(s.N-from)
			o := Stmt{Op: Store + Op(rng.IntN(2)), N: lanes, A: Operand{s.D + from, 1}}
			switch rng.IntN(4) {
			case 0:
				o.B = Operand{size + 3*(lanes-1), -3}
				size += 3 * lanes
			case 1:
				o.B = Operand{int32(len(k.list)), Gather}
				for _, l := range rng.Perm(int(lanes)) {
					k.list = append(k.list, size+int32(l))
				}
				size += lanes
			default:
				o.B = Operand{size, 1}
				size += lanes
			}
			at := i + 1 + rng.IntN(len(stmts)-i)
			stmts = slices.Insert(stmts, at, o)
		}
	}
	kept := make([]bool, size)
	for i := range kept {
		kept[i] = share == 0 || rng.IntN(30) == 0
	}
	if len(stmts) == 0 {
		return
	}
	// Statements from one to another are interpreted, between two parts.
	from, to := len(stmts), len(stmts)
	if rng.IntN(3) == 0 {
		from = rng.IntN(len(stmts))
		to = from + rng.IntN(min(4, len(stmts)-from))
	}
	compiled := slices.Concat(stmts[:from], stmts[to:])
	ends := []int{from, len(compiled)}
	between, extra := expand(stmts[from:to], k.list, int(size))
	needed := slices.Clone(kept)
	for _, c := range between {
		for i, slot := range [3]int32{c.A, c.B, c.C} {
			if i < operands[c.Op] && slot < size {
				needed[slot] = true
			}
		}
	}
	outputs := int32(len(k.m)) // the first one
	if slices.ContainsFunc(stmts[from:to], func(s Stmt) bool { return s.Op == Store || s.Op == Output }) {
		outputs = size
	}
	out := newOutside(rng, int32(n), outputs, size)
	if k.apart > 0 {
		out.areas[0] = Area{0, k.apart}
		if out.areas[1].N > 0 {
			out.areas[1] = Area{outputs, size - outputs}
		}
	}
	var codes []*Code
	var outs []*outside
	for _, lanes := range widths() {
		c := CompileLanes(compiled, k.list, ends, needed, out.areas, lanes)
		if c == nil {
			t.Fatal("not compiled")
		}
		o := *out
		o.used(c)
		codes, outs = append(codes, c), append(outs, &o)
	}
	code, all := expand(stmts, k.list, int(size))
	want, got := make([]float64, all), make([]float64, size)
	for range 2 {
		clear(want)
		copy(want, inputs)
		ok := interpret(code, want)
		for w, c := range codes {
			clear(got)
			copy(got, inputs)
			out := outs[w]
			out.take(got)
			holds := c.Run(0, got, &out.in[0], &out.out[0])
			file := slices.Concat(got, make([]float64, extra-int(size)))
			copy(file, inputs)
			holds = holds && interpret(between, file)
			copy(got[n:], file[n:])
			holds = holds && c.Run(1, got, &out.in[0], &out.out[0])
			out.give(t, got)
			if holds != ok {
				t.Fatalf("%d lanes: guards: got %v, want %v", widths()[w], holds, ok)
			}
			for i := range inputs {
				if !same(got[i], inputs[i]) {
					t.Fatalf("%d lanes: input %d was overwritten", widths()[w], i)
				}
			}
			for i, s := range stmts {
				for l := range s.N {
					d := s.D + l
					if !s.Op.defines() && !s.Op.guard() {
						d = s.B.at(k.list, l)
					}
					if ok && !s.Op.guard() && (kept[d] || !s.Op.defines()) && !same(got[d], want[d]) {
						t.Fatalf("%d lanes: statement %d of %d, %+v, lane %d: got %v, want %v", widths()[w], i,
							len(stmts), s, l, got[d], want[d])
					}
				}
			}
		}
		inputs[rng.IntN(n)] = rng.NormFloat64() // guards may fail now
	}
}

// widths returns the numbers of lanes that vectors may have, and 0, for which CompileLanes chooses.
func widths() []int32 { return append(Widths(), 0) }

// TestLanes: random statements of lanes compute the bits of an interpreter.
func TestLanes(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range longtest.Cases(0, 300, 1500, 20000) {
		checkLanes(t, rng, 30+rng.IntN(50), 1+rng.IntN(60))
	}
	for range 30 { // several blocks
		checkLanes(t, rng, 100, 2+rng.IntN(60), 3000+rng.Int32N(5000), 2000)
		checkLanes(t, rng, 100, 1+rng.IntN(5), blockLength+rng.Int32N(6))
	}
	for range longtest.Cases(0, 30, 200, 2000) { // many values at a time
		checkLanes(t, rng, 100, 100+rng.IntN(200), 9+rng.Int32N(20))
	}
	for range longtest.Cases(0, 300, 1000, 20000) { // sums over the lanes of one loop
		checkLanes(t, rng, 50, 4+rng.IntN(12), 24+rng.Int32N(40))
	}
	wantOutside(t)
}

// TestTurns: lanes of long loops that take turns compute the bits of an interpreter.
func TestTurns(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	defer func(least, of int32) { leastTurn, turnOf = least, of }(leastTurn, turnOf)
	rng := rand.New(rand.NewPCG(11, 12))
	for range longtest.Cases(0, 100, 500, 10000) {
		leastTurn = lanes << rng.IntN(2)
		turnOf = 4 * leastTurn
		n := 60 + rng.Int32N(200)
		checkLanes(t, rng, 400, 2+rng.IntN(40), n, n+rng.Int32N(3), n-rng.Int32N(3))
	}
}

// TestFaster: the largest vectors are those of loops whose instructions they halve.
func TestFaster(t *testing.T) {
	if len(Widths()) == 1 {
		t.Skip("vectors have one number of lanes here")
	}
	stmts := func(n int32, a, b Operand, operations, sums int) (stmts []Stmt) {
		d := 4 * n
		for range operations {
			stmts = append(stmts, Stmt{Op: Mul, N: n, D: d, A: a, B: b})
			a, d = Operand{d, 1}, d+n
		}
		for range sums {
			stmts = append(stmts, Stmt{Op: Add, N: 1, Terms: n, D: d, A: a})
			d++
		}
		return stmts
	}
	next, after := Operand{0, 1}, Operand{0, 3}
	const n = 512
	for _, c := range []struct {
		what  string
		stmts []Stmt
		large bool
	}{
		{"one operation", stmts(n, next, Operand{n, 1}, 1, 0), true},
		{"half of the lanes of the last vector", stmts(100, next, Operand{n, 1}, 1, 0), true},
		{"few lanes", stmts(15, next, Operand{n, 1}, 40, 0), false},
		{"two vectors", stmts(16, next, Operand{n, 1}, 1, 0), true},
		{"one lane more than two vectors", stmts(17, next, Operand{n, 1}, 40, 0), false},
		{"apart", stmts(n, after, Operand{3, 0}, 4, 0), false},
		{"apart, and more operations", stmts(n, after, Operand{3, 0}, 5, 0), true},
		{"two next to each other apart", stmts(n, after, Operand{1, 3}, 5, 0), true},
		{"two apart", stmts(n, after, Operand{2, 3}, 8, 0), false},
		{"a sum", stmts(n, next, Operand{n, 1}, 3, 1), false},
		{"a sum of more operations", stmts(n, next, Operand{n, 1}, 4, 1), true},
	} {
		kept := make([]bool, 4*n+n*len(c.stmts))
		g, _, _ := generateLanes(c.stmts, nil, []int{len(c.stmts)}, kept, Areas{}, 0)
		if got := g.items[0].(*group).lanes > lanes; got != c.large {
			t.Errorf("%s: vectors have %d lanes", c.what, g.items[0].(*group).lanes)
		}
	}
}

// BenchmarkLanes shows the time of loops over 512 lanes with the vectors that they have, and with all of the same size:
// of few operations, and of many, on two results next to each other or with their lanes apart.
func BenchmarkLanes(b *testing.B) {
	if !supported() {
		b.Skip("no machine code here")
	}
	const n = 512
	run := func(b *testing.B, operations int, stride, width int32) {
		var stmts []Stmt
		at := 2 * n * stride
		values := []Operand{{0, stride}, {n * stride, stride}}
		for i := range operations {
			op := []Op{Mul, Add, Sub}[i%3]
			stmts = append(stmts, Stmt{Op: op, N: n, D: at, A: values[i], B: values[i+1]})
			values = append(values, Operand{at, 1})
			at += n
		}
		kept := make([]bool, at)
		for l := at - n; l < at; l++ {
			kept[l] = true
		}
		m := make([]float64, at)
		for i := range m {
			m[i] = float64(i%7) / 8
		}
		c := CompileLanes(stmts, nil, []int{len(stmts)}, kept, Areas{}, width)
		b.ReportAllocs()
		for b.Loop() {
			c.Run(0, m, nil, nil)
		}
	}
	for _, stride := range []int32{1, 3} {
		for _, operations := range []int{4, 12, 40} {
			name := fmt.Sprintf("operations=%d/stride=%d/", operations, stride)
			for _, lanes := range widths() {
				vectors := "chosen"
				if lanes > 0 {
					vectors = fmt.Sprint(lanes)
				}
				b.Run(name+"vectors="+vectors, func(b *testing.B) { run(b, operations, stride, lanes) })
			}
		}
	}
}

// TestLongSums: sums of more terms than a block has instructions are those of an interpreter.
func TestLongSums(t *testing.T) {
	if !supported() {
		t.Skip("no machine code here")
	}
	rng := rand.New(rand.NewPCG(9, 10))
	const terms = 3*blockLength + 17
	for _, n := range []int32{1, 3, 4, 9, 37, 71} {
		for _, across := range []int32{1, 2, 0, -1} {
			if n > 37 && across != 1 { // only lanes next to each other have blocks of so many
				continue
			}
			s := Stmt{Op: Add, N: n, Terms: terms, D: 2 * terms, A: Operand{0, Gather}}
			var list []int32
			for l := range n {
				first := l * across
				if across < 0 { // anywhere
					first = rng.Int32N(terms)
				}
				for k := range int32(terms) {
					slot := first + k
					if across == 0 {
						slot = rng.Int32N(2 * terms)
					}
					list = append(list, slot)
				}
			}
			kept := make([]bool, s.D+n)
			for l := range n {
				kept[s.D+l] = true
			}
			m := make([]float64, len(kept))
			for i := range 2 * terms {
				m[i] = rng.NormFloat64()
			}
			for _, lanes := range Widths() {
				c := CompileLanes([]Stmt{s}, list, []int{1}, kept, Areas{}, lanes)
				if c == nil {
					t.Fatal("not compiled")
				}
				if len(c.entries) < 3 {
					t.Errorf("%d lanes: %d blocks, want more", n, len(c.entries))
				}
				clear(m[s.D:])
				c.Run(0, m, nil, nil)
				for l := range n {
					want := m[list[l*terms]]
					for _, slot := range list[l*terms+1 : (l+1)*terms] {
						want += m[slot]
					}
					if got := m[s.D+l]; got != want {
						t.Errorf("%d lanes in vectors of %d, %d apart, lane %d: got %v, want %v", n, lanes, across, l,
							got, want)
					}
				}
			}
		}
	}
}

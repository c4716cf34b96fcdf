package print

import (
	"cmp"
	"fmt"
	"go/constant"
	"go/token"
	"math"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An assembly is a file of kernels, functions as [simplify.Vectors] makes them, in the assembly language of Go for
// amd64 with AVX. Four iterations of a loop are the lanes of vectors, the last one first if it counts down. Numbers
// that are the same in all iterations are in registers before the loop, as far as there are registers; the values of an
// iteration are in registers by a linear scan, which stores the one with the furthest next use if there is none left.
type assembly struct {
	text   strings.Builder
	name   string   // of the table with constants
	consts []uint64 // their bits
}

// sliceRegisters hold the addresses of slices. AX is the distance that the iterations have come in bytes, CX its end.
// If there are more slices, the last register is for the address of any other that an operation needs.
var sliceRegisters = []string{"SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "BX", "DX"}

const (
	vectorRegisters = 16
	// loopRegisters is the number of registers that are left to the values of an iteration at least.
	loopRegisters = 6
	laneBytes     = 8
	vectorBytes   = laneBytes * ir.VectorLanes
)

// constants returns the declaration of the table.
func (a *assembly) constants() string {
	if len(a.consts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for i, c := range a.consts {
		fmt.Fprintf(&b, "DATA %s<>+%d(SB)/8, $%#016x\n", a.name, laneBytes*i, c)
	}
	fmt.Fprintf(&b, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", a.name, laneBytes*len(a.consts))
	return b.String()
}

// constant returns the address of a number in the table.
func (a *assembly) constant(bits uint64) string {
	i := slices.Index(a.consts, bits)
	if i < 0 {
		i = len(a.consts)
		a.consts = append(a.consts, bits)
	}
	return fmt.Sprintf("%s<>+%d(SB)", a.name, laneBytes*i)
}

// A kernelWriter writes one kernel.
type kernelWriter struct {
	*assembly
	address map[*ir.Var]string // parameter → register of a slice, or address of a number
	base    map[*ir.Var]string // slice → the place of its address, if it has no register of its own
	frame   int                // bytes of values that are stored
	code    []operation
	values  []kernelValue
	known   map[*ir.Var]int     // variable → its value
	fixed   map[string]int      // address → the value that is loaded from it to all lanes
	later   map[*ir.Var]ir.Expr // variable of the loop → its value, in the iteration before if it is carried
	// carried variable → the vector before, of which the lane that was executed last has its value; sum → the number
	state map[*ir.Var]int
	down  bool // the loop counts down
}

// An operation computes a value from others, or stores one.
type operation struct {
	mnemonic  string
	result    int    // -1 if there is none
	operands  []int  // in the order in which they are written in mathematics
	base      string // the place of the address of a slice, which is loaded before, or ""
	memory    string // the last operand, if it is in memory, or the place of a store
	immediate string
}

// A kernelValue is a value of an iteration, or one that is at an address before the loop, in all lanes: the same in all
// iterations, or the vector of a carried variable; or a sum.
type kernelValue struct {
	address  string
	uses     []int // operations
	register int   // -1 if it has none
	state    bool
	sum      bool // the value is a number
	pinned   bool // to its register, through the loop
	slot     int  // in the frame, +1; 0 if it is not stored
}

// kernel writes a kernel, which has a declaration in Go with the given names.
func (a *assembly) kernel(name string, k *ir.Func, nameOf func(*ir.Var) string) {
	w := &kernelWriter{assembly: a, address: map[*ir.Var]string{}, base: map[*ir.Var]string{},
		known: map[*ir.Var]int{}, fixed: map[string]int{},
		later: map[*ir.Var]ir.Expr{}, state: map[*ir.Var]int{}}
	if dst, src := copied(k); dst != nil {
		a.record(name, nameOf(k.Params[0]), nameOf(dst), nameOf(src))
		return
	}
	var load strings.Builder
	registers := assignSlices(k)
	offset := 0
	for i, v := range k.Params {
		switch {
		case i == 0:
			fmt.Fprintf(&load, "\tMOVQ %s+0(FP), CX\n\tSHLQ $3, CX\n", nameOf(v))
			offset += laneBytes
		case ir.ElemOf(v.Type) != nil:
			place := fmt.Sprintf("%s_base+%d(FP)", nameOf(v), offset)
			if w.address[v] = registers[v]; w.address[v] == "" {
				w.address[v], w.base[v] = sliceRegisters[len(sliceRegisters)-1], place
			} else {
				fmt.Fprintf(&load, "\tMOVQ %s, %s\n", place, w.address[v])
			}
			offset += 3 * laneBytes
		default:
			w.address[v] = fmt.Sprintf("%s+%d(FP)", nameOf(v), offset)
			offset += laneBytes
		}
	}
	var body strings.Builder
	for _, s := range k.Body {
		switch s := s.(type) {
		case *ir.Let: // the value before the loop
			w.state[s.V] = len(w.values)
			at := w.element(s.E.(*ir.Load).P, false)
			w.values = append(w.values, kernelValue{address: at, register: -1, state: true})
		case *ir.Loop:
			w.loop(s)
			w.write(&body)
		case *ir.Set:
			v := w.values[w.state[ir.VarOf(s.E)]]
			if v.sum || w.down {
				fmt.Fprintf(&body, "\tVMOVSD X%d, %s\n", v.register, w.element(s.P, false))
			} else {
				fmt.Fprintf(&body, "\tVEXTRACTF128 $1, Y%d, X0\n\tVMOVHPD X0, %s\n", v.register, w.element(s.P, false))
			}
		}
	}
	flags := "NOSPLIT"
	if w.frame > 0 {
		flags = "0"
	}
	fmt.Fprintf(&a.text, "\nTEXT ·%s(SB), %s, $%d-%d\n%s%s\tVZEROUPPER\n\tRET\n", name, flags, w.frame, offset,
		load.String(), body.String())
}

// copied returns the parameters of a kernel that copies the first elements of src to dst, its parameters in this order;
// nil if it does something else.
func copied(k *ir.Func) (dst, src *ir.Var) {
	if len(k.Params) != 3 || len(k.Body) != 1 {
		return nil, nil
	}
	l := k.Body[0].(*ir.Loop)
	if len(l.Body) != 1 {
		return nil, nil
	}
	element := func(p *ir.Place) *ir.Var {
		if p != nil && len(p.Path) == 1 && ir.VarOf(p.Path[0].Index) == l.V {
			return p.Root
		}
		return nil
	}
	if s, ok := l.Body[0].(*ir.Set); ok && element(s.P) == k.Params[1] && element(ir.PlaceOf(s.E)) == k.Params[2] {
		return k.Params[1], k.Params[2]
	}
	return nil, nil
}

// recordBehind is the capacity of dst behind the copy, in elements, from which a copy passes the caches by. On a stack
// of the tape so much is pushed later, and read earlier in the reverse sweep, that the caches would not have the copy
// then.
const recordBehind = 1 << 19

// record writes a kernel that copies n elements of src to dst.
func (a *assembly) record(name, n, dst, src string) {
	fmt.Fprintf(&a.text, `
TEXT ·%s(SB), NOSPLIT, $0-56
	MOVQ %s+0(FP), CX
	MOVQ %s_base+8(FP), DI
	MOVQ %[3]s_cap+24(FP), DX
	MOVQ %[4]s_base+32(FP), SI
	SUBQ CX, DX
	CMPQ DX, $%[5]d
	JLT cached
	CMPQ CX, $32
	JLT cached
	TESTQ $7, DI
	JNE cached
align:
	TESTQ $31, DI
	JEQ aligned
	MOVQ (SI), AX
	MOVQ AX, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JMP align
aligned:
	SUBQ $8, CX
	JLT rest
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVNTPD Y0, (DI)
	VMOVNTPD Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	JMP aligned
rest:
	ADDQ $8, CX
	JEQ done
one:
	MOVQ (SI), AX
	MOVQ AX, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNE one
done:
	SFENCE
	VZEROUPPER
	RET
cached:
	VMOVUPD (SI), Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNE cached
	VZEROUPPER
	RET
`, name, n, dst, src, recordBehind)
}

// assignSlices returns registers for the slices of k, those that are used most if there are too many. Slices that are
// used outside of the loop have one.
func assignSlices(k *ir.Func) map[*ir.Var]string {
	uses := map[*ir.Var]int{}
	count := func(b ir.Block, weight int) {
		ir.Walk(b, func(s ir.Stmt) bool {
			if p := ir.Target(s); p != nil {
				uses[p.Root] += weight
			}
			ir.EachExpr(s, func(e ir.Expr) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					if p := ir.PlaceOf(e); p != nil {
						uses[p.Root] += weight
					}
					return true
				})
			})
			return true
		})
	}
	var list []*ir.Var
	for _, v := range k.Params {
		if ir.ElemOf(v.Type) != nil {
			list = append(list, v)
		}
	}
	for _, s := range k.Body {
		if l, ok := s.(*ir.Loop); ok {
			count(l.Body, 1)
		} else {
			count(ir.Block{s}, math.MaxInt32)
		}
	}
	n := len(list)
	if n > len(sliceRegisters) {
		n = len(sliceRegisters) - 1
		slices.SortStableFunc(list, func(v, w *ir.Var) int { return cmp.Compare(uses[w], uses[v]) })
	}
	out := map[*ir.Var]string{}
	for i, v := range list[:n] {
		out[v] = sliceRegisters[i]
	}
	return out
}

// loop makes the operations of a loop.
func (w *kernelWriter) loop(l *ir.Loop) {
	w.down = l.Step < 0
	for _, s := range l.Body {
		switch s := s.(type) {
		case *ir.Let:
			w.later[s.V] = s.E
		case *ir.Set:
			if len(s.P.Path) == 0 {
				w.later[s.P.Root] = s.E
			}
		}
	}
	for _, s := range l.Body {
		switch s := s.(type) {
		case *ir.Let:
			w.variable(s.V)
		case *ir.Set:
			if len(s.P.Path) == 0 {
				w.variable(s.P.Root)
				continue
			}
			x := w.value(s.E)
			w.add(operation{mnemonic: "VMOVUPD", result: -1, operands: []int{x}, base: w.base[s.P.Root],
				memory: w.element(s.P, true)})
		case *ir.Add:
			if len(s.P.Path) == 0 {
				sum := w.state[s.P.Root]
				w.values[sum].sum = true
				w.result(operation{mnemonic: sumLanes, operands: []int{sum, w.value(s.E)}})
				continue
			}
			at, base := w.element(s.P, true), w.base[s.P.Root]
			sum := w.result(operation{mnemonic: "VADDPD", operands: []int{w.value(s.E)}, base: base, memory: at})
			w.add(operation{mnemonic: "VMOVUPD", result: -1, operands: []int{sum}, base: base, memory: at})
		}
	}
}

// variable returns the value of a variable. It may be one that is computed further down, as the value of a carried
// variable in the next iterations, which are other lanes; the memory that this reads has its value already.
func (w *kernelWriter) variable(v *ir.Var) int {
	if x, ok := w.known[v]; ok {
		return x
	}
	e, ok := w.later[v]
	if !ok {
		return w.everywhere(w.address[v])
	}
	x := w.value(e)
	if before, ok := w.state[v]; ok {
		// The last lane of the vector before, then all but the last of this one. Counting down, all but the first lane
		// of this vector, then the first of the vector before.
		from, to := before, x
		if w.down {
			from, to = x, before
		}
		middle := w.result(operation{mnemonic: "VPERM2F128", immediate: "$0x21, ", operands: []int{from, to}})
		from, to = middle, x
		if w.down {
			from, to = x, middle
		}
		shifted := w.result(operation{mnemonic: "VSHUFPD", immediate: "$5, ", operands: []int{from, to}})
		w.add(operation{mnemonic: "VMOVAPD", result: before, operands: []int{x}})
		x = shifted
	}
	w.known[v] = x
	return x
}

// sumLanes stands for the instructions that add the lanes of the second operand to the first one, a sum. The result is
// scratch.
const sumLanes = "sum"

// add appends an operation.
func (w *kernelWriter) add(o operation) {
	for _, v := range o.operands {
		w.values[v].uses = append(w.values[v].uses, len(w.code))
	}
	w.code = append(w.code, o)
}

// result appends an operation and returns its result, a new value.
func (w *kernelWriter) result(o operation) int {
	o.result = len(w.values)
	w.values = append(w.values, kernelValue{register: -1})
	w.add(o)
	return o.result
}

// everywhere returns the value that has the number at an address in all lanes.
func (w *kernelWriter) everywhere(address string) int {
	v, ok := w.fixed[address]
	if !ok {
		v = len(w.values)
		w.values = append(w.values, kernelValue{address: address, register: -1})
		w.fixed[address] = v
	}
	return v
}

// element returns the address of an element, in the loop of the lanes that begin with it. Its index is a constant, or
// the index of the loop, to which a constant may be added.
func (w *kernelWriter) element(p *ir.Place, inLoop bool) string {
	index := p.Path[0].Index
	if b, ok := index.(*ir.Binary); ok {
		index = b.Y
	}
	at := "(" + w.address[p.Root] + ")"
	if inLoop {
		at += "(AX*1)"
	}
	if c, ok := index.(*ir.Const); ok && c.Val != nil {
		if offset, _ := constant.Int64Val(c.Val); offset != 0 {
			at = fmt.Sprint(laneBytes*offset) + at
		}
	}
	return at
}

// arithmetic has the instructions of operators.
var arithmetic = map[token.Token]string{token.ADD: "VADDPD", token.SUB: "VSUBPD", token.MUL: "VMULPD",
	token.QUO: "VDIVPD"}

// value returns the value of e.
func (w *kernelWriter) value(e ir.Expr) int {
	switch e := e.(type) {
	case *ir.Const:
		x := 0.0
		if e.Val != nil {
			x, _ = constant.Float64Val(constant.ToFloat(e.Val))
		}
		return w.everywhere(w.constant(math.Float64bits(x)))
	case *ir.Load:
		if len(e.P.Path) > 0 {
			return w.result(operation{mnemonic: "VMOVUPD", base: w.base[e.P.Root], memory: w.element(e.P, true)})
		}
		return w.variable(e.P.Root)
	case *ir.Unary:
		return w.result(operation{mnemonic: "VXORPD", operands: []int{w.value(e.X), w.everywhere(w.constant(1 << 63))}})
	case *ir.Math:
		x := w.value(e.Args[0])
		if e.Name == "math.Sqrt" {
			return w.result(operation{mnemonic: "VSQRTPD", operands: []int{x}})
		}
		return w.result(operation{mnemonic: "VANDPD", operands: []int{x, w.everywhere(w.constant(1<<63 - 1))}})
	}
	b := e.(*ir.Binary)
	x, y := b.X, b.Y
	if w.isElement(x) && !w.isElement(y) && (b.Op == token.ADD || b.Op == token.MUL) {
		x, y = y, x
	}
	o := operation{mnemonic: arithmetic[b.Op], operands: []int{w.value(x)}}
	if w.isElement(y) {
		p := y.(*ir.Load).P
		o.base, o.memory = w.base[p.Root], w.element(p, true)
	} else {
		o.operands = append(o.operands, w.value(y))
	}
	return w.result(o)
}

// isElement reports whether e is an element of a slice.
func (w *kernelWriter) isElement(e ir.Expr) bool {
	load, ok := e.(*ir.Load)
	return ok && len(load.P.Path) > 0
}

// write writes the loop.
func (w *kernelWriter) write(b *strings.Builder) {
	s := &scan{kernelWriter: w, b: b, held: make([]int, vectorRegisters)}
	for r := range s.held {
		s.held[r] = -1
	}
	s.pin()
	if w.down {
		fmt.Fprintf(b, "\tLEAQ -%d(CX), AX\nloop:\n", vectorBytes)
	} else {
		b.WriteString("\tXORL AX, AX\nloop:\n")
	}
	for i := range w.code {
		s.operation(i)
	}
	if w.down {
		fmt.Fprintf(b, "\tSUBQ $%d, AX\n\tJGE loop\n", vectorBytes)
	} else {
		fmt.Fprintf(b, "\tADDQ $%d, AX\n\tCMPQ AX, CX\n\tJLT loop\n", vectorBytes)
	}
}

// A scan assigns registers to the values of a loop, in the order of its operations.
type scan struct {
	*kernelWriter
	b    *strings.Builder
	held []int // register → value, -1 if it is free
	// loaded is the place of the address that the last of sliceRegisters has, if it is for several slices.
	loaded string
}

// pin loads values that are the same in all iterations to registers for the whole loop: those with most uses, as many
// as leave registers for the others.
func (s *scan) pin() {
	var list []int
	for v := range s.values {
		if s.values[v].address != "" {
			list = append(list, v)
		}
	}
	worth := func(v int) int {
		if s.values[v].state { // it has to be in a register
			return math.MaxInt
		}
		return len(s.values[v].uses)
	}
	slices.SortStableFunc(list, func(v, w int) int { return cmp.Compare(worth(w), worth(v)) })
	most := max(len(s.state), vectorRegisters-max(loopRegisters, min(s.pressure(), vectorRegisters)))
	for k, v := range list[:min(len(list), most)] {
		r := vectorRegisters - 1 - k
		s.held[r] = v
		s.values[v].register, s.values[v].pinned = r, true
		if s.values[v].sum {
			fmt.Fprintf(s.b, "\tVMOVSD %s, X%d\n", s.values[v].address, r)
		} else {
			fmt.Fprintf(s.b, "\tVBROADCASTSD %s, Y%d\n", s.values[v].address, r)
		}
	}
}

// pressure returns the largest number of registers that are needed at a time for values of an iteration, and for one
// that is loaded to all lanes where it is used.
func (s *scan) pressure() (most int) {
	live := 0
	for i, o := range s.code {
		if o.result >= 0 && s.values[o.result].address == "" {
			live++
		}
		most = max(most, live+1)
		for _, v := range uniq(o.operands) {
			if x := &s.values[v]; x.address == "" && x.uses[len(x.uses)-1] == i {
				live--
			}
		}
		if o.result >= 0 && s.values[o.result].address == "" && len(s.values[o.result].uses) == 0 {
			live--
		}
	}
	return most
}

// uniq returns a list without repetitions.
func uniq(list []int) []int { return slices.Compact(slices.Sorted(slices.Values(list))) }

// next returns the next operation after i that uses v, a large number if there is none.
func (s *scan) next(v, i int) int {
	for _, u := range s.values[v].uses {
		if u > i {
			return u
		}
	}
	return math.MaxInt
}

// register returns a free register for a value, and stores another value if there is none: that with the furthest next
// use, which is none of the operands of operation i.
func (s *scan) register(v, i int) int {
	r := slices.Index(s.held, -1)
	if r < 0 {
		furthest := -1
		for k, u := range s.held {
			if n := s.next(u, i-1); !s.values[u].pinned && n > furthest {
				r, furthest = k, n
			}
		}
		u := &s.values[s.held[r]]
		if u.register = -1; u.address == "" && u.slot == 0 {
			s.frame += vectorBytes
			u.slot = s.frame / vectorBytes
			fmt.Fprintf(s.b, "\tVMOVUPD Y%d, %d(SP)\n", r, s.frame-vectorBytes)
		}
	}
	s.held[r], s.values[v].register = v, r
	return r
}

// operation writes operation i.
func (s *scan) operation(i int) {
	o := &s.code[i]
	for _, v := range o.operands {
		x := &s.values[v]
		if x.register >= 0 {
			continue
		}
		r := s.register(v, i)
		if x.address != "" {
			fmt.Fprintf(s.b, "\tVBROADCASTSD %s, Y%d\n", x.address, r)
		} else {
			fmt.Fprintf(s.b, "\tVMOVUPD %d(SP), Y%d\n", vectorBytes*(x.slot-1), r)
		}
	}
	if o.base != "" && o.base != s.loaded {
		s.loaded = o.base
		fmt.Fprintf(s.b, "\tMOVQ %s, %s\n", o.base, sliceRegisters[len(sliceRegisters)-1])
	}
	if o.mnemonic == sumLanes {
		s.sum(i, s.values[o.operands[0]].register, s.values[o.operands[1]].register)
		return
	}
	var args []string
	if o.memory != "" && o.result >= 0 {
		args = append(args, o.memory)
	}
	for _, v := range slices.Backward(o.operands) {
		args = append(args, fmt.Sprintf("Y%d", s.values[v].register))
	}
	s.release(i)
	if o.result < 0 {
		args = append(args, o.memory)
	} else if x := &s.values[o.result]; x.state {
		args = append(args, fmt.Sprintf("Y%d", x.register))
	} else {
		r := s.register(o.result, i+1)
		args = append(args, fmt.Sprintf("Y%d", r))
		if len(s.values[o.result].uses) == 0 {
			s.held[r] = -1
		}
	}
	fmt.Fprintf(s.b, "\t%s %s%s\n", o.mnemonic, o.immediate, strings.Join(args, ", "))
}

// release frees the registers of the operands of operation i that are not used again.
func (s *scan) release(i int) {
	for _, v := range uniq(s.code[i].operands) {
		if x := &s.values[v]; !x.pinned && s.next(v, i) == math.MaxInt {
			s.held[x.register], x.register = -1, -1
		}
	}
}

// sum writes operation i: the addition of the lanes of a register to a sum in another one, in their order.
func (s *scan) sum(i, sum, x int) {
	r := s.register(s.code[i].result, i)
	add := func(y int) { fmt.Fprintf(s.b, "\tVADDSD X%d, X%d, X%d\n", y, sum, sum) }
	if s.down {
		fmt.Fprintf(s.b, "\tVEXTRACTF128 $1, Y%d, X%d\n\tVPERMILPD $1, X%d, X%d\n", x, r, r, r)
		add(r)
		fmt.Fprintf(s.b, "\tVEXTRACTF128 $1, Y%d, X%d\n", x, r)
		add(r)
		fmt.Fprintf(s.b, "\tVUNPCKHPD X%d, X%d, X%d\n", x, x, r)
		add(r)
		add(x)
	} else {
		add(x)
		fmt.Fprintf(s.b, "\tVUNPCKHPD X%d, X%d, X%d\n", x, x, r)
		add(r)
		fmt.Fprintf(s.b, "\tVEXTRACTF128 $1, Y%d, X%d\n", x, r)
		add(r)
		fmt.Fprintf(s.b, "\tVUNPCKHPD X%d, X%d, X%d\n", r, r, r)
		add(r)
	}
	s.held[r] = -1
	s.release(i)
}

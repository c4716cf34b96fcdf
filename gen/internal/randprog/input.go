package randprog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An Input holds the arguments of a call of F. All slices are windows of one array, so that they may overlap.
type Input struct {
	Mem     []float64 // the array
	Windows [][3]int  // for each slice, its begin, end and end of capacity in Mem
	Numbers []float64 // the other floats
	N       int
	Aliased bool
	Round   bool // many numbers are 0 or multiples of a half, so that cotangents vanish
}

// P is the struct type of random programs.
type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

// floatsOfP is the number of Numbers that a struct takes.
const floatsOfP = 5

// Input returns input k of the program. If there are several slices, those with odd k are aliased; from k = 3 on,
// numbers are round.
func (p *Program) Input(k int) *Input {
	r := rand.New(rand.NewPCG(p.Seed, uint64(k)))
	in := &Input{N: r.IntN(7)}
	slices, numbers := 0, 0
	for _, q := range p.Sig.Params() {
		switch q.Kind {
		case Slice:
			slices++
		case Struct, Pointer:
			slices++
			numbers += floatsOfP
		case Float:
			numbers++
		}
	}
	in.Aliased = slices > 1 && k%2 == 1 && !p.Shortcuts
	at := 0
	for range slices {
		n := 3 + r.IntN(3)
		room := r.IntN(3)
		in.Windows = append(in.Windows, [3]int{at, at + n, at + n + room})
		at += n + room
	}
	if in.Aliased {
		at = 6 + r.IntN(4)
		for i := range in.Windows {
			lo := r.IntN(at - 3)
			hi := lo + 3 + r.IntN(at-lo-2)
			in.Windows[i] = [3]int{lo, hi, hi + r.IntN(at-hi+1)}
		}
	}
	in.Mem = make([]float64, at)
	in.Numbers = make([]float64, numbers)
	in.Round = k >= 3 && !p.Shortcuts
	number := func() float64 {
		if p.Shortcuts {
			return shortcutNumber(r)
		}
		x := r.NormFloat64()
		switch {
		case !in.Round || r.IntN(4) == 0:
			return x
		case r.IntN(2) == 0:
			return 0
		}
		return math.Round(2*x) / 2
	}
	for i := range in.Mem {
		in.Mem[i] = number()
	}
	for i := range in.Numbers {
		in.Numbers[i] = number()
	}
	return in
}

// Floats returns a copy of all numbers of the input.
func (in *Input) Floats() []float64 { return slices.Concat(in.Mem, in.Numbers) }

// With returns the input with other numbers. With those of a direction or of seeds it holds shadows, which overlap as
// the slices do. It refers to floats.
func (in *Input) With(floats []float64) *Input {
	c := *in
	c.Mem, c.Numbers = floats[:len(in.Mem):len(in.Mem)], floats[len(in.Mem):]
	return &c
}

// direction returns a random direction, zero outside of the parameters in mask.
func (in *Input) direction(r *rand.Rand, sig Signature, mask uint64) []float64 {
	out := make([]float64, len(in.Mem)+len(in.Numbers))
	in.each(sig, func(i int, from, to int) {
		if mask>>i&1 == 1 {
			for k := from; k < to; k++ {
				out[k] = r.NormFloat64()
			}
		}
	})
	return out
}

// each calls visit with the ranges of Floats that are reachable from each parameter.
func (in *Input) each(sig Signature, visit func(i, from, to int)) {
	w, f := 0, len(in.Mem)
	for i, p := range sig.Params() {
		switch p.Kind {
		case Slice:
			visit(i, in.Windows[w][0], in.Windows[w][2])
			w++
		case Struct, Pointer:
			visit(i, in.Windows[w][0], in.Windows[w][2])
			visit(i, f, f+floatsOfP)
			w++
			f += floatsOfP
		case Float:
			visit(i, f, f+1)
			f++
		}
	}
}

// args returns copies of the arguments, and last the array that their slices refer to.
func (in *Input) args(sig Signature) []any {
	mem := slices.Clone(in.Mem)
	window := func(i int) []float64 {
		w := in.Windows[i]
		return mem[w[0]:w[1]:w[2]]
	}
	var out []any
	w, f := 0, 0
	structure := func() P {
		n := in.Numbers[f:]
		f += floatsOfP
		w++
		return P{A: n[0], B: n[1], V: [3]float64{n[2], n[3], n[4]}, X: window(w - 1), N: 2}
	}
	for _, p := range sig.Params() {
		switch p.Kind {
		case Slice:
			out = append(out, window(w))
			w++
		case Struct:
			out = append(out, structure())
		case Pointer:
			q := structure()
			out = append(out, &q)
		case Int:
			out = append(out, in.N)
		case Float:
			out = append(out, in.Numbers[f])
			f++
		}
	}
	return append(out, mem)
}

// Values returns the arguments for the evaluator, and last the array that their slices refer to.
func (in *Input) Values(sig Signature) []ir.Value { return ir.ValuesOf(in.args(sig)...) }

// Outputs returns the float results of F, the floats of the struct that its pointer parameter points to, and the array
// of the slices; then the elements of the slice in that struct.
func Outputs(sig Signature, results, args []ir.Value) (out []float64) {
	keep := func(x any) {
		floats(reflect.ValueOf(x), func(v float64) { out = append(out, v) })
	}
	for i, r := range sig.Results() {
		switch r.Kind {
		case Float:
			keep(ir.As[float64](results[i]))
		case Slice:
			keep(ir.As[[]float64](results[i]))
		}
	}
	var shown []float64
	for i, p := range sig.Params() {
		if p.Kind == Pointer {
			q := *ir.As[*P](args[i])
			keep([]float64{q.A, q.B, q.V[0], q.V[1], q.V[2]})
			shown = q.X
		}
	}
	keep(ir.As[[]float64](args[len(sig.Params())]))
	keep(shown)
	return out
}

// countSeeded returns the number of Outputs that an adjoint has seeds of: all but the elements of the slice in the
// struct, which may be any memory.
func countSeeded(sig Signature, outputs int, args []ir.Value) int {
	for i, p := range sig.Params() {
		if p.Kind == Pointer {
			outputs -= len(ir.As[*P](args[i]).X)
		}
	}
	return outputs
}

// floats visits the floats in slices and arrays of v.
func floats(v reflect.Value, visit func(float64)) {
	switch v.Kind() {
	case reflect.Float64:
		visit(v.Float())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			floats(v.Index(i), visit)
		}
	}
}

// integers returns the integer results of F and in the memory of its arguments, in the order of Outputs.
func integers(sig Signature, results, args []ir.Value) (out []int) {
	for i, r := range sig.Results() {
		switch r.Kind {
		case Int:
			out = append(out, ir.As[int](results[i]))
		case Slice:
			out = append(out, len(ir.As[[]float64](results[i])))
		}
	}
	for i, p := range sig.Params() {
		if p.Kind == Pointer {
			q := ir.As[*P](args[i])
			out = append(out, q.N, len(q.X))
		}
	}
	return out
}

// An Outcome holds the results of a call and the memory after it, for comparison bit by bit.
type Outcome struct {
	Panic  string // "runtime" for panics of the runtime
	Floats []float64
	Ints   []int
}

// caller returns the source of a function Call with mark appended, which calls F as the evaluator does.
func (p *Program) caller(mark string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func Call%s(mem, numbers []float64, w [][3]int, n int) (floats []float64, ints []int) {\n", mark)
	var args, names []string
	after := ""
	w, f := 0, 0
	window := func() string {
		w++
		return fmt.Sprintf("mem[w[%d][0]:w[%d][1]:w[%d][2]]", w-1, w-1, w-1)
	}
	for _, q := range p.Sig.Params() {
		switch q.Kind {
		case Slice:
			args = append(args, window())
		case Int:
			args = append(args, "n")
		case Float:
			args = append(args, fmt.Sprintf("numbers[%d]", f))
			f++
		default:
			s := fmt.Sprintf("P{A: numbers[%d], B: numbers[%d], V: [3]float64{numbers[%d], numbers[%d], "+
				"numbers[%d]}, X: %s, N: 2}", f, f+1, f+2, f+3, f+4, window())
			f += floatsOfP
			if q.Kind == Pointer {
				fmt.Fprintf(&b, "q := &%s\n", s)
				s = "q"
				after = "floats = append(floats, q.A, q.B, q.V[0], q.V[1], q.V[2])\nints = append(ints, q.N, " +
					"len(q.X))\n"
			}
			args = append(args, s)
		}
	}
	for i := range p.Sig.Results() {
		names = append(names, fmt.Sprintf("r%d", i))
	}
	call := fmt.Sprintf("F%s(%s)\n", mark, strings.Join(args, ", "))
	if len(names) > 0 {
		call = strings.Join(names, ", ") + " := " + call
	}
	b.WriteString(call)
	for i, r := range p.Sig.Results() {
		switch r.Kind {
		case Float:
			fmt.Fprintf(&b, "floats = append(floats, r%d)\n", i)
		case Slice:
			fmt.Fprintf(&b, "floats = append(floats, r%d...)\nints = append(ints, len(r%d))\n", i, i)
		case Int:
			fmt.Fprintf(&b, "ints = append(ints, r%d)\n", i)
		}
	}
	b.WriteString(after + "floats = append(floats, mem...)\n")
	if after != "" {
		b.WriteString("floats = append(floats, q.X...)\n")
	}
	b.WriteString("return floats, ints\n}\n\n")
	return b.String()
}

// Seeds returns, for seeds of [Outputs], those of the results, and shadows of the arguments that hold the others.
// results are those of F.
func (in *Input) Seeds(sig Signature, results []ir.Value, seeds []float64) (of, shadows []ir.Value) {
	own, all := in.seeds(sig, results, seeds)
	of = make([]ir.Value, len(results))
	for i, x := range own {
		if x != nil {
			of[i] = ir.ValueOf(x)
		}
	}
	return of, in.With(all).Values(sig)
}

// seeds returns the seeds of the results, nil for a result without floats, and those of the numbers of the input.
func (in *Input) seeds(sig Signature, results []ir.Value, seeds []float64) (of []any, all []float64) {
	take := func(n int) []float64 {
		out := slices.Clone(seeds[:n])
		seeds = seeds[n:]
		return out
	}
	of = make([]any, len(results))
	for i, r := range sig.Results() {
		switch r.Kind {
		case Float:
			of[i] = take(1)[0]
		case Slice:
			of[i] = take(len(ir.As[[]float64](results[i])))
		}
	}
	all = make([]float64, len(in.Mem)+len(in.Numbers))
	f := len(in.Mem)
	for _, p := range sig.Params() {
		switch p.Kind {
		case Float:
			f++
		case Struct:
			f += floatsOfP
		case Pointer:
			copy(all[f:], take(floatsOfP))
			f += floatsOfP
		}
	}
	copy(all, take(len(in.Mem)))
	return of, all
}

// Adjoints returns the cotangents of [Input.Floats]: from shadows of the arguments and, if has is set, from the
// cotangents of arguments passed by value.
func (in *Input) Adjoints(sig Signature, shadows, bars []ir.Value, has []bool) []float64 {
	out := ir.As[[]float64](shadows[len(sig.Params())])
	for i, p := range sig.Params() {
		switch p.Kind {
		case Float:
			v := 0.0
			if has[i] {
				v = ir.As[float64](bars[i])
			}
			out = append(out, v)
		case Struct, Pointer:
			var q P
			switch {
			case p.Kind == Pointer:
				q = *ir.As[*P](shadows[i])
			case has[i]:
				q = ir.As[P](bars[i])
			}
			out = append(out, q.A, q.B, q.V[0], q.V[1], q.V[2])
		}
	}
	return out
}

package randprog

import "github.com/nabla-ad/nabla/gen/ir"

// Lanes is the number of seeds of one call in vector mode.
const Lanes = 4

// A lane holds one number per lane.
type lane = [Lanes]float64

// lanedP is the shadow of P for several lanes.
type lanedP struct {
	A, B lane
	V    [3]lane
	X    []lane
}

// LanedSeeds is [Input.Seeds] for several lanes: a number has one seed value per lane.
func (in *Input) LanedSeeds(sig Signature, results []ir.Value,
	seeds [Lanes][]float64) (of [][]ir.Value, shadows []ir.Value) {
	own := make([][Lanes]any, len(results))
	all := make([]lane, len(in.Mem)+len(in.Numbers))
	for k := range Lanes {
		list, floats := in.seeds(sig, results, seeds[k])
		for i, x := range list {
			own[i][k] = x
		}
		for i, x := range floats {
			all[i][k] = x
		}
	}
	of = make([][]ir.Value, len(results))
	for i, list := range own {
		switch first := list[0].(type) {
		case float64:
			of[i] = ir.ValuesOf(list[:]...)
		case []float64:
			s := make([]lane, len(first))
			for j := range s {
				for k := range Lanes {
					s[j][k] = list[k].([]float64)[j]
				}
			}
			of[i] = ir.ValuesOf(s)
		}
	}
	return of, ir.ValuesOf(in.laned(sig, all)...)
}

// laned returns shadows of the arguments for several lanes, and last the array that their slices refer to.
func (in *Input) laned(sig Signature, all []lane) (out []any) {
	mem, numbers := all[:len(in.Mem):len(in.Mem)], all[len(in.Mem):]
	w, f := 0, 0
	window := func() []lane {
		at := in.Windows[w]
		w++
		return mem[at[0]:at[1]:at[2]]
	}
	for _, p := range sig.Params() {
		switch p.Kind {
		case Slice:
			out = append(out, window())
		case Struct, Pointer:
			n := numbers[f:]
			f += floatsOfP
			q := &lanedP{A: n[0], B: n[1], V: [3]lane{n[2], n[3], n[4]}, X: window()}
			if p.Kind == Pointer {
				out = append(out, q)
			} else {
				out = append(out, *q)
			}
		case Int:
			out = append(out, in.N)
		case Float:
			out = append(out, numbers[f])
			f++
		}
	}
	return append(out, mem)
}

// LanedAdjoints is [Input.Adjoints] for lane k: a number has one cotangent per lane.
func (in *Input) LanedAdjoints(sig Signature, shadows []ir.Value, bars [][]ir.Value, k int) (out []float64) {
	for _, x := range ir.As[[]lane](shadows[len(sig.Params())]) {
		out = append(out, x[k])
	}
	for i, p := range sig.Params() {
		switch p.Kind {
		case Float:
			v := 0.0
			if bars[i] != nil {
				v = ir.As[float64](bars[i][k])
			}
			out = append(out, v)
		case Struct, Pointer:
			var q lanedP
			switch {
			case p.Kind == Pointer:
				q = *ir.As[*lanedP](shadows[i])
			case bars[i] != nil:
				q = ir.As[lanedP](bars[i][0])
			}
			out = append(out, q.A[k], q.B[k], q.V[0][k], q.V[1][k], q.V[2][k])
		}
	}
	return out
}

package gen

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// onlyBuild is the build of adjoints without the value, for functions of which that saves
// something: where forward and reverse sweep run together, the value is computed for its
// own sake.
var onlyBuild = &build{name: "adjointOnly", suffix: "AdjointOnly", code: "Gradient", make: makeOnly}

// worthwhile is what share of the work an adjoint without the value may take to be built.
const worthwhile = 0.95

func makeOnly(u *unit, t *target) (*built, error) {
	if t.shape == nil || !t.shape.registers() || !t.shape.scalar || u.cyclic {
		return nil, nil
	}
	one, err := u.adjointOf(t)
	if err != nil {
		return nil, nil // which is said of the adjoint
	}
	b := one.without(func(r role) bool { return r.slot == value })
	b.fn.Name += "_only"
	u.prune(b)
	if work(b.fn.Body) > worthwhile*work(one.fn.Body) || b.twins() {
		return nil, nil
	}
	b.doc = "does what " + t.base + adjointBuild.suffix + " does without the value, from " + t.where() + "."
	return b, nil
}

// without is a copy of a derivative that does not return some results.
func (b *built) without(dropped func(r role) bool) *built {
	f, vars := ir.Clone(b.fn, nil)
	out := &built{fn: f, params: b.params, facts: b.facts}
	f.Results = nil
	var locals ir.Block
	for i, r := range b.results {
		v := vars[b.fn.Results[i]]
		if dropped(r) {
			v.Kind = ir.Local
			locals = append(locals, &ir.Let{At: ir.At{Pos: f.Pos}, V: v})
			continue
		}
		f.Results, out.results = append(f.Results, v), append(out.results, r)
	}
	f.Body = append(locals, f.Body...)
	return out
}

// work is how much is computed in a block: operations on floats, as often as loops around
// them let expect, and calls.
func work(b ir.Block) float64 {
	const often, dear = 10, 10 // what a loop and an elementary function stand for
	sum := 0.0
	for _, s := range b {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e.(type) {
				case *ir.Binary, *ir.Unary, *ir.Convert:
					sum++
				case *ir.Math:
					sum += dear
				}
				return true
			})
		}
		switch s.(type) {
		case *ir.Add:
			sum++
		case *ir.Call:
			sum += often * dear
		}
		in := 0.0
		for _, c := range ir.Blocks(s) {
			in += work(*c)
		}
		if _, loop := s.(*ir.Loop); loop {
			in *= often
		}
		sum += in
	}
	return sum
}

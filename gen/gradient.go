package gen

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// gradientBuild is the build of gradients: adjoints that do not return the value. Where the forward and reverse sweeps
// are fused, the computation of the value is often dead without that result.
var gradientBuild = &build{name: "adjointOnly", suffix: "AdjointOnly", code: "Gradient", part: pullbacks,
	make: makeGradient}

// maxWorkRatio is the largest ratio of the work of a pruned derivative to that of the full one for which the pruned one
// is generated.
const maxWorkRatio = 0.95

// makeGradient builds the gradient of t, or returns nil if its shape has none or if it saves too little work.
func makeGradient(u *unit, t *target) (*built, error) {
	if t.shape == nil || !t.shape.registers() || !t.shape.scalar || u.cyclic {
		return nil, nil
	}
	one, err := u.adjointOf(t)
	if err != nil {
		return nil, nil // reported for the adjoint
	}
	b := one.withoutResults(func(r role) bool { return r.slot == value && !t.shape.isError(r) })
	b.fn.Name += "_only"
	u.prune(b)
	if work(b.fn.Body) > maxWorkRatio*work(one.fn.Body) || b.twins() {
		return nil, nil
	}
	b.doc = "is " + t.base + adjointBuild.suffix + " without the value, from " + t.where() + "."
	return b, nil
}

// withoutResults returns a copy of b without the results whose roles are dropped. Their variables become locals; the
// statements that compute them are left to dead-code elimination.
func (b *built) withoutResults(dropped func(r role) bool) *built {
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

// work returns an estimate of the work in a block: weighted floating-point operations and calls. Both branches of a
// conditional count.
func work(b ir.Block) float64 {
	const often, dear = 10, 10 // assumed trip count; cost of an elementary function
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

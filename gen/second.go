package gen

import (
	"go/token"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

var secondBuild = &build{name: "adjointTangent", suffix: "AdjointTangent", code: "AdjointTangent", part: seconds,
	make: makeSecond}

// makeSecond builds the tangent of the adjoint with constant seeds: second-order derivatives, forward over reverse.
func makeSecond(u *unit, t *target) (*built, error) {
	first, err := u.adjointOf(t)
	if err != nil {
		return nil, err
	}
	var m activity.Mask
	for i, r := range first.params {
		if !r.work && !r.result && (r.slot == bar || t.mask.Has(r.of)) && activity.HasFloats(first.fn.Params[i].Type) {
			m = m.With(i)
		}
	}
	fn, facts, err := u.tangent(1).Build(first.fn, m)
	if err != nil {
		return nil, err
	}
	b := &built{fn: fn, facts: first.facts}
	b.params = withDots(first.params, facts.Params)
	b.results = withDots(first.results, facts.Results)
	b = b.withoutResults(
		func(r role) bool { return r.result && r.slot == dot },
	) // a tangent computes them at lower cost
	b.fixSeeds()
	b.fn.Name += "_second"
	b.doc = secondDoc(t, b)
	return b, nil
}

// directions returns a predicate that reports whether a role is that of the tangent of an active parameter.
func directions(t *target) func(r role) bool {
	return func(r role) bool { return !r.work && r.slot == dot && t.mask.Has(r.of) && !r.result }
}

// withDots returns the roles followed by those of the tangents of active ones.
func withDots(list []role, active activity.Mask) []role {
	out := append([]role(nil), list...)
	for i, r := range list {
		if active.Has(i) {
			r.slot += dot - value
			if list[i].slot == bar {
				r.slot = barDot
			}
			out = append(out, r)
		}
	}
	return out
}

// fixSeeds turns the tangents of seeds that are numbers, which are parameters if the function modifies the seeds, into
// local variables with the initial value 0. It modifies b and its function.
func (b *built) fixSeeds() {
	f := b.fn
	params, roles := f.Params, b.params
	f.Params, b.params = nil, nil
	var locals ir.Block
	for i, v := range params {
		if r := roles[i]; r.result && r.slot == barDot && !ir.HasRefs(v.Type) {
			v.Kind = ir.Local
			locals = append(locals, &ir.Let{At: ir.At{Pos: f.Pos}, V: v})
			continue
		}
		f.Params, b.params = append(f.Params, v), append(b.params, roles[i])
	}
	f.Body = append(locals, f.Body...)
}

// joinWorkspaces replaces the workspace and its tangent by one workspace, which leads to a pair of both. The memory of
// a pair has one shape, since only tangents of adjoints use it, and always together. It modifies b and its function.
func (b *built) joinWorkspaces(u *unit) {
	i, j := slices.Index(b.params, role{work: true}), slices.Index(b.params, role{work: true, slot: dot})
	if i < 0 || j < 0 {
		return
	}
	f, at := b.fn, ir.At{Pos: b.fn.Pos}
	tape, tapeDot := f.Params[i], f.Params[j]
	ws := &ir.Var{Name: tape.Name, Type: tape.Type, Kind: ir.Param, Pos: tape.Pos}
	names := ir.NamerOf(f)
	pair := u.adjoint.Workspace().Pair()
	none := ir.Block{}
	var locals ir.Block
	for k, v := range []*ir.Var{tape, tapeDot} {
		v.Kind, v.Name = ir.Local, names.Name([]string{"tape", "tapeDot"}[k])
		p := &ir.Place{Root: ws, Path: []ir.Step{ir.DerefStep(), ir.FieldStep(pair[k])}}
		none = append(none, &ir.Set{At: at, P: p, E: &ir.New{Typed: ir.Typed{T: v.Type}}})
		locals = append(locals, &ir.Let{At: at, V: v, E: ir.LoadOf(p, v.Type)})
	}
	empty := ir.Compare(token.EQL, locals[0].(*ir.Let).E, ir.Zero(tape.Type))
	f.Params[i] = ws
	f.Params, b.params = slices.Delete(f.Params, j, j+1), slices.Delete(b.params, j, j+1)
	f.Body = slices.Concat(ir.Block{&ir.If{At: at, Cond: empty, Then: none}}, locals, f.Body)
}

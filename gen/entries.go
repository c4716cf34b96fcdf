package gen

import (
	"errors"
	"slices"

	"github.com/nabla-ad/nabla/gen/entries"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// Functions that compute the entries of sparse derivatives, for the registered code alone: of Jacobians from tangents,
// and of Hessians from tangents of adjoints.

// The functions for entries as builds, by the field of nabla.Code that each is registered as.
var (
	jacobianValues = &build{code: "Entries"}
	jacobianPlan   = &build{code: "Plan"}
	hessianValues  = &build{code: "HessianEntries"}
	hessianPlan    = &build{code: "HessianPlan"}
)

// makeEntries makes the functions for entries of all targets.
func (u *unit) makeEntries() {
	for _, t := range u.targets {
		if u.cyclic || !t.registers() || t.shape.number || t.shape.fields {
			continue
		}
		for _, b := range t.built {
			var image slot
			switch {
			case b.build == secondBuild && t.shape.scalar:
				image = barDot
			case b.build.code == "Tangent" && !t.shape.scalar:
				image = dot
			default:
				continue
			}
			err := u.program.contain(t, "entries of the "+b.build.name,
				func() error { return u.entriesOf(t, b, image) })
			if f := (*fault)(nil); errors.As(err, &f) {
				u.refused(t, Warning, err)
			}
		}
	}
}

// entriesOf adds the functions for the entries of b, whose image is in a slot, to t. A derivative without entries is
// one whose sparse derivatives are computed from products, and is no error.
func (u *unit) entriesOf(t *target, b *built, image slot) error {
	if unregistered(t, b, false) != "" {
		return nil
	}
	s := t.shape
	values, plan := jacobianValues, jacobianPlan
	if image == barDot {
		values, plan = hessianValues, hessianPlan
	}
	of := role{slot: image, of: s.x}
	if image == dot {
		if of = (role{slot: image, of: s.y}); s.y < 0 {
			of = role{slot: image, result: true}
		}
	}
	fn, _ := ir.Clone(b.fn, nil)
	param := func(r role) *ir.Var {
		list, roles := fn.Params, b.params
		if r.result && r.slot == image && image == dot {
			list, roles = fn.Results, b.results
		}
		if i := slices.Index(roles, r); i >= 0 {
			return list[i]
		}
		return nil
	}
	l := entries.Linear{F: fn, In: param(role{slot: dot, of: s.x}), InLike: param(role{of: s.x}), Out: param(of)}
	if l.OutLike = l.InLike; image == dot && s.y >= 0 {
		l.OutLike = param(role{of: s.y})
	}
	if l.In == nil || l.Out == nil || l.InLike == nil || l.OutLike == nil {
		return nil
	}
	for _, r := range b.params { // a bound struct with derivatives of its own
		if (r.slot == dot || r.slot == barDot) && !r.work && !r.result && r.of != s.x && r.of != s.y {
			return nil
		}
	}
	params, results := fn.Params, fn.Results
	simplify.InlineLarge(fn, nil)
	simplify.Body(fn, nil)
	e, err := entries.Build(l)
	if err != nil {
		return nil
	}
	for _, f := range []*ir.Func{e.Values, e.Plan} {
		simplify.DeadCode(f, u.trusts(b))
		if err := t.checkWellFormed("entries of the "+b.build.name, f); err != nil {
			return err
		}
		if u.printable(f) != nil {
			return nil
		}
	}
	made := func(kind *build, f *ir.Func, more, result []role) *built {
		m := &built{build: kind, fn: f, facts: b.facts, of: b}
		for i, v := range params {
			if v != l.In && v != l.Out {
				m.params = append(m.params, b.params[i])
			}
		}
		for i, v := range results {
			if v != l.Out {
				m.results = append(m.results, b.results[i])
			}
		}
		m.params, m.results = append(m.params, more...), append(m.results, result...)
		name, what := t.base+b.build.suffix, "Jacobian"
		if image == barDot {
			what = "Hessian"
		}
		if f.Name = name + "_entries"; more[0].name == "limit" {
			f.Name = name + "_plan"
			m.doc = "lists the entries of the " + what + ", from\n" + t.where() + "."
		} else {
			m.doc = "computes the entries of the " + what + ",\nfrom " + t.where() + "."
		}
		order := errorsBehind(f)
		f.Results, m.results = permuted(f.Results, order), permuted(m.results, order)
		return m
	}
	t.entries = append(t.entries,
		made(values, e.Values, []role{{name: "entries"}, {name: "plan"}}, []role{{name: "changed"}}),
		made(plan, e.Plan, []role{{name: "limit"}}, []role{{name: "plan"}}))
	if t.plans == nil {
		t.plans = map[string]*entries.Entries{}
	}
	t.plans[plan.code] = e
	return nil
}

// allBuilt returns the derivatives of t with the functions for their entries.
func (t *target) allBuilt() []*built {
	list := slices.Clone(t.built)
	for _, b := range t.entries {
		if slices.Contains(t.built, b.of) {
			list = append(list, b)
		}
	}
	return list
}

// entriesSource returns the descriptions of the functions for package print.
func (u *unit) entriesSource(t *target) (list []print.Func) {
	for _, b := range t.allBuilt() {
		if b.of == nil {
			continue
		}
		list = append(list, print.Func{Func: b.fn, Part: u.part(t), Doc: b.doc})
	}
	return list
}

package gen

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/simplify"
)

// hvpBuild is the build of Hessian-vector products: tangents of adjoints without value and gradient, for functions
// with one output.
var hvpBuild = &build{name: "hvp", suffix: "HVP", code: "HVP", part: seconds, make: makeHVP}

// makeHVP builds the Hessian-vector product of t, or returns nil if its shape has none or if it saves too little
// work. Shadows of the inputs become unused and are removed, if their stores can be; lengths come from their tangents.
func makeHVP(u *unit, t *target) (*built, error) {
	if t.shape == nil || !t.shape.registers() || !t.shape.scalar || u.cyclic {
		return nil, nil
	}
	second, err := makeSecond(u, t)
	if err != nil || second.twins() {
		return nil, nil // reported for the tangent of the adjoint
	}
	u.prune(second)
	b := second.withoutResults(func(r role) bool { return r.slot != barDot && !t.shape.isError(r) })
	b.fn.Name += "_hvp"
	u.prune(b)
	params, roles := b.fn.Params, b.params
	b.fn.Params, b.params = nil, nil
	for i, v := range params {
		if r := roles[i]; r.slot == bar && !r.result && !r.work {
			twin := slices.IndexFunc(roles,
				func(r role) bool { return r.slot == barDot && !r.result && !r.work && r.of == roles[i].of })
			if twin < 0 || !simplify.Unread(b.fn, v, params[twin]) {
				return nil, nil
			}
			continue
		}
		b.fn.Params, b.params = append(b.fn.Params, v), append(b.params, roles[i])
	}
	u.prune(b)
	if work(b.fn.Body) > maxWorkRatio*work(second.fn.Body) {
		return nil, nil
	}
	b.doc = "is " + t.base + secondBuild.suffix + " without value and gradient, from " +
		t.where() + "."
	return b, nil
}

// prune removes the computations of a derivative that none of its remaining results depends on.
func (u *unit) prune(b *built) { simplify.Prune(b.fn, u.trusts(b)) }

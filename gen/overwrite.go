package gen

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// An overwriting is a derivative for the registered code alone: it overwrites cotangents of x to which the exported one
// adds, and relies on arguments that are complete and do not overlap.
type overwriting struct {
	fn    *ir.Func
	slots []slot // of the cotangents that it overwrites; the others are cleared before the call
}

// overwrite makes the overwriting derivatives of the targets, where that saves passes over memory.
func (u *unit) overwrite() error {
	if u.cyclic {
		return nil
	}
	for _, t := range u.targets {
		for _, b := range t.built {
			if unregistered(t, b, false) != "" || t.shape.number || t.shape.fields || b.lanes > 1 {
				continue
			}
			b.overwriting = u.overwritingOf(t, b)
			if b.overwriting == nil {
				continue
			}
			if err := t.checkWellFormed(b.build.name, b.overwriting.fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishLoops moves stacks of the tape into local variables in the loops of all derivatives, and computes elementary
// functions for several iterations at once. It is last, since other passes know the tape by its workspace, and a batch
// of functions has no derivative.
func (u *unit) finishLoops() {
	u.eachDerivative(func(b *built, f *ir.Func) {
		// An index needs capacities, and a package may declare another cap.
		simplify.Stacks(f, u.isWorkspace, u.scope == nil || u.scope.Scope().Lookup("cap") == nil)
		distinct, work := u.memoryOf(b, f)
		simplify.Batch(f, distinct, work)
	})
}

// eachDerivative calls visit for the functions of all derivatives, once for each, without those of the source.
func (u *unit) eachDerivative(visit func(b *built, f *ir.Func)) {
	done := map[*ir.Func]bool{}
	for _, t := range u.targets {
		for _, f := range reached(t.f) {
			done[f] = true
		}
	}
	for _, t := range u.targets {
		for _, b := range t.built {
			list := reached(b.fn)
			if b.overwriting != nil {
				list = append(list, b.overwriting.fn)
			}
			for _, f := range list {
				if !done[f] {
					visit(b, f)
					done[f] = true
				}
			}
		}
	}
}

// memoryOf reports whether the parameters of f, a function of the derivative b, have no memory in common, as those of
// an adjoint, and returns the workspace among them, nil if there is none. Parameters of its callees may have.
func (u *unit) memoryOf(b *built, f *ir.Func) (distinct bool, work *ir.Var) {
	adjoint := slices.ContainsFunc(b.params, func(r role) bool { return r.slot == bar })
	entry := f == b.fn || b.overwriting != nil && f == b.overwriting.fn
	for _, v := range f.Params {
		if u.isWorkspace(v) {
			work = v
		}
	}
	return adjoint && entry, work
}

// overwritingOf returns the overwriting form of b, nil if it has none.
func (u *unit) overwritingOf(t *target, b *built) *overwriting {
	x := slices.Index(b.params, role{of: t.shape.x})
	if x < 0 {
		return nil
	}
	fn, _ := ir.Clone(b.fn, nil)
	o := &overwriting{fn: fn}
	for i, r := range b.params {
		if (r.slot == bar || r.slot == barDot) && !r.work && !r.result && r.of == t.shape.x &&
			simplify.Overwrite(fn, fn.Params[i], fn.Params[x]) {
			o.slots = append(o.slots, r.slot)
		}
	}
	if len(o.slots) == 0 {
		return nil
	}
	fn.Name = t.base + b.build.suffix + "_overwriting"
	return o
}

// source returns the description of the function for package print.
func (o *overwriting) source(u *unit, t *target, b *built) print.Func {
	name := t.base + b.build.suffix
	return print.Func{Func: o.fn, Part: u.part(t),
		Doc: "is " + name + " for complete slices that do not overlap.\nIt overwrites the derivatives that " + name +
			" adds to."}
}

package lower_test

import (
	"bytes"
	"go/types"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// program loads packages as seen from the root of the module.
func program(t *testing.T, patterns ...string) *lower.Program {
	t.Helper()
	pkgs, err := lower.Load("../..", patterns, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	return lower.New(pkgs, lower.Options{})
}

const problems = "github.com/nabla-ad/nabla/internal/problems"

// TestProblems lowers every test function.
func TestProblems(t *testing.T) {
	p := program(t, problems)
	for _, name := range []string{
		"SumSquaresPlain", "DiffSquaresPlain", "RosenbrockPlain", "BrusselatorPlain", "LogPosteriorPlain",
		"ReprojectionPlain", "LogisticLossPlain", "LorenzPlain", "AdjustmentPlain", "RecurrentLossPlain", "HandPlain",
		// Not test functions, but the richest code there is here.
		"handJacobian", "lorenzGradient", "logPosteriorGradient", "recurrentGradient", "rotation",
		"reprojectionJacobian",
		"rosenbrockGradient", "AdjustmentJacobian", "BrusselatorJacobian", "logisticGradient",
	} {
		f, err := p.Func(p.Lookup(problems, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		verify(t, f)
	}
}

// declaredTypes returns the types of f and its callees that belong to no package, by name.
func declaredTypes(f *ir.Func) map[string]types.Type {
	out := map[string]types.Type{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			if name := t.Obj().Name(); t.Obj().Pkg() == nil && out[name] == nil && types.Universe.Lookup(name) == nil {
				out[name] = t
				visit(t.Underlying())
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Struct:
			for v := range t.Fields() {
				visit(v.Type())
			}
		}
	}
	for _, g := range reach(f) {
		for _, v := range ir.Vars(g) {
			visit(v.Type)
		}
	}
	return out
}

// verify checks f and all it calls: they are well-formed, their text reads back as
// itself, and they have a normal form.
func verify(t *testing.T, f *ir.Func) {
	t.Helper()
	for _, g := range reach(f) {
		if err := ir.Check(g); err != nil {
			t.Errorf("%v\n%s", err, g)
			continue
		}
		h, _ := ir.Clone(g, nil)
		ir.Normalize(h)
		if err := ir.CheckNormal(h); err != nil {
			t.Errorf("%v\n%s", err, h)
		}
		if err := ir.Check(h); err != nil {
			t.Errorf("normalised: %v\n%s", err, h)
		}
	}
	if hasLocalType(f) {
		return // a name with a package does not lead to it
	}
	var first, second bytes.Buffer
	if err := ir.Print(&first, reach(f)...); err != nil {
		t.Error(err)
	}
	again, err := ir.Parse(first.String(), &ir.Env{Packages: []*types.Package{f.Object.Pkg()}, Types: declaredTypes(f)})
	if err != nil {
		t.Errorf("%v\n%s", err, first.String())
		return
	}
	if err := ir.Print(&second, again...); err != nil || second.String() != first.String() {
		t.Errorf("%v: read back as another:\n%s\n%s", err, first.String(), second.String())
	}
}

// hasLocalType reports whether a variable has a type that is declared in a function.
func hasLocalType(f *ir.Func) bool {
	for _, g := range reach(f) {
		for _, v := range ir.Vars(g) {
			t := v.Type
			if s, ok := t.(*types.Slice); ok {
				t = s.Elem()
			}
			if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Parent() != n.Obj().Pkg().Scope() {
				return true
			}
		}
	}
	return false
}

// reach is f and all it calls, callees first.
func reach(f *ir.Func) (out []*ir.Func) {
	seen := map[*ir.Func]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if seen[f] {
			return
		}
		seen[f] = true
		calls(f.Body, visit)
		out = append(out, f)
	}
	visit(f)
	return out
}

func calls(b ir.Block, f func(*ir.Func)) {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Call:
			if s.Callee.Func != nil {
				f(s.Callee.Func)
			}
		case *ir.If:
			calls(s.Then, f)
			calls(s.Else, f)
		case *ir.Scope:
			calls(s.Body, f)
		case *ir.Loop:
			calls(s.Body, f)
		}
	}
}

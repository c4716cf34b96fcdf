package main

import (
	"go/constant"
	"go/token"
	"os"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// TestGonum transforms functions of gonum and compares their derivatives with differences; in the long form, those of
// all numeric packages.
func TestGonum(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks large packages")
	}
	names, share := []string{"floats", "num/dual"}, 0.8
	if longtest.Long() {
		names, share = numeric, 0.6
	}
	c, err := transformAll("../../..", names, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		c.print(os.Stdout, true)
	}
	for _, err := range c.broken {
		t.Error(err)
	}
	var all row
	compared := 0
	for _, list := range c.funcs {
		for _, f := range list {
			all.add(f)
			if v := f.compared(); v != nil && v.outcome == agreed {
				compared++
			}
		}
	}
	if float64(all.both) < share*float64(all.functions) {
		t.Errorf("%d of %d functions are transformed", all.both, all.functions)
	}
	if float64(compared) < 0.9*float64(all.both) {
		t.Errorf("only %d of %d are compared with differences", compared, all.both)
	}
}

// TestBrokenDerivatives requires that the comparisons notice an error of a thousandth in a derivative.
func TestBrokenDerivatives(t *testing.T) {
	longtest.Skip(t, "type-checks and differentiates large packages")
	c, err := transformAll("../../..", []string{"dsp/window", "num/quat"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	g := newGlobals(c.packages)
	tried := 0
	for _, list := range c.funcs {
		for _, f := range list {
			if !f.ok() || len(f.f.Results) != 1 || f.check(g).points < requiredPoints {
				continue
			}
			tangent, adjoint := f.tangent, *f.adjoint
			f.tangent = perturbed(tangent, 1)
			if !f.facts.Results.Empty() && f.check(g).outcome == agreed {
				t.Errorf("a wrong tangent of %s is not noticed", f.fn.FullName())
			}
			f.tangent, f.adjoint.Func = tangent, perturbed(adjoint.Func, 1)
			if !adjoint.Bars.Empty() && f.check(g).outcome == agreed {
				t.Errorf("a wrong adjoint of %s is not noticed", f.fn.FullName())
			}
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("only %d functions have been tried", tried)
	}
}

// perturbed returns a function that calls f and changes its results from number k on.
func perturbed(f *ir.Func, k int) *ir.Func {
	g, _ := ir.Clone(f, nil)
	call := &ir.Call{Results: g.Results, Callee: &ir.Callee{Func: f}}
	for _, p := range g.Params {
		call.Args = append(call.Args, p.Load())
	}
	g.Body = ir.Block{call}
	for _, r := range g.Results[k:] {
		by := &ir.Binary{Typed: ir.Typed{T: r.Type}, Op: token.MUL, X: r.Load(),
			Y: &ir.Const{Typed: ir.Typed{T: r.Type}, Val: constant.MakeFloat64(1.001)}}
		g.Body = append(g.Body, &ir.Set{P: r.Place(), E: by})
	}
	return g
}

package sparsity_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestRandomFunctions looks for a derivative that differs from zero outside the
// pattern: at any point for Global, at the points given for Local and Recorded.
func TestRandomFunctions(t *testing.T) {
	n := 0
	var seen counts
	for seed := range longtest.Seeds(400, 400, 10000) {
		n++
		r := rand.New(rand.NewPCG(seed, 11))
		data := make([]byte, 10+r.IntN(150))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if err := missed(data, &seen); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%+v", seen)
	if seen.Global < n/10 || seen.Refused < n/20 || seen.Zeros < n/10 || seen.Nonzeros < n {
		t.Errorf("the functions are too much alike: %+v", seen)
	}
}

func FuzzDetectors(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := missed(data, &counts{}); err != nil {
			t.Fatal(err)
		}
	})
}

// counts is the number of cases of each kind that a test has covered.
type counts struct {
	Global, Refused int // functions
	Nonzeros        int // derivatives that differ from zero
	Zeros           int // entries that are in no pattern
}

// missed makes a function of data and is the first derivative that a pattern lacks.
func missed(data []byte, seen *counts) error {
	o := randfunc.Options{}
	if len(data) > 0 {
		o.Nested = data[0]&1 == 0
		o.Escapes = data[0]&6 == 0
		if data[0]&24 == 0 {
			o.M = 3
		}
		data = data[1:]
	}
	p, xs := randfunc.New(data, 3, o)
	f := nabla.InPlace(p.M, p.Real().Into)
	n := len(xs[0])
	truths := make([]truth, len(xs))
	for i, x := range xs {
		truths[i] = truthOf(p, x, seen)
	}
	report := func(d sparsity.Detector, x []float64, what string, err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s, %s at %v: %w\n%v%s", d.Name(), what, x, err, p, randfunc.Points(xs))
	}
	for _, d := range []sparsity.Detector{sparsity.Global{}, sparsity.Recorded{Points: xs}} {
		jac, err := nabla.JacobianSparsity(f, d, xs[0])
		if branch := new(sparsity.BranchError); errors.As(err, &branch) && d.Name() == "global" {
			seen.Refused++
			continue
		} else if err != nil {
			return report(d, xs[0], "Jacobian", err)
		}
		hess, err := nabla.JacobianSparsity(f, second{d}, xs[0])
		if err != nil {
			return report(d, xs[0], "Hessian", err)
		}
		if d.Name() == "global" {
			seen.Global++
		}
		seen.Zeros += p.M*n - jac.NNZ()
		for i, x := range xs {
			if err := truths[i].inside(jac, hess); err != nil {
				return report(d, x, "pattern", err)
			}
		}
	}
	for i, x := range xs {
		d := sparsity.Local{}
		jac, err := nabla.JacobianSparsity(f, d, x)
		if err != nil {
			return report(d, x, "Jacobian", err)
		}
		hess, err := nabla.JacobianSparsity(f, second{d}, x)
		if err != nil {
			return report(d, x, "Hessian", err)
		}
		seen.Zeros += p.M*n - jac.NNZ()
		if err := truths[i].inside(jac, hess); err != nil {
			return report(d, x, "pattern", err)
		}
	}
	return nil
}

// second finds Hessians of functions with several outputs.
type second struct{ sparsity.Detector }

func (d second) Jacobian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	return d.Hessian(f, x)
}

// A truth is the derivatives of a function at a point, 0 where they are not known
// to differ from zero.
type truth struct {
	n    int
	jac  [][]float64
	hess []float64
}

func truthOf(p *randfunc.Prog, x []float64, seen *counts) truth {
	o := p.Oracle(x)
	tol := 1e-9
	if !o.Smooth {
		tol = 1e-4 // some derivatives inside are computed numerically
	}
	sure := func(v, scale float64) float64 {
		if math.Abs(v) > tol*scale && !math.IsInf(v, 0) && !math.IsInf(scale, 0) {
			seen.Nonzeros++
			return v
		}
		return 0
	}
	n := len(x)
	t := truth{n: n, hess: make([]float64, n*n)}
	for i := range o.Grad {
		row := make([]float64, n)
		for j, v := range o.Grad[i] {
			row[j] = sure(v, o.Scale[i][j])
		}
		t.jac = append(t.jac, row)
		for e, v := range o.Hess[i] {
			if v = sure(v, o.Scale2[i][e]); v != 0 {
				t.hess[e] = v
			}
		}
	}
	return t
}

func (t truth) inside(jac, hess *sparsity.Pattern) error {
	for i, row := range t.jac {
		for j, v := range row {
			if v != 0 && !jac.Has(i, j) {
				return fmt.Errorf("∂y%d/∂x%d is %v and not in the pattern", i, j, v)
			}
		}
	}
	for e, v := range t.hess {
		if i, j := e/t.n, e%t.n; v != 0 && !hess.Has(i, j) {
			return fmt.Errorf("∂²/∂x%d∂x%d is %v and not in the pattern", i, j, v)
		}
	}
	if !hess.Symmetric() {
		return errors.New("the Hessian is not symmetric")
	}
	return nil
}

package linalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/linalg"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestPatterns: no detector misses an entry of a Jacobian or Hessian of any operation.
func TestPatterns(t *testing.T) {
	longtest.Serial(t)
	b := reversediff.Backend{Compile: true}
	for _, o := range operations {
		for _, size := range [][2]int{{0, 1}, {1, 2}, {3, 2}} {
			shapes := o.shapes(size[0], size[1])
			x := point(rand.New(rand.NewPCG(5, 5)), shapes)
			vector := func(x []real) []real { return o.of(matrices(x, shapes)) }
			scalar := scalarOf(o.of, shapes)
			j, err := nabla.Jacobian(vector, b, x)
			if err != nil {
				t.Fatal(err)
			}
			h, err := nabla.Hessian(scalar, b, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []sparsity.Detector{sparsity.Global{}, sparsity.Local{}, sparsity.Recorded{}} {
				p, err := nabla.JacobianSparsity(vector, d, x)
				if err != nil {
					t.Fatal(o.name, d.Name(), err)
				}
				covers(t, fmt.Sprintf("%s, Jacobian by %s", o.name, d.Name()), p, elements(j))
				if p, err = nabla.HessianSparsity(scalar, d, x); err != nil {
					t.Fatal(o.name, d.Name(), err)
				}
				covers(t, fmt.Sprintf("%s, Hessian by %s", o.name, d.Name()), p, elements(h))
			}
		}
	}
}

func covers(t *testing.T, what string, p *sparsity.Pattern, want []float64) {
	t.Helper()
	rows, cols := p.Dims()
	if rows*cols != len(want) {
		t.Errorf("%s: the pattern is %d×%d for %d entries", what, rows, cols, len(want))
		return
	}
	for k, v := range want {
		if v != 0 && !p.Has(k/cols, k%cols) {
			t.Errorf("%s: entry (%d, %d) is %v and not in the pattern", what, k/cols, k%cols, v)
		}
	}
}

// TestPatternsAreTight: the pattern of a product has the row and the column only, second derivatives pair elements of
// different matrices, and a system with constant coefficients is linear in its right-hand side.
func TestPatternsAreTight(t *testing.T) {
	shapes := [][2]int{{3, 2}, {2, 4}}
	x := point(rand.New(rand.NewPCG(5, 6)), shapes)
	product := func(x []real) []real {
		a := matrices(x, shapes)
		return linalg.MatMul(a[0], a[1]).Data
	}
	sum := func(x []real) real { return product(x)[5] } // row 1, column 1
	fixed := linalg.Identity(3)
	fixed.Set(2, 0, nabla.Const(0.5))
	linear := func(x []real) real { return linalg.NewCholesky(fixed).SolveVec(x)[1] }
	for _, d := range []sparsity.Detector{sparsity.Global{}, sparsity.Local{}} {
		p, err := nabla.JacobianSparsity(product, d, x)
		if err != nil {
			t.Fatal(err)
		}
		if p.NNZ() != 12*4 {
			t.Errorf("%s: a product has %d entries, want %d", d.Name(), p.NNZ(), 12*4)
		}
		if p, err = nabla.HessianSparsity(sum, d, x); err != nil {
			t.Fatal(err)
		}
		if p.NNZ() != 2*4 {
			t.Errorf("%s: an element of a product has %d second derivatives, want %d", d.Name(), p.NNZ(), 2*4)
		}
		if p, err = nabla.HessianSparsity(linear, d, []float64{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		if p.NNZ() != 0 {
			t.Errorf("%s: a solution has %d second derivatives, want none", d.Name(), p.NNZ())
		}
	}
}

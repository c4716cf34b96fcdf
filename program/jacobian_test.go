package program

import (
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
)

// Jacobian, by rows and by columns, equals the pullbacks of unit cotangents,
// plain and strong, simplified and scheduled.
func TestJacobian(t *testing.T) {
	each(t, 150, kinked.withLanes(), func(t *testing.T, _ *rand.Rand, x sample) {
		m, n := x.p.Outs[0].N, x.p.Ins[0].N
		unit := make([]float64, m*m)
		for i := range m {
			unit[i*m+i] = 1
		}
		for _, strong := range []bool{false, true} {
			if m == 0 {
				continue
			}
			q := VJP(x.p, VJPOptions{Lanes: m, Strong: strong})
			ins := append(append([][]float64{}, x.ins...), unit)
			if strong {
				seeds := make([]float64, len(unit))
				for i, v := range unit {
					seeds[i] = core.StrongSeed(v)
				}
				ins[len(ins)-1] = seeds
			}
			got := run(t, "lanes", q, ins, x.params)
			xbar := got[len(x.p.Outs)]
			want := make([]float64, m*n)
			for i := range m {
				for j := range n {
					want[i*n+j] = xbar[j*m+i]
				}
			}
			for _, forward := range []bool{false, true} {
				j := Jacobian(x.p, JacobianOptions{Forward: forward, Strong: strong})
				for what, j := range map[string]*Program{"jacobian": j, "simplified": Simplify(j),
					"scheduled": Schedule(Simplify(j))} {
					got := run(t, what, j, x.ins, x.params)
					jac := got[len(got)-1]
					if len(jac) != m*n {
						t.Fatalf("%s: %d numbers, want %d", what, len(jac), m*n)
					}
					scale := size([][]float64{want})
					for k, v := range jac {
						if a := want[k]; v == v && a == a && !closeTo(v, a, scale, 1e-8) {
							t.Errorf("%s, forward %v, strong %v: element %d is %v, want %v", what, forward, strong, k,
								v, a)
						} else if strong && (v == v) != (a == a) {
							t.Errorf("%s, forward %v, strong: element %d is %v, want %v", what, forward, k, v, a)
						}
					}
				}
			}
		}
	})
}

// A sparse Jacobian costs its nonzeros: 2 for each row of a difference.
func TestJacobianOfDifferences(t *testing.T) {
	p := mustParse(t, `%0:5 = input x
%5:4 = sub %1:+1 %0:+1
%9:4 = sq %5:+1
out y [%9 %10 %11 %12]`)
	for _, forward := range []bool{false, true} {
		q := Simplify(Jacobian(p, JacobianOptions{Forward: forward}))
		x := []float64{1, 2, 4, 8, 16}
		jac := run(t, "jacobian", q, [][]float64{x}, nil)[1]
		for i := range 4 {
			for j := range 5 {
				want := 0.0
				switch j {
				case i:
					want = -2 * (x[i+1] - x[i])
				case i + 1:
					want = 2 * (x[i+1] - x[i])
				}
				if jac[i*5+j] != want {
					t.Errorf("forward %v: J[%d,%d] = %v, want %v", forward, i, j, jac[i*5+j], want)
				}
			}
		}
	}
}

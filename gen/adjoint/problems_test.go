package adjoint_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/problems"
)

// TestProblems compares gradients and Jacobians with reference values.
func TestProblems(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/internal/problems"
	p := load(t, path)
	r := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		q    *problems.Problem
		name string
		in   bool // in place, the outputs come first
		data any
	}{
		{problems.T1(50), "SumSquaresPlain", false, nil}, {problems.T3(50), "RosenbrockPlain", false, nil},
		{problems.T8(), "LorenzPlain", false, nil},
	} {
		for name, disabled := range variants {
			if tt.q.Name == "T8" && (disabled&adjoint.Optimizations["recomputation"] != 0 || testing.Short()) { // slow
				continue
			}
			t.Run(tt.name+" "+name, func(t *testing.T) {
				f := function(t, p, path, tt.name)
				a, err := programWithout(disabled).Of(f, activity.Bits(1))
				if err != nil {
					t.Fatal(err)
				}
				if err := ir.Check(a.Func); err != nil {
					t.Fatalf("%v\n%v", err, a.Func)
				}
				c := tt.q.Select(0)
				seed := r.NormFloat64()
				args := ir.ValuesOf(c.X, make([]float64, len(c.X)), seed)
				args = append(args, ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type))
				m := ir.Machine{Steps: 1 << 30}
				got, err := m.Eval(a.Func, args)
				if err != nil {
					t.Fatalf("%v\n%v", err, a.Func)
				}
				if v := ir.As[float64](got[0]); math.Abs(v-c.Value[0]) > 1e-12*math.Abs(c.Value[0]) {
					t.Errorf("value %v, want %v", v, c.Value[0])
				}
				bar := ir.As[[]float64](args[1])
				size := 0.0
				for _, d := range c.Derivative {
					size = max(size, math.Abs(d))
				}
				for i, d := range c.Derivative {
					if math.Abs(bar[i]-seed*d) > 1e-10*size {
						t.Fatalf("derivative %d is %v, want %v\n%v", i, bar[i], seed*d, a.Func)
					}
				}
			})
		}
	}
}

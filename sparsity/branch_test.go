package sparsity_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/sparsity"
)

// here is the line of its call, moved.
func here(by int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file[strings.LastIndexByte(file, '/')+1:], line+by)
}

func TestBranchesByTheInputs(t *testing.T) {
	var line string
	for _, c := range []struct {
		name, call string
		f          func(x []real) real
	}{
		{"less", "Real.Less", func(x []real) real {
			line = here(1)
			if x[0].Sq().Less(x[1]) {
				return x[0]
			}
			return x[1]
		}},
		{"greater", "Real.Greater", func(x []real) real { line = here(0); x[0].Greater(nabla.Const(0)); return x[1] }},
		{"equal", "Real.Equal", func(x []real) real { line = here(0); x[0].Equal(x[1]); return x[1] }},
		{"nan", "Real.IsNaN", func(x []real) real { line = here(0); x[0].IsNaN(); return x[1] }},
		{"value", "Real.Value", func(x []real) real { line = here(0); return nabla.Const(x[0].Value()) }},
		{"int", "Real.Int", func(x []real) real { line = here(0); return x[x[0].Int()] }},
		{"frexp", "Frexp", func(x []real) real { line = here(0); f, _ := nabla.Frexp(x[0]); return f }},
		{"lgamma", "Real.Less", func(x []real) real {
			_, sign := nabla.Lgamma(x[0])
			line = here(1)
			sign.Less(nabla.Const(0))
			return x[1]
		}},
		{"inside", "Real.Less", func(x []real) real {
			return nabla.GradientFunc(func(z []real) real {
				line = here(1)
				if z[0].Less(nabla.Const(1)) {
					return z[0]
				}
				return z[1]
			}, reversediff.Backend{})(x)[0]
		}},
		{"inside, captured", "GradientFunc", func(x []real) real {
			c := []real{nabla.Const(2)}
			inner := func(z []real) real {
				if z[0].Less(x[0]) {
					return z[0]
				}
				return z[0].Sq()
			}
			line = here(1)
			return nabla.GradientFunc(inner, reversediff.Backend{})(c)[0]
		}},
	} {
		for _, hessian := range []bool{false, true} {
			var err error
			f := func(x []real) []real { return []real{c.f(x)} }
			if hessian {
				_, err = nabla.HessianSparsity(c.f, sparsity.Global{}, []float64{1, 2})
			} else {
				_, err = nabla.JacobianSparsity(f, sparsity.Global{}, []float64{1, 2})
			}
			var branch *sparsity.BranchError
			if !errors.As(err, &branch) {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if branch.Call != c.call || !strings.Contains(err.Error(), c.call+" at "+line) {
				t.Errorf("%s: %v, want %s at %s", c.name, err, c.call, line)
			}
			for _, want := range []string{"nabla: function ", "nabla.Where", "sparsity.Local"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q does not say %q", c.name, err, want)
				}
			}
		}
		for _, d := range []sparsity.Detector{sparsity.Local{}, sparsity.Recorded{}} {
			if _, err := nabla.HessianSparsity(c.f, d, []float64{1, 2}); err != nil {
				t.Errorf("%s, %s: %v", c.name, d.Name(), err)
			}
		}
	}
}

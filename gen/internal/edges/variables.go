package edges

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

// An objective is a function type with a name.
type objective func(x []float64) float64

// Functions in variables.
var (
	cubed             = func(x []float64) float64 { return x[0] * x[0] * x[0] }
	scaled  objective = func(x []float64) float64 { return factor * cubed(x) }
	factor            = 3.0
	alias             = doubled
	inPlace           = func(y, x []float64) { y[0] = 5 * x[0] }
)

func doubled(x []float64) float64 { return 2 * x[0] }

// variables returns the derivatives at x of the functions in variables: of cubed, scaled, alias, a local variable and
// inPlace.
func variables(x []float64) (list []float64, errs []error) {
	local := alias
	for _, of := range []func() ([]float64, error){
		func() ([]float64, error) { return nabla.Gradient(cubed, source.Reverse{}, x) },
		func() ([]float64, error) { return nabla.Gradient(scaled, source.Reverse{}, x) },
		func() ([]float64, error) { return nabla.Gradient(alias, source.Forward{}, x) },
		func() ([]float64, error) { return nabla.Gradient(local, source.Reverse{}, x) },
		func() ([]float64, error) {
			return nabla.Pushforward(nabla.InPlace(1, inPlace), source.Forward{}, x, []float64{1})
		},
	} {
		g, err := of()
		list, errs = append(list, g...), append(errs, err)
	}
	return list, errs
}

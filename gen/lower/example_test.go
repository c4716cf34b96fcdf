package lower_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// A function in the form that the generator differentiates.
func Example() {
	pkgs, err := lower.Load(".", []string{"github.com/nabla-ad/nabla/internal/problems"},
		lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		panic(err)
	}
	p := lower.New(pkgs, lower.Options{})
	f, err := p.Func(p.Lookup("github.com/nabla-ad/nabla/internal/problems", "RosenbrockPlain"))
	if err != nil {
		panic(err)
	}
	fmt.Print(f)
	// Output:
	// func problems.RosenbrockPlain(x []float64) (r float64) exit {
	// 	let s float64 = 0.0
	// 	for loop, next i int = 0; i < len(x) - 1; i += 1 {
	// 		let a float64 = x[i + 1] - x[i] * x[i]
	// 		let b float64 = 1 - x[i]
	// 		s += 100 * (a * a) + b * b
	// 	}
	// 	r = s
	// }
}

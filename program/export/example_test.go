package export_test

import (
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
)

// length returns the length of a vector, squared.
func length(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v.Sq())
	}
	return s
}

// gradientOf returns the gradient of f with n inputs as a program.
func gradientOf(f func([]nabla.Real) nabla.Real, n int) *program.Program {
	r, err := nabla.Record(f, make([]float64, n))
	if err != nil {
		log.Fatal(err)
	}
	if r, err = r.Gradient(); err != nil {
		log.Fatal(err)
	}
	return r.Program()
}

// The gradient as a Go function. Equal operations are a loop.
func ExampleGo() {
	text, err := export.Go(gradientOf(length, 100), export.Options{Name: "Gradient", Package: "lengths"})
	if err != nil {
		log.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "package lengths\n\n")
	fmt.Print(code)
	// Output:
	// // Gradient computes grad of length 100 from x of length 100.
	// // Inputs are read before outputs are written.
	// func Gradient(grad, x []float64) {
	// 	_ = x[99]
	// 	_ = grad[99]
	// 	var work [100]float64
	// 	v100 := 0.0
	// 	a0 := (*[100]float64)(x)
	// 	a1 := (*[100]float64)(work[:])
	// 	for i := range 100 {
	// 		u0 := a0[i]
	// 		v202 := u0 + u0 + v100
	// 		a1[i] = v202
	// 	}
	// 	copy(grad, work[:100])
	// }
}

// Large functions take memory.
func ExampleWork() {
	p := gradientOf(length, 1000)
	for _, unroll := range []int{0, math.MaxInt} {
		n, err := export.Work(p, export.Options{Unroll: unroll})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n)
	}
	// Output:
	// 1000
	// 0
}

// A function in the form of CasADi.
func ExampleC() {
	text, err := export.C(gradientOf(length, 100), export.Options{Name: "gradient"})
	if err != nil {
		log.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "#include <string.h>\n\n")
	fmt.Print(code)
	// Output:
	// int gradient(const double **arg, double **res)
	// {
	// 	double work[100];
	// 	const double v100 = 0.0;
	// 	for (int i = 0; i < 100; i++) {
	// 		const double u0 = (arg[0] ? arg[0][i] : 0);
	// 		const double v202 = u0 + u0 + v100;
	// 		work[i] = v202;
	// 	}
	// 	if (res[0]) {
	// 		memcpy(res[0], work, 100 * sizeof(double));
	// 	}
	// 	return 0;
	// }
}

// Package refusals has functions without a traced form. What the error says stands behind
// the line that it names.
package refusals

import (
	"fmt"
	"strconv"
)

var table = []float64{1, 2, 3}

func Single(x float64) float64 {
	y := x * 2
	z := float32(y) // want z of type float32: there are no derivatives in single precision over Reals; use float64
	return float64(z)
}

func Rounded(x float64) float64 {
	y := float64(float32(x)) // want a number of type float32: there are no derivatives in single precision
	return y
}

func Parameter(x []float32) float32 { // want x of type []float32
	return x[0]
}

func Shared(x []float64, k int) float64 {
	w := x
	if k > 0 {
		w = table // want a value of type []float64 of package variable refusals.table in a variable that also leads to traced numbers: its memory holds plain numbers; copy it element by element
	}
	return w[k] * x[0]
}

func Rows(x [][]float64) float64 {
	rows := [][]float64{table} // want a value of type []float64 of package variable refusals.table in a variable
	return float64(len(append(x[:0:0], rows...))) * x[0][0]
}

func Printed(x []float64) float64 {
	s := fmt.Sprint(x) // want passing on a value of type []float64 as data: its numbers would lose their derivatives; pass the numbers that are needed
	if len(s) > 10 {
		return x[0]
	}
	return strconvLen(s) * x[1]
}

func strconvLen(s string) float64 { return float64(len(strconv.Quote(s))) }

func Large(x []float64) float64 {
	var a, b [100]float64
	a[0] = x[0]
	copy(b[:], x)
	if a == b { // want comparison of values of type [100]float64: Reals are compared one by one; compare the parts that matter
		return 1
	}
	return a[0]
}

type failure struct{ at []float64 }

func (f *failure) Error() string { return "failure" }

func Errors(x []float64) float64 {
	if x[0] < 0 {
		panic(&failure{x}) // want passing on a value of type *refusals.failure as data
	}
	return called(x, 3)
}

func Pivots(x []float64) float64 {
	rows := make([]int, len(x))
	return pivots(x, rows) // want parameter rows of
}

//nabla:rule tangent=pivotsTangent pullback=pivotsPullback
func pivots(x []float64, rows []int) float64 {
	rows[0] = 1
	return x[0]
}

func pivotsTangent(x []float64, rows []int, xDot []float64) (float64, float64) { return x[0], xDot[0] }

func pivotsPullback(x []float64, rows []int, xBar []float64, rBar float64) { xBar[0] += rBar }

func Inner(x []float64) float64 { return called(x, 2) }

func called(x []float64, n int) float64 {
	v := float32(x[n]) // want v of type float32
	return float64(v)
}

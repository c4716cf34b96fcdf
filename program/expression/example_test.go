package expression_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/program/expression"
)

// The derivative of a recorded function as a formula.
func Example() {
	f := func(x []nabla.Real) nabla.Real { return nabla.Sin(x[0].Mul(x[1])).Mul(x[1].PowConst(3)) }
	r, err := nabla.Record(f, []float64{1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := expression.Of(r.Program(), &expression.OfOptions{Names: []string{"t", "w"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y[0])
	d, err := y[0].Derivative("t")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d)
	at, err := d.Substitute(map[string]expression.Expression{"t": expression.Constant(0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(at)
	// Output:
	// sin(t*w)*w^3
	// w^3*(w*cos(t*w))
	// w*w^3
}

// A rule says how far its two sides may differ.
func ExampleRules() {
	for _, r := range expression.Rules()[:3] {
		fmt.Printf("%s = %s, %v\n", r.From, r.To, r.Bound)
	}
	// Output:
	// add(x, -0) = x, exact
	// sub(x, 0) = x, exact
	// sub(-0, x) = neg(x), exact
}

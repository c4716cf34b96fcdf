package program_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/program"
)

// The gradient of x·sin(y) as a program, and its value at (3, 0).
func Example() {
	p, err := program.Parse(`
%0:2 = input x
%2 = sin %1
%3 = mul %0 %2
out f [%3]
`, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := program.Simplify(program.VJP(p, program.VJPOptions{Unit: true}))
	if err := program.Check(g); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(g)

	m := program.NewMachine(g)
	copy(m.Input(0), []float64{3, 0})
	m.Run()
	xbar := make([]float64, 2)
	m.Output(1, xbar)
	fmt.Println(xbar)
	// Output:
	// %0:2 = input x
	// %2 = sin %1
	// %3 = mul %0 %2
	// %4 = cos %1
	// %5 = mul %0 %4
	// out f [%3]
	// out xbar [%2 %5]
	// [0 3]
}

func ExampleParse() {
	_, err := program.Parse("%0 = input x\n%1 = sinn %0\n", nil)
	fmt.Println(err)
	// Output:
	// program: line 2, column 6: got "sinn", want an operation (program.SyntaxError)
}

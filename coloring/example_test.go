package coloring_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// A tridiagonal Jacobian of any size takes three products.
func Example() {
	pattern := sparsity.Banded(5, 5, 1, 1)
	c, err := coloring.Greedy{}.Color(pattern, coloring.Problem{})
	if err != nil {
		panic(err)
	}
	d, err := c.Decompressor(coloring.Full)
	if err != nil {
		panic(err)
	}

	// One product per colour; here with the matrix of second differences.
	values := make([]float64, pattern.NNZ())
	product := make([]float64, 5)
	for color := 1; color <= c.Forward(); color++ {
		s := c.ColumnSeed(nil, color)
		for i := range product {
			product[i] = -2 * s[i]
			if i > 0 {
				product[i] += s[i-1]
			}
			if i < 4 {
				product[i] += s[i+1]
			}
		}
		if err := d.DecompressColumn(values, product, color); err != nil {
			panic(err)
		}
	}
	fmt.Println(c)
	fmt.Println(values)
	// Output:
	// nonsymmetric column direct colouring of 5×5 with 13 entries: 3 colours, Natural
	// [-2 1 1 -2 1 1 -2 1 1 -2 1 1 -2]
}

// A dense row and a dense column take one product each way, not one per column.
func ExampleColoring_Picture() {
	var rows, cols []int
	for k := range 6 {
		rows, cols = append(rows, 0, k, k), append(cols, k, 0, k)
	}
	pattern, err := sparsity.FromEntries(6, 6, rows, cols)
	if err != nil {
		panic(err)
	}
	a := coloring.Greedy{Orders: []coloring.Order{coloring.SmallestFirst{}}, Postprocess: true}
	c, err := a.Color(pattern, coloring.Problem{Partition: coloring.Bidirectional})
	if err != nil {
		panic(err)
	}
	fmt.Println(c)
	fmt.Print(c.Picture())
	// Output:
	// nonsymmetric bidirectional direct colouring of 6×6 with 16 entries: 2 column and 1 row colours, SmallestFirst
	//   2 1 1 1 1 1
	//
	// a 2 a a a a a
	// - 2 1 . . . .
	// - 2 . 1 . . .
	// - 2 . . 1 . .
	// - 2 . . . 1 .
	// - 2 . . . . 1
}

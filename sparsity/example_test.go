package sparsity_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// A pattern prints as a picture.
func ExamplePattern_String() {
	fmt.Println(sparsity.Banded(5, 7, 1, 1))
	// Output:
	// 5×7 pattern, 14 entries
	// ••·····
	// •••····
	// ·•••···
	// ··•••··
	// ···•••·
}

func ExampleReadMatrixMarket() {
	p, err := sparsity.ReadMatrixMarket(strings.NewReader(`%%MatrixMarket matrix coordinate real symmetric
% rows, columns, entries; then row, column, value from 1
3 3 4
1 1 2.5
2 1 -1
3 2 -1
3 3 2.5
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	// Output:
	// 3×3 pattern, 6 entries
	// ••·
	// •·•
	// ·••
}

func ExamplePattern_WriteMatrixMarket() {
	if err := sparsity.Banded(2, 3, 0, 1).WriteMatrixMarket(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate pattern general
	// 2 3 4
	// 1 1
	// 1 2
	// 2 2
	// 2 3
}

func ExampleFromMatrix() {
	p := sparsity.FromMatrix(mat.NewDense(2, 3, []float64{
		1, 0, 2,
		0, 0, 3,
	}))
	fmt.Println(p)
	fmt.Println(p.Bandwidth())
	// Output:
	// 2×3 pattern, 3 entries
	// •·•
	// ··•
	// 0 2
}

func ExamplePattern_Triangle() {
	fmt.Println(sparsity.Full(3, 3).Triangle(blas.Lower))
	// Output:
	// 3×3 pattern, 6 entries
	// •··
	// ••·
	// •••
}

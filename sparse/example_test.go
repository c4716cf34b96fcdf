package sparse_test

import (
	"fmt"
	"os"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

func Example() {
	p := sparsity.Banded(3, 3, 0, 1) // the diagonal and the one above
	a := sparse.NewCSC(p, []float64{1, 2, 3, 4, 5})
	fmt.Println(mat.Formatted(a))
	fmt.Println(a.MulVec(nil, []float64{1, 1, 1}))
	fmt.Println(a.MulVecTrans(nil, []float64{1, 1, 1}))
	// Output:
	// ⎡1  2  0⎤
	// ⎢0  3  4⎥
	// ⎣0  0  5⎦
	// [3 7 5]
	// [1 5 9]
}

func ExampleFromTriplets() {
	a, err := sparse.FromTriplets(2, 3,
		[]int{0, 1, 0},
		[]int{2, 0, 2},
		[]float64{5, 7, 1}, // 5 and 1 are at one place
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(a))
	fmt.Println(a.ColPtr(), a.RowIndex(), a.Data())
	// Output:
	// ⎡0  0  6⎤
	// ⎣7  0  0⎦
	// [0 1 1 2] [1 0] [7 6]
}

// A symmetric matrix stores a triangle, and is a matrix that gonum factorises.
func ExampleSymCSC() {
	p := sparsity.Banded(3, 3, 0, 1)
	s, err := sparse.NewSymCSC(p, blas.Upper, []float64{4, 1, 4, 1, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(s))
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		fmt.Println("not positive definite")
		return
	}
	var x mat.VecDense
	if err := chol.SolveVecTo(&x, mat.NewVecDense(3, []float64{5, 6, 5})); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", x.RawVector().Data)
	// Output:
	// ⎡4  1  0⎤
	// ⎢1  4  1⎥
	// ⎣0  1  4⎦
	// [1.000 1.000 1.000]
}

func ExampleCSC_DoNonZero() {
	a := sparse.FromMatrix(mat.NewDense(2, 2, []float64{
		0, 3,
		4, 5,
	}))
	a.DoNonZero(func(i, j int, v float64) { fmt.Println(i, j, v) })
	// Output:
	// 1 0 4
	// 0 1 3
	// 1 1 5
}

// Other packages read the slices, or write values for the same pattern.
func ExampleCSC_Data() {
	a := sparse.NewCSC(sparsity.Banded(2, 2, 0, 1), nil)
	for j := range len(a.ColPtr()) - 1 {
		for k := a.ColPtr()[j]; k < a.ColPtr()[j+1]; k++ {
			a.Data()[k] = float64(10*a.RowIndex()[k] + j)
		}
	}
	fmt.Println(mat.Formatted(a))
	// Output:
	// ⎡ 0   1⎤
	// ⎣ 0  11⎦
}

func ExampleSymCSC_WriteMatrixMarket() {
	s, err := sparse.NewSymCSC(sparsity.Banded(2, 2, 0, 1), blas.Upper, []float64{1, 0.5, 2})
	if err == nil {
		err = s.WriteMatrixMarket(os.Stdout)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate real symmetric
	// 2 2 3
	// 1 1 1
	// 2 1 0.5
	// 2 2 2
}

package direct_test

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

func ExampleLU() {
	a := sparse.FromMatrix(mat.NewDense(3, 3, []float64{
		0, 2, 0,
		1, 0, 1,
		4, 0, 1,
	}))
	var lu direct.LU
	if err := lu.Factorize(a); err != nil {
		fmt.Println(err)
		return
	}
	x := make([]float64, 3)
	if err := lu.Solve(x, []float64{4, 3, 6}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f, determinant %.4f\n", x, lu.Det())
	// Output:
	// [1.0000 2.0000 2.0000], determinant 6.0000
}

// The same pattern with other numbers takes the pivots of the last factorisation, as long as they are large enough.
func ExampleLU_Refactorize() {
	a := sparse.NewCSC(sparsity.Banded(3, 3, 1, 1), []float64{4, 1, 1, 4, 1, 1, 4})
	var lu direct.LU
	x, b := make([]float64, 3), []float64{5, 6, 5}
	for _, first := range []float64{4, 5, 0} {
		a.Set(0, 0, first)
		if err := lu.Refactorize(a); err != nil {
			fmt.Println(err)
			return
		}
		if err := lu.Solve(x, b); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.4f, pivots chosen %d times\n", x, lu.Pivotings())
	}
	// Output:
	// [1.0000 1.0000 1.0000], pivots chosen 1 times
	// [0.7887 1.0563 0.9859], pivots chosen 1 times
	// [-14.0000 5.0000 0.0000], pivots chosen 2 times
}

// The optimality conditions of a quadratic program: min ½·xᵀHx - gᵀx with J·x = c. With a small -εI in the block of the
// multipliers, the matrix is quasi-definite, and has a factorisation in any order.
func ExampleLDL() {
	kkt := sparse.FromSymmetric(mat.NewSymDense(3, []float64{
		2, 0, 1,
		0, 4, 1,
		1, 1, -1e-10,
	}), blas.Lower)
	var l direct.LDL
	if err := l.Factorize(kkt); err != nil {
		fmt.Println(err)
		return
	}
	positive, negative, _ := l.Inertia()
	x := make([]float64, 3)
	if err := l.Solve(x, []float64{1, 1, 3}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f, inertia (%d, %d)\n", x, positive, negative)
	// Output:
	// [2.0000 1.0000 -3.0000], inertia (2, 1)
}

func ExampleSingularError() {
	a := sparse.NewCSC(sparsity.Banded(3, 3, 0, 1), []float64{1, 2, 0, 4, 5}) // entry (1, 1) is 0
	var lu direct.LU
	err := lu.Factorize(a)
	var singular *direct.SingularError
	fmt.Println(errors.As(err, &singular))
	fmt.Println(err)
	// Output:
	// true
	// direct: LU.Factorize: the matrix is singular: column 1 depends on the 2 columns eliminated before it (direct.SingularError)
}

// The entries of the Cholesky factor of an arrow depend on the order of elimination.
func ExampleAMD() {
	const n = 100
	var i, j []int
	for k := range n {
		i, j = append(i, k, k), append(j, 0, k)
	}
	p, err := sparsity.FromEntries(n, n, i, j)
	if err != nil {
		fmt.Println(err)
		return
	}
	order := direct.AMD(p)
	a, err := sparse.NewSymCSC(p, blas.Lower, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k := range n {
		a.SetSym(k, 0, 1)
		a.SetSym(k, k, n)
	}
	fmt.Println("the hub is eliminated late:", order[n-1] == 0 || order[n-2] == 0)
	for _, o := range []direct.Ordering{direct.NaturalOrder, direct.AMDOrder} {
		l := direct.LDL{Ordering: o}
		if err := l.Factorize(a); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(o, l.NNZ())
	}
	// Output:
	// the hub is eliminated late: true
	// NaturalOrder 5050
	// AMDOrder 199
}

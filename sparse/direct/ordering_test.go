package direct_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
)

// checkPermutation fails unless order has each of 0 to n-1 once.
func checkPermutation(t testing.TB, order []int, n int) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(order))
	if len(sorted) != n {
		t.Fatalf("%d numbers for %d rows", len(sorted), n)
	}
	for i, v := range sorted {
		if i != v {
			t.Fatalf("not a permutation: %v", order)
		}
	}
}

// fill returns the number of entries of the Cholesky factor of a pattern, with the diagonal, in an order of
// elimination, by eliminating the vertices of the graph one by one.
func fill(p *sparsity.Pattern, order []int) int {
	n, _ := p.Dims()
	adjacent := make([]map[int]bool, n)
	for j := range adjacent {
		adjacent[j] = map[int]bool{}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if i != j {
				adjacent[i][j], adjacent[j][i] = true, true
			}
		}
	}
	count := n
	for _, k := range order {
		count += len(adjacent[k])
		for i := range adjacent[k] {
			delete(adjacent[i], k)
			for j := range adjacent[k] {
				if i != j {
					adjacent[i][j] = true
				}
			}
		}
	}
	return count
}

// normal returns the pattern of AᵀA.
func normal(p *sparsity.Pattern) *sparsity.Pattern {
	rows, n := p.Dims()
	t := p.Transpose()
	var i, j []int
	for r := range rows {
		for _, a := range t.Col(r) {
			for _, b := range t.Col(r) {
				i, j = append(i, a), append(j, b)
			}
		}
	}
	q, err := sparsity.FromEntries(n, n, i, j)
	if err != nil {
		panic(err)
	}
	return q
}

// TestFill compares the number of entries of L with that of elimination vertex by vertex, and the fill of the orders
// with that of the natural order and of exact minimum degree.
func TestFill(t *testing.T) {
	amd, exact, colamd, formed := 0, 0, 0, 0
	for seed := range uint64(longtest.Cases(0, 20, 80, 1000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := r.IntN(70)
		p := randomPattern(r, n, 1+r.IntN(3))
		a := symmetric(r, p, parts[seed%3], 50)
		order := direct.AMD(p)
		checkPermutation(t, order, n)
		amd += fill(p, order)
		exact += fill(p, minimumDegree(p))
		for _, o := range []direct.Ordering{direct.AMDOrder, direct.NaturalOrder} {
			l := direct.LDL{Ordering: o}
			if err := l.Factorize(a); err != nil {
				t.Fatal(err)
			}
			checkPermutation(t, l.Order(), n)
			if want := fill(p, l.Order()); l.NNZ() != want {
				t.Fatalf("seed %d, %v: %d entries of L, want %d", seed, o, l.NNZ(), want)
			}
			if o == direct.AMDOrder && l.NNZ() != fill(p, order) {
				t.Fatal("the postorder changes the fill")
			}
		}
		columns := direct.ColAMD(p)
		checkPermutation(t, columns, n)
		colamd += fill(normal(p), columns)
		formed += fill(normal(p), direct.AMD(normal(p)))
	}
	t.Logf("%d entries with AMD, %d with exact degrees; %d with ColAMD, %d with AMD of AᵀA", amd, exact, colamd, formed)
	if float64(amd) > 1.02*float64(exact) {
		t.Errorf("%d entries with AMD, %d with exact degrees", amd, exact)
	}
	if float64(colamd) > 1.02*float64(formed) {
		t.Errorf("%d entries with ColAMD, %d with AMD of AᵀA", colamd, formed)
	}
}

// minimumDegree returns the order of exact minimum degrees.
func minimumDegree(p *sparsity.Pattern) (order []int) {
	n, _ := p.Dims()
	adjacent := make([]map[int]bool, n)
	for j := range adjacent {
		adjacent[j] = map[int]bool{}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if i != j {
				adjacent[i][j], adjacent[j][i] = true, true
			}
		}
	}
	done := make([]bool, n)
	for range n {
		k := -1
		for i := range n {
			if !done[i] && (k < 0 || len(adjacent[i]) < len(adjacent[k])) {
				k = i
			}
		}
		done[k] = true
		order = append(order, k)
		for i := range adjacent[k] {
			delete(adjacent[i], k)
			for j := range adjacent[k] {
				if i != j {
					adjacent[i][j] = true
				}
			}
		}
	}
	return order
}

// TestTreesHaveNoFill: a tree has a vertex of degree 1, which minimum degree eliminates without fill.
func TestTreesHaveNoFill(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 2 + r.IntN(3000)
		names := r.Perm(n)
		var i, j []int
		for k := 1; k < n; k++ {
			up := r.IntN(k)
			if seed%2 == 0 {
				up = max(0, k-1-r.IntN(3))
			}
			i, j = append(i, names[k]), append(j, names[up])
		}
		p, err := sparsity.FromEntries(n, n, i, j)
		if err != nil {
			t.Fatal(err)
		}
		var l direct.LDL
		if err := l.Factorize(symmetric(r, p, blas.Upper, float64(2*n))); err != nil {
			t.Fatal(err)
		}
		if l.NNZ() != 2*n-1 {
			t.Errorf("a tree of %d vertices: %d entries, want %d", n, l.NNZ(), 2*n-1)
		}
	}
}

// TestGridFill: on the m×m grid of the 5-point formula, nested dissection has at most 31/4·m²·log₂ m entries (George,
// SIAM J. Numer. Anal. 10, 1973), and no order fewer than a multiple of m²·log m. The natural order fills the band.
// Approximate minimum degree is below the bound, and near it by a factor that does not grow.
func TestGridFill(t *testing.T) {
	sizes := []int{20, 40, 80}
	if longtest.Long() {
		sizes = append(sizes, 160)
	}
	for _, m := range sizes {
		a := laplacian(m, blas.Lower, 0)
		counts := map[direct.Ordering]int{}
		for _, order := range []direct.Ordering{direct.AutoOrder, direct.NaturalOrder} {
			l := direct.LDL{Ordering: order}
			if err := l.FactorizeDefinite(a); err != nil {
				t.Fatal(err)
			}
			counts[order] = l.NNZ()
		}
		size := float64(m * m)
		bound := 31. / 4 * size * math.Log2(float64(m))
		got, natural := float64(counts[direct.AutoOrder]), float64(counts[direct.NaturalOrder])
		t.Logf("m = %d: %.0f entries, %.2f·m²·log₂ m, natural %.0f", m, got, got/size/math.Log2(float64(m)), natural)
		if got > bound || got > natural || got > 4*size*math.Log2(float64(m)) {
			t.Errorf("m = %d: %.0f entries, nested dissection at most %.0f, natural order %.0f", m, got, bound, natural)
		}
		if band := size * float64(m+1); natural > band || natural < 0.9*band*(1-1/float64(m)) {
			t.Errorf("m = %d: %.0f entries in the natural order, the band has %.0f", m, natural, band)
		}
	}
}

// TestDenseRows: a dense row and column is eliminated last, so that it makes no fill.
func TestDenseRows(t *testing.T) {
	const n = 5000
	var i, j []int
	for k := range n {
		i, j = append(i, 7, k), append(j, k, (k+1)%n)
	}
	p, err := sparsity.FromEntries(n, n, i, j)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 5))
	var l direct.LDL
	if err := l.Factorize(symmetric(r, p, blas.Upper, 2*n)); err != nil {
		t.Fatal(err)
	}
	if l.NNZ() > 4*n {
		t.Errorf("%d entries of L for an arrow with a ring of %d", l.NNZ(), n)
	}
	lu := direct.LU{Ordering: direct.ColAMDOrder}
	a := general(r, diagonal(p))
	for k := range n {
		a.Set(k, k, 10) // so that the dense row is seldom the pivot
	}
	if err := lu.Factorize(a); err != nil {
		t.Fatal(err)
	}
	if lower, upper := lu.NNZ(); lower+upper > 12*n {
		t.Errorf("%d and %d entries with a dense row", lower, upper)
	}
	for k := range n { // the dense row has the largest entries; as a pivot it would fill the matrix
		a.Set(7, k, 20)
	}
	if err := lu.Factorize(a); err != nil {
		t.Fatal(err)
	}
	if lower, upper := lu.NNZ(); lower+upper > 12*n {
		t.Errorf("%d and %d entries with a dense row of large entries", lower, upper)
	}
}

// TestDenseColumns: a dense column is last in the order of columns, and the others are ordered as if it were not there.
func TestDenseColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 17))
	const n = 400
	var i, j []int
	for k := range n {
		i, j = append(i, k, k, r.IntN(n)), append(j, k, 3, k)
	}
	p, err := sparsity.FromEntries(n, n, i, j)
	if err != nil {
		t.Fatal(err)
	}
	order := direct.ColAMD(p)
	checkPermutation(t, order, n)
	if order[n-1] != 3 {
		t.Errorf("the dense column is at %d", slices.Index(order, 3))
	}
	var sub, cols []int
	for k := range i {
		if j[k] != 3 {
			sub, cols = append(sub, i[k]), append(cols, j[k])
		}
	}
	without, err := sparsity.FromEntries(n, n, sub, cols)
	if err != nil {
		t.Fatal(err)
	}
	got, want := fill(normal(without), order), fill(normal(without), direct.ColAMD(without))
	if float64(got) > 1.15*float64(want) {
		t.Errorf("%d entries without the dense column, want %d", got, want)
	}
}

// TestColAMDShapes: rectangular patterns have an order too.
func TestColAMDShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 30 {
		rows, cols := r.IntN(20), r.IntN(20)
		var i, j []int
		if rows*cols > 0 {
			for range r.IntN(60) {
				i, j = append(i, r.IntN(rows)), append(j, r.IntN(cols))
			}
		}
		p, err := sparsity.FromEntries(rows, cols, i, j)
		if err != nil {
			t.Fatal(err)
		}
		checkPermutation(t, direct.ColAMD(p), cols)
	}
}

// TestLUFill: the orders reduce the fill of a convection operator on a grid, and of one whose rows are shuffled, so
// that its diagonal has no meaning.
func TestLUFill(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	const m = 40
	a := laplacian(m, blas.All, 0).CSC()
	for k := range a.Data() {
		a.Data()[k] += 0.3 * r.NormFloat64()
	}
	perm := r.Perm(m * m)
	rows := make([]int, a.NNZ())
	for k, i := range a.RowIndex() {
		rows[k] = perm[i]
	}
	cols := make([]int, a.NNZ())
	for j := range m * m {
		for k := a.ColPtr()[j]; k < a.ColPtr()[j+1]; k++ {
			cols[k] = j
		}
	}
	shuffled, err := sparse.FromTriplets(m*m, m*m, rows, cols, a.Data())
	if err != nil {
		t.Fatal(err)
	}
	entries := func(a *sparse.CSC, o direct.Ordering) int {
		lu := direct.LU{Ordering: o}
		if err := lu.Factorize(a); err != nil {
			t.Fatal(err)
		}
		lower, upper := lu.NNZ()
		return lower + upper
	}
	auto, amd, natural := entries(a, direct.AutoOrder), entries(a, direct.AMDOrder), entries(a, direct.NaturalOrder)
	t.Logf("%d entries, AMD %d, natural %d", auto, amd, natural)
	if auto != amd || 2*auto > natural {
		t.Errorf("%d entries, AMD %d, natural %d", auto, amd, natural)
	}
	auto, colamd, natural := entries(shuffled, direct.AutoOrder), entries(shuffled, direct.ColAMDOrder),
		entries(shuffled, direct.NaturalOrder)
	t.Logf("shuffled: %d entries, ColAMD %d, natural %d", auto, colamd, natural)
	if auto != colamd || 3*auto > 2*natural {
		t.Errorf("shuffled: %d entries, ColAMD %d, natural %d", auto, colamd, natural)
	}
}

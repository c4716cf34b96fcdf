package coloring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/sparsity"
)

// partOf returns a random part of p, symmetric if that is asked for.
func partOf(r *rand.Rand, p *sparsity.Pattern, share float64, symmetric bool) *sparsity.Pattern {
	m, n := p.Dims()
	var is, js []int
	for j := range n {
		for _, i := range p.Col(j) {
			if symmetric && i > j || r.Float64() >= share {
				continue
			}
			is, js = append(is, i), append(js, j)
			if symmetric {
				is, js = append(is, j), append(js, i)
			}
		}
	}
	return must(sparsity.FromEntries(m, n, is, js))
}

// verifyWanted checks the colouring c by the definition, and that a decompressor recovers the wanted entries of a
// matrix of random numbers from its products.
func verifyWanted(r *rand.Rand, c *Coloring) error {
	p, problem := c.Pattern(), c.Problem()
	wanted := problem.Wanted
	var err error
	if problem.Partition == Row {
		err = WantedColumns(p.Transpose(), wanted.Transpose(), c.RowColors(), false)
	} else {
		err = WantedColumns(p, wanted, c.ColumnColors(), problem.Structure == Symmetric)
	}
	if err != nil {
		return err
	}
	m, n := p.Dims()
	a := make([][]float64, m)
	for i := range a {
		a[i] = make([]float64, n)
	}
	for j := range n {
		for _, i := range p.Col(j) {
			a[i][j] = r.Float64()
			if problem.Structure == Symmetric {
				a[j][i] = a[i][j]
			}
		}
	}
	col, row := make([]float64, m*c.Forward()), make([]float64, n*c.Reverse())
	for i := range a {
		for j, v := range a[i] {
			if problem.Partition == Row {
				if k := c.RowColors()[i]; k > 0 {
					row[j*c.Reverse()+k-1] += v
				}
			} else if k := c.ColumnColors()[j]; k > 0 {
				col[i*c.Forward()+k-1] += v
			}
		}
	}
	targets := map[Target]blas.Uplo{Full: blas.All}
	if problem.Structure == Symmetric {
		targets[Upper], targets[Lower] = blas.Upper, blas.Lower
	}
	for target, uplo := range targets {
		d, err := c.Decompressor(target)
		if err != nil {
			return err
		}
		want := wanted
		if target != Full {
			want = wanted.Triangle(uplo)
		}
		if !d.Pattern().Equal(want) {
			return fmt.Errorf("%v: another pattern than that of the wanted entries", target)
		}
		data := make([]float64, want.NNZ())
		d.Decompress(data, col, c.Forward(), row, c.Reverse())
		k := 0
		for j := range n {
			for _, i := range want.Col(j) {
				if d := data[k] - a[i][j]; d > 1e-14 || d < -1e-14 {
					return fmt.Errorf("%v: entry (%d, %d) is %v, want %v", target, i, j, data[k], a[i][j])
				}
				k++
			}
		}
	}
	return nil
}

// wantedProblems are the problems that some entries can be asked of.
var wantedProblems = []Problem{{}, {Partition: Row}, {Structure: Symmetric}}

// TestWanted: the wanted entries of random matrices are recovered, from no more products than all entries by the same
// rule, and a product of a row or column without them is not taken.
func TestWanted(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for k := range 600 {
		tabulateFrom(t, []int{1, 4, 96}[k%3])
		problem := wantedProblems[k/3%3]
		m, n := r.IntN(14), r.IntN(14)
		var p *sparsity.Pattern
		if problem.Structure == Symmetric {
			p = randomSymmetric(r, n, r.Float64()*0.5)
		} else {
			p = random(r, m, n, r.Float64()*0.6)
		}
		problem.Wanted = partOf(r, p, r.Float64(), problem.Structure == Symmetric)
		g := Greedy{Orders: []Order{Natural{}, LargestFirst{}, SmallestLast}}
		c, err := g.Color(p, problem)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifyWanted(r, c); err != nil {
			t.Fatalf("%v: %v\n%v\n%v", c, err, p, problem.Wanted)
		}
		all := problem
		all.Wanted = p
		if whole := must(g.Color(p, all)); c.Colors() > whole.Colors()+2 {
			t.Errorf("%v, and %v for all entries", c, whole)
		}
		if problem.Wanted.NNZ() == 0 && c.Colors() > 0 {
			t.Errorf("%v for no entries", c)
		}
	}
}

// TestWantedCounts: parts of matrices for which few products are known to suffice.
func TestWantedCounts(t *testing.T) {
	const n = 200
	tri, five := sparsity.Banded(n, n, 1, 1), sparsity.Banded(n, n, 2, 2)
	diagonal := sparsity.Banded(n, n, 0, 0)
	var is, js []int
	for i := range n {
		is, js = append(is, i), append(js, 0)
	}
	column := must(sparsity.FromEntries(n, n, is, js))
	arrow := must(must(column.Union(column.Transpose())).Union(diagonal))
	full := sparsity.Full(9, 9)
	for _, c := range []struct {
		name    string
		p       *sparsity.Pattern
		problem Problem
		colors  int
	}{
		{"diagonal of a tridiagonal matrix", tri, Problem{Structure: Symmetric, Wanted: diagonal}, 2},
		{"the same, not symmetric", tri, Problem{Wanted: diagonal}, 2},
		{"diagonal of five diagonals", five, Problem{Structure: Symmetric, Wanted: diagonal}, 3},
		{"all of a tridiagonal matrix", tri, Problem{Wanted: tri}, 3},
		{"diagonal of a full matrix", full, Problem{Structure: Symmetric, Wanted: sparsity.Banded(9, 9, 0, 0)}, 9},
		{"a dense column", arrow, Problem{Wanted: column}, 1},
		{"a dense row", arrow, Problem{Wanted: column.Transpose()}, n},
		{"a dense row by rows", arrow, Problem{Partition: Row, Wanted: column.Transpose()}, 1},
		{"an arrow", arrow, Problem{Structure: Symmetric, Wanted: arrow}, 2},
	} {
		got, err := Greedy{Orders: []Order{LargestFirst{}, SmallestLast}}.Color(c.p, c.problem)
		if err != nil || got.Colors() != c.colors {
			t.Errorf("%s: %v, %v, want %d colours", c.name, got, err, c.colors)
		}
	}
}

// TestWantedErrors: problems and parts that do not fit are refused.
func TestWantedErrors(t *testing.T) {
	p := sparsity.Banded(4, 4, 1, 1)
	var problem *ProblemError
	var pattern *PatternError
	for _, c := range []struct {
		a    Algorithm
		of   Problem
		want any
	}{
		{Greedy{}, Problem{Partition: Bidirectional, Wanted: p}, &problem},
		{Greedy{}, Problem{Structure: Symmetric, Decompression: Substitution, Wanted: p}, &problem},
		{Optimal{}, Problem{Wanted: p}, &problem},
		{Constant{Columns: []int{1, 2, 3, 4}}, Problem{Wanted: p}, &problem},
		{None{}, Problem{Wanted: p}, &problem},
		{Greedy{}, Problem{Wanted: sparsity.Full(4, 5)}, &pattern},
		{Greedy{}, Problem{Wanted: sparsity.Full(4, 4)}, &pattern},
		{Greedy{}, Problem{Structure: Symmetric, Wanted: sparsity.Banded(4, 4, 0, 1)}, &pattern},
	} {
		if _, err := c.a.Color(p, c.of); !errors.As(err, c.want) {
			t.Errorf("%v of %v: %v, want a %T", c.a, c.of, err, c.want)
		}
	}
	var invalid *InvalidColoringError
	var length *LengthError
	for _, c := range []struct {
		wanted *sparsity.Pattern
		colors []int
		want   any
	}{
		{p, []int{1, 2, 1, 2}, &invalid},
		{p, []int{1, 2, 3, 0}, &invalid},
		{sparsity.Full(4, 4), []int{1, 2, 3, 4}, &invalid},
		{p, []int{1, 2, 3}, &length},
		{sparsity.Full(4, 5), []int{1, 2, 3, 4}, &length},
	} {
		if err := WantedColumns(p, c.wanted, c.colors, false); !errors.As(err, c.want) {
			t.Errorf("colours %v: %v, want a %T", c.colors, err, c.want)
		}
	}
}

// FuzzWanted reads a problem, a matrix and a part of it from bytes and verifies the colouring.
func FuzzWanted(f *testing.F) {
	f.Add([]byte{3, 3, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0})
	f.Add([]byte{9, 9, 2, 1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 3, 4, 4, 5})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) < 4 || len(code) > 400 {
			return
		}
		tabulateFrom(t, []int{1, 4, heavy}[int(code[3])%3])
		m, n := 1+int(code[0]%24), 1+int(code[1]%24)
		problem := wantedProblems[int(code[2])%len(wantedProblems)]
		if problem.Structure == Symmetric {
			m = n
		}
		var is, js, wi, wj []int
		add := func(is, js []int, i, j int) ([]int, []int) {
			if is, js = append(is, i), append(js, j); problem.Structure == Symmetric {
				is, js = append(is, j), append(js, i)
			}
			return is, js
		}
		for k := 4; k+1 < len(code); k += 2 {
			i, j := int(code[k]&0x7f)%m, int(code[k+1])%n
			is, js = add(is, js, i, j)
			if code[k]&0x80 != 0 {
				wi, wj = add(wi, wj, i, j)
			}
		}
		p := must(sparsity.FromEntries(m, n, is, js))
		problem.Wanted = must(sparsity.FromEntries(m, n, wi, wj))
		c, err := Greedy{Orders: []Order{orders[int(code[3])%len(orders)]}}.Color(p, problem)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifyWanted(rand.New(rand.NewPCG(1, 2)), c); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	})
}

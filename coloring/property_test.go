package coloring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestColorings puts every problem, order and postprocessing through [verify] on
// random matrices.
func TestColorings(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct {
		m, n    int
		density []float64
	}{
		{0, 0, []float64{0}}, {0, 3, []float64{0}}, {3, 0, []float64{0}}, {1, 5, []float64{0.5}},
		{5, 1, []float64{0.5}}, {1, 1, []float64{0, 1}},
		{6, 6, []float64{0, 0.2, 0.5, 1}},
		{10, 20, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}},
		{20, 10, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}},
		{60, 90, []float64{0.01, 0.03, 0.05}},
		{90, 60, []float64{0.01, 0.03, 0.05}},
	} {
		for _, density := range s.density {
			for _, problem := range problems {
				p := random(r, s.m, s.n, density)
				if problem.Structure == Symmetric {
					p = randomSymmetric(r, s.n, density)
				}
				for _, order := range orders {
					for _, post := range []bool{false, true} {
						a := Greedy{Orders: []Order{order}, Postprocess: post}
						c := color(t, p, problem, a)
						if err := verify(c); err != nil {
							t.Fatalf("%v: %v by %v: %v\n%s", c, p, a, err, c.Picture())
						}
					}
				}
			}
		}
	}
}

// TestLongRows crosses the threshold from which colours are tabulated, which must
// not change any colour.
func TestLongRows(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{heavy - 1, heavy, 2 * heavy} {
		for _, p := range []*sparsity.Pattern{arrowhead(n), must(arrowhead(n).Union(randomSymmetric(r, n, 0.02))),
			must(permuted(r, arrowhead(n)).Union(sparsity.Banded(n, n, 3, 3)))} {
			for _, problem := range problems {
				for _, order := range []Order{Natural{}, Random{1}, SmallestLast} {
					c := color(t, p, problem, Greedy{Orders: []Order{order}, Postprocess: true})
					if err := verify(c); err != nil {
						t.Fatalf("%v: %v", c, err)
					}
				}
			}
		}
	}
}

// verify checks a colouring by the definitions and by decompressing a matrix.
func verify(c *Coloring) error {
	p := c.Pattern()
	if err := valid(c); err != nil {
		return err
	}
	if err := tight(c); err != nil {
		return err
	}
	data := values(p, c.problem.Structure == Symmetric)
	targets := []Target{Full}
	if c.problem.Structure == Symmetric {
		targets = append(targets, Upper, Lower)
	}
	for _, target := range targets {
		if err := roundTrip(c, target, data); err != nil {
			return fmt.Errorf("%v: %w", target, err)
		}
	}
	return nil
}

func valid(c *Coloring) error {
	p := c.Pattern()
	rank, rankErr := RankNonzeros(c)
	if (rankErr == nil) != (c.problem.Decompression == Substitution) {
		return rankErr
	}
	switch c.problem {
	case Problem{Nonsymmetric, Column, Direct, nil}:
		if err := DirectlyRecoverableColumns(p, c.ColumnColors(), false); err != nil {
			return err
		}
		return StructurallyOrthogonalColumns(p, c.ColumnColors())
	case Problem{Nonsymmetric, Row, Direct, nil}:
		return StructurallyOrthogonalRows(p, c.RowColors())
	case Problem{Nonsymmetric, Bidirectional, Direct, nil}:
		return StructurallyBiorthogonal(p, c.RowColors(), c.ColumnColors())
	case Problem{Nonsymmetric, Bidirectional, Substitution, nil}:
		return SubstitutableBidirectional(p, rank, c.RowColors(), c.ColumnColors())
	case Problem{Symmetric, Column, Direct, nil}:
		if err := DirectlyRecoverableColumns(p, c.ColumnColors(), true); err != nil {
			return err
		}
		return SymmetricallyOrthogonalColumns(p, c.ColumnColors())
	default:
		return SubstitutableColumns(p, rank, c.ColumnColors())
	}
}

// tight checks that every colour up to the last is used.
func tight(c *Coloring) error {
	for k, g := range c.ColumnGroups() {
		if len(g) == 0 {
			return fmt.Errorf("no column has colour %d", k+1)
		}
	}
	for k, g := range c.RowGroups() {
		if len(g) == 0 {
			return fmt.Errorf("no row has colour %d", k+1)
		}
	}
	return nil
}

// values returns random values for a pattern.
func values(p *sparsity.Pattern, symmetric bool) []float64 {
	r := rand.New(rand.NewPCG(5, 6))
	data := make([]float64, p.NNZ())
	for k := range data {
		data[k] = r.NormFloat64()
	}
	if symmetric {
		_, n := p.Dims()
		for j := range n {
			for _, i := range p.Col(j) {
				k, _ := p.Index(i, j)
				l, _ := p.Index(j, i)
				data[l] = data[k]
			}
		}
	}
	return data
}

func roundTrip(c *Coloring, target Target, data []float64) error {
	d, err := c.Decompressor(target)
	if err != nil {
		return err
	}
	want := restrict(c.Pattern(), d.Pattern(), data)
	if target == Upper || target == Lower {
		_, n := c.Pattern().Dims()
		k := 0
		for j := range n {
			for _, i := range c.Pattern().Col(j) {
				if i == j || (i < j) == (target == Upper) {
					k++
					if !d.Pattern().Has(i, j) {
						return fmt.Errorf("the target lacks (%d, %d)", i, j)
					}
				}
			}
		}
		if k != d.Pattern().NNZ() {
			return fmt.Errorf("the target has %d entries, want %d", d.Pattern().NNZ(), k)
		}
	}
	col, row := c.Compress(data)
	got := nans(len(want))
	d.Decompress(got, col, c.Forward(), row, c.Reverse())
	if err := near(c, got, want); err != nil {
		return err
	}

	// Strides wider than the colours.
	m, n := c.Pattern().Dims()
	wideCol, wideRow := widen(col, m, c.Forward(), 2), widen(row, n, c.Reverse(), 1)
	got = nans(len(want))
	d.Decompress(got, wideCol, c.Forward()+2, wideRow, c.Reverse()+1)
	if err := near(c, got, want); err != nil {
		return fmt.Errorf("wide: %w", err)
	}

	got = nans(len(want))
	d.DecompressFunc(got, func(s Source) float64 {
		if s.Row {
			return row[int(s.Index)*c.Reverse()+int(s.Color)]
		}
		return col[int(s.Index)*c.Forward()+int(s.Color)]
	})
	if err := near(c, got, want); err != nil {
		return fmt.Errorf("func: %w", err)
	}
	return stream(c, d, col, row, want)
}

// stream decompresses one colour at a time, from products with seeds.
func stream(c *Coloring, d *Decompressor, col, row, want []float64) error {
	m, n := c.Pattern().Dims()
	got := nans(len(want))
	product := func(block []float64, length, colors, k int) []float64 {
		b := make([]float64, length)
		for i := range b {
			b[i] = block[i*colors+k-1]
		}
		return b
	}
	for k := 1; k <= c.Forward(); k++ {
		err := d.DecompressColumn(got, product(col, m, c.Forward(), k), k)
		if (err == nil) != (c.problem.Decompression == Direct) {
			return fmt.Errorf("DecompressColumn: %v", err)
		}
	}
	for k := 1; k <= c.Reverse(); k++ {
		err := d.DecompressRow(got, product(row, n, c.Reverse(), k), k)
		if (err == nil) != (c.problem.Decompression == Direct) {
			return fmt.Errorf("DecompressRow: %v", err)
		}
	}
	if c.problem.Decompression == Substitution {
		return nil
	}
	if err := near(c, got, want); err != nil {
		return fmt.Errorf("streamed: %w", err)
	}
	return nil
}

// near asks for the same bits of direct decompression, and for small errors of
// substitution, whose chains here are short.
func near(c *Coloring, got, want []float64) error {
	tol := 0.0
	if c.problem.Decompression == Substitution {
		tol = 1e-12
	}
	for k := range want {
		if !(math.Abs(got[k]-want[k]) <= tol) {
			return fmt.Errorf("value %d is %v, want %v", k, got[k], want[k])
		}
	}
	return nil
}

// restrict takes the values of a part of a pattern.
func restrict(p, part *sparsity.Pattern, data []float64) []float64 {
	var out []float64
	_, n := part.Dims()
	for j := range n {
		for _, i := range part.Col(j) {
			k, _ := p.Index(i, j)
			out = append(out, data[k])
		}
	}
	return out
}

func nans(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}

func widen(block []float64, rows, colors, by int) []float64 {
	w := nans(rows * (colors + by))
	for i := range rows {
		copy(w[i*(colors+by):], block[i*colors:(i+1)*colors])
	}
	return w
}

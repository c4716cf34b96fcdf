package coloring_test

import (
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

func TestNone(t *testing.T) {
	for _, p := range []*sparsity.Pattern{sparsity.Full(4, 4), sparsity.Banded(4, 4, 1, 1), sparsity.Empty(3, 3)} {
		m, n := p.Dims()
		for _, problem := range []coloring.Problem{
			{}, {Partition: coloring.Row}, {Partition: coloring.Bidirectional}, {Structure: coloring.Symmetric},
			{Partition: coloring.Bidirectional, Decompression: coloring.Substitution},
			{Structure: coloring.Symmetric, Decompression: coloring.Substitution},
		} {
			c, err := coloring.None{}.Color(p, problem)
			if err != nil {
				t.Errorf("%v: %v", problem, err)
				continue
			}
			if problem.Partition == coloring.Row {
				if c.Reverse() != m || c.Forward() != 0 {
					t.Errorf("%v: %d and %d colours", problem, c.Forward(), c.Reverse())
				}
			} else if c.Forward() != n || c.Reverse() != 0 {
				t.Errorf("%v: %d and %d colours", problem, c.Forward(), c.Reverse())
			}
			data := make([]float64, p.NNZ())
			for k := range data {
				data[k] = 1
			}
			col, row := c.Compress(data)
			d, err := c.Decompressor(coloring.Full)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, p.NNZ())
			d.Decompress(got, col, c.Forward(), row, c.Reverse())
			if !slices.Equal(got, data) {
				t.Errorf("%v: %v comes back as %v", problem, data, got)
			}
		}
	}
}

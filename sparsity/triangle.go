package sparsity

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
)

// Triangle returns the entries of p on and above the diagonal for [blas.Upper], those on and below it for [blas.Lower],
// and p itself for [blas.All]. p need not be square. Another uplo panics.
func (p *Pattern) Triangle(uplo blas.Uplo) *Pattern {
	t := Empty(p.rows, p.cols)
	switch uplo {
	case blas.All:
		return p
	case blas.Upper, blas.Lower:
	default:
		panic(fmt.Sprintf("sparsity: Triangle: uplo is %q, want blas.Upper, blas.Lower or blas.All", byte(uplo)))
	}
	for j := range p.cols {
		col := p.Col(j)
		k := p.diagonal(j)
		if uplo == blas.Lower {
			col = col[k:]
		} else {
			if k < len(col) && col[k] == j {
				k++
			}
			col = col[:k]
		}
		t.idx = append(t.idx, col...)
		t.ptr[j+1] = len(t.idx)
	}
	return t
}

// diagonal returns the index in Col(j) of the first row ≥ j.
func (p *Pattern) diagonal(j int) int {
	k, _ := p.Index(j, j)
	return k - p.ptr[j]
}

// Bandwidth returns how far the entries reach below and above the diagonal: the smallest below ≥ 0 and above ≥ 0 with
// -below ≤ column-row ≤ above for every entry, as [Banded] and gonum's mat.NewBandDense take them. The cost is linear
// in the columns.
func (p *Pattern) Bandwidth() (below, above int) {
	for j := range p.cols {
		if col := p.Col(j); len(col) > 0 {
			below = max(below, col[len(col)-1]-j)
			above = max(above, j-col[0])
		}
	}
	return below, above
}

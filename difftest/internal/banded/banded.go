// Package banded generates the banded matrices of the scenarios, which packages difftest and difftest/coded compute
// with.
package banded

import "sync"

// Size is the number of rows and of columns.
const Size = 50

// Widths holds the widths of the matrices, that is the numbers of diagonals above the main one.
var Widths = []int{5, 10, 20}

// all maps widths to matrices.
var all = sync.OnceValue(func() map[int][][]float64 {
	all := map[int][][]float64{}
	for _, w := range Widths {
		s := uint64(w)
		for k := range w + 1 {
			d := make([]float64, Size-k)
			for i := range d {
				s = s*6364136223846793005 + 1442695040888963407
				d[i] = float64(s>>11) * 0x1p-53
			}
			all[w] = append(all[w], d)
		}
	}
	return all
})

// Diagonals returns an upper triangular matrix as a list of diagonals, from the main one on, filled with numbers in [0,
// 1) of Knuth's MMIX generator, whose seed is the width. The caller must not modify it.
func Diagonals(width int) [][]float64 { return all()[width] }

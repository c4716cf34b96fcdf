// Package banded has the matrices of the scenarios with a banded matrix, which two
// packages compute with.
package banded

import "sync"

// Size is the number of rows and columns.
const Size = 50

// Widths are those of the matrices there are: the numbers of diagonals above the main one.
var Widths = []int{5, 10, 20}

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

// Diagonals is an upper triangular matrix, diagonal after diagonal from the main one on,
// filled with numbers of Knuth's MMIX generator in [0, 1). The seed is the width.
func Diagonals(width int) [][]float64 { return all()[width] }

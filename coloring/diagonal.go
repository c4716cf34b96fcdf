package coloring

import (
	"cmp"
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
)

// Diagonal returns a colour for each column of a symmetric matrix, and the number of colours, such that the diagonal
// can be recovered from the products with the groups: entry (i, i) is component i of the product of the colour of i,
// since no other column of that colour has an entry in row i. It is a first-fit distance-1 colouring, the columns with
// most entries first, and needs far fewer colours than recovering all entries does. Columns without a diagonal entry
// get colour 0.
//
// A pattern that is not square and symmetric is a *[PatternError]. The cost is linear in the entries, apart from
// sorting the columns.
func Diagonal(p *sparsity.Pattern) (colors []int, count int, err error) {
	if _, err := (Problem{Structure: Symmetric}).checked(p); err != nil {
		return nil, 0, err
	}
	_, n := p.Dims()
	order := make([]int, 0, n)
	for j := range n {
		if p.Has(j, j) {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(p.Col(b)), len(p.Col(a))) })
	colors = make([]int, n)
	taken := make([]int, n+2) // colour → the last column with a neighbour of this colour, plus one
	for _, j := range order {
		for _, i := range p.Col(j) {
			taken[colors[i]] = j + 1
		}
		c := 1
		for taken[c] == j+1 {
			c++
		}
		colors[j], count = c, max(count, c)
	}
	return colors, count, nil
}

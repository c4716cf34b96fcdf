package sparse

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
)

// FromTriplets returns the rows×cols matrix with the values v[k] at (i[k], j[k]), in any order. Values at the same
// place are added, in the order in which they are listed; zeros are stored. The cost is linear, apart from a binary
// search in a column for each value. A place outside the shape, or i and j of different lengths, are a
// *[sparsity.FormatError], another length of v is a *[ShapeError].
func FromTriplets(rows, cols int, i, j []int, v []float64) (*CSC, error) {
	p, err := sparsity.FromEntries(rows, cols, i, j)
	if err != nil {
		return nil, err
	}
	if err := lenError("FromTriplets", "v", len(v), len(i)); err != nil {
		return nil, err
	}
	m := NewCSC(p, nil)
	for k := range m.data {
		m.data[k] = math.Copysign(0, -1) // -0+x keeps the sign of x = -0, 0+x does not
	}
	for k := range v {
		at, _ := p.Index(i[k], j[k])
		m.data[at] += v[k]
	}
	return m, nil
}

// Triplets appends the row indices, column indices and values of the stored entries, column by column, to i, j and v,
// which may be nil, and returns them. Stored zeros are included.
func (m *CSC) Triplets(i, j []int, v []float64) ([]int, []int, []float64) {
	ptr := m.ColPtr()
	for c := range len(ptr) - 1 {
		for range ptr[c+1] - ptr[c] {
			j = append(j, c)
		}
	}
	return append(i, m.RowIndex()...), j, append(v, m.data...)
}

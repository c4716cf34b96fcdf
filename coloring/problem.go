package coloring

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
)

// Structure is a property of a matrix that its pattern alone does not determine.
type Structure uint8

const (
	// Nonsymmetric matrices, such as Jacobians, may have any shape.
	Nonsymmetric Structure = iota
	// Symmetric matrices, such as Hessians, have two entries for every value off the diagonal: recovering either
	// suffices.
	Symmetric
)

func (s Structure) String() string { return name(int(s), "nonsymmetric", "symmetric") }

// Partition selects the products with the matrix A.
type Partition uint8

const (
	// Column colourings group columns: the products are A·s, one per colour.
	Column Partition = iota
	// Row colourings group rows: the products are Aᵀ·w, one per colour.
	Row
	// Bidirectional colourings group some columns and some rows, and use products of both kinds.
	Bidirectional
)

func (p Partition) String() string { return name(int(p), "column", "row", "bidirectional") }

// Decompression selects how the entries are recovered from the products.
type Decompression uint8

const (
	// Direct recovery reads every entry from one component of one product.
	Direct Decompression = iota
	// Substitution needs fewer products for symmetric and bidirectional problems: an entry is a component of a product
	// less entries recovered before. Rounding errors accumulate along these chains.
	Substitution
)

func (d Decompression) String() string { return name(int(d), "direct", "substitution") }

// name returns names[i], or "unknown".
func name(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// A Problem is the kind of a colouring. The zero Problem asks for groups of structurally orthogonal columns. Four
// combinations of Structure and Partition are valid: Nonsymmetric with every partition, and Symmetric with Column
// (products with the rows and columns of a symmetric matrix are the same).
type Problem struct {
	Structure     Structure
	Partition     Partition
	Decompression Decompression // ignored for nonsymmetric Column and Row, which use Direct
	// Wanted, unless nil, holds the entries that are to be recovered, a part of the pattern that is coloured. Others
	// need no group of their own, so that there are fewer products. It is symmetric if the matrix is. Only Direct
	// recovery of columns or rows knows it; a symmetric matrix is coloured as in [Greedy].
	Wanted *sparsity.Pattern
}

func (p Problem) String() string {
	s := p.Structure.String() + " " + p.Partition.String() + " " + p.Decompression.String()
	if p.Wanted != nil {
		s += " partial"
	}
	return s
}

// graphical reports whether the problem is a star or acyclic colouring of a graph; otherwise it is a partial distance-2
// colouring, of some entries if Wanted is set.
func (p Problem) graphical() bool {
	return p.Wanted == nil && (p.Structure == Symmetric || p.Partition == Bidirectional)
}

// checked returns the problem with its defaults resolved, or a *ProblemError if its settings do not fit together, or a
// *PatternError if the pattern does not fit the problem.
func (p Problem) checked(s *sparsity.Pattern) (Problem, error) {
	if p.Structure > Symmetric || p.Partition > Bidirectional || p.Decompression > Substitution {
		return p, &ProblemError{Problem: p, Reason: "it has a value outside the declared constants"}
	}
	if p.Structure == Symmetric && p.Partition != Column {
		return p, &ProblemError{Problem: p, Reason: "a symmetric matrix is coloured by columns; want Partition: Column"}
	}
	if s == nil {
		return p, &PatternError{Problem: p, Reason: "it is nil; make one with sparsity.New, FromEntries or Full"}
	}
	rows, cols := s.Dims()
	if rows > math.MaxInt32/4-cols || s.NNZ() > math.MaxInt32/4 {
		return p, patternError(p, s, "it is too large for 32-bit indices; split the matrix into blocks")
	}
	if p.Structure == Symmetric {
		if rows != cols {
			return p, patternError(p, s, "want a square one; for a Jacobian use Structure: Nonsymmetric")
		}
		if !s.Symmetric() {
			return p, asymmetry(p, s)
		}
	}
	if p.Wanted != nil {
		return p, p.checkWanted(s)
	}
	if !p.graphical() {
		p.Decompression = Direct
	}
	return p, nil
}

// checkWanted returns an error if p.Wanted, which is not nil, fits neither the problem nor the pattern.
func (p Problem) checkWanted(s *sparsity.Pattern) error {
	rows, cols := s.Dims()
	r, c := p.Wanted.Dims()
	switch {
	case p.Partition == Bidirectional:
		return &ProblemError{Problem: p, Reason: "wanted entries are recovered from columns or from rows; want " +
			"Partition: Column or Row"}
	case p.Decompression != Direct:
		return &ProblemError{Problem: p, Reason: "wanted entries are recovered directly; want Decompression: Direct"}
	case r != rows || c != cols:
		return patternError(p, s, "Wanted is %d×%d; want a part of this pattern", r, c)
	case p.Structure == Symmetric && !p.Wanted.Symmetric():
		return asymmetry(p, p.Wanted)
	}
	for j := range cols {
		for _, i := range p.Wanted.Col(j) {
			if !s.Has(i, j) {
				return patternError(p, s,
					"Wanted has entry (%d, %d) and the pattern does not; want a part of this pattern", i, j)
			}
		}
	}
	return nil
}

// wantedNeedsGreedy returns the error of other algorithms for a problem with wanted entries.
func wantedNeedsGreedy(p Problem) error {
	return &ProblemError{Problem: p, Reason: "only Greedy recovers some wanted entries; leave Wanted nil"}
}

// asymmetry returns a *PatternError that names the first entry without its mirror image.
func asymmetry(p Problem, s *sparsity.Pattern) error {
	_, cols := s.Dims()
	for j := range cols {
		for _, i := range s.Col(j) {
			if !s.Has(j, i) {
				return patternError(p, s,
					"it has entry (%d, %d) and not (%d, %d); unite it with its transpose (p.Union(p.Transpose())) "+
						"or use Structure: Nonsymmetric", i, j, j, i)
			}
		}
	}
	return nil
}

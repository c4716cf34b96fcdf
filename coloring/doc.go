// Package coloring computes how few matrix-vector products determine a sparse matrix, and recovers the entries from the
// products.
//
// A derivative engine computes products with a Jacobian J: J·s forward, Jᵀ·w in reverse, H·s for a Hessian. If no two
// columns of a group have an entry in the same row (structurally orthogonal columns), the sum of the group shows all
// their entries, so one product per group suffices. Grouping is colouring: of columns or rows such that those of a
// colour do not overlap, of a symmetric matrix such that every value can be read at one of its two places, or of rows
// and columns together. The sequence is
//
//	c, err := coloring.Greedy{}.Color(pattern, coloring.Problem{})
//	d, err := c.Decompressor(coloring.Full)
//	// one product A·s per colour, s = c.ColumnSeed(nil, color), into col
//	d.Decompress(values, col, c.Forward(), nil, 0)
//
// with these problems, colourings computed by [Greedy], and checks of the result that share no code with them:
//
//	structure     partition      decompression  colouring            check
//	nonsymmetric  column         direct         partial distance-2   StructurallyOrthogonalColumns
//	nonsymmetric  row            direct         partial distance-2   StructurallyOrthogonalRows
//	symmetric     column         direct         star                 SymmetricallyOrthogonalColumns
//	symmetric     column         substitution   acyclic              SubstitutableColumns
//	nonsymmetric  bidirectional  direct         star, bipartite      StructurallyBiorthogonal
//	nonsymmetric  bidirectional  substitution   acyclic, bipartite   SubstitutableBidirectional
//
// The diagonal of a symmetric matrix is taken for nonzero when colours are chosen, whether the pattern has it or not.
//
// Colours count from 1. Colour 0 is neutral: its columns and rows take part in no product. Columns (rows) without
// entries get it, and with Greedy.Postprocess also those whose product is not needed.
//
// The notions are those of Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph coloring for computing
// derivatives", SIAM Review 47 (2005), and, for two directions at once, of Coleman and Verma, "The efficient
// computation of sparse Jacobian matrices using automatic differentiation", SIAM J. Sci. Comput. 19 (1998).
package coloring

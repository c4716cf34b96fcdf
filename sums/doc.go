// Package sums differentiates sums over data, Σᵢ loss(x, rowᵢ), with respect to x: values, gradients, products with
// Hessians, and Gauss–Newton matrices, over more rows than fit in memory, by several goroutines or processes.
//
//	type Batch struct{ X, Y []float64 }
//
//	func loss(x []float64, b *Batch) float64 // the sum over the rows of b
//
//	term := sums.Loss(loss, source.Reverse{}, sums.Options[Batch]{Rows: func(b *Batch) int { return len(b.Y) }})
//	local := sums.NewLocal(term, data, nil)
//	sum, err := local.Sum(ctx, sums.At(x, true))
//	fmt.Println(sum.Value(0), sum.Gradient(nil, 0))
//
// # What is summed
//
// A block is a value of a type of the user's, with one row or many; a few hundred rows hide the cost around a call of
// the function. [Loss] makes a [Term] of a function with one output, [Residuals] of one with several, whose squares are
// summed. A [Query] says at which points, and with which derivatives: the trial points of a line search or a block of
// directions cost one pass over the data.
//
// # Where the rows come from
//
// A [Source] has parts, which are read by several goroutines: [Slice] has blocks in memory, [Lines] and [Records] read
// files, and [Stream] an iterator. [Local] sums in this process; anything that sums elsewhere is an [Evaluator] too,
// and may work with [Worker], [Sum.Merge] and the encodings of [Query] and [Sum]. An [Objective] makes a function of
// one of them, for a solver; package optim/gonumopt passes it on to gonum.
//
// # Accuracy
//
// Sums of blocks are added with compensation: results for other divisions into blocks and parts differ in the last
// bits, and for one division they have the same bits, however many workers there are.
//
// # Bad rows
//
// A row at which the function fails or is not finite ends the sum with a *[RowError], or is left out and listed, see
// [Policy]. Beside every error the sum has all rows before it.
package sums

package engine

import "fmt"

// BatchSize returns the number of directions per sweep if n are needed in all and a sweep carries at most most of them:
// n if that suffices, otherwise the size of the fewest batches of nearly equal size, so that the last one is not nearly
// empty. It is 1 if n is 0. Every engine that chooses its chunks chooses them by
// it; generated code has four lanes, whatever n is.
func BatchSize(n, most int) int {
	if n <= most {
		return max(n, 1)
	}
	batches := (n + most - 1) / most
	return (n + batches - 1) / batches
}

// Batches divides N directions into Count batches of Size, the last of which has Last directions if Size does not
// divide N, and Size otherwise.
type Batches struct{ N, Size, Count, Last int }

// NewBatches returns the batches of n directions if size are in each. The error is a *[ShapeError] if size is less than
// 1, or greater than n, unless n is 0.
func NewBatches(n, size int) (Batches, error) {
	switch {
	case n < 0:
		return Batches{}, &ShapeError{Op: "NewBatches", Arg: "n", Got: n, Want: 0}
	case size < 1 || n > 0 && size > n:
		return Batches{}, &ShapeError{Op: "NewBatches", Arg: fmt.Sprintf("size, of %d directions,", n), Got: size,
			Want: max(1, min(size, n))}
	}
	b := Batches{N: n, Size: size, Count: (n + size - 1) / size}
	if b.Last = n % size; b.Last == 0 && n > 0 {
		b.Last = size
	}
	return b, nil
}

// Single reports whether one batch has all directions.
func (b Batches) Single() bool { return b.Count <= 1 }

// Aligned reports whether all batches have the same size.
func (b Batches) Aligned() bool { return b.N%b.Size == 0 }

// PickBatches returns the batches of n directions on b, as many in each as [LanesOf] says.
func PickBatches(b Backend, n int) Batches {
	batches, err := NewBatches(n, LanesOf(b, n))
	if err != nil {
		panic("engine: PickBatches: " + err.Error()) // LanesOf is between 1 and n
	}
	return batches
}

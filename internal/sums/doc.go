// Package sums has partial sums over rows of data, Σᵢ loss(x, rowᵢ), with derivatives: a [Query] says what is summed at
// which points, and a [Sum] has the numbers, compensated for rounding errors. Sums for one query merge, in any
// grouping, and both are encoded as bytes, for other processes.
package sums

// Package sums computes sums over rows of data, Σᵢ loss(x, rowᵢ), with derivatives.
package sums

// Package direct solves systems with sparse matrices by factorisation.
package direct

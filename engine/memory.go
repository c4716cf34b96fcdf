package engine

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/nabla-ad/nabla/internal/core"
)

// DefaultMemory is the number of bytes that a matrix, or what a plan needs, may take where
// neither Policy.Memory nor the Go runtime has a limit. A dense matrix of that size has
// 32768 rows and columns.
const DefaultMemory = 8 << 30

// MemoryLimit is the number of bytes that a matrix of derivatives of f, or what computes
// it, may take: Policy.Memory, or else the runtime's limit (GOMEMLIMIT), or else
// DefaultMemory.
func (f *Function) MemoryLimit() int64 {
	if f.policy.Memory > 0 {
		return f.policy.Memory
	}
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return n
	}
	return DefaultMemory
}

// TooLarge is the error for something that takes more bytes than the limit.
func TooLarge(what string, bytes, limit int64) error {
	return &core.LimitError{What: what, Memory: limit, Bytes: int(min(bytes, math.MaxInt))}
}

// MatrixBytes is the memory of a dense r×c matrix, or the largest number.
func MatrixBytes(r, c int) int64 {
	if c > 0 && int64(r) > math.MaxInt64/8/int64(c) {
		return math.MaxInt64
	}
	return 8 * int64(r) * int64(c)
}

// Affords is the error where a dense r×c matrix would take more than MemoryLimit.
func (f *Function) Affords(r, c int) error {
	limit := f.MemoryLimit()
	if need := MatrixBytes(r, c); need > limit {
		return TooLarge(fmt.Sprintf("a dense matrix of %d×%d", r, c), need, limit)
	}
	return nil
}

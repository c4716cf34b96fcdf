package engine

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/nabla-ad/nabla/internal/core"
)

// DefaultMemory is the memory limit in bytes for a matrix, or for the data of a plan, if neither Policy.Memory nor the
// Go runtime sets one. A dense matrix of that size has 32768 rows and columns.
const DefaultMemory = 8 << 30

// MemoryLimit returns the number of bytes that a matrix of derivatives of f, or the data to compute it, may take:
// Policy.Memory, otherwise the limit of the runtime (GOMEMLIMIT), otherwise DefaultMemory.
func (f *Function) MemoryLimit() int64 {
	if f.policy.Memory > 0 {
		return f.policy.Memory
	}
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return n
	}
	return DefaultMemory
}

// TooLarge returns a *[LimitError] for data, described by the first argument, that takes more bytes than the limit.
func TooLarge(what string, bytes, limit int64) error {
	return &core.LimitError{What: what, Memory: limit, Bytes: int(min(bytes, math.MaxInt))}
}

// MatrixBytes returns the size in bytes of a dense r×c matrix, or math.MaxInt64 if it overflows.
func MatrixBytes(r, c int) int64 {
	if c > 0 && int64(r) > math.MaxInt64/8/int64(c) {
		return math.MaxInt64
	}
	return 8 * int64(r) * int64(c)
}

// Affords returns a *[LimitError] if a dense r×c matrix would take more than MemoryLimit, and nil otherwise.
func (f *Function) Affords(r, c int) error {
	limit := f.MemoryLimit()
	if need := MatrixBytes(r, c); need > limit {
		return TooLarge(fmt.Sprintf("a dense matrix of %d×%d", r, c), need, limit)
	}
	return nil
}

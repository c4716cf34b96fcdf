//go:build goexperiment.simd && amd64

package avx

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// Ready reports whether the processor supports the instructions of this package and of its callers.
func Ready() bool { return archsimd.X86.AVX2() }

// Get returns the vector with the number at p in each lane. It overwrites *via.
func Get(p *float64, via *[4]float64) archsimd.Float64x4 {
	return of(*(*uint64)(unsafe.Pointer(p)), via)
}

// of returns the vector with the number of bits x in each lane. Storing it completes the broadcast:
// a vector of half the size that waits for registers would be spilled by a scalar instruction.
func of(x uint64, via *[4]float64) archsimd.Float64x4 {
	archsimd.BroadcastUint64x4(x).AsFloat64x4().Store(via)
	return archsimd.LoadFloat64x4(via)
}

// Put stores at p the number that all lanes of x hold. It overwrites *via.
func Put(p *float64, x archsimd.Float64x4, via *[4]float64) {
	x.Store(via)
	*(*uint64)(unsafe.Pointer(p)) = *(*uint64)(unsafe.Pointer(via))
}

// Int returns the vector with float64(i) in each lane. It overwrites *via.
func Int(i int64, via *[4]float64) archsimd.Float64x4 { return of(float(uint64(i)), via) }

// float returns the bits of float64(int64(i)), computed with integers alone.
func float(i uint64) uint64 {
	sign := i & (1 << 63)
	if sign != 0 {
		i = -i
	}
	n := bits.Len64(i)
	if n == 0 {
		return 0
	}
	if n <= 53 { // the highest bit adds one to the exponent
		return sign | (uint64(n+1021)<<52 + i<<(53-n))
	}
	cut := n - 53
	half := uint64(1) << (cut - 1)
	rest := i & (2*half - 1)
	i >>= cut
	if rest > half || rest == half && i&1 == 1 {
		i++
	}
	return sign | (uint64(n+1021)<<52 + i)
}

// signs and values are masks, in memory as they are needed: to make them takes half a vector.
var (
	// signs and values are masks, kept in memory since constructing them takes vectors of half the
	// size.
	signs  = [4]uint64{1 << 63, 1 << 63, 1 << 63, 1 << 63}
	values = [4]uint64{1<<63 - 1, 1<<63 - 1, 1<<63 - 1, 1<<63 - 1}
)

// Neg returns -x.
func Neg(x archsimd.Float64x4) archsimd.Float64x4 {
	return x.AsUint64x4().Xor(archsimd.LoadUint64x4(&signs)).AsFloat64x4()
}

// Abs returns the absolute value of x.
func Abs(x archsimd.Float64x4) archsimd.Float64x4 {
	return x.AsUint64x4().And(archsimd.LoadUint64x4(&values)).AsFloat64x4()
}

//go:build goexperiment.simd && amd64

package avx

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// Ready reports whether the processor can do what this package and the code that calls it
// does.
func Ready() bool { return archsimd.X86.AVX2() }

// Get is the vector of the number at p. It goes through the memory at via.
func Get(p *float64, via *[4]float64) archsimd.Float64x4 {
	return of(*(*uint64)(unsafe.Pointer(p)), via)
}

// of is the vector of a number of which x are the bits. That it is stored makes it one at
// once: half a vector that waits for registers would be put aside as a number.
func of(x uint64, via *[4]float64) archsimd.Float64x4 {
	archsimd.BroadcastUint64x4(x).AsFloat64x4().Store(via)
	return archsimd.LoadFloat64x4(via)
}

// Put stores at p the number that all lanes of x are. It goes through the memory at via.
func Put(p *float64, x archsimd.Float64x4, via *[4]float64) {
	x.Store(via)
	*(*uint64)(unsafe.Pointer(p)) = *(*uint64)(unsafe.Pointer(via))
}

// Int is the vector of float64(i). It goes through the memory at via.
func Int(i int64, via *[4]float64) archsimd.Float64x4 { return of(float(uint64(i)), via) }

// float are the bits of float64(int64(i)), found by integers alone.
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
	signs  = [4]uint64{1 << 63, 1 << 63, 1 << 63, 1 << 63}
	values = [4]uint64{1<<63 - 1, 1<<63 - 1, 1<<63 - 1, 1<<63 - 1}
)

// Neg is -x.
func Neg(x archsimd.Float64x4) archsimd.Float64x4 {
	return x.AsUint64x4().Xor(archsimd.LoadUint64x4(&signs)).AsFloat64x4()
}

// Abs is the absolute value of x.
func Abs(x archsimd.Float64x4) archsimd.Float64x4 {
	return x.AsUint64x4().And(archsimd.LoadUint64x4(&values)).AsFloat64x4()
}

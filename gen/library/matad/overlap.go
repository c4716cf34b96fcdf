package matad

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
)

// The tests of package mat whether the memory of a receiver is that of an argument. They panic where the originals do.
// Code over Reals follows the functions whose names end in Plain, which compare the addresses of elements.

// The panics of package mat.
const (
	identical        = "mat: bad region: identical"
	overlap          = "mat: bad region: overlap"
	differentStrides = "mat: bad region: different strides"
)

// distance returns how many numbers b begins behind a. Both have memory.
func distance(a, b []float64) int {
	p, q := unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	return int(uintptr(q)-uintptr(p)) / int(unsafe.Sizeof(float64(0)))
}

// offset is like within, by the addresses of the memory.
func offset(a, b []float64) (off int, ok bool) {
	if cap(a) == 0 || cap(b) == 0 {
		return 0, false
	}
	off = distance(a, b)
	return off, off == 0 || -len(b) < off && off < len(a)
}

// CheckOverlap panics if the matrices a and b overlap.
//
//nabla:passive
func CheckOverlap(a, b blas64.General) {
	if off, ok := offset(a.Data, b.Data); ok {
		checkOverlap(a, b, off)
	}
}

// CheckOverlapPlain panics if the matrices a and b overlap.
func CheckOverlapPlain(a, b blas64.General) {
	if off, ok := within(a.Data, b.Data); ok {
		checkOverlap(a, b, off)
	}
}

// within returns how many numbers b begins behind a, and whether it begins within a, or a within b.
func within(a, b []float64) (off int, ok bool) {
	if cap(a) == 0 || cap(b) == 0 {
		return 0, false
	}
	a, b = a[:max(len(a), 1)], b[:max(len(b), 1)]
	for i := 0; i < len(a); i++ {
		if &a[i] == &b[0] {
			return i, true
		}
	}
	for i := 1; i < len(b); i++ {
		if &b[i] == &a[0] {
			return -i, true
		}
	}
	return 0, false
}

// checkOverlap panics if the matrices a and b overlap, of which b begins off numbers behind a.
func checkOverlap(a, b blas64.General, off int) {
	if off == 0 {
		if a.Rows == b.Rows && a.Cols == b.Cols && a.Stride == b.Stride {
			panic(identical)
		}
		panic(overlap)
	}
	if a.Stride != b.Stride && a.Stride != 1 && b.Stride != 1 {
		panic(differentStrides)
	}
	first, second := a.Cols, b.Cols
	if off < 0 {
		off, first, second = -off, second, first
	}
	if rectanglesOverlap(off, first, second, min(a.Stride, b.Stride)) {
		panic(overlap)
	}
}

// rectanglesOverlap reports whether two matrices with the same stride share elements. They have the given numbers of
// columns, and the second begins off numbers behind the first and within it.
func rectanglesOverlap(off, first, second, stride int) bool {
	if stride == 1 {
		return true
	}
	from := off % stride
	to := (from + second) % stride
	return to != 0 && to <= from || from < first
}

// CheckOverlapVec panics if the vectors a and b overlap.
//
//nabla:passive
func CheckOverlapVec(a, b blas64.Vector) {
	if off, ok := offset(a.Data, b.Data); ok {
		checkOverlapVec(a, b, off)
	}
}

// CheckOverlapVecPlain panics if the vectors a and b overlap.
func CheckOverlapVecPlain(a, b blas64.Vector) {
	if off, ok := within(a.Data, b.Data); ok {
		checkOverlapVec(a, b, off)
	}
}

// checkOverlapVec panics if the vectors a and b overlap, of which b begins off numbers behind a.
func checkOverlapVec(a, b blas64.Vector, off int) {
	if off == 0 {
		if a.Inc == b.Inc && len(a.Data) == len(b.Data) {
			panic(identical)
		}
		panic(overlap)
	}
	if a.Inc != b.Inc && a.Inc != 1 && b.Inc != 1 {
		panic(differentStrides)
	}
	if inc := min(a.Inc, b.Inc); inc == 1 || off&inc == 0 {
		panic(overlap)
	}
}

// Offset returns how many numbers the memory of b begins behind that of a. Both have elements.
//
//nabla:passive
func Offset(a, b blas64.General) int { return distance(a.Data, b.Data) }

// OffsetPlain is Offset if a begins within b, or b within a, and another positive number otherwise.
func OffsetPlain(a, b blas64.General) int {
	if off, ok := within(a.Data, b.Data); ok {
		return off
	}
	return 1
}

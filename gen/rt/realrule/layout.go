package realrule

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/nabla-ad/nabla"
)

// An extent is the memory of a slice of Reals: addresses in units of a Real.
type extent struct {
	from, to uintptr
	missing  bool // it is nil
}

func extentOf(s []nabla.Real) extent {
	if len(s) == 0 {
		return extent{missing: s == nil}
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(s))) / unsafe.Sizeof(nabla.Real{})
	return extent{from: at, to: at + uintptr(len(s))}
}

// A layout tells how the slices of a call lie in memory. Regions are the connected parts of the memory of all slices.
type layout struct {
	places []place // by slice
	sizes  []int   // by region
	starts []int   // by region: its place in all memory
	size   int     // of all memory
}

// A place is that of a slice: n numbers of a region. The region of an empty slice is negative.
type place struct {
	region, at, n int
	missing       bool
}

// layoutOf returns the layout of list. Slices that have an element in common are in one region.
func layoutOf(of [][]nabla.Real) layout {
	l := layout{places: make([]place, len(of))}
	list, order := make([]extent, len(of)), make([]int, 0, len(of))
	for i, s := range of {
		e := extentOf(s)
		list[i] = e
		l.places[i] = place{region: -1, missing: e.missing}
		if e.to > e.from {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(list[i].from, list[j].from) })
	var start, end uintptr
	for _, i := range order {
		e := list[i]
		if len(l.sizes) == 0 || e.from >= end {
			start, end = e.from, e.from
			l.sizes = append(l.sizes, 0)
		}
		end = max(end, e.to)
		k := len(l.sizes) - 1
		l.sizes[k] = int(end - start)
		l.places[i] = place{region: k, at: int(e.from - start), n: int(e.to - e.from)}
	}
	for _, n := range l.sizes {
		l.starts = append(l.starts, l.size)
		l.size += n
	}
	return l
}

// text returns a text that is equal for equal layouts.
func (l layout) text() string {
	var text []byte
	for _, at := range l.places {
		for _, k := range []int{at.region, at.at, at.n} {
			text = binary.AppendVarint(text, int64(k))
		}
		if at.missing {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
	}
	return string(text)
}

// memoryAt returns the part of all memory that is slice i.
func memoryAt[T any](l layout, all []T, i int) []T {
	at := l.places[i]
	if at.region < 0 {
		return all[:0:0]
	}
	from := l.starts[at.region] + at.at
	return all[from : from+at.n : from+at.n]
}

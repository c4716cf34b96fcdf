package export

import (
	"fmt"
	"slices"
	"strings"
)

// An index is the element of a class, of inputs, or of outputs that each iteration of a loop reads or writes: start +
// i·stride, or start + table[i]. In a sum with an inner loop it is start + i·stride + k·inner for term k, or start +
// table[i·terms+k].
type index struct {
	start, stride, inner int
	table                []int
}

// indexOf returns the index with the elements of list, of which each iteration has so many, its terms.
func indexOf(list []int, terms int) index {
	at := index{start: list[0]}
	if terms > 1 {
		at.inner = list[1] - list[0]
	}
	if len(list) > terms {
		at.stride = list[terms] - list[0]
	}
	for i, e := range list {
		if e != at.of(i/terms, i%terms, terms) {
			return tableOf(list)
		}
	}
	return at
}

func tableOf(list []int) index {
	at := index{start: slices.Min(list), table: make([]int, len(list))}
	for i, e := range list {
		at.table[i] = e - at.start
	}
	return at
}

// of returns the element of iteration i, or of term k of terms in it.
func (at index) of(i, k, terms int) int {
	if at.table != nil {
		return at.start + at.table[i*terms+k]
	}
	return at.start + i*at.stride + k*at.inner
}

// span returns the least element and the number of elements up to the greatest one, of n iterations with so many terms.
func (at index) span(n, terms int) (least, width int) {
	if at.table != nil {
		return at.start, slices.Max(at.table) + 1
	}
	lo, hi := at.start, at.start
	for _, last := range []int{(n - 1) * at.stride, (terms - 1) * at.inner} {
		lo, hi = lo+min(last, 0), hi+max(last, 0)
	}
	return lo, hi - lo + 1
}

// identity reports whether iteration i has element i.
func (at index) identity() bool { return at.start == 0 && at.stride == 1 && at.table == nil }

// run reports whether the elements are one after another.
func (at index) run() bool { return at.stride == 1 && at.table == nil }

// expression returns the element of iteration i and term k, less base; table names that of a table.
func (at index) expression(base, terms int, table func([]int) string) string {
	var b strings.Builder
	offset := at.start - base
	if at.table != nil {
		i := "i"
		if terms > 1 {
			i = fmt.Sprintf("%d*i + k", terms)
		}
		fmt.Fprintf(&b, "%s[%s]", table(at.table), i)
	} else {
		for _, t := range []struct {
			by   int
			name string
		}{{at.stride, "i"}, {at.inner, "k"}} {
			if t.by == 0 {
				continue
			}
			if t.by < 0 && b.Len() == 0 {
				fmt.Fprintf(&b, "%d", offset)
				offset = 0
			}
			sign := " + "
			if t.by < 0 {
				sign = " - "
			}
			if b.Len() > 0 {
				b.WriteString(sign)
			}
			if by := max(t.by, -t.by); by > 1 {
				fmt.Fprintf(&b, "%d*", by)
			}
			b.WriteString(t.name)
		}
	}
	switch {
	case b.Len() == 0:
		fmt.Fprintf(&b, "%d", offset)
	case offset != 0:
		fmt.Fprintf(&b, " + %d", offset)
	}
	return b.String()
}

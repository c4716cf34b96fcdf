package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// tables are the constant arrays of an exported file, each once.
type tables struct {
	prefix string // of their names
	list   []table
	known  map[string]string // elements → name
}

type table struct {
	typ, name, elements string
	n                   int
}

// add returns the name of the array with these elements.
func (t *tables) add(typ, elements string) string {
	if name, ok := t.known[typ+elements]; ok {
		return name
	}
	name := fmt.Sprintf("%sTable%d", t.prefix, len(t.list))
	if t.known == nil {
		t.known = map[string]string{}
	}
	t.known[typ+elements] = name
	t.list = append(t.list, table{typ, name, elements, strings.Count(elements, ",") + 1})
	return name
}

// has reports whether s may be the name of a table with a prefix.
func (*tables) has(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix+"Table")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// source returns the declarations, in a format with the type, the name, the length and the elements.
func (t *tables) source(format string) string {
	var b strings.Builder
	for _, x := range t.list {
		fmt.Fprintf(&b, format, x.typ, x.name, x.n, x.elements)
	}
	return b.String()
}

// integerType returns the first of three types, for numbers of 1, 2 and 4 bytes, that has room for list.
func integerType(list []int, one, two, four string) string {
	switch top := slices.Max(list); {
	case top <= math.MaxUint8:
		return one
	case top <= math.MaxUint16:
		return two
	}
	return four
}

// integers returns a list of numbers with line breaks.
func integers(list []int) string { return texts(list, strconv.Itoa) }

// texts returns a list with line breaks.
func texts[T any](list []T, text func(T) string) string {
	var b strings.Builder
	column := 0
	for i, v := range list {
		s := text(v)
		switch {
		case i > 0 && (i%20 == 0 || column+len(s) > 100):
			b.WriteString(",\n\t")
			column = 0
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(s)
		column += len(s) + 2
	}
	return b.String()
}

package activity

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A Mask is a set of parameters or results, by index. Masks are compared with ==; the zero value is the empty set.
type Mask struct{ bits string } // bit i is bit i%8 of byte i/8; the last byte is not 0

// Bits returns the set of i such that bit i of n is set.
func Bits(n uint64) Mask {
	return Mask{strings.TrimRight(string(binary.LittleEndian.AppendUint64(nil, n)), "\x00")}
}

// Has reports whether m contains i.
func (m Mask) Has(i int) bool { return i/8 < len(m.bits) && m.bits[i/8]>>(i%8)&1 == 1 }

// With returns the union of m and {i}.
func (m Mask) With(i int) Mask {
	b := make([]byte, max(len(m.bits), i/8+1))
	copy(b, m.bits)
	b[i/8] |= 1 << (i % 8)
	return Mask{string(b)}
}

// Or returns the union of m and n.
func (m Mask) Or(n Mask) Mask {
	if len(m.bits) < len(n.bits) {
		m, n = n, m
	}
	b := []byte(m.bits)
	for i := range len(n.bits) {
		b[i] |= n.bits[i]
	}
	return Mask{string(b)}
}

// Empty reports whether m is the empty set.
func (m Mask) Empty() bool { return m.bits == "" }

// Uint64 returns the elements of m below 64 in the form that [Bits] takes. Larger ones are dropped.
func (m Mask) Uint64() uint64 {
	var b [8]byte
	copy(b[:], m.bits)
	return binary.LittleEndian.Uint64(b[:])
}

// String returns m as a binary number, or as a hexadecimal one with the prefix x if it has elements of 64 or more.
// Names of generated functions contain it.
func (m Mask) String() string {
	if len(m.bits) <= 8 {
		return strconv.FormatUint(m.Uint64(), 2)
	}
	b := []byte(m.bits)
	slices.Reverse(b)
	return "x" + strings.TrimLeft(hex.EncodeToString(b), "0")
}

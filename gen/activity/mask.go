package activity

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Mask is a set of parameters or results, by their numbers. Masks compare with ==, and the zero value is the empty one.
type Mask struct{ bits string } // bit i is bit i%8 of byte i/8; the last byte is not 0

// Bits returns the mask of the bits of n, the first in bit 0.
func Bits(n uint64) Mask {
	return Mask{strings.TrimRight(string(binary.LittleEndian.AppendUint64(nil, n)), "\x00")}
}

// Has reports whether i is in the mask.
func (m Mask) Has(i int) bool { return i/8 < len(m.bits) && m.bits[i/8]>>(i%8)&1 == 1 }

// With returns the mask with i.
func (m Mask) With(i int) Mask {
	b := make([]byte, max(len(m.bits), i/8+1))
	copy(b, m.bits)
	b[i/8] |= 1 << (i % 8)
	return Mask{string(b)}
}

// Or returns the mask of what is in m or n.
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

// Empty reports whether nothing is in the mask.
func (m Mask) Empty() bool { return m.bits == "" }

// Uint64 returns what is in the mask below 64, as [Bits] takes it.
func (m Mask) Uint64() uint64 {
	var b [8]byte
	copy(b[:], m.bits)
	return binary.LittleEndian.Uint64(b[:])
}

// String returns the mask as a binary number, or as a hexadecimal one with an x in front if it has more than 64 bits.
func (m Mask) String() string {
	if len(m.bits) <= 8 {
		return strconv.FormatUint(m.Uint64(), 2)
	}
	b := []byte(m.bits)
	slices.Reverse(b)
	return "x" + strings.TrimLeft(hex.EncodeToString(b), "0")
}

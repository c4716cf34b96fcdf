package sums

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"gonum.org/v1/gonum/mat"
)

// The encoding: four bytes of magic and version, unsigned and signed varints, numbers as eight bytes in little-endian
// order, and the CRC-32 (IEEE) of all before.
const (
	sumMagic   = "nsm1"
	queryMagic = "nsq1"
)

// maxDimension bounds each decoded dimension, so that products of two do not overflow.
const maxDimension = 1 << 28

// MarshalBinary returns s as bytes: about 16 bytes a number.
func (s *Sum) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends the bytes of MarshalBinary to b.
func (s *Sum) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, sumMagic...)
	b = appendShape(b, s.shape)
	b = binary.LittleEndian.AppendUint64(b, s.query)
	b = binary.AppendVarint(b, s.Rows)
	b = binary.AppendVarint(b, s.BadRows)
	bad := s.Bad[:min(len(s.Bad), MaxBad)]
	b = binary.AppendUvarint(b, uint64(len(bad)))
	for _, x := range bad {
		b = binary.AppendVarint(b, x.Row)
		b = binary.AppendVarint(b, x.Rows)
		reason := x.Reason[:min(len(x.Reason), maxReason)]
		b = binary.AppendUvarint(b, uint64(len(reason)))
		b = append(b, reason...)
	}
	b = appendNumbers(appendNumbers(b, s.hi), s.lo)
	return appendCheck(b, start), nil
}

func appendShape(b []byte, s shape) []byte {
	for _, x := range []int{s.points, s.n, s.directions} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	var flags byte
	if s.gradient {
		flags |= 1
	}
	if s.gaussNewton {
		flags |= 2
	}
	return append(b, flags)
}

func appendNumbers(b []byte, v []float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func appendCheck(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// A decoder reads bytes; the first problem stays.
type decoder struct {
	what string
	b    []byte
	err  error
}

// newDecoder checks the frame of b.
func newDecoder(what, magic string, b []byte) *decoder {
	d := &decoder{what: what, b: b}
	switch end := len(b) - 4; {
	case end < len(magic):
		d.fail("%d bytes are too few", len(b))
	case string(b[:3]) != magic[:3]:
		d.fail("the bytes begin with %q, want %q", b[:3], magic[:3])
	case b[3] != magic[3]:
		d.fail("version %q of the encoding, this program reads version %q", b[3], magic[3])
	case crc32.ChecksumIEEE(b[:end]) != binary.LittleEndian.Uint32(b[end:]):
		d.fail("the checksum differs: the bytes are damaged")
	default:
		d.b = b[len(magic):end]
	}
	return d
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &FormatError{What: d.what, Problem: fmt.Sprintf(format, args...)}
		d.b = nil
	}
}

func (d *decoder) uvarint(most uint64) int {
	x, k := binary.Uvarint(d.b)
	if k <= 0 || x > most {
		d.fail("a length is missing or above %d", most)
		return 0
	}
	d.b = d.b[k:]
	return int(x)
}

func (d *decoder) count() int64 {
	x, k := binary.Varint(d.b)
	if k <= 0 || x < 0 {
		d.fail("a number of rows is missing or negative")
		return 0
	}
	d.b = d.b[k:]
	return x
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail("the bytes end early")
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) shape() (s shape) {
	s.points = d.uvarint(maxDimension)
	s.n = d.uvarint(maxDimension)
	s.directions = d.uvarint(maxDimension)
	if b := d.take(1); b != nil {
		if b[0] > 3 {
			d.fail("unknown flags %#x", b[0])
		}
		s.gradient, s.gaussNewton = b[0]&1 != 0, b[0]&2 != 0
	}
	if (s.points == 0 || s.n == 0) && s != (shape{}) {
		d.fail("no points or parameters, but directions or derivatives")
	}
	return s
}

// words checks that exactly so many numbers are left.
func (d *decoder) words(want int64) {
	if d.err == nil && (len(d.b)%8 != 0 || int64(len(d.b)/8) != want) {
		d.fail("%d bytes of numbers, want %d numbers", len(d.b), want)
	}
}

func (d *decoder) numbers(v []float64) {
	for i, b := 0, d.take(8*len(v)); i < len(v) && b != nil; i++ {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// UnmarshalBinary makes s the sum that b encodes. b is not kept.
//
// A *[FormatError] says what is wrong with the bytes; s is not modified then.
func (s *Sum) UnmarshalBinary(b []byte) error {
	d := newDecoder("Sum", sumMagic, b)
	t := Sum{shape: d.shape()}
	if w := d.take(8); w != nil {
		t.query = binary.LittleEndian.Uint64(w)
	}
	t.Rows, t.BadRows = d.count(), d.count()
	for range d.uvarint(MaxBad) {
		bad := Bad{Row: d.count(), Rows: d.count()}
		bad.Reason = string(d.take(d.uvarint(maxReason)))
		t.Bad = append(t.Bad, bad)
	}
	p, n, k := int64(t.shape.points), int64(t.shape.n), int64(t.shape.directions)
	size := p + k*n
	if t.shape.gradient {
		size += p * n
	}
	if t.shape.gaussNewton {
		size += n * (n + 1) / 2
	}
	if d.words(2 * size); d.err != nil {
		return d.err
	}
	t.hi, t.lo = make([]float64, size), make([]float64, size)
	d.numbers(t.hi)
	d.numbers(t.lo)
	*s = t
	return nil
}

// MarshalBinary returns q as bytes, about 8 bytes a number, for a worker in another process.
//
// An error is one of the dimensions of q.
func (q *Query) MarshalBinary() ([]byte, error) {
	s, err := q.shape()
	if err != nil {
		return nil, err
	}
	b := appendShape([]byte(queryMagic), s)
	for i := range s.points {
		b = appendNumbers(b, q.X.RawRowView(i))
	}
	if s.directions > 0 {
		for i := range s.n {
			b = appendNumbers(b, q.V.RawRowView(i))
		}
	}
	return appendCheck(b, 0), nil
}

// UnmarshalBinary makes q the query that b encodes. b is not kept.
//
// A *[FormatError] says what is wrong with the bytes; q is not modified then.
func (q *Query) UnmarshalBinary(b []byte) error {
	d := newDecoder("Query", queryMagic, b)
	s := d.shape()
	if d.err == nil && s.points == 0 {
		d.fail("no points")
	}
	d.words(int64(s.points)*int64(s.n) + int64(s.directions)*int64(s.n))
	if d.err != nil {
		return d.err
	}
	r := Query{Gradient: s.gradient, GaussNewton: s.gaussNewton}
	x := make([]float64, s.points*s.n)
	d.numbers(x)
	r.X = mat.NewDense(s.points, s.n, x)
	if s.directions > 0 {
		v := make([]float64, s.directions*s.n)
		d.numbers(v)
		r.V = mat.NewDense(s.n, s.directions, v)
	}
	*q = r
	return nil
}

// Package snapshot serialises all memory reachable from a struct, to find out whether any of it has changed.
//
// A recording of a plain function holds values read from its bound struct as constants, so it is valid only as long as
// the struct and the memory reachable from it stay the same. Two snapshots are equal if they do. A snapshot holds the
// addresses of references besides the contents of their targets, so that it differs if memory is shared in another way.
package snapshot

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// A Writer writes snapshots. The zero Writer is ready for use. Its snapshots are comparable only with each other, and
// it
// must not be used by several goroutines at a time.
type Writer struct {
	types  map[reflect.Type]*content
	seen   map[visit]struct{} // references followed in the snapshot under way: cycles of pointers end
	serial uint64             // numbers the values that cannot be compared
}

// A visit is a reference that has been followed: a pointer, or a slice of n elements.
type visit struct {
	at  unsafe.Pointer
	typ reflect.Type
	n   int
}

// A content describes the memory of values of a type.
type content struct {
	kind   reflect.Kind
	flat   bool       // no references but strings
	spans  []span     // the memory without padding, nil if the type has references
	whole  bool       // one span without padding
	skip   []bool     // for each field of a struct: is it tagged nabla:"fixed"?
	fields []*content // of a struct
	elem   *content   // of an array, slice or pointer
}

// A span is a range of bytes within a value. Bytes between spans are padding, with arbitrary contents.
type span struct{ off, size uintptr }

// maxSpans limits the spans of a type. The elements of longer arrays with padding are written one by one.
const maxSpans = 64

// Append appends the snapshot of v, a struct, to dst and returns the extended slice. Fields with the tag nabla:"fixed"
// are left out. If a function, a channel, an unsafe pointer or a map with references is reachable, the snapshot differs
// from all others, since these cannot be compared. Append does not allocate if dst is long enough and no map is
// reachable. Its time is linear in the size of the memory.
func (s *Writer) Append(dst []byte, v reflect.Value) []byte {
	if s.seen == nil {
		s.seen, s.types = map[visit]struct{}{}, map[reflect.Type]*content{}
	}
	clear(s.seen)
	return s.value(dst, v, s.content(v.Type()))
}

// content returns the description of type t, which it computes once. Recursive types refer to themselves.
func (s *Writer) content(t reflect.Type) *content {
	if c := s.types[t]; c != nil {
		return c
	}
	c := &content{kind: t.Kind()}
	s.types[t] = c // before its parts, which may refer back to t
	switch {
	case PlainMemory(c.kind):
		c.flat, c.spans = true, []span{{0, t.Size()}}
	case c.kind == reflect.String:
		c.flat = true
	case c.kind == reflect.Slice, c.kind == reflect.Pointer:
		c.elem = s.content(t.Elem())
	case c.kind == reflect.Array:
		c.elem = s.content(t.Elem())
		c.flat = c.elem.flat
		switch size := t.Elem().Size(); {
		case c.elem.whole:
			c.spans = []span{{0, t.Size()}}
		case c.elem.spans != nil && t.Len()*len(c.elem.spans) <= maxSpans:
			c.spans = []span{}
			for i := range t.Len() {
				c.spans = joined(c.spans, uintptr(i)*size, c.elem.spans)
			}
		}
	case c.kind == reflect.Struct:
		c.flat, c.spans = true, []span{}
		for i := range t.NumField() {
			f := t.Field(i)
			fixed, e := f.Tag.Get("nabla") == "fixed", s.content(f.Type)
			c.skip, c.fields = append(c.skip, fixed), append(c.fields, e)
			switch {
			case fixed:
				continue
			case e.spans == nil || len(c.spans) > maxSpans:
				c.spans = nil
			case c.spans != nil:
				c.spans = joined(c.spans, f.Offset, e.spans)
			}
			c.flat = c.flat && e.flat
		}
	}
	c.whole = len(c.spans) == 1 && c.spans[0] == span{0, t.Size()}
	return c
}

// joined appends the spans of a part at offset off, joining adjacent ones.
func joined(dst []span, off uintptr, part []span) []span {
	for _, p := range part {
		p.off += off
		if k := len(dst) - 1; k >= 0 && dst[k].off+dst[k].size == p.off {
			dst[k].size += p.size
		} else {
			dst = append(dst, p)
		}
	}
	return dst
}

// memory appends the spans of n consecutive values at p.
func (c *content) memory(dst []byte, p unsafe.Pointer, n int, size uintptr) []byte {
	if c.whole {
		return append(dst, unsafe.Slice((*byte)(p), uintptr(n)*size)...)
	}
	for i := range n {
		for _, sp := range c.spans {
			dst = append(dst, unsafe.Slice((*byte)(unsafe.Add(p, uintptr(i)*size+sp.off)), sp.size)...)
		}
	}
	return dst
}

// number appends v in little-endian order.
func number(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// value appends v, of content c.
func (s *Writer) value(dst []byte, v reflect.Value, c *content) []byte {
	if c.spans != nil && v.CanAddr() {
		return c.memory(dst, unsafe.Pointer(v.UnsafeAddr()), 1, v.Type().Size())
	}
	switch {
	case c.kind == reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case v.CanInt():
		return number(dst, uint64(v.Int()))
	case v.CanUint():
		return number(dst, v.Uint())
	case v.CanFloat():
		return number(dst, math.Float64bits(v.Float()))
	case v.CanComplex():
		z := v.Complex()
		parts := *(*[2]float64)(unsafe.Pointer(&z))
		return number(number(dst, math.Float64bits(parts[0])), math.Float64bits(parts[1]))
	case c.kind == reflect.String:
		return append(number(dst, uint64(v.Len())), v.String()...)
	case c.kind == reflect.Struct:
		for i, skip := range c.skip {
			if !skip {
				dst = s.value(dst, v.Field(i), c.fields[i])
			}
		}
		return dst
	case c.kind == reflect.Array:
		return s.elements(dst, v, c.elem)
	case c.kind == reflect.Slice:
		p := v.UnsafePointer()
		dst = number(number(dst, uint64(uintptr(p))), uint64(v.Len()))
		switch {
		case v.Len() == 0:
			return dst
		case c.elem.spans != nil:
			return c.elem.memory(dst, p, v.Len(), v.Type().Elem().Size())
		case s.visited(visit{p, v.Type(), v.Len()}):
			return dst
		}
		return s.elements(dst, v, c.elem)
	case c.kind == reflect.Pointer:
		dst = number(dst, uint64(uintptr(v.UnsafePointer())))
		if v.IsNil() || s.visited(visit{v.UnsafePointer(), v.Type(), 0}) {
			return dst
		}
		return s.value(dst, v.Elem(), c.elem)
	case c.kind == reflect.Interface:
		if v.IsNil() {
			return append(dst, 0)
		}
		e := v.Elem()
		t := e.Type()
		return s.value(number(append(dst, 1), uint64(reflect.ValueOf(t).Pointer())), e, s.content(t))
	case c.kind == reflect.Map:
		return s.entries(dst, v)
	case v.IsNil():
		return append(dst, 0)
	}
	return s.unique(append(dst, 1)) // a function, a channel or an unsafe pointer
}

// unique appends a number that makes the snapshot differ from all others.
func (s *Writer) unique(dst []byte) []byte {
	s.serial++
	return number(dst, s.serial)
}

// visited reports whether k was followed before, and notes it.
func (s *Writer) visited(k visit) bool {
	if _, ok := s.seen[k]; ok {
		return true
	}
	s.seen[k] = struct{}{}
	return false
}

// elements appends the elements of a slice or array, each of content elem.
func (s *Writer) elements(dst []byte, v reflect.Value, elem *content) []byte {
	for i := range v.Len() {
		dst = s.value(dst, v.Index(i), elem)
	}
	return dst
}

// entries appends the entries of a map in sorted order. A map with references is not comparable.
func (s *Writer) entries(dst []byte, v reflect.Value) []byte {
	dst = number(number(dst, uint64(uintptr(v.UnsafePointer()))), uint64(v.Len()))
	if v.Len() == 0 {
		return dst
	}
	key, elem := s.content(v.Type().Key()), s.content(v.Type().Elem())
	if !key.flat || !elem.flat {
		return s.unique(dst)
	}
	all := make([]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		all = append(all, string(s.value(s.value(nil, it.Key(), key), it.Value(), elem)))
	}
	slices.Sort(all)
	for _, e := range all {
		dst = append(dst, e...)
	}
	return dst
}

// PlainMemory reports whether two values of kind k are equal, bit patterns of numbers included, if their memory is.
func PlainMemory(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128
}

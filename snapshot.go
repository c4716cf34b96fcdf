package nabla

import (
	le "encoding/binary"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// A plain function's struct may hold anything, and what its traced form reads there
// is a constant of the recording. So a recording is good for as long as nothing
// that can be reached from the struct has changed.

// snapshot writes down all memory that can be reached from a struct: contents and
// addresses, so that what shared memory still does. Fields with the tag fixed are
// left out. What cannot be compared, such as a function, makes every snapshot
// differ from all others.
type snapshot struct {
	types  map[reflect.Type]*content
	seen   map[visit]struct{}
	serial uint64
}

// visit is memory that has been written down, so that a ring of pointers has an end.
type visit struct {
	at  unsafe.Pointer
	typ reflect.Type
	n   int
}

// content is what values of a type are made of.
type content struct {
	kind   reflect.Kind
	flat   bool       // no pointers but those of strings
	spans  []span     // all there is, where it is no pointers; nil otherwise
	whole  bool       // one span, without gaps
	skip   []bool     // fields of a struct that are not looked at
	fields []*content // of a struct
	elem   *content   // of an array, slice or pointer
}

// span is memory within a value. What is in the gaps between two is chance.
type span struct{ off, size uintptr }

// maxSpans bounds what is written down of a type: a longer array with gaps is taken
// by its elements.
const maxSpans = 64

// of appends what can be reached from v.
func (s *snapshot) of(dst []byte, v reflect.Value) []byte {
	if s.seen == nil {
		s.seen, s.types = map[visit]struct{}{}, map[reflect.Type]*content{}
	}
	clear(s.seen)
	return s.value(dst, v, s.content(v.Type()))
}

func (s *snapshot) content(t reflect.Type) *content {
	if c := s.types[t]; c != nil {
		return c
	}
	c := &content{kind: t.Kind()}
	s.types[t] = c // before its parts, which may lead back to it
	switch {
	case isBits(c.kind):
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

// joined appends the spans of a part that begins at off.
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

// memory appends the spans of n values of a type from p on.
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

func number(dst []byte, v uint64) []byte { return le.LittleEndian.AppendUint64(dst, v) }

// value appends v, of content c.
func (s *snapshot) value(dst []byte, v reflect.Value, c *content) []byte {
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
		case s.again(visit{p, v.Type(), v.Len()}):
			return dst
		}
		return s.elements(dst, v, c.elem)
	case c.kind == reflect.Pointer:
		dst = number(dst, uint64(uintptr(v.UnsafePointer())))
		if v.IsNil() || s.again(visit{v.UnsafePointer(), v.Type(), 0}) {
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
	return s.unique(append(dst, 1)) // a function, a channel, a pointer to what nobody knows
}

// unique makes the snapshot differ from all others.
func (s *snapshot) unique(dst []byte) []byte {
	s.serial++
	return number(dst, s.serial)
}

// again reports whether k has been written down.
func (s *snapshot) again(k visit) bool {
	if _, ok := s.seen[k]; ok {
		return true
	}
	s.seen[k] = struct{}{}
	return false
}

func (s *snapshot) elements(dst []byte, v reflect.Value, elem *content) []byte {
	for i := range v.Len() {
		dst = s.value(dst, v.Index(i), elem)
	}
	return dst
}

// entries appends a map, whose order is chance. One with pointers in it cannot be
// compared.
func (s *snapshot) entries(dst []byte, v reflect.Value) []byte {
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

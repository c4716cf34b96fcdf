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
	bits bool   // two values are the same where their memory is: no pointers and no gaps
	flat bool   // no pointers but those of strings
	skip []bool // fields of a struct that are not looked at
}

// of appends what can be reached from v.
func (s *snapshot) of(dst []byte, v reflect.Value) []byte {
	if s.seen == nil {
		s.seen, s.types = map[visit]struct{}{}, map[reflect.Type]*content{}
	}
	clear(s.seen)
	return s.value(dst, v)
}

func (s *snapshot) content(t reflect.Type) *content {
	if c := s.types[t]; c != nil {
		return c
	}
	c := new(content)
	s.types[t] = c
	switch k := t.Kind(); {
	case isBits(k):
		c.bits, c.flat = true, true
	case k == reflect.String:
		c.flat = true
	case k == reflect.Array:
		e := s.content(t.Elem())
		c.bits, c.flat = e.bits, e.flat
	case k == reflect.Struct:
		c.bits, c.flat = true, true
		gaps := t.Size()
		for i := range t.NumField() {
			f := t.Field(i)
			fixed, e := f.Tag.Get("nabla") == "fixed", s.content(f.Type)
			c.skip = append(c.skip, fixed)
			c.bits, c.flat = c.bits && e.bits && !fixed, c.flat && (e.flat || fixed)
			gaps -= f.Type.Size()
		}
		c.bits = c.bits && gaps == 0
	}
	return c
}

func number(dst []byte, v uint64) []byte { return le.LittleEndian.AppendUint64(dst, v) }

func (s *snapshot) value(dst []byte, v reflect.Value) []byte {
	t := v.Type()
	c := s.content(t)
	if c.bits && v.CanAddr() {
		return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(v.UnsafeAddr())), t.Size())...)
	}
	switch k := v.Kind(); {
	case k == reflect.Bool:
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
	case k == reflect.String:
		return append(number(dst, uint64(v.Len())), v.String()...)
	case k == reflect.Struct:
		for i, skip := range c.skip {
			if !skip {
				dst = s.value(dst, v.Field(i))
			}
		}
		return dst
	case k == reflect.Array:
		return s.elements(dst, v)
	case k == reflect.Slice:
		p := v.UnsafePointer()
		dst = number(number(dst, uint64(uintptr(p))), uint64(v.Len()))
		switch {
		case s.content(t.Elem()).bits:
			return append(dst, unsafe.Slice((*byte)(p), uintptr(v.Len())*t.Elem().Size())...)
		case s.again(visit{p, t, v.Len()}):
			return dst
		}
		return s.elements(dst, v)
	case k == reflect.Pointer:
		dst = number(dst, uint64(uintptr(v.UnsafePointer())))
		if v.IsNil() || s.again(visit{v.UnsafePointer(), t, 0}) {
			return dst
		}
		return s.value(dst, v.Elem())
	case k == reflect.Interface:
		if v.IsNil() {
			return append(dst, 0)
		}
		e := v.Elem()
		return s.value(number(append(dst, 1), uint64(reflect.ValueOf(e.Type()).Pointer())), e)
	case k == reflect.Map:
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

func (s *snapshot) elements(dst []byte, v reflect.Value) []byte {
	for i := range v.Len() {
		dst = s.value(dst, v.Index(i))
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
	if !s.content(v.Type().Key()).flat || !s.content(v.Type().Elem()).flat {
		return s.unique(dst)
	}
	all := make([]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		all = append(all, string(s.value(s.value(nil, it.Key()), it.Value())))
	}
	slices.Sort(all)
	for _, e := range all {
		dst = append(dst, e...)
	}
	return dst
}

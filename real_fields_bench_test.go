package nabla_test

import "testing"

// flat and nested are numbers with the fields of Real, side by side and as Real has
// them.
type flat struct {
	_  [0]func()
	v  float64
	id int32
	_  uint32
	_  *int
}

type nested struct {
	_ [0]func()
	v float64
	m struct {
		id int32
		_  uint32
	}
	_ *int
}

func (a flat) mul(b flat) flat {
	if a.id|b.id != 0 {
		panic("traced")
	}
	return flat{v: a.v * b.v}
}

func (a flat) add(b flat) flat {
	if a.id|b.id != 0 {
		panic("traced")
	}
	return flat{v: a.v + b.v}
}

func (a nested) mul(b nested) nested {
	if a.m.id|b.m.id != 0 {
		panic("traced")
	}
	return nested{v: a.v * b.v}
}

func (a nested) add(b nested) nested {
	if a.m.id|b.m.id != 0 {
		panic("traced")
	}
	return nested{v: a.v + b.v}
}

// BenchmarkFields multiplies and adds 1000 times, with five fields and with four.
func BenchmarkFields(b *testing.B) {
	b.Run("five", func(b *testing.B) {
		x, s := make([]flat, 1000), flat{}
		for b.Loop() {
			s = flat{}
			for _, v := range x {
				s = s.add(v.mul(v))
			}
		}
		if s.v != 0 {
			b.Fatal(s.v)
		}
	})
	b.Run("four", func(b *testing.B) {
		x, s := make([]nested, 1000), nested{}
		for b.Loop() {
			s = nested{}
			for _, v := range x {
				s = s.add(v.mul(v))
			}
		}
		if s.v != 0 {
			b.Fatal(s.v)
		}
	})
}

package library_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/library"
)

// A check is a function with its derivatives at some arguments. Slices of one array among them share memory.
type check struct {
	name                 string
	f, tangent, pullback any
	args                 []any
	passive              []int
}

// A point is a list of arguments as variables.
type point []reflect.Value

// copyOf returns a copy of p with the same aliases.
func (p point) copyOf() point {
	arrays := map[uintptr]reflect.Value{}
	for _, v := range p {
		findArrays(v, arrays)
	}
	for end, v := range arrays {
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		arrays[end] = c
	}
	out := make(point, len(p))
	for i, v := range p {
		out[i] = reflect.New(v.Type()).Elem()
		out[i].Set(copyValue(v, arrays))
	}
	return out
}

// findArrays collects the arrays behind the slices in v, each from the first element that one of them has, by the
// address of its end.
func findArrays(v reflect.Value, arrays map[uintptr]reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if end := endOf(v); v.Len() > 0 && (!arrays[end].IsValid() || v.Cap() > arrays[end].Len()) {
			arrays[end] = v.Slice(0, v.Cap())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			findArrays(v.Field(i), arrays)
		}
	}
}

// endOf returns the address of the end of the array behind a slice.
func endOf(v reflect.Value) uintptr { return v.Pointer() + uintptr(v.Cap())*v.Type().Elem().Size() }

func copyValue(v reflect.Value, arrays map[uintptr]reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() == 0 {
			return v
		}
		c := arrays[endOf(v)]
		from := c.Len() - v.Cap()
		return c.Slice3(from, from+v.Len(), c.Len())
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			c.Field(i).Set(copyValue(v.Field(i), arrays))
		}
		return c
	}
	return v
}

// floats returns the active numbers of p: arguments themselves, then those in memory.
func (p point) floats(passive []int) (own, memory []*float64) {
	seen := map[*float64]bool{}
	var visit func(v reflect.Value, behind bool)
	visit = func(v reflect.Value, behind bool) {
		switch v.Kind() {
		case reflect.Float64:
			x := v.Addr().Interface().(*float64)
			if seen[x] {
				return
			}
			seen[x] = true
			if behind {
				memory = append(memory, x)
			} else {
				own = append(own, x)
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), true)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i), behind)
			}
		}
	}
	for i, v := range p {
		if !slices.Contains(passive, i) {
			visit(v, false)
		}
	}
	return own, memory
}

func moving(t reflect.Type) (own, leads bool) {
	switch t.Kind() {
	case reflect.Float64:
		return true, false
	case reflect.Slice:
		return false, true
	case reflect.Struct:
		for i := range t.NumField() {
			o, l := moving(t.Field(i).Type)
			own, leads = own || o, leads || l
		}
	}
	return own, leads
}

func values(list []*float64) (out []float64) {
	for _, x := range list {
		out = append(out, *x)
	}
	return out
}

// outcome returns the results of f and the numbers in memory after the call.
func (c *check) outcome(p point) []float64 {
	var out []float64
	for _, v := range reflect.ValueOf(c.f).Call(p) {
		if v.Kind() == reflect.Float64 {
			out = append(out, v.Float())
		}
	}
	_, memory := p.floats(c.passive)
	return append(out, values(memory)...)
}

func (c *check) point() point {
	p := make(point, len(c.args))
	for i, a := range c.args {
		p[i] = reflect.New(reflect.TypeOf(a)).Elem()
		p[i].Set(reflect.ValueOf(a))
	}
	return p.copyOf()
}

func random(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// shadow returns p with other numbers.
func (p point) shadow(own, memory []float64, passive []int) point {
	s := p.copyOf()
	o, m := s.floats(passive)
	for i, x := range o {
		*x = own[i]
	}
	for i, x := range m {
		*x = memory[i]
	}
	return s
}

// along returns the tangent in a direction. The shadow of parameter drop is nil.
func (c *check) along(t *testing.T, dir []float64, drop int) []float64 {
	t.Helper()
	p := c.point()
	own, _ := p.floats(c.passive)
	s := p.shadow(dir[:len(own)], dir[len(own):], c.passive)
	in := slices.Clone(p)
	var back []reflect.Value
	for i, v := range s {
		if o, l := moving(v.Type()); !slices.Contains(c.passive, i) && (o || l) {
			if i == drop {
				v = reflect.Zero(v.Type())
			}
			in = append(in, v)
		}
	}
	out := reflect.ValueOf(c.tangent).Call(in)
	results := reflect.TypeOf(c.f).NumOut()
	want := c.point()
	direct := reflect.ValueOf(c.f).Call(want)
	for i, v := range direct {
		switch v.Kind() {
		case reflect.Float64:
			if d := v.Float() - out[i].Float(); d != 0 && !(math.Abs(d) < 1e-14*math.Abs(v.Float())) {
				t.Errorf("result %d of the tangent is %v, want %v", i, out[i], v)
			}
			back = append(back, out[results+len(back)])
		case reflect.Slice:
			back = append(back, out[results+len(back)])
			if drop < 0 && back[len(back)-1].UnsafePointer() != s[0].UnsafePointer() {
				t.Errorf("the shadow of the result is not that of the first argument")
			}
		}
	}
	_, got := p.floats(nil)
	_, left := want.floats(nil)
	if !reflect.DeepEqual(values(got), values(left)) {
		t.Errorf("the tangent leaves %v, want %v", values(got), values(left))
	}
	var dots []float64
	for _, v := range back {
		if v.Kind() == reflect.Float64 {
			dots = append(dots, v.Float())
		}
	}
	_, memory := s.floats(c.passive)
	return append(dots, values(memory)...)
}

// back returns the pullback of seeds of results and memory. The shadow of parameter drop is nil.
func (c *check) back(t *testing.T, seeds []float64, drop int) []float64 {
	t.Helper()
	p := c.point()
	n := 0
	for v := range reflect.TypeOf(c.f).Outs() {
		if v.Kind() == reflect.Float64 {
			n++
		}
	}
	own, _ := p.floats(c.passive)
	s := p.shadow(make([]float64, len(own)), seeds[n:], c.passive)
	in := slices.Clone(p)
	for i, v := range s {
		if _, l := moving(v.Type()); !slices.Contains(c.passive, i) && l {
			if i == drop {
				v = reflect.Zero(v.Type())
			}
			in = append(in, v)
		}
	}
	for _, x := range seeds[:n] {
		in = append(in, reflect.ValueOf(x))
	}
	out := reflect.ValueOf(c.pullback).Call(in)
	var bars []float64
	for _, v := range out {
		bars = append(bars, v.Float())
	}
	_, before := c.point().floats(nil)
	if _, after := p.floats(nil); !reflect.DeepEqual(values(before), values(after)) {
		t.Errorf("the pullback changes %v to %v", values(before), values(after))
	}
	_, memory := s.floats(c.passive)
	return append(bars, values(memory)...)
}

func dot(a, b []float64) (s, size float64) {
	for i := range a {
		s += a[i] * b[i]
		size += math.Abs(a[i] * b[i])
	}
	return s, size
}

// run compares the tangent with differences and the pullback with the tangent.
func (c *check) run(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	own, memory := c.point().floats(c.passive)
	n := len(own) + len(memory)
	for range 3 {
		dir := random(r, n)
		got := c.along(t, dir, -1)
		best := make([]float64, len(got))
		for i := range best {
			best[i] = math.Inf(1)
		}
		for _, h := range []float64{1e-3, 1e-4, 1e-5, 1e-6} {
			at := func(h float64) []float64 {
				p := c.point()
				own, memory := p.floats(c.passive)
				for i, x := range append(own, memory...) {
					*x += h * dir[i]
				}
				return c.outcome(p)
			}
			up, down := at(h), at(-h)
			for i := range best {
				want := (up[i] - down[i]) / (2 * h)
				best[i] = min(best[i], math.Abs(got[i]-want)/(1+math.Abs(want)))
			}
		}
		for i, e := range best {
			if !(e < 1e-7) {
				t.Errorf("derivative %d is %v, which is off by %v", i, got[i], e)
			}
		}
		seeds := random(r, len(got))
		bars := c.back(t, seeds, -1)
		x, size := dot(seeds, got)
		y, _ := dot(bars, dir)
		if !(math.Abs(x-y) <= 1e-12*(1+size)) {
			t.Errorf("adjoints times directions are %v, want %v", y, x)
		}
		c.dropped(t, dir, seeds, bars)
	}
}

// dropped passes nil shadows: their parameters have zero tangents, and the cotangents of the others must not change.
func (c *check) dropped(t *testing.T, dir, seeds, bars []float64) {
	for i, v := range c.point() {
		if _, l := moving(v.Type()); !l || slices.Contains(c.passive, i) || c.shared(i) {
			continue
		}
		// The indices of the numbers of the parameter.
		p := c.point()
		mine := map[*float64]bool{}
		_, list := p[i : i+1].floats(nil)
		for _, x := range list {
			mine[x] = true
		}
		own, memory := p.floats(c.passive)
		still := slices.Clone(dir)
		for k, x := range memory {
			if mine[x] {
				still[len(own)+k] = 0
			}
		}
		info, _ := library.Lookup(c.name)
		if len(info.Writes) == 0 { // written memory has a shadow if any parameter is active
			if got, want := c.along(t, still, i), c.along(t, still, -1); !near(got[:len(got)-len(memory)],
				want[:len(want)-len(memory)]) {
				t.Errorf("with nil for parameter %d the derivatives are %v, want %v", i, got, want)
			}
		}
		if c.writes(i) {
			c.along(t, still, i)
			continue
		}
		got := c.back(t, seeds, i)
		for k := range bars {
			if k >= len(own) && mine[memory[k-len(own)]] {
				continue
			}
			if !near(got[k:k+1], bars[k:k+1]) {
				t.Errorf("with nil for parameter %d adjoint %d is %v, want %v", i, k, got[k], bars[k])
			}
		}
	}
}

func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-13*(1+math.Abs(b[i]))) {
			return false
		}
	}
	return true
}

// shared reports whether parameter i shares memory with another one.
func (c *check) shared(i int) bool {
	p := c.point()
	count := func(p point) int { _, m := p.floats(nil); return len(m) }
	rest := append(slices.Clone(p[:i]), p[i+1:]...)
	return count(p) != count(rest)+count(p[i:i+1])
}

// writes reports whether the function writes memory of parameter i.
func (c *check) writes(i int) bool {
	p := c.point()
	_, m := p[i : i+1].floats(nil)
	before := values(m)
	reflect.ValueOf(c.f).Call(p)
	return !reflect.DeepEqual(before, values(m))
}

// TestRules checks every rule of the table, each at least once.
func TestRules(t *testing.T) {
	done := map[string]bool{}
	for _, c := range checks() {
		done[c.name] = true
		if _, ok := library.Lookup(c.name); !ok {
			t.Errorf("%s is not in the table", c.name)
		}
		t.Run(fmt.Sprint(c.name, c.args), c.run)
	}
	for _, name := range library.Names() {
		if !done[name] {
			t.Errorf("%s is not checked", name)
		}
		if rule, _ := library.Lookup(name); rule.Shapes != shapes[name] {
			t.Errorf("%s has derivatives with respect to shapes: %v, and they are checked: %v", name, rule.Shapes,
				shapes[name])
		}
	}
}

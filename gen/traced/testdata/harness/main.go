// The harness compares functions with their traced forms. It is compiled together with
// those; see traced_test.go.
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// entry is a function and its traced form.
type entry struct {
	name          string
	plain, traced any
}

var table []entry

var failed, calls, panics, gradients, guarded int

func fail(format string, args ...any) {
	failed++
	fmt.Printf(format+"\n", args...)
}

func main() {
	r := rand.New(rand.NewPCG(7, 8))
	for _, e := range table {
		watch := time.AfterFunc(20*time.Second, func() {
			fmt.Println(e.name, "does not end")
			os.Exit(1)
		})
		for k := range 40 {
			e.run(r, k)
		}
		watch.Stop()
		if f, ok := e.plain.(func([]float64) float64); ok {
			if g, ok := e.traced.(func([]nabla.Real) nabla.Real); ok { // else the result is constant
				derivatives(r, e.name, f, g)
			}
		}
	}
	problem()
	fmt.Printf("%d functions, %d calls, %d panics, %d gradients, %d on other branches\n", len(table), calls, panics, gradients, guarded)
	if failed > 0 {
		os.Exit(1)
	}
}

// tame are functions that do not end, or not soon, for some numbers. So do some of those
// that are made for lowering.
var tame = map[string]bool{
	"gen/tangent/testdata/funcs.Branches": true, "gen/traced/testdata/funcs.Indices": true,
}

var special = []float64{0, math.Copysign(0, -1), 1, 2, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e300}

func (e entry) run(r *rand.Rand, k int) {
	f, g := reflect.ValueOf(e.plain), reflect.ValueOf(e.traced)
	var xs, rs []reflect.Value
	for i := range f.Type().NumIn() {
		x := random(r, f.Type().In(i), k >= 20 && k%2 == 0 && !tame[e.name] && strings.Contains(e.name, "/funcs."))
		if tame[e.name] && x.Kind() == reflect.Slice {
			for i := range x.Len() {
				x.Index(i).SetFloat(math.Abs(x.Index(i).Float()))
			}
		}
		if i > 0 && k%4 == 3 && x.CanFloat() && xs[i-1].CanFloat() {
			x.SetFloat(xs[i-1].Float()) // where comparisons are equal
		}
		xs, rs = append(xs, x), append(rs, over(x, g.Type().In(i)))
	}
	args := text(xs)
	want, wrong := outcome(f, xs)
	got, alsoWrong := outcome(g, rs)
	calls++
	if wrong != "" {
		panics++
	}
	if wrong != alsoWrong || want != got {
		fail("%s(%s)\n\tgives %s %s\n\twant  %s %s", e.name, args, got, alsoWrong, want, wrong)
	}
}

func text(list []reflect.Value) (s string) {
	for _, v := range list {
		s += show(v, 0) + " "
	}
	return s
}

// outcome is what a call gives and leaves in its arguments.
func outcome(f reflect.Value, args []reflect.Value) (s, wrong string) {
	defer func() {
		if e := recover(); e != nil {
			wrong = fmt.Sprint(e)
		}
	}()
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	return text(append(call(args), args...)), ""
}

var realType = reflect.TypeFor[nabla.Real]()

// random is a value of a type; wild floats are special ones too.
func random(r *rand.Rand, t reflect.Type, wild bool) reflect.Value {
	v := reflect.New(t).Elem()
	fill(r, v, wild, 0)
	return v
}

func fill(r *rand.Rand, v reflect.Value, wild bool, depth int) {
	v = settable(v)
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if wild && r.IntN(3) == 0 {
			v.SetFloat(special[r.IntN(len(special))])
		} else {
			v.SetFloat(r.NormFloat64() * 1.5)
		}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int8:
		v.SetInt(int64(r.IntN(7)))
	case reflect.Uint, reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(r.IntN(7)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString([]string{"", "a", "sum", "mean"}[r.IntN(4)])
	case reflect.Slice:
		if depth < 3 {
			v.Set(reflect.MakeSlice(v.Type(), 6, 6))
			for i := range v.Len() {
				fill(r, v.Index(i), wild, depth+1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), wild, depth+1)
		}
	case reflect.Pointer:
		if depth < 3 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), wild, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), wild, depth+1)
		}
	}
}

// settable is v, also if it is a field that is not exported.
func settable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	return v
}

// over is a copy of x of type t, which has Reals in place of floats.
func over(x reflect.Value, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	set(v, x)
	return v
}

func set(v, x reflect.Value) {
	v, x = settable(v), settable(x)
	switch {
	case v.Type() == realType && x.CanFloat():
		v.Set(reflect.ValueOf(nabla.Const(x.Float())))
	case v.Type() == x.Type() && v.Kind() != reflect.Slice && v.Kind() != reflect.Pointer && v.Kind() != reflect.Struct && v.Kind() != reflect.Array:
		v.Set(x)
	case v.Kind() == reflect.Slice && !x.IsNil():
		v.Set(reflect.MakeSlice(v.Type(), x.Len(), x.Cap()))
		for i := range x.Len() {
			set(v.Index(i), x.Index(i))
		}
	case v.Kind() == reflect.Array:
		for i := range x.Len() {
			set(v.Index(i), x.Index(i))
		}
	case v.Kind() == reflect.Pointer && !x.IsNil():
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), x.Elem())
	case v.Kind() == reflect.Struct:
		for i := range x.NumField() {
			set(v.Field(i), x.Field(i))
		}
	}
}

// show is a value with the bits of its numbers.
func show(v reflect.Value, depth int) (s string) {
	if v.Type() == realType {
		if !v.CanInterface() {
			c := reflect.New(v.Type()).Elem()
			v = settable(v)
			if v.CanInterface() {
				c.Set(v)
			}
			v = c
		}
		return bits(v.Interface().(nabla.Real).Value())
	}
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		return bits(v.Float())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s += show(v.Index(i), depth) + ","
		}
		return "[" + s + "]"
	case reflect.Pointer:
		if v.IsNil() || depth > 4 {
			return "nil"
		}
		return "&" + show(v.Elem(), depth+1)
	case reflect.Struct:
		if !v.CanAddr() { // so that its fields can be read
			c := reflect.New(v.Type()).Elem()
			c.Set(v)
			v = c
		}
		for i := range v.NumField() {
			s += show(settable(v.Field(i)), depth) + ","
		}
		return "{" + s + "}"
	}
	return fmt.Sprint(v)
}

func bits(x float64) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	return fmt.Sprintf("%v(%x)", x, math.Float64bits(x))
}

// derivatives compares engines with each other and with differences, also where a
// recording made elsewhere took other branches.
func derivatives(r *rand.Rand, name string, f func([]float64) float64, g func([]nabla.Real) nabla.Real) {
	point := func() []float64 {
		x := make([]float64, 6)
		for i := range x {
			x[i] = 0.3 + 2*r.Float64()
		}
		return x
	}
	eval := func(x []float64) (y float64, ok bool) {
		defer func() { ok = recover() == nil }()
		return f(append([]float64(nil), x...)), true
	}
	fresh := func(x []nabla.Real) nabla.Real { return g(append([]nabla.Real(nil), x...)) }
	start := point()
	if _, ok := eval(start); !ok {
		return
	}
	compiled, err := nabla.PrepareGradient(fresh, reversediff.Backend{Compile: true}, start)
	if err != nil {
		fail("%s: %v", name, err)
		return
	}
	for k := range 12 {
		x := point()
		if k%3 == 1 {
			x[r.IntN(6)] *= -1
		}
		want, ok := eval(x)
		if !ok {
			continue
		}
		a, err := nabla.Gradient(fresh, forwarddiff.Backend{}, x)
		y, b, err2 := compiled.ValueAndGradient(nil, x)
		if err != nil || err2 != nil {
			fail("%s at %v: %v, %v", name, x, err, err2)
			return
		}
		gradients++
		if math.Abs(y-want) > 1e-12*math.Abs(want) {
			fail("%s at %v: value %v, want %v", name, x, y, want)
		}
		guarded++
		for i := range x {
			if math.Abs(a[i]-b[i]) > 1e-9*(1+math.Abs(a[i])) {
				fail("%s at %v: derivative %d is %v forward and %v in reverse", name, x, i, a[i], b[i])
			}
			best := math.Inf(1)
			for _, h := range []float64{1e-4, 1e-5, 1e-6} {
				u := append([]float64(nil), x...)
				u[i] = x[i] + h
				up, _ := eval(u)
				u[i] = x[i] - h
				down, _ := eval(u)
				best = min(best, math.Abs((up-down)/(2*h)-a[i]))
			}
			if !(best <= 1e-5*(1+math.Abs(a[i])+math.Abs(want))) {
				fail("%s at %v: derivative %d is %v, differences are off by %v", name, x, i, a[i], best)
			}
		}
	}
}

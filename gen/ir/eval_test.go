package ir_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// pair is a function in this form and in Go. Arguments come from a function, since both
// may change them.
type pair struct {
	name string
	text string
	fn   any
	args []func() []any
}

func args(list ...any) func() []any { return func() []any { return list } }

// floats are fresh slices at each call.
func floats(x ...float64) []float64 { return append([]float64(nil), x...) }

// outcome is the result of an evaluation: results and arguments afterwards, or the panic.
type outcome struct {
	values []any
	panics string
}

func runGo(fn any, in []any) (out outcome) {
	defer func() {
		if e := recover(); e != nil {
			out = outcome{panics: fmt.Sprint(e)}
		}
	}()
	list := make([]reflect.Value, len(in))
	for i, x := range in {
		list[i] = reflect.ValueOf(x)
	}
	for _, r := range reflect.ValueOf(fn).Call(list) {
		out.values = append(out.values, r.Interface())
	}
	out.values = append(out.values, in...)
	return out
}

func runIR(t *testing.T, f *ir.Func, fn any, in []any) (out outcome) {
	t.Helper()
	list := ir.ValuesOf(in...)
	results, err := ir.Eval(f, list)
	var p *ir.PanicError
	switch {
	case errors.As(err, &p):
		return outcome{panics: p.Text}
	case err != nil:
		t.Fatal(err)
	}
	ft := reflect.TypeOf(fn)
	for i, r := range results {
		x := reflect.New(ft.Out(i))
		r.Into(x.Interface())
		out.values = append(out.values, x.Elem().Interface())
	}
	for i, a := range list {
		x := reflect.New(ft.In(i))
		a.Into(x.Interface())
		out.values = append(out.values, x.Elem().Interface())
	}
	return out
}

// text prints values so that all differences are visible, including NaNs and the targets of
// pointers.
func (o outcome) text() string {
	if o.panics != "" {
		return "panic: " + o.panics
	}
	var b strings.Builder
	for _, x := range o.values {
		deep(&b, reflect.ValueOf(x))
		b.WriteString(" | ")
	}
	return b.String()
}

func deep(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteString("&")
		deep(b, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			deep(b, v.Field(i))
			b.WriteString(",")
		}
	case reflect.Slice:
		fmt.Fprintf(b, "%d", v.Len())
		if v.IsNil() {
			b.WriteString("nil")
		}
		for i := range v.Len() {
			b.WriteString(" ")
			deep(b, v.Index(i))
		}
	default:
		fmt.Fprintf(b, "%#v", v)
	}
}

func TestEvalAsGo(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			f := parse(t, p.text)[0]
			g := parse(t, p.text)[0]
			ir.Normalize(g)
			for i, in := range p.args {
				want := runGo(p.fn, in()).text()
				if got := runIR(t, f, p.fn, in()).text(); got != want {
					t.Errorf("arguments %d: got %s\nwant %s", i, got, want)
				}
				if got := runIR(t, g, p.fn, in()).text(); got != want {
					t.Errorf("arguments %d, normalised: got %s\nwant %s", i, got, want)
				}
			}
		})
	}
}

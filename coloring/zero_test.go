package coloring_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestZero: the zero Coloring and the zero Decompressor are those of an empty pattern, and a
// pattern that is nil is an error.
func TestZero(t *testing.T) {
	c := new(coloring.Coloring)
	for _, v := range []any{c, new(coloring.Decompressor)} {
		for i := range reflect.TypeOf(v).NumMethod() {
			name := reflect.TypeOf(v).Method(i).Name
			if strings.HasSuffix(name, "Seed") || name == "DecompressColumn" || name == "DecompressRow" {
				continue // there is no colour
			}
			f := reflect.ValueOf(v).Method(i)
			args := make([]reflect.Value, f.Type().NumIn())
			for k := range args {
				args[k] = reflect.Zero(f.Type().In(k))
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%T.%s: panic: %v", v, name, r)
					}
				}()
				f.Call(args)
			}()
		}
	}
	d, err := c.Decompressor(coloring.Full)
	if err != nil || d.Pattern().NNZ() != 0 {
		t.Errorf("Decompressor of a zero Coloring: %v, %v", d, err)
	}
	for _, call := range []func(){
		func() { new(coloring.Decompressor).Decompress(make([]float64, 1), nil, 0, nil, 0) },
		func() { new(coloring.Decompressor).DecompressColumn(nil, nil, 1) },
		func() { c.Compress(make([]float64, 1)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*coloring.LengthError); !ok {
					t.Error("no *LengthError")
				}
			}()
			call()
		}()
	}
	for _, a := range []coloring.Algorithm{coloring.Greedy{}, coloring.Constant{}, coloring.Optimal{},
		coloring.None{}} {
		for _, partition := range []coloring.Partition{coloring.Column, coloring.Row, coloring.Bidirectional} {
			var pe *coloring.PatternError
			if _, err := a.Color(nil, coloring.Problem{Partition: partition}); !errors.As(err, &pe) {
				t.Errorf("%T of a nil pattern: %v, want a *PatternError", a, err)
			}
			if _, err := a.Color(new(sparsity.Pattern), coloring.Problem{Partition: partition}); err != nil {
				t.Errorf("%T of a zero pattern: %v", a, err)
			}
		}
	}
	if s := (*coloring.Coloring)(nil).String() + (*sparsity.Pattern)(nil).String() +
		new(coloring.BudgetError).Error(); s == "" {
		t.Error("no words")
	}
}

package library_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/library/blas64ad"
	"github.com/nabla-ad/nabla/gen/library/floatsad"
	"github.com/nabla-ad/nabla/gen/library/sortad"
)

// plains maps functions to their plain forms.
var plains = map[string]map[string]any{
	"gonum.org/v1/gonum/floats.": {
		"Add": floatsad.AddPlain, "AddConst": floatsad.AddConstPlain, "AddScaled": floatsad.AddScaledPlain,
		"AddScaledTo": floatsad.AddScaledToPlain, "AddTo": floatsad.AddToPlain, "CumProd": floatsad.CumProdPlain,
		"CumSum": floatsad.CumSumPlain, "Distance": floatsad.DistancePlain, "Div": floatsad.DivPlain,
		"DivTo": floatsad.DivToPlain, "Dot": floatsad.DotPlain, "LogSumExp": floatsad.LogSumExpPlain,
		"Max": floatsad.MaxPlain, "Min": floatsad.MinPlain, "Mul": floatsad.MulPlain, "MulTo": floatsad.MulToPlain,
		"Norm": floatsad.NormPlain, "Prod": floatsad.ProdPlain, "Scale": floatsad.ScalePlain,
		"ScaleTo": floatsad.ScaleToPlain, "Span": floatsad.SpanPlain, "Sub": floatsad.SubPlain,
		"SubTo": floatsad.SubToPlain, "Sum": floatsad.SumPlain, "SumCompensated": floatsad.SumCompensatedPlain,
	},
	"gonum.org/v1/gonum/blas/blas64.": {
		"Asum": blas64ad.AsumPlain, "Axpy": blas64ad.AxpyPlain, "Copy": blas64ad.CopyPlain, "Dot": blas64ad.DotPlain,
		"Gemm": blas64ad.GemmPlain, "Gemv": blas64ad.GemvPlain, "Ger": blas64ad.GerPlain, "Nrm2": blas64ad.Nrm2Plain,
		"Scal": blas64ad.ScalPlain, "Swap": blas64ad.SwapPlain, "Symm": blas64ad.SymmPlain, "Symv": blas64ad.SymvPlain,
		"Syr": blas64ad.SyrPlain, "Syr2": blas64ad.Syr2Plain, "Syr2k": blas64ad.Syr2kPlain, "Syrk": blas64ad.SyrkPlain,
		"Trmm": blas64ad.TrmmPlain, "Trmv": blas64ad.TrmvPlain, "Trsm": blas64ad.TrsmPlain, "Trsv": blas64ad.TrsvPlain,
	},
	"sort.":   {"Float64s": sortad.Float64sPlain},
	"slices.": {"Sort": sortad.SortPlain},
}

// TestPlain requires that every function of the table has a form over Reals or a plain form, and that the latter
// returns the same numbers and panics with the same text: at the arguments of the checks, with special numbers among
// them, and with lengths and strides that do not fit.
func TestPlain(t *testing.T) {
	plain := map[string]any{}
	for path, list := range plains {
		for name, f := range list {
			plain[path+name] = f
		}
	}
	for _, name := range library.Names() {
		if rule, _ := library.Lookup(name); (rule.Real == "") != (plain[name] != nil) {
			t.Errorf("%s: %v in package %q; it has to be one of the two", name, plain[name], rule.Real)
		}
		delete(plain, name)
	}
	for name := range plain {
		t.Errorf("%s is not in the table", name)
	}
	compared, panics := 0, 0
	for _, c := range checks() {
		path := c.name[:len(c.name)-len(base(c.name))]
		f := plains[path][base(c.name)]
		if f == nil {
			continue
		}
		if a, b := reflect.TypeOf(f), reflect.TypeOf(c.f); a != b {
			t.Errorf("%s: the plain form is %v, want %v", c.name, a, b)
			continue
		}
		for _, p := range variants(c) {
			want, why := outcomeOf(c.f, p)
			got, reason := outcomeOf(f, p)
			if compared++; why != "" {
				panics++
			}
			if reason != why || !alike(got, want) {
				t.Errorf("%s(%v): %v, %s; want %v, %s", c.name, show(p), got, reason, want, why)
			}
		}
	}
	if compared < 5000 || panics < 300 {
		t.Errorf("%d calls, %d panics", compared, panics)
	}
}

func base(name string) string {
	for i := len(name) - 1; ; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
}

// variants returns the arguments of a check, and others with one change.
func variants(c *check) (out []point) {
	out = append(out, c.point())
	change := func(do func(p point)) {
		p := c.point()
		do(p)
		out = append(out, p)
	}
	own, memory := c.point().floats(nil)
	special := []float64{0, math.Copysign(0, -1), 1e-200, 1e200, -3}
	matrices := false
	for _, a := range c.args {
		matrices = matrices || fields(reflect.ValueOf(a)) > 3
	}
	if !matrices { // these leave out products with 0, each in its way
		special = append(special, math.NaN(), math.Inf(1), math.Inf(-1))
	}
	for i := range len(own) + len(memory) {
		for _, v := range special {
			change(func(p point) {
				own, memory := p.floats(nil)
				*append(own, memory...)[i] = v
			})
		}
	}
	for _, v := range append(special, 1e-170, 3e160) { // in all memory
		change(func(p point) {
			_, memory := p.floats(nil)
			for i, x := range memory {
				*x = v * float64(i+1)
			}
		})
	}
	// Assembly of gonum v0.16.0 accesses memory outside of the given slices for vectors with negative increments.
	backwards := base(c.name) != "Ger"
	for i, a := range c.point() {
		if a.Kind() == reflect.Slice {
			for n := range a.Len() {
				change(func(p point) { p[i].Set(p[i].Slice(0, n)) })
			}
		}
		if a.Kind() == reflect.Uint8 {
			change(func(p point) { p[i].SetUint(7) })
		}
		for k := range fields(a) {
			switch a.Field(k).Kind() {
			case reflect.Int:
				for _, v := range []int64{-2, -1, 0, 1, 2, 9} {
					if c.shared(i) && v != 0 {
						continue // what is read after it has been written depends on the order
					}
					if v < 0 && a.Type() == reflect.TypeFor[blas64.Vector]() && a.Type().Field(k).Name == "Inc" &&
						!backwards {
						continue
					}
					change(func(p point) { p[i].Field(k).SetInt(v) })
				}
			case reflect.Uint8:
				change(func(p point) { p[i].Field(k).SetUint(7) })
			case reflect.Slice:
				for n := range a.Field(k).Len() {
					change(func(p point) { p[i].Field(k).Set(p[i].Field(k).Slice(0, n)) })
				}
			}
		}
	}
	return out
}

func fields(v reflect.Value) int {
	if v.Kind() != reflect.Struct {
		return 0
	}
	return v.NumField()
}

// outcomeOf returns the results of f and the numbers in memory, or the reason that it panics.
func outcomeOf(f any, p point) (out []float64, reason string) {
	p = p.copyOf()
	defer func() {
		if r := recover(); r != nil {
			out, reason = nil, fmt.Sprint(r)
		}
	}()
	for _, v := range reflect.ValueOf(f).Call(p) {
		if v.Kind() == reflect.Float64 {
			out = append(out, v.Float())
		}
		if v.Kind() == reflect.Slice && v.UnsafePointer() != p[0].UnsafePointer() {
			return nil, "the result is not the first argument"
		}
	}
	_, memory := p.floats(nil)
	return append(out, values(memory)...), ""
}

// alike compares numbers with a tolerance for sums in another order.
func alike(got, want []float64) bool {
	size := 0.0
	for _, v := range want {
		if !math.IsInf(v, 0) {
			size = max(size, math.Abs(v))
		}
	}
	return slices.EqualFunc(got, want, func(a, b float64) bool {
		return a == b || a != a && b != b || math.Abs(a-b) <= 1e-14*max(math.Abs(b), min(size, 10))
	})
}

func show(p point) (out []any) {
	for _, v := range p {
		out = append(out, v.Interface())
	}
	return out
}

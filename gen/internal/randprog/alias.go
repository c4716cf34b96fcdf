package randprog

import (
	"fmt"
	"strings"
)

// An Alias is a function of x = s[0], for a slice s, that accesses one memory under two names or types. It computes x⁴
// + x²; an analysis that takes the accesses for disjoint yields another derivative.
type Alias struct {
	*Case
	Family string // kind of alias
	What   string // kind, types, and whether it is in a loop
	Func   string // source of the function
}

// Aliases returns such functions F, grouped by family.
func Aliases() ([]*Alias, error) {
	var list []*Alias
	var names []string
	all := AliasDecls
	for _, a := range aliases {
		for k, p := range aliasPairs {
			if k > 0 && !strings.Contains(a.make+a.write, "$") {
				break
			}
			for _, loop := range []bool{false, true} {
				name := "F" + mark(len(list))
				what := fmt.Sprintf("%s, %s and %s, in a loop: %v", a.family, p[0], p[1], loop)
				list = append(list, &Alias{Family: a.family, What: what, Func: a.source("F", p[0], p[1], loop)})
				names = append(names, name)
				all += a.source(name, p[0], p[1], loop)
			}
		}
	}
	funcs, err := Lower(names, all)
	if err != nil {
		return nil, err
	}
	for i, a := range list {
		p := &Program{Seed: uint64(i), Sig: Function}
		a.Case = &Case{Sig: Function, F: funcs[i], Wide: funcs[i], source: AliasDecls + a.Func}
		for k := range 2 {
			a.Inputs = append(a.Inputs, p.Input(k))
		}
	}
	return list, nil
}

// AliasDecls is the source of the declarations that the functions of [Aliases] use.
const AliasDecls = `package rnd

type F = float64
type My float64
type G = My
type Other float64
type Arr [2]float64
type ArrF [2]F
type Mys [2]My
type Fs []float64
type MyS []My
type pair struct{ a, b float64 }
type named pair
type tagged struct {
	a float64 ` + "`json:\"a\"`" + `
	b F ` + "`json:\"b\"`" + `
}
type tags = struct { a float64 ` + "`x:\"y\"`" + ` }
type held struct { p *tags }
type plain struct { p *struct { a float64 } }
type PF *float64
type box[T any] struct{ p *T }
type rows[T any] struct{ r [][]T }

func put[T ~float64](p *T, v T) { *p = v }
func same[T any](p *T) *T { return p }
func puts(r [][]F, p *My, v float64) { r[0][0] = v; *p = My(v) }
func fill[S ~[]E, E ~float64](s S, v E) { for i := range s { s[i] = v } }
func again(p *My, v float64, k int) { if k > 0 { again(p, v, k-1); return }; *p = My(v) }
func view(a *Arr) []F { return a[:] }
func retyped[T ~float64](_ T, x float64) T { return T(x) }

`

// An aliasTemplate is a function of x that writes v = y·x to the memory of y, which holds x, under another name or
// type; its value is y² + v, or x⁴ + x².
type aliasTemplate struct{ family, make, y, write string }

// aliases holds the templates, with $T for the type of y and $U for another one.
var aliases = []aliasTemplate{
	{"pointer", "y := $T(x)", "y", "p := (*$U)(&y); *p = $U(v)"},
	{"pointer in a struct", "y := $T(x)", "y", "b := box[$U]{(*$U)(&y)}; *b.p = $U(v)"},
	{"pointer to a struct with a pointer", "y := $T(x)", "y", "b := &box[$U]{(*$U)(&y)}; *b.p = $U(v)"},
	{"pointer in an array", "y := $T(x)", "y", "b := [2]*$U{1: (*$U)(&y)}; *b[1] = $U(v)"},
	{"pointer in a slice", "y := $T(x)", "y", "b := []*$U{(*$U)(&y)}; *b[0] = $U(v)"},
	{"pointer from memory", "y := $T(x)", "y", "b := make([]*$U, 2); b[1] = (*$U)(&y); p := b[1]; *p = $U(v)"},
	{"pointer to a pointer", "y := $T(x)", "y", "p := (*$U)(&y); q := &p; **q = $U(v)"},
	{"pointer to a pointer of another name", "y := float64(x); z := x; p := &z", "y",
		"q := (*PF)(&p); *q = &y; *p = float64(v)"},
	{"converted twice", "y := $T(x)", "y", "p := (*$U)((*Other)(&y)); *p = $U(v)"},
	{"generic function", "y := $T(x)", "y", "put((*$U)(&y), $U(v))"},
	{"generic result", "y := $T(x)", "y", "*same((*$U)(&y)) = $U(v)"},
	{"recursive function", "y := $T(x)", "y", "again((*My)(&y), float64(v), 2)"},
	{"element", "y := []$T{1, $T(x)}", "y[1]", "p := (*$U)(&y[1]); *p = $U(v)"},
	{"element of a named slice", "y := MyS{1, My(x)}", "y[1]", "p := (*$U)(&[]My(y)[1]); *p = $U(v)"},
	{"element of an array", "y := [2]$T{1, $T(x)}", "y[1]", "p := (*$U)(&y[1]); *p = $U(v)"},
	{"field", "y := struct{ a, b $T }{b: $T(x)}", "y.b", "p := (*$U)(&y.b); *p = $U(v)"},
	{"array", "y := [2]float64{1, x}", "y[1]", "p := (*Arr)(&y); p[1] = float64(v)"},
	{"array of an alias", "y := [2]F{1, x}", "y[1]", "p := (*Arr)((*[2]float64)((*ArrF)(&y))); p[1] = float64(v)"},
	{"array of a defined type", "y := [2]My{1, My(x)}", "y[1]", "p := (*Mys)(&y); q := (*$U)(&p[1]); *q = $U(v)"},
	{"array as a whole", "y := [2]float64{1, x}", "y[1]", "p := (*Arr)(&y); *p = Arr{1, float64(v)}"},
	{"slice of an array", "y := Arr{1, x}", "y[1]", "p := view(&y); p[1] = float64(v)"},
	{"slice of an array, by a function", "y := Arr{1, x}", "y[1]", "fill(Fs(view(&y))[1:], float64(v))"},
	{"struct", "y := pair{1, x}", "y.b", "p := (*named)(&y); p.b = float64(v)"},
	{"struct with tags", "y := pair{1, x}", "y.b", "p := (*tagged)(&y); p.b = float64(v)"},
	{"struct with tags, of another name", "y := named{1, x}", "y.b", "p := (*tagged)(&y); p.b = float64(v)"},
	{"struct as a whole", "y := tagged{1, x}", "y.b", "p := (*pair)(&y); *p = pair{1, float64(v)}"},
	{"field of a struct", "y := pair{1, x}", "y.b", "p := (*$U)(&(*tagged)(&y).b); *p = $U(v)"},
	{"slice", "y := []$T{1, $T(x)}", "y[1]", "p := append([][]$T(nil), y); p[0][1] = $T(v)"},
	{"named slice", "y := []float64{1, x}", "y[1]", "p := Fs(y); p[1] = float64(v)"},
	{"pointer to a slice", "y := []float64{1, x}", "y[1]", "p := (*Fs)(&y); (*p)[1] = float64(v)"},
	{"header", "z, y := []float64{1, 1}, []float64{1, x}", "y[1]", "p := (*Fs)(&y); *p = z; (*p)[1] = float64(v)"},
	{"rows of an alias", "y := []float64{1, x}", "y[1]", "r := [][]F{y}; r[0][1] = float64(v)"},
	{"rows of a generic type", "y := []float64{1, x}", "y[1]", "r := rows[F]{[][]F{y}}; r.r[0][1] = float64(v)"},
	{"rows of named slices", "y := []float64{1, x}", "y[1]", "r := []Fs{y, nil}; r[0][1] = float64(v)"},
	{"argument", "y := []float64{x, 1}; z := x", "y[0]", "puts([][]F{y}, (*My)(&z), float64(v)); y[0] = z"},
	{"closure", "y := $T(x)", "y", "f := func(p *$U) { *p = $U(v) }; f((*$U)(&y))"},
	{"pointer to a struct with tags", "z, w := tags{1}, struct{ a float64 }{x}; y := plain{&w}", "y.p.a",
		"p := (*held)(&y); p.p = &z; p.p.a = float64(v)"},
}

// source returns the source of the function for two types.
func (a aliasTemplate) source(name, as, other string, loop bool) string {
	write := a.write
	if loop {
		write = "for range 3 { " + write + " }"
	}
	body := a.make + "\nv := " + a.y + " * $R(x)\n" + write + "\nreturn float64(" + a.y + " * " + a.y + " + v)\n"
	r := strings.NewReplacer("$T", as, "$U", other, "$R(", "retyped("+a.y+", ")
	return "func " + name + "(s []float64) float64 {\nx := s[0]\n" + r.Replace(body) + "}\n"
}

// aliasPairs holds pairs of types of which values may share memory.
var aliasPairs = [][2]string{
	{"float64", "F"}, {"F", "float64"}, {"float64", "My"}, {"My", "float64"}, {"My", "G"}, {"My", "Other"}, {"F", "G"},
	{"float64", "float64"},
}

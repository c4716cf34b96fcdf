package randprog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"sync"
)

// library is the source of declarations for random programs, with constructs that the generator itself does not make.
const library = `
type small = float32

type flt = float64

type mine float64

type trio [3]float64

type row []float64

type other P

type tagged struct {
	A, B float64 "tag:\"a\""
	V    [3]flt
	X    []flt "tag:\"x\""
	N    int
}

type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

type Q struct {
	P
	R *P
	C float64
}

func (p P) sum() float64 { return p.A*0.5 + p.V[1]*0.25 - p.B*0.5 }

func (p P) moved(d float64) P { p.A = (p.A + d)*0.5; p.V[2] = p.A; return p }

func (p *P) push(d float64, k int) float64 {
	p.A = (p.A + d)*0.5
	p.V[uint(k)%3] -= p.B*0.25
	p.X = append(p.X, d)
	if p.N++; p.N > 4 {
		p.X = p.X[:0]
		p.N = 0
	}
	return p.A * 0.5
}

func (p *P) next() int { p.N = (p.N*3 + 1) % 7; return p.N }

func (p P) plus(v float64) float64 { return (p.A + v)*0.5 }

func upto(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func backward[A ~[3]T, T any](x A) func(yield func(int, T) bool) {
	return func(yield func(int, T) bool) {
		for i := len(x) - 1; i >= 0; i-- {
			if !yield(i, x[i]) {
				return
			}
		}
	}
}

func positive(seq func(func(int, float64) bool)) func(yield func(float64) bool) {
	return func(yield func(float64) bool) {
		for _, v := range seq {
			if v > 0 && !yield(v) {
				return
			}
		}
		yield(0.125)
	}
}

// asked changes memory while it runs and when its loop was left.
func asked(p *float64, x []float64) func(yield func(float64) bool) {
	return func(yield func(float64) bool) {
		sum := 0.5
		for i := 0; i < len(x) && i < 5 && yield((x[i]+sum)*0.5); i++ {
			sum = (sum + x[i]) * 0.5
		}
		*p = (*p - sum) * 0.5
	}
}

func mean[T float64 | float32](x ...T) (s T) {
	for _, v := range x {
		s += v
	}
	if len(x) > 0 {
		s /= T(len(x))
	}
	return
}

func fold(x []float64, s float64, f func(a, b float64) float64) float64 {
	for i := len(x) - 1; i >= 0; i-- {
		s = f(s, x[i])
	}
	return s
}

func both(x []float64, i int) (lo, hi float64) {
	first := x[uint(i)%uint(len(x))]
	lo, hi = first, x[0]
	if lo > hi {
		lo, hi = hi, lo
	}
	return lo * 0.5, hi * 0.5
}

// named changes its results after they are returned from.
func named(x []float64, d float64) (r float64, y []float64) {
	r, y = d, x
	for i := range x {
		if x[i] > 0.5 {
			return x[i]*0.5, x[i:]
		}
		r = (r - x[i])*0.5
	}
	if r > 0 {
		y = y[:1]
		return
	}
	return r*0.5, y
}

func swapped(x, y []float64) ([]float64, []float64) { return y, x }

func tree(a float64, k int) float64 {
	if k <= 0 {
		return a
	}
	return 0.5*tree(a*0.9, k-1) + 0.25*tree(a+0.1, k-2)
}

// fac has a closure that calls itself.
func fac(x float64, k int) float64 {
	var f func(i int) float64
	n := 0
	f = func(i int) float64 {
		n++
		if i <= 0 {
			return x
		}
		return f(i-1)*0.5 + float64(n)*0.25
	}
	return f(k % 5)
}

// even and odd call each other.
func even(x []float64, k int) float64 {
	if k <= 0 {
		return x[0]
	}
	return odd(x, k-1)*0.5 + x[k%len(x)]*0.5
}

func odd(x []float64, k int) float64 {
	if k <= 0 {
		return x[len(x)-1]
	}
	x[k%len(x)] *= 0.5
	return even(x, k-1)*0.5
}

// text has all operations on strings.
func text(k int) (n int) {
	s := "aé"
	for i := 0; i < k%4; i++ {
		s += "x" + s[1:2]
	}
	for _, r := range s {
		n = n*3 + int(r)
	}
	b := []byte(s)
	b[0]++
	switch string(b[:1]) + s[:1] {
	case "ba":
		n -= int(b[1])
	}
	return n % 11
}

// ints wraps integers of all sizes.
func ints(k int) (n int) {
	a, b, c := int8(k*37), uint16(k*9999), uint32(1)<<(uint(k)%40)
	a += a
	b = b*b ^ b>>3
	c -= uint32(a)
	d := int64(c)*int64(b) - 1<<40
	var e uint = uint(d)
	for i := int8(120); i < 127 && n < 50; i += 3 {
		n++
	}
	for i := uint8(k); i > 3; i -= 2 {
		n++
		if n > 20 {
			break
		}
	}
	return (n + int(a) + int(b)%7 + int(e%13) - int(float32(d)/3)%5) % 17
}

func order(x []float64) float64 {
	y := clip(slices.Clone(x))
	sort.Float64s(y)
	if len(y) == 0 || slices.Contains(y, 0.125) {
		return 0
	}
	z := append(y, x...)
	slices.SortFunc(z, func(a, b float64) int { return int(4*b) - int(4*a) })
	slices.Reverse(y)
	at := sort.SearchFloat64s(y, 0.5)
	i, _ := slices.BinarySearch(y, x[0])
	return y[0] + slices.Max(y) - y[len(y)/2] + z[len(z)-1]*0.5 + float64(at+i+bits.Len(uint(at)))
}

type ring[T ~float64] struct {
	x    []T
	next func(T) T
	at   int
}

func (r *ring[T]) put(v T) T {
	r.x[r.at], r.at = v, (r.at+1)%len(r.x)
	var s T
	for i := range r.x {
		s += r.x[(r.at+i)%len(r.x)] * T(i)
	}
	return s
}

type celsius float64

func rings(x []float64, v float64) (s float64) {
	r := ring[celsius]{x: make([]celsius, 3)}
	q := &ring[float64]{x: x, at: len(x)-1}
	for i := range x {
		s += q.put(x[i]*0.5)*0.125 - float64(r.put(celsius(v)))*0.125
		if i > 2 {
			break
		}
	}
	return s
}

// matrix has arrays in arrays, and pointers to them.
func matrix(a, b float64) (s float64) {
	m := [2][3]float64{{a, 1, b}, {2: a}}
	p := &m[1]
	rows := []*[3]float64{p, &m[0], p}
	for i, r := range rows {
		r[i] += b
		for j, v := range r {
			r[2-j] -= v * 0.5
			s += v
		}
		c := m
		c[0][0] = 7
		s -= c[1][i]
		if m == c {
			s++
		}
	}
	t := [3]float64(m[1][:])
	t[0]++
	var i int
	for i, m[0][1] = range t {
		s += m[0][i]
	}
	return s + t[2]
}

// chain follows pointers.
func chain(p, q *P, k int) *P {
	for i := 0; i < k%4; i++ {
		p, q = q, p
		p.A = (p.A + q.B)*0.5
	}
	return p
}

// pick has a function for each case, and one that is nil.
func pick(k int, x float64) float64 {
	each := func(f func(float64) float64) float64 {
		if f == nil {
			return x
		}
		return f(x) + f(0.5)
	}
	half := func(v float64) float64 { return v * half }
	switch k % 3 {
	case 0:
		return each(half)
	case 1:
		return each(math.Sin)
	case 2:
		return each(P{A: x}.plus) + each(nil)
	}
	return each(func(v float64) float64 { return each(half) - v })
}

type curve interface{ at(x float64) float64 }

type line struct{ a, b float64 }

func (l line) at(x float64) float64 { return (l.a*x + l.b)*0.5 }

type bent struct{ c float64 }

func (b *bent) at(x float64) float64 { b.c = b.c*0.5 + 0.25; return math.Sin(x) + b.c }

type constant float64

func (c constant) at(float64) float64 { return float64(c) }

func newCurve(a float64) curve {
	if a > 0.5 {
		return &bent{a}
	}
	return &bent{0.5}
}

// curves has interface values of several types, with numbers in them.
func curves(a, b float64, k int) (s float64) {
	all := []curve{line{a, b}, constant(b), &bent{b}}
	for i, c := range all {
		s += c.at(a)*0.25 + float64(i)*0.125
	}
	c := all[uint(k)%3]
	var d curve
	if k%2 == 0 {
		d = newCurve(b)
	}
	for i := range 3 {
		switch c := d.(type) {
		case nil:
			d = constant(a)
		case *bent:
			s += c.c*0.5
			d = line{s*0.25, b}
		case line:
			s -= c.b*0.25
		default:
			if i > 0 {
				d = nil
			}
		}
		if d != nil {
			s = (s + d.at(b))*0.5
		}
	}
	return s - c.at(1)*0.125
}

var operations = []func(float64) float64{math.Sin, func(x float64) float64 { return x*x*0.25 + 0.5 }, nil, math.Cos}

var namedOperations = map[string]func(a, b float64) float64{
	"min": math.Min,
	"mid": func(a, b float64) float64 { return (a + b)*0.5 },
}

// chosen calls one of several functions.
func chosen(a, b float64, k int) float64 {
	var f func(float64) float64 = math.Sin
	if k%2 != 0 {
		f = math.Cos
	}
	g := f
	if a > b {
		f = func(x float64) float64 { return x*b*0.5 }
	}
	s := f(a)*0.5 + g(b)*0.25
	if h := operations[uint(k)%4]; h != nil {
		s += h(a)*0.25
	}
	for i, h := range operations {
		if h != nil {
			s += h(s)*0.125*float64(i)
		}
	}
	if k%3 == 1 {
		f = nil
	}
	name := "mid"
	if k%2 == 0 {
		name = "min"
	}
	return orDefault(f, s)*0.5 + namedOperations[name](a, s)*0.25
}

func orDefault(f func(float64) float64, x float64) float64 {
	if f == nil {
		f = math.Tanh
	}
	return f(x)
}

// clip is x without the room behind it.
func clip(x []float64) []float64 { return x[:len(x):len(x)] }

var table = [4]float64{0.5, -1, 0.25, 2}

var weights = []float64{0.5, -0.25, 1.5}

const half = 1.0 / 2
`

// libraryImports lists the packages that the library imports.
var libraryImports = []string{"cmp", "math", "math/bits", "math/cmplx", "slices", "sort"}

// A part is a declaration of the library with the names that it uses.
type part struct {
	text string
	name string
	uses []string
}

// declarations returns the library. In exact programs, append is followed by a clip.
func declarations(exact bool) string {
	library := library + containerLibrary
	if exact {
		return strings.ReplaceAll(library, growingAppend, "clip("+growingAppend+")")
	}
	return library
}

// growingAppend is the only append of the library whose capacity could matter.
const growingAppend = "append(p.X, d)"

// parts maps "exact" to the declarations of the library, in order.
var parts = map[bool]func() []part{
	false: sync.OnceValue(func() []part { return partsOf(declarations(false)) }),
	true:  sync.OnceValue(func() []part { return partsOf(declarations(true)) }),
}

// partsOf splits the library into declarations and finds the names that each uses.
func partsOf(text string) []part {
	src := "package p\n" + text
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "library.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var out []part
	for _, d := range f.Decls {
		from := d.Pos()
		p := part{}
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.name = d.Name.Name
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		case *ast.GenDecl:
			switch s := d.Specs[0].(type) {
			case *ast.TypeSpec:
				p.name = s.Name.Name
			case *ast.ValueSpec:
				p.name = s.Names[0].Name
			}
		}
		p.text = src[at(from):at(d.End())]
		p.uses = words(p.text)
		out = append(out, p)
	}
	return out
}

// words returns the names in Go text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// usedDeclarations returns the declarations of the library that text uses, directly or indirectly.
func usedDeclarations(text string, exact bool) string {
	parts := parts[exact]()
	used := map[string]bool{}
	var visit func(list []string)
	visit = func(list []string) {
		for _, w := range list {
			if used[w] {
				continue
			}
			used[w] = true
			for _, p := range parts {
				if p.name == w {
					visit(p.uses)
				}
			}
		}
	}
	visit(words(text))
	var b strings.Builder
	for _, p := range parts {
		if used[p.name] {
			b.WriteString(p.text + "\n\n")
		}
	}
	return b.String()
}

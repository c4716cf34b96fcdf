package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// An exported function of the package.
type exported struct {
	name string
	call func(dst, src []float64)
	*function
}

var functions = []exported{{"Exp", Exp, exp}, {"Log", Log, log}, {"Log1p", Log1p, log1p}, {"Expm1", Expm1, expm1},
	{"Sin", Sin, sin}, {"Cos", Cos, cos}, {"Tanh", Tanh, tanh}}

// A level computes a function by some of its kernels, which need the instructions of its name.
type level struct {
	name    string
	compute func(dst, src []float64)
}

// levels returns those of the processor: with each kernel alone, without any, and the choice of the package.
func (f exported) levels() []level {
	only := func(k kernels) func(dst, src []float64) {
		return func(dst, src []float64) { f.compute(k, dst, src) }
	}
	levels := []level{{"math", only(kernels{})}, {"all", f.call}}
	k := f.available()
	if k.four != 0 {
		levels = append(levels, level{"AVX2", only(kernels{four: k.four})})
	}
	if k.eight != 0 {
		levels = append(levels, level{"AVX512", only(kernels{eight: k.eight})})
	}
	return levels
}

// arguments returns numbers of all magnitudes, many of them where functions change their formula, and special ones.
// Several in succession are of one kind, so that there are blocks of them.
func arguments(rng *rand.Rand, n int) []float64 {
	centers := []float64{0, 1, -1, math.Sqrt2 - 1, math.Sqrt2/2 - 1, math.Sqrt2, math.Sqrt2 / 2, 709.782712893384,
		-745.13, 708, -708, 1 << 53, 1.0 / (1 << 29), 1.0 / (1 << 54), 2, 0.5, 0.625, 1 << 29, math.Pi / 4, math.Pi / 2,
		0.5 * math.Ln2, 1.5 * math.Ln2, -0.5 * math.Ln2, -1.5 * math.Ln2, 56 * math.Ln2, -56 * math.Ln2,
		19.5 * math.Ln2, -0.25, 100 * math.Pi, 44, 19, math.SmallestNonzeroFloat64, 0x1p-1022, -0.5, 3, 7}
	src := make([]float64, n)
	kind, c, special := 0, 0.0, 0
	for i := range src {
		if i == 0 || rng.IntN(12) == 0 {
			kind, c, special = rng.IntN(4), centers[rng.IntN(len(centers))], 8<<(4*rng.IntN(3))
		}
		switch kind {
		case 0:
			src[i] = math.Float64frombits(rng.Uint64())
		case 1:
			src[i] = math.Float64frombits(math.Float64bits(c) + uint64(rng.IntN(9)) - 4)
			if rng.IntN(2) == 0 {
				src[i] = c + rng.NormFloat64()*math.Pow(10, -16*rng.Float64())
			}
		case 2:
			src[i] = 10 * rng.NormFloat64()
		default:
			src[i] = math.Exp(300 * rng.NormFloat64())
		}
		switch rng.IntN(special) {
		case 0:
			src[i] = math.Inf(rng.IntN(2)*2 - 1)
		case 1:
			src[i] = math.NaN()
		case 2:
			src[i] = math.Copysign(0, rng.NormFloat64())
		}
	}
	return src
}

// compare compares the results for src with those of package math, in other memory and in place.
func (f *function) compare(t *testing.T, l level, src []float64) {
	t.Helper()
	const border = 16
	memory := make([]float64, border+len(src)+border)
	for i := range memory {
		memory[i] = 7
	}
	dst := memory[border : border+len(src)]
	l.compute(dst, src)
	for i, x := range memory {
		if (i < border || i >= border+len(src)) && x != 7 {
			t.Fatalf("of %d numbers, number %d is written", len(src), i-border)
		}
	}
	again := slices.Clone(src)
	l.compute(again, again)
	for i, x := range src {
		want := f.one(x)
		for _, got := range []float64{dst[i], again[i]} {
			if !same(got, want) {
				t.Fatalf("of %v (%x), number %d of %d, it is %v (%x), want %v (%x)", x, math.Float64bits(x), i,
					len(src), got, math.Float64bits(got), want, math.Float64bits(want))
			}
		}
	}
}

// TestBits: the results of all kernels have the bits of package math.
func TestBits(t *testing.T) {
	for _, f := range functions {
		for _, l := range f.levels() {
			t.Run(f.name+"/"+l.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				for range longtest.Cases(0, 3, 10, 1000) {
					for n := range 41 {
						f.compare(t, l, arguments(rng, n))
					}
				}
				for range longtest.Cases(0, 30, 500, 20000) {
					src := arguments(rng, rng.IntN(1000))
					if rng.IntN(2) == 0 { // blocks without exceptions
						for i := range src {
							src[i] = math.Abs(5 * rng.NormFloat64())
						}
					}
					f.compare(t, l, src)
				}
			})
		}
	}
}

// TestExponents: the results have the bits of package math for blocks of numbers of each exponent and of both signs.
func TestExponents(t *testing.T) {
	for _, f := range functions {
		for _, l := range f.levels() {
			t.Run(f.name+"/"+l.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(5, 6))
				for range longtest.Cases(0, 1, 4, 100) {
					src := make([]float64, 16)
					for exponent := range uint64(1 << 12) { // with the sign
						for i := range src {
							src[i] = math.Float64frombits(exponent<<52 | rng.Uint64()>>12)
						}
						f.compare(t, l, src)
					}
				}
			})
		}
	}
}

// TestLeftOut: kernels compute all blocks of usual numbers, and end at one of which a number is left out.
func TestLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		f       *function
		usual   []float64
		leftOut []float64
	}{
		"Exp":   {exp, []float64{0, 708, -708, 1e-300}, []float64{709, -709, math.NaN(), math.Inf(1), math.Inf(-1)}},
		"Log":   {log, []float64{0x1p-1022, 1, 2, math.MaxFloat64}, []float64{0, -1, 1e-310, math.Inf(1), math.NaN()}},
		"Log1p": {log1p, []float64{0, 1, 3, -0.5, 1e-300, 1e15}, []float64{-1, -2, 1 << 53, 2.9999999999999996}},
		"Expm1": {expm1, []float64{0, 1e-300, -38, 38}, []float64{39, -39, math.Inf(-1), math.NaN()}},
		"Sin":   {sin, []float64{0, 1e-300, -1, 1<<29 - 1}, []float64{1 << 29, -1 << 29, math.Inf(1), math.NaN()}},
		"Cos":   {cos, []float64{0, 1e-300, -1, 1<<29 - 1}, []float64{1 << 29, -1 << 29, math.Inf(1), math.NaN()}},
		"Tanh":  {tanh, []float64{0, 1e-300, -1e300, math.Inf(1)}, []float64{math.NaN()}},
	} {
		k := c.f.available()
		for lanes, entry := range map[int]uintptr{4: k.four, 8: k.eight} {
			if entry == 0 {
				continue
			}
			const blocks = 5
			src, dst := make([]float64, lanes*blocks), make([]float64, lanes*blocks)
			for i := range src {
				src[i] = c.usual[i%len(c.usual)]
			}
			if n := run(entry, &dst[0], &src[0], blocks); n != blocks {
				t.Errorf("%s: %d blocks of %d usual numbers are computed", name, n, lanes)
			}
			for i, x := range src {
				for _, src[i] = range c.leftOut {
					if n := run(entry, &dst[0], &src[0], blocks); n != i/lanes {
						t.Fatalf("%s: %d blocks of %d are computed before %v at %d", name, n, lanes, src[i], i)
					}
				}
				src[i] = x
			}
		}
	}
}

// TestPow: powers have the bits of package math, in place too.
func TestPow(t *testing.T) {
	if supported() && !powAgrees() {
		t.Error("powers have other bits than package math here, and are computed by it")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range longtest.Cases(0, 100, 1000, 30000) {
		x := arguments(rng, rng.IntN(200))
		y := arguments(rng, len(x))
		kind := rng.IntN(4)
		for i := range x {
			if kind > 0 { // numbers without exceptions
				x[i] = math.Exp(5 * rng.NormFloat64())
			}
			switch kind {
			case 2:
				y[i] = float64(rng.IntN(9) - 4)
			case 3:
				y[i] = 5 * rng.NormFloat64()
			}
			if rng.IntN(20) == 0 {
				y[i] = []float64{0, 1, -1, 0.5, -0.5, 2, 1e300, 1 << 62, 1 << 63}[rng.IntN(9)]
			}
		}
		got := make([]float64, len(x)+1)
		Pow(got, x, y)
		scalar := make([]float64, len(x)+1)
		if len(y) > 0 {
			PowScalar(scalar, x, y[0])
		}
		for i, v := range x {
			if want := math.Pow(v, y[i]); !same(got[i], want) {
				t.Fatalf("%v to the power of %v is %v, want %v", v, y[i], got[i], want)
			}
			if want := math.Pow(v, y[0]); !same(scalar[i], want) {
				t.Fatalf("%v to the power of %v for all is %v, want %v", v, y[0], scalar[i], want)
			}
		}
		if got[len(x)] != 0 || scalar[len(x)] != 0 {
			t.Fatal("it has written behind")
		}
		if Pow(y, x, y); len(x) > 0 && !same(y[0], got[0]) {
			t.Fatalf("in place %v, want %v", y[0], got[0])
		}
	}
}

// TestAnyNaN: a NaN is found at all places of slices of all lengths, and infinities are none.
func TestAnyNaN(t *testing.T) {
	for n := range 150 {
		v := make([]float64, n+2)
		v[0], v[n+1] = math.NaN(), math.NaN() // outside
		w := v[1 : n+1]
		for i := range w {
			w[i] = []float64{1, math.Inf(1), math.Inf(-1), math.MaxFloat64, math.Copysign(0, -1)}[i%5]
		}
		if AnyNaN(w) || copied(t, w) {
			t.Errorf("%d numbers without NaN", n)
		}
		for i := range w {
			was := w[i]
			if w[i] = math.NaN(); !AnyNaN(w) || !copied(t, w) {
				t.Errorf("a NaN at %d of %d is not found", i, n)
			}
			w[i] = was
		}
	}
}

// copied returns the result of CopyAnyNaN for a copy of v, and checks the copy.
func copied(t *testing.T, v []float64) bool {
	t.Helper()
	dst := make([]float64, len(v)+1)
	dst[len(v)] = 7
	nan := CopyAnyNaN(dst, v)
	for i, x := range v {
		if !same(dst[i], x) {
			t.Fatalf("element %d of %d is %v, want %v", i, len(v), dst[i], x)
		}
	}
	if dst[len(v)] != 7 {
		t.Fatal("it has written behind")
	}
	return nan
}

// TestChecked: kernels run where the processor has their instructions, and those that compute other bits do not.
func TestChecked(t *testing.T) {
	if !supported() {
		t.Skip("no kernels here")
	}
	for _, f := range functions {
		if got, all := f.checked(), f.available(); got != all {
			t.Errorf("%s has other bits than package math here: the kernels are %v of %v", f.name, got, all)
		}
	}
	wrong := &function{one: math.Exp2, number: exp.number}
	src := make([]float64, 16)
	for i := range src {
		src[i] = float64(i)
	}
	if wrong.apply(src, src); wrong.checked() != (kernels{}) || src[2] != 4 || src[15] != 1<<15 {
		t.Errorf("a kernel of another function is taken: %v", src)
	}
	for _, k := range []kernels{{four: exp.available().four}, {eight: exp.available().eight}} {
		other := sin.available()
		mixed := kernels{cmp.Or(k.eight, other.eight), cmp.Or(k.four, other.four)}
		if got := exp.agreeing(mixed); got != k {
			t.Errorf("of kernels %v, of which %v agree, %v are taken", mixed, k, got)
		}
	}
}

func BenchmarkPow(b *testing.B) {
	x, dst := make([]float64, 1000), make([]float64, 1000)
	for i := range x {
		x[i] = 0.01 + float64(i)/500
	}
	for _, y := range []float64{3, 1.7, -2.5} {
		b.Run(fmt.Sprint(y), func(b *testing.B) {
			for b.Loop() {
				PowScalar(dst, x, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/number")
		})
		b.Run(fmt.Sprintf("%v/math", y), func(b *testing.B) {
			for b.Loop() {
				for i, v := range x {
					dst[i] = math.Pow(v, y)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/number")
		})
	}
}

// BenchmarkFunctions measures a long slice, and one as in generated code, where the call counts.
func BenchmarkFunctions(b *testing.B) {
	for _, f := range functions {
		for _, n := range []int{16, 1000} {
			src, dst := make([]float64, n), make([]float64, n)
			for i := range src {
				src[i] = 0.01 + 2*float64(i)/float64(n)
			}
			for _, l := range f.levels() {
				b.Run(fmt.Sprintf("%s/%d/%s", f.name, n, l.name), func(b *testing.B) {
					for b.Loop() {
						l.compute(dst, src)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/number")
				})
			}
		}
	}
}

package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

var functions = []struct {
	name  string
	apply func(dst, src []float64)
	*function
}{{"Exp", Exp, exp}, {"Log", Log, log}, {"Log1p", Log1p, log1p},
	{"Expm1", Expm1, expm1}, {"Sin", Sin, sin}, {"Cos", Cos, cos},
	{"Tanh", Tanh, tanh}}

// arguments returns numbers of all magnitudes, many of them where functions change their formula, and special ones.
func arguments(rng *rand.Rand, n int) []float64 {
	centers := []float64{0, 1, -1, math.Sqrt2 - 1, math.Sqrt2/2 - 1, math.Sqrt2, math.Sqrt2 / 2, 709.782712893384,
		-745.13, 708, -708, 1 << 53, 1.0 / (1 << 29), 1.0 / (1 << 54), 2, 0.5, 0.625, 1 << 29, math.Pi / 4, math.Pi / 2,
		0.5 * math.Ln2, 1.5 * math.Ln2, -0.5 * math.Ln2, -1.5 * math.Ln2, 56 * math.Ln2, -56 * math.Ln2,
		19.5 * math.Ln2, -0.25, 100 * math.Pi, 44, 19, math.SmallestNonzeroFloat64, 0x1p-1022}
	src := make([]float64, n)
	for i := range src {
		switch rng.IntN(4) {
		case 0:
			src[i] = math.Float64frombits(rng.Uint64())
		case 1:
			c := centers[rng.IntN(len(centers))]
			src[i] = math.Float64frombits(math.Float64bits(c) + uint64(rng.IntN(9)) - 4)
			if rng.IntN(2) == 0 {
				src[i] = c + rng.NormFloat64()*math.Pow(10, -16*rng.Float64())
			}
		case 2:
			src[i] = 10 * rng.NormFloat64()
		default:
			src[i] = math.Exp(300 * rng.NormFloat64())
		}
		switch rng.IntN(200) {
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

// levels returns the kernels of a function, by the names of what they need.
func (f *function) levels() map[string]kernels {
	k := f.all()
	levels := map[string]kernels{"math": {}}
	if supported() {
		levels["avx2"] = kernels{four: k.four}
	}
	if wide() {
		levels["avx512"] = kernels{eight: k.eight}
		levels["both"] = k
	}
	return levels
}

// TestBits: results of all kernels have the bits of package math, for all lengths, in place too.
func TestBits(t *testing.T) {
	rounds := longtest.Cases(0, 100, 1000, 30000)
	for _, f := range functions {
		for name, k := range f.levels() {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range rounds {
					n := i
					if i > 40 {
						n = rng.IntN(1000)
					}
					src := arguments(rng, n)
					if rng.IntN(2) == 0 { // blocks without exceptions
						for i := range src {
							src[i] = math.Abs(5 * rng.NormFloat64())
						}
					}
					dst := make([]float64, len(src)+8)
					f.compute(k, dst[:len(src)], src)
					if slices.ContainsFunc(dst[len(src):], func(x float64) bool { return x != 0 }) {
						t.Fatal("it has written behind")
					}
					for i, x := range src {
						if want := f.one(x); !same(dst[i], want) {
							t.Fatalf("%s(%v), element %d of %d, is %v (%x), want %v (%x)", f.name, x, i, len(src),
								dst[i], math.Float64bits(dst[i]), want, math.Float64bits(want))
						}
					}
					again := slices.Clone(src)
					f.compute(k, again, again)
					for i := range again {
						if !same(again[i], dst[i]) {
							t.Fatalf("in place: element %d is %v, want %v", i, again[i], dst[i])
						}
					}
				}
			})
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

// TestChecked: kernels run where the processor has their instructions, and one that computes other bits does not.
func TestChecked(t *testing.T) {
	if !supported() {
		t.Skip("no kernels here")
	}
	for _, f := range functions {
		if got := f.checked(); got != f.all() {
			t.Errorf("%s has other bits than package math here, and is computed by it: %v", f.name, got)
		}
	}
	wrong := &function{one: math.Exp2}
	dst := make([]float64, 16)
	wrong.apply(dst, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	if wrong.checked() != (kernels{}) || dst[3] != 16 || dst[15] != 1<<16 {
		t.Errorf("a kernel of another function is taken: %v", dst)
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

// BenchmarkFunctions measures a long slice, and one of the length that generated code has.
func BenchmarkFunctions(b *testing.B) {
	for _, f := range functions {
		for _, n := range []int{16, 1000} {
			src, dst := make([]float64, n), make([]float64, n)
			for i := range src {
				src[i] = 0.01 + 2*float64(i)/float64(n)
			}
			for name, k := range f.levels() {
				b.Run(fmt.Sprintf("%s/%d/%s", f.name, n, name), func(b *testing.B) {
					for b.Loop() {
						f.compute(k, dst, src)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
				})
			}
		}
	}
}

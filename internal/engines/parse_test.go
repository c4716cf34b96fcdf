package engines_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/difftest/zero"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

func same(t *testing.T, b nabla.Backend) {
	t.Helper()
	got, err := engines.Parse(b.Name())
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("Parse(%q) is %#v, %v, want %#v", b.Name(), got, err, b)
	}
}

func TestParse(t *testing.T) {
	for _, e := range engines.All() {
		same(t, e.Backend)
		same(t, nabla.AutoSparse{Dense: e.Backend})
	}
	for _, r := range engines.Runs(engines.Single()) {
		same(t, r.Backend)
	}
	got, err := engines.Parse("sparse(mixed(source(forward),source(reverse)))")
	want := nabla.AutoSparse{Dense: nabla.MixedMode{Forward: source.Forward{}, Reverse: source.Reverse{}}}
	if err != nil || got != nabla.Backend(want) {
		t.Errorf("%#v, %v", got, err)
	}
	list := engines.Split("forwarddiff(workers=2, chunk=3), mixed(tracker, source(reverse)),auto")
	if len(list) != 3 || list[1] != "mixed(tracker, source(reverse))" || list[2] != "auto" {
		t.Errorf("%q", list)
	}
	got, err = engines.Parse(list[0])
	if err != nil || got != nabla.Backend(forwarddiff.Backend{Chunk: 3, Workers: 2}) {
		t.Errorf("%v, %v", got, err)
	}
}

// backend returns a random backend without what a name does not show, and with at most depth composites around an
// engine.
func backend(r *rand.Rand, depth int) nabla.Backend {
	flag := func() bool { return r.IntN(3) == 0 }
	size := func() int { return r.IntN(4) * r.IntN(1000) }
	workers := func() int { return []int{0, 0, 2, 7}[r.IntN(4)] }
	number := func() float64 {
		return float64(r.IntN(2)) * r.NormFloat64() * []float64{1, 1e-9, 1e30, 1e-300}[r.IntN(4)]
	}
	if depth > 0 && r.IntN(4) > 0 {
		inner := func() nabla.Backend { return backend(r, depth-1) }
		switch r.IntN(5) {
		case 0:
			return nabla.SecondOrder{Outer: inner(), Inner: inner()}
		case 1:
			return nabla.MixedMode{Forward: inner(), Reverse: inner()}
		case 2:
			return nabla.Policy{Backend: inner(), OnGuard: nabla.GuardPolicy(r.IntN(2)), FixedCaptures: flag(),
				NoStaleCheck: flag(), Interpret: flag(), Workers: r.IntN(3), Memory: 1 + int64(size())}
		}
		s := nabla.AutoSparse{Dense: inner(), ReverseCost: number(), Workers: workers(), NoProbe: flag(),
			Decompression: coloring.Decompression(r.IntN(2))}
		s.Detector = []sparsity.Detector{nil, nil, sparsity.Global{}, sparsity.Global{Limit: size()},
			sparsity.Local{Limit: size()}, sparsity.Recorded{}, sparsity.None{},
			nabla.DenseDetector{Backend: inner(), Tol: number(), Direct: flag()}}[r.IntN(8)]
		s.Coloring = []coloring.Algorithm{nil, nil, coloring.None{}, coloring.Optimal{}, coloring.Optimal{Budget: 7},
			coloring.Greedy{}, coloring.Greedy{Postprocess: flag(), Orders: []coloring.Order{coloring.SmallestFirst{},
				coloring.Random{Seed: r.Uint64()},
				coloring.Dynamic{Forward: flag(), Descending: flag(), ColPack: flag()},
				coloring.Natural{}, coloring.LargestFirst{}, coloring.PerfectElimination{}}}}[r.IntN(7)]
		return s
	}
	return []nabla.Backend{
		finitediff.Backend{Method: finitediff.Method(r.IntN(4)), RelStep: number(), AbsStep: number(),
			Workers: workers()},
		forwarddiff.Backend{Chunk: size(), Workers: workers(), Limit: size()},
		forwarddiff.Hyper{Chunk: size(), Workers: workers(), Limit: size()},
		reversediff.Backend{Compile: flag(), Limit: size()}, tracker.Backend{Limit: size()},
		taylor.Backend{Chunk: size(), MaxOrder: size(), Limit: size()},
		symbolic.Backend{Exact: flag(), Limit: size()},
		source.Forward{}, source.Reverse{}, zero.Forward{}, zero.Reverse{},
		nabla.Auto{Approximate: flag(), Dense: flag()},
		finitediff.Adaptive{Points: size(), Method: finitediff.Method(r.IntN(3)), Levels: r.IntN(4) - 1,
			Condition: number(), Factor: number(), Noise: number(), MeasureNoise: flag(), MaxRange: number(),
			Extrapolate: r.IntN(3), Workers: workers()},
	}[r.IntN(13)]
}

// TestParseOfRandomBackends: Parse is the inverse of Name.
func TestParseOfRandomBackends(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range longtest.Cases(0, 2000, 20000, 100000) {
		if same(t, backend(r, 4)); t.Failed() {
			return
		}
	}
}

// TestParseErrors: an error says where it is and which name may be meant.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]engines.ParseError{
		"":                               {Want: "an engine"},
		"forwarddif":                     {Got: "forwarddif", Want: "an engine", Near: "forwarddiff"},
		"sparse(trackr)":                 {Offset: 7, Got: "trackr", Want: "an engine", Near: "tracker"},
		"source(forwrd)":                 {Got: "source(forwrd)", Want: "an engine", Near: "source(forward)"},
		"source":                         {Got: "source", Want: "an engine", Near: "source(forward)"},
		"forwarddiff(chnk=3)":            {Offset: 12, Got: "chnk", Near: "chunk"},
		"forwarddiff(chunk=x)":           {Offset: 18, Got: "x", Want: "an integer"},
		"forwarddiff(chunk)":             {Offset: 17, Got: ")", Want: `"="`},
		"finitediff(relstep=a)":          {Offset: 19, Got: "a", Want: "a number"},
		"finitediff(bounds)":             {Offset: 11, Got: "bounds", Want: "a setting that a name shows in full"},
		"forwarddiff over":               {Offset: 16, Want: "an engine"},
		"mixed(tracker)":                 {Offset: 13, Got: ")", Want: `","`},
		"sparse(tracker":                 {Offset: 14, Want: `")"`},
		"tracker+fial":                   {Offset: 8, Got: "fial", Near: "fail"},
		"tracker)":                       {Offset: 7, Got: ")", Want: `"over", "+" or the end`},
		"sparse(tracker, detector=glob)": {Offset: 25, Got: "glob", Near: "global"},
		"sparse(tracker, coloring=Greedy(Smallest))": {Offset: 32, Got: "Smallest"},
	} {
		b, err := engines.Parse(text)
		var e *engines.ParseError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, %v", text, b, err)
			continue
		}
		if e.Offset != want.Offset || e.Got != want.Got || want.Want != "" && e.Want != want.Want ||
			want.Near != "" && !strings.HasPrefix(e.Near, want.Near[:4]) {
			t.Errorf("%q: %+v, want %+v", text, e, want)
		}
	}
	if _, err := engines.Parse(strings.Repeat("(", 1e6)); err == nil {
		t.Error("a million parentheses are a backend")
	}
}

// FuzzParse: what is parsed has a name that means the same, and nothing panics.
func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		f.Add(backend(r, 3).Name())
	}
	f.Add("source(forwrd) over (tracker+fail, sparse(auto+dense, coloring=Greedy(Random(7); postprocessed)))")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := engines.Parse(text)
		if err != nil {
			var e *engines.ParseError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		again, err := engines.Parse(b.Name())
		if err != nil || again.Name() != b.Name() {
			t.Fatalf("%q is %q, which is %v, %v", text, b.Name(), again, err)
		}
	})
}

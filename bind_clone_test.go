package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// Structs of plain functions that write to them, used by several goroutines.

// desk has all that a struct can lead to, in parts that overlap.
type desk struct {
	K     float64
	Data  []float64 `nabla:"fixed"`
	buf   []float64
	a, b  []float64 // views of buf
	rows  [][]float64
	pairs [][2]float64
	first []float64 // of pairs[1]
	list  [4]float64
	own   []float64 // of list
	chain *link
	at    *float64 // into chain
	names map[string]float64
	any   any
	boxed any
	self  *desk
	count int
	label string
	call  func()
	line  chan int
}

type link struct {
	w    [2]float64
	next *link
}

func newDesk(n int) *desk {
	d := &desk{K: 2, buf: make([]float64, n, n+3), names: map[string]float64{"x": 1}, label: "desk", any: new(float64)}
	d.a, d.b = d.buf[:n/2+1], d.buf[n/2:]
	d.rows = [][]float64{d.buf[:2], {1, 2, 3}, nil}
	d.pairs = make([][2]float64, 3)
	d.first, d.own = d.pairs[1][:], d.list[1:3]
	d.chain = &link{next: &link{}}
	d.chain.next.next = d.chain
	d.at = &d.chain.next.w[1]
	d.boxed = struct {
		V []float64
		N int
	}{d.buf, 3}
	d.self = d
	return d
}

var torn atomic.Int64 // how often a part of a desk was not where it should be

// deskLoss is K Σ xᵢ² xᵢ₋₁, computed in the workspace, with a mark in every part of it that
// must still be there at the end.
func deskLoss(x []float64, d *desk) float64 {
	mark := x[0]
	set := func(list []float64) {
		for i := range list {
			list[i] = mark
		}
	}
	set(d.rows[1])
	set(d.first)
	set(d.own)
	*d.at, d.names["y"], d.count, *d.any.(*float64) = mark, mark, int(mark*1000), mark
	for i := range x {
		d.buf[i] = d.K * x[i] * x[i]
	}
	s := 0.0
	for i := 1; i < len(x); i++ {
		s += d.buf[i] * x[i-1]
	}
	boxed := d.boxed.(struct {
		V []float64
		N int
	})
	for _, ok := range []bool{
		d.self == d, d.self.rows[0][1] == d.buf[1], &d.b[0] == &d.a[len(d.a)-1], d.pairs[1][0] == mark,
		d.list[2] == mark,
		d.chain.next.w[1] == mark, d.chain.next.next == d.chain, d.names["y"] == mark, d.count == int(mark*1000),
		*d.any.(*float64) == mark,
		boxed.N == 3 && &boxed.V[0] == &d.buf[0], d.rows[1][2] == mark, d.label == "desk", cap(d.buf) == len(d.buf)+3,
	} {
		if !ok {
			torn.Add(1)
			s = math.NaN()
		}
	}
	return s
}

func deskNext(y, x []float64, d *desk) {
	for i := range x {
		d.buf[i] = d.K * x[i] * x[i]
	}
	for i := range y {
		y[i] = d.buf[i] * x[(i+1)%len(x)]
	}
}

// bench is a smaller one with code by hand.
type bench struct {
	K   float64
	Buf []float64
}

func benchLoss(x []float64, w *bench) float64 {
	for i := range x {
		w.Buf[i] = w.K * x[i] * x[i]
	}
	s := 0.0
	for i := 1; i < len(x); i++ {
		s += w.Buf[i] * x[i-1]
	}
	return s
}

func init() {
	nabla.Register(benchLoss, nabla.Generated{Version: nabla.CodeVersion, New: func() nabla.Code {
		return nabla.Code{
			Adjoint: func(y, xbar, x, ybar []float64, p any) int {
				w := p.(*bench)
				y[0] = benchLoss(x, w)
				for i := range x {
					xbar[i] = 0
				}
				for i := 1; i < len(x); i++ {
					xbar[i] += ybar[0] * 2 * w.K * x[i] * x[i-1]
					xbar[i-1] += ybar[0] * w.Buf[i]
				}
				return 1
			},
			Tangent: func(y, ydot, x, xdot []float64, p any) int {
				w := p.(*bench)
				y[0], ydot[0] = benchLoss(x, w), 0
				for i := 1; i < len(x); i++ {
					ydot[0] += w.Buf[i]*xdot[i-1] + 2*w.K*x[i]*x[i-1]*xdot[i]
				}
				return 1
			},
		}
	}, Traced: func(y, x []nabla.Real, p any) int {
		w, s := p.(*bench), nabla.Real{}
		for i := range x {
			w.Buf[i] = w.K
		}
		for i := 1; i < len(x); i++ {
			s = s.Add(x[i].Sq().Scale(w.Buf[i]).Mul(x[i-1]))
		}
		y[0] = s
		return 1
	}})
}

func lossGradient(x []float64, k float64) []float64 {
	g := make([]float64, len(x))
	for i := 1; i < len(x); i++ {
		g[i] += 2 * k * x[i] * x[i-1]
		g[i-1] += k * x[i] * x[i]
	}
	return g
}

func pointOf(n, k int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64((i+k)%7+1) / 4
	}
	return x
}

// TestClonesOfFunctionsThatWrite has clones, and engines with workers, of functions that write all over their
// structs. The structs change between calls, which all of them see. Run it with -race.
func TestClonesOfFunctionsThatWrite(t *testing.T) {
	const n = 40
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	d, w := newDesk(n), &bench{2, make([]float64, n)}
	for _, c := range []struct {
		f     *nabla.Func
		b     nabla.Backend
		scale func(k float64)
	}{
		{nabla.Bind(deskLoss, d), finitediff.Backend{}, func(k float64) { d.K = k }},
		{nabla.Bind(deskLoss, d), finitediff.Backend{Workers: 3}, func(k float64) { d.K = k }},
		{nabla.Bind(benchLoss, w), finitediff.Backend{Workers: 2}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), source.Reverse{}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), source.Forward{}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), forwarddiff.Backend{}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), forwarddiff.Backend{Chunk: 3, Workers: 3}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), reversediff.Backend{}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), reversediff.Backend{Compile: true}, func(k float64) { w.K = k }},
		{nabla.Bind(benchLoss, w), tracker.Backend{}, func(k float64) { w.K = k }},
	} {
		p, err := nabla.PrepareGradient(c.f, c.b, pointOf(n, 0))
		if err != nil {
			t.Fatalf("%s: %v", c.b.Name(), err)
		}
		all := []*nabla.GradientPrep{p, p.Clone(), p.Clone()}
		all = append(all, all[1].Clone())
		for round := range rounds {
			k := float64(round%5 + 1)
			c.scale(k)
			var wg sync.WaitGroup
			for i, q := range all {
				wg.Go(func() {
					for step := range 3 {
						x := pointOf(n, i+step)
						g, err := q.Gradient(nil, x)
						if err != nil {
							t.Errorf("%s: %v", c.b.Name(), err)
							return
						}
						within(t, "gradient", c.b, g, lossGradient(x, k), 1e-9)
					}
				})
			}
			wg.Wait()
		}
		if n := torn.Swap(0); n > 0 {
			t.Errorf("%s: %d parts of copies were not where they should be", c.b.Name(), n)
		}
		if t.Failed() {
			return
		}
	}
}

// TestStructsThatCannotBeCopied has structs of which there is no copy: an error of the clone and of Prepare
// with workers, and none without.
func TestStructsThatCannotBeCopied(t *testing.T) {
	x := pointOf(6, 0)
	for name, c := range map[string]struct {
		spoil func(d *desk)
		field string
	}{
		"function": {func(d *desk) { d.call = func() {} }, "call"},
		"channel":  {func(d *desk) { d.line = make(chan int) }, "line"},
		"map with pointers": {func(d *desk) {
			d.any = &struct {
				Inner struct{ M map[string]*float64 }
			}{struct{ M map[string]*float64 }{map[string]*float64{"": nil}}}
		}, "any.Inner.M"},
		"address":           {func(d *desk) { d.any = &[]unsafe.Pointer{unsafe.Pointer(d)} }, "any"},
		"function in a box": {func(d *desk) { d.any = []func(){func() {}} }, "any"},
		"function itself":   {func(d *desk) { d.any = func() {} }, "any"},
	} {
		d := newDesk(6)
		c.spoil(d)
		f := nabla.Bind(func(x []float64, d *desk) float64 { return d.K * x[0] * x[0] }, d)
		expectUncopied := func(what string, err error) {
			t.Helper()
			var ce *nabla.ContextError
			if !errors.As(err, &ce) || !ce.Uncopied || !strings.HasPrefix(ce.Field, c.field) ||
				!strings.Contains(err.Error(), "fixed") {
				t.Errorf("%s of %s: got %v, want a ContextError of %s", what, name, err, c.field)
			}
		}
		_, err := nabla.PrepareGradient(f, finitediff.Backend{Workers: 2}, x)
		expectUncopied("workers", err)
		p, err := nabla.PrepareGradient(f, finitediff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Clone().Gradient(nil, x)
		expectUncopied("a clone", err)
		if g, err := p.Gradient(nil, x); err != nil || math.Abs(g[0]-2*d.K*x[0]) > 1e-6 {
			t.Errorf("%s: the original: %v, %v", name, g, err)
		}
		if _, err := nabla.JacobianSparsity(nabla.Bind(func(x []float64, d *desk) []float64 { return x }, d),
			nabla.DenseDetector{Backend: finitediff.Backend{}}, x); err != nil {
			t.Errorf("%s: a detector in one goroutine: %v", name, err)
		}
	}
	type fixed struct {
		Call func() float64 `nabla:"fixed"`
		Deep struct {
			Line chan int `nabla:"fixed"`
		}
		Buf []float64
	}
	d := &fixed{Call: func() float64 { return 3 }, Buf: make([]float64, 6)}
	d.Deep.Line = make(chan int)
	g, err := nabla.Gradient(nabla.Bind(func(x []float64, d *fixed) float64 { return d.Call() * x[0] }, d),
		finitediff.Backend{Workers: 2}, x)
	if err != nil || math.Abs(g[0]-3) > 1e-6 {
		t.Errorf("fixed fields: %v, %v", g, err)
	}
}

// TestCloneSeesChangesOfStruct: a clone sees later changes of the struct and of the memory reachable from it.
func TestCloneSeesChangesOfStruct(t *testing.T) {
	d := newDesk(4)
	f := func(x []float64, d *desk) float64 {
		s := 0.0
		for _, r := range d.rows {
			for _, v := range r {
				s += v
			}
		}
		for _, v := range d.names {
			s += v
		}
		for l, k := d.chain, 0; l != nil && k < 4; l, k = l.next, k+1 {
			s += l.w[0]
		}
		switch v := d.any.(type) {
		case *float64:
			s += *v
		case []float64:
			s += v[0]
		case float64:
			s += v
		}
		s *= x[0]
		d.rows[0][0]++ // its writes are seen by no other
		return s
	}
	p, err := nabla.PrepareGradient(nabla.Bind(f, d), finitediff.Backend{Method: finitediff.Forward}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	q := p.Clone()
	for i, change := range []func(){
		func() {},
		func() { d.rows[1][0] = 10 },
		func() { d.rows[1] = []float64{7, 8} },
		func() { d.rows = append(d.rows, []float64{1}) },
		func() { d.names["z"] = 5 },
		func() { d.names = map[string]float64{"q": 9} },
		func() { delete(d.names, "q") },
		func() { d.names = nil },
		func() { d.chain = &link{w: [2]float64{4}} },
		func() { d.chain = nil },
		func() { *d.any.(*float64) = 3 },
		func() { d.any = []float64{6} },
		func() { d.any.([]float64)[0] = 2 },
		func() { d.any = 1.5 },
		func() { d.any = nil },
	} {
		change()
		want := f([]float64{1}, d)
		d.rows[0][0]--
		for name, p := range map[string]*nabla.GradientPrep{"the original": p, "the clone": q} {
			for range 2 {
				// The function is not the same at both evaluations of a difference, but for its copy.
				y, _, err := p.ValueAndGradient(nil, []float64{1})
				if err != nil || y != want {
					t.Errorf("change %d: %s: %v, want %v, %v", i, name, y, want, err)
				}
			}
		}
	}
	if err := q.Rebind(newDesk(4)); err != nil {
		t.Fatal(err)
	}
	if y, _, err := q.ValueAndGradient(nil, []float64{1}); err != nil || y != 7 {
		t.Errorf("rebound: %v, %v", y, err)
	}
}

// TestResizeOfClones: an object that has clones, and they, have copies at another size too.
func TestResizeOfClones(t *testing.T) {
	w := &bench{2, make([]float64, 30)}
	p, err := nabla.PrepareGradient(nabla.Bind(benchLoss, w), source.Reverse{}, pointOf(4, 0))
	if err != nil {
		t.Fatal(err)
	}
	q := p.Clone()
	for _, r := range []*nabla.GradientPrep{p, q} {
		if err := r.Resize(pointOf(9, 0)); err != nil {
			t.Fatal(err)
		}
		if g, err := r.Gradient(nil, pointOf(9, 1)); err != nil ||
			math.Abs(g[3]-lossGradient(pointOf(9, 1), 2)[3]) > 1e-12 {
			t.Error(g, err)
		}
	}
	for i, v := range w.Buf[4:] {
		if v != 0 {
			t.Fatalf("element %d of the user's workspace is %v", i+4, v)
		}
	}
}

// TestClonesDoNotAllocate: a call of a clone does not allocate.
func TestClonesDoNotAllocate(t *testing.T) {
	w := &bench{2, make([]float64, 30)}
	p, err := nabla.PrepareGradient(nabla.Bind(benchLoss, w), source.Reverse{}, pointOf(30, 0))
	if err != nil {
		t.Fatal(err)
	}
	q, x, g := p.Clone(), pointOf(30, 0), make([]float64, 30)
	if n := testing.AllocsPerRun(50, func() { _, _ = q.Gradient(g, x) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestClonesOfNestedDerivatives: derivatives inside a function that several goroutines differentiate.
func TestClonesOfNestedDerivatives(t *testing.T) {
	const n = 12
	w := &bench{2, make([]float64, n)}
	box := nabla.DifferentiateWith(nabla.Bind(benchLoss, w), source.Reverse{})
	grad := nabla.GradientFunc(nabla.Bind(benchLoss, w), forwarddiff.Backend{})
	f := func(x []nabla.Real) nabla.Real { return box(x).Add(grad(x)[1]) }
	p, err := nabla.PrepareGradient(f, tracker.Backend{}, pointOf(n, 0))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		q := p.Clone()
		wg.Go(func() {
			for step := range 10 {
				x := pointOf(n, k+step)
				want := lossGradient(x, 2)
				want[0] += 4 * x[1] // of 2K·x₁x₀ + K·x₂²
				want[1] += 4 * x[0]
				want[2] += 4 * x[2]
				g, err := q.Gradient(nil, x)
				if err != nil {
					t.Error(err)
					return
				}
				within(t, "inside", tracker.Backend{}, g, want, 1e-12)
			}
		})
	}
	wg.Wait()
}

// BenchmarkClone measures the price of a copy of the struct for each call of a clone.
func BenchmarkClone(b *testing.B) {
	for _, n := range []int{10, 1000} {
		w := &bench{2, make([]float64, n)}
		p, err := nabla.PrepareGradient(nabla.Bind(benchLoss, w), source.Reverse{}, pointOf(n, 0))
		if err != nil {
			b.Fatal(err)
		}
		x, g := pointOf(n, 0), make([]float64, n)
		direct, err := nabla.PrepareGradient(nabla.Bind(benchLoss, w), source.Reverse{}, x)
		if err != nil {
			b.Fatal(err)
		}
		for name, q := range map[string]*nabla.GradientPrep{"clone": p.Clone(), "direct": direct} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := q.Gradient(g, x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package nabla_test

import (
	"math"
	"sync"
	"testing"
	"unsafe"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

// Structs of which generated code only reads some fields: clones and workers share those.

// shelf has data that is read, workspace that is written, and fields that lead to both.
type shelf struct {
	K     float64
	Data  []float64
	Buf   []float64
	View  []float64   // of Buf
	Rows  [][]float64 // of Buf, Data and others
	Pick  *link       // its w is read
	Other *link
	Link  *link     // written
	Wide  []float64 // begins before Buf
	Joins bool      // Pick leads to Link
	Self  *shelf
	Any   any
	Count int
	Call  func() // no copy
}

func newShelf(n int) *shelf {
	d := &shelf{K: 2, Data: make([]float64, n), Link: &link{}, Other: &link{}, Call: func() {}}
	d.Pick = &link{w: [2]float64{3, 3}}
	d.Wide = make([]float64, n+3)
	d.Buf = d.Wide[2:]
	d.Pick.next = d.Other
	for i := range d.Data {
		d.Data[i] = 1
	}
	d.View = d.Buf[1:]
	d.Rows = [][]float64{d.Buf[:2], d.Data, {5, 6}}
	d.Self = d
	d.Any = d.Buf
	return d
}

// places are the addresses that a function saw.
type places struct {
	sync.Mutex
	self, data, row, free, buf, link, pick map[unsafe.Pointer]bool
}

var seen places

func (p *places) reset() {
	p.Lock()
	defer p.Unlock()
	for _, m := range []*map[unsafe.Pointer]bool{&p.self, &p.data, &p.row, &p.free, &p.buf, &p.link, &p.pick} {
		*m = map[unsafe.Pointer]bool{}
	}
}

func (p *places) add(d *shelf) {
	p.Lock()
	defer p.Unlock()
	p.self[unsafe.Pointer(d)], p.data[unsafe.Pointer(&d.Data[0])] = true, true
	p.row[unsafe.Pointer(&d.Rows[1][0])] = true
	p.free[unsafe.Pointer(&d.Rows[2][0])], p.buf[unsafe.Pointer(&d.Buf[0])] = true, true
	p.link[unsafe.Pointer(d.Link)], p.pick[unsafe.Pointer(d.Pick)] = true, true
}

// shelfLoss is K Σ xᵢ² xᵢ₋₁ Dataᵢ. It writes Buf, Link and Count, and reads the rest.
func shelfLoss(x []float64, d *shelf) float64 {
	seen.add(d)
	d.Count++
	for i := range x {
		d.Buf[i] = d.K * x[i] * x[i]
	}
	d.Link.w[0] = x[0]
	s := 0.0
	for i := 1; i < len(x); i++ {
		s += d.View[i-1] * x[i-1] * d.Data[i]
	}
	for _, ok := range []bool{
		d.Rows[0][1] == d.Buf[1], &d.View[0] == &d.Buf[1], d.Self.Buf[0] == d.Buf[0], d.Self == d,
		d.Any.([]float64)[0] == d.Buf[0],
		d.Link.w[0] == x[0], d.Pick.w[0] == 3 || d.Pick == d.Link, d.Rows[2][1] == 6, &d.Rows[1][0] == &d.Data[0],
		d.Wide == nil || &d.Wide[2] == &d.Buf[0], d.Joins == (d.Pick.next == d.Link),
	} {
		if !ok {
			torn.Add(1)
			s = math.NaN()
		}
	}
	return s
}

// justRead only reads.
func justRead(x []float64, d *shelf) float64 {
	seen.add(d)
	s := 0.0
	for i := 1; i < len(x); i++ {
		s += d.K * x[i] * x[i] * x[i-1] * d.Data[i]
	}
	return s
}

// shelfCode is code by hand, for functions that are K Σ xᵢ² xᵢ₋₁.
func shelfCode(f func(x []float64, d *shelf) float64) func() nabla.Code {
	return func() nabla.Code {
		return nabla.Code{Adjoint: func(y, xbar, x, ybar []float64, p any) int {
			d := p.(*shelf)
			y[0] = f(x, d)
			for i, g := range lossGradient(x, d.K) {
				xbar[i] = ybar[0] * g
			}
			return 1
		}}
	}
}

func init() {
	traced := func(y, x []nabla.Real, p any) int {
		d, s := p.(*shelf), nabla.Real{}
		for i := 1; i < len(x); i++ {
			s = s.Add(x[i].Sq().Scale(d.K).Mul(x[i-1]).Scale(d.Data[i]))
		}
		y[0] = s
		return 1
	}
	nabla.Register(shelfLoss, nabla.Generated{Version: nabla.CodeVersion, New: shelfCode(shelfLoss), Traced: traced,
		ReadOnly: []string{"K", "Data", "View", "Rows", "Pick", "Other", "Wide", "Joins", "Self", "Any", "Call",
			"NotThere"}})
	nabla.Register(justRead, nabla.Generated{Version: nabla.CodeVersion, New: shelfCode(justRead), Traced: traced,
		ReadOnly: []string{
			"K", "Data", "Buf", "View", "Rows", "Pick", "Other", "Wide", "Joins", "Link", "Self", "Any", "Count",
			"Call",
		}})
}

// TestReadOnlyMemoryIsShared: memory that is only read is shared by all clones and workers, and memory that is
// written is copied for each; references between the two are preserved. Data and references change
// between calls. Run it with -race.
func TestReadOnlyMemoryIsShared(t *testing.T) {
	const n = 24
	for _, b := range []nabla.Backend{
		source.Reverse{}, finitediff.Backend{}, finitediff.Backend{Workers: 3},
		forwarddiff.Backend{Chunk: 5, Workers: 2},
	} {
		for _, writes := range []bool{true, false} {
			d := newShelf(n)
			f := nabla.Bind(justRead, d)
			if writes {
				f = nabla.Bind(shelfLoss, d)
			}
			p, err := nabla.PrepareGradient(f, b, pointOf(n, 0))
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			all := []*nabla.GradientPrep{p, p.Clone(), p.Clone()}
			all = append(all, all[1].Clone())
			for round := range 8 {
				d.K = float64(round%3 + 1)
				switch round {
				case 3: // no span is another one
					d.Rows[0], d.Rows[2] = d.Rows[2], d.Rows[0]
					d.Rows[0], d.Rows[2] = d.Buf[:2], []float64{5, 6}
				case 2:
					d.Pick.next, d.Joins = d.Link, true
				case 4:
					d.Pick, d.Joins = d.Link, false
				case 6:
					d.Pick = &link{w: [2]float64{3, 3}}
					d.Buf, d.Wide = make([]float64, n+5), nil
					d.View, d.Rows[0], d.Any = d.Buf[1:], d.Buf[:2], d.Buf
				}
				seen.reset()
				var wg sync.WaitGroup
				for i, q := range all {
					wg.Go(func() {
						for step := range 3 {
							x := pointOf(n, i+step)
							g, err := q.Gradient(nil, x)
							if err != nil {
								t.Errorf("%s: %v", b.Name(), err)
								return
							}
							within(t, "gradient", b, g, lossGradient(x, d.K), 1e-9)
						}
					})
				}
				wg.Wait()
				if n := torn.Swap(0); n > 0 {
					t.Fatalf("%s, round %d: %d parts of copies were not where they should be", b.Name(), round, n)
				}
				one := func(what string, m map[unsafe.Pointer]bool, user unsafe.Pointer, shared bool) {
					if len(m) > 0 && shared != (len(m) == 1 && m[user]) || !shared && m[user] {
						t.Errorf("%s, writes %v, round %d: %s is at %d places, the user's among them: %v",
							b.Name(), writes, round, what, len(m), m[user])
					}
				}
				one("the struct", seen.self, unsafe.Pointer(d), !writes)
				one("Data", seen.data, unsafe.Pointer(&d.Data[0]), true)
				one("Rows[1]", seen.row, unsafe.Pointer(&d.Data[0]), true)
				one("Rows[2]", seen.free, unsafe.Pointer(&d.Rows[2][0]), true)
				one("Buf", seen.buf, unsafe.Pointer(&d.Buf[0]), !writes)
				one("Link", seen.link, unsafe.Pointer(d.Link), !writes)
				one("Pick", seen.pick, unsafe.Pointer(d.Pick), !writes || d.Pick != d.Link && !d.Joins)
			}
		}
	}
}

// shelfBySelf leads from a field that is written to the struct itself: all of it is copied.
func shelfBySelf(x []float64, d *shelf) float64 {
	seen.add(d)
	s := d.Self
	for i := range x {
		s.Buf[i] = s.K * x[i] * x[i]
	}
	r := 0.0
	for i := 1; i < len(x); i++ {
		r += d.Buf[i] * x[i-1]
	}
	return r
}

// TestReadOnlyFieldsThatReachTheStruct: a pointer back to the struct, behind which something is written, makes
// all fields such that may be written.
func TestReadOnlyFieldsThatReachTheStruct(t *testing.T) {
	nabla.Register(shelfBySelf, nabla.Generated{Version: nabla.CodeVersion, New: shelfCode(shelfBySelf),
		ReadOnly: []string{"K", "Data", "Buf", "View", "Rows", "Pick", "Other", "Wide", "Joins", "Link", "Any",
			"Count"}})
	const n = 16
	d := newShelf(n)
	d.Call = nil
	p, err := nabla.PrepareGradient(nabla.Bind(shelfBySelf, d), source.Reverse{}, pointOf(n, 0))
	if err != nil {
		t.Fatal(err)
	}
	seen.reset()
	var wg sync.WaitGroup
	for k := range 4 {
		q := p.Clone()
		wg.Go(func() {
			for step := range 20 {
				x := pointOf(n, k+step)
				g, err := q.Gradient(nil, x)
				if err != nil {
					t.Error(err)
					return
				}
				within(t, "gradient", source.Reverse{}, g, lossGradient(x, 2), 1e-9)
			}
		})
	}
	wg.Wait()
	if len(seen.buf) != 4 || seen.buf[unsafe.Pointer(&d.Buf[0])] {
		t.Errorf("the workspace of 4 clones is at %d places", len(seen.buf))
	}
}

// TestReadOnlyClonesDoNotAllocate: a call of a clone does not allocate, and a clone of a function that only
// reads costs as much as the original.
func TestReadOnlyClonesDoNotAllocate(t *testing.T) {
	d := newShelf(30)
	d.Any = nil
	for _, f := range []*nabla.Func{nabla.Bind(shelfOnly, d), nabla.Bind(shelfQuiet, d)} {
		p, err := nabla.PrepareGradient(f, source.Reverse{}, pointOf(30, 0))
		if err != nil {
			t.Fatal(err)
		}
		q, x, g := p.Clone(), pointOf(30, 0), make([]float64, 30)
		if n := testing.AllocsPerRun(50, func() { _, _ = q.Gradient(g, x) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func shelfOnly(x []float64, d *shelf) float64 { return d.K * x[0] }

func shelfQuiet(x []float64, d *shelf) float64 {
	d.Buf[0] = d.K * x[0]
	return d.Buf[0]
}

func init() {
	code := func(f func(x []float64, d *shelf) float64) func() nabla.Code {
		return func() nabla.Code {
			return nabla.Code{Adjoint: func(y, xbar, x, ybar []float64, p any) int {
				y[0] = f(x, p.(*shelf))
				clear(xbar)
				xbar[0] = ybar[0] * p.(*shelf).K
				return 1
			}}
		}
	}
	all := []string{"Other", "Wide", "Joins", "K", "Data", "View", "Rows", "Pick", "Link", "Self", "Any", "Count",
		"Call"}
	most := all[:len(all):len(all)]
	nabla.Register(shelfOnly,
		nabla.Generated{Version: nabla.CodeVersion, New: code(shelfOnly), ReadOnly: append(most, "Buf")})
	nabla.Register(shelfQuiet, nabla.Generated{Version: nabla.CodeVersion, New: code(shelfQuiet), ReadOnly: most})
}

package nabla_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// scaleFree is the targets of three edges of each vertex of a graph with hubs: drawn from
// Zipf's distribution, or from the ends of the edges that there are.
func scaleFree(n int, attached bool) []int {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.3, 1, uint64(n-1))
	to := make([]int, 3*n)
	for k := range to {
		switch {
		case !attached:
			to[k] = int(zipf.Uint64())
		case k >= 3: // an end of an edge before it: its vertex, or its target
			if e := r.IntN(2 * k); e%2 == 0 {
				to[k] = e / 2 / 3
			} else {
				to[k] = to[e/2]
			}
		}
	}
	return to
}

// onEdges is Σ xᵢ²xⱼ over the edges.
func onEdges(to []int) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for k, j := range to {
			if i := k / 3; i != j {
				s = s.Add(x[i].Sq().Mul(x[j]))
			}
		}
		return s
	}
}

// TestHubsTakeFewProducts: the Hessian of a function on a graph with hubs takes no more
// products than a good order of its vertices gives, whatever the first order would.
func TestHubsTakeFewProducts(t *testing.T) {
	for _, c := range []struct{ n, zipf, attached int }{{2000, 34, 34}, {10_000, 68, 68}, {100_000, 173, 173}} {
		if c.n > 10_000 && !longtest.Long() {
			continue
		}
		for _, attached := range []bool{false, true} {
			most := c.zipf
			if attached {
				most = c.attached
			}
			b := nabla.AutoSparse{Dense: tracker.Backend{}}
			p, err := nabla.PrepareHessian(onEdges(scaleFree(c.n, attached)), b, make([]float64, c.n))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("n = %d, attached %v: %v", c.n, attached, p.Plan())
			if got := p.Plan().Products(); got > most {
				t.Errorf("n = %d, attached %v: %d products, want %d or fewer", c.n, attached, got, most)
			}
		}
	}
}

// TestBorderedTakesThreeProducts: a matrix with a dense row and a dense column takes two
// products of columns and one of rows, or the other way round, of any size.
func TestBorderedTakesThreeProducts(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		y[0] = nabla.Dot(x, x)
		for i := 1; i < len(x); i++ {
			y[i] = x[i].Sq().Mul(x[0])
		}
		return y
	}
	sizes := []int{100, 30_000}
	if longtest.Long() {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		x := make([]float64, n)
		for i := range x {
			x[i] = 1 + float64(i%5)
		}
		start := time.Now()
		b := nabla.AutoSparse{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}}}
		p, err := nabla.PrepareJacobian(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(p.Plan(), time.Since(start))
		if got := p.Plan().Products(); got != 3 {
			t.Errorf("n = %d: %d products", n, got)
		}
		j, err := p.Jacobian(nil, x)
		if err != nil || j.At(0, n-1) != 2*x[n-1] || j.At(n-1, 0) != x[n-1]*x[n-1] || j.At(n-1, n-1) != 2*x[n-1]*x[0] {
			t.Errorf("n = %d: wrong, %v", n, err)
		}
	}
}

// clocked is an engine whose products take a time on a clock of its own.
type clocked struct {
	reversediff.Backend
	clock         *time.Duration
	push, pull    time.Duration
	sleep         time.Duration // 1 where the clock is everybody's
	lanes         int
	pushes, pulls *int
}

func (c clocked) Name() string { return "clocked" }

func (c clocked) Lanes(n int) int { return min(n, c.lanes) }

func (c clocked) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	p, err := forwarddiff.Backend{}.PreparePushforward(f, x, lanes)
	return clockedPush{c, p}, err
}

func (c clocked) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := tracker.Backend{}.PreparePullback(f, x, lanes)
	return clockedPull{c, p}, err
}

type clockedPush struct {
	clocked
	p engine.Pushforward
}

func (c clockedPush) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	*c.clock += c.push
	time.Sleep(c.sleep * c.push)
	*c.pushes++
	return c.p.Pushforward(y, ydot, x, xdot)
}

type clockedPull struct {
	clocked
	p engine.Pullback
}

func (c clockedPull) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	*c.clock += c.pull
	time.Sleep(c.sleep * c.pull)
	*c.pulls++
	return c.p.Pullback(y, xbar, x, ybar)
}

// TestReverseIsWeighed: the relative cost of a reverse product is measured, to a power of the
// square root of 2, in few calls, and decides between plans; AutoSparse.ReverseCost takes
// precedence.
func TestReverseIsWeighed(t *testing.T) {
	// Eight products of columns, or two of rows.
	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Dot(x, x), nabla.Sum(x...)} }
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		push, pull time.Duration
		lanes      int
		set        float64
		want       float64
		reverse    int // products of the plan
	}{
		{push: 1000, pull: 1000, lanes: 1, want: 1, reverse: 2},
		{push: 1000, pull: 2000, lanes: 1, want: 2, reverse: 2},
		{push: 1000, pull: 1100, lanes: 2, want: 1, reverse: 2},
		{push: 1000, pull: 300, lanes: 2, want: math.Exp2(-1.5), reverse: 2},
		{push: 1000, pull: 5700, lanes: 1, want: math.Exp2(2.5)},
		{push: 1000, pull: 300, lanes: 8, want: math.Sqrt2, reverse: 2}, // of two lanes
		{push: 100, pull: 1, lanes: 1, want: 1. / 8, reverse: 2},
		{push: 1, pull: 100, lanes: 1, want: 8},
		{push: 1, pull: 100, lanes: 1, want: 8, set: 0.5, reverse: 2},
	} {
		var clock time.Duration
		var pushes, pulls int
		e := clocked{clock: &clock, push: c.push, pull: c.pull, lanes: c.lanes, pushes: &pushes, pulls: &pulls}
		now := func() time.Time { return time.Unix(0, 0).Add(clock) }
		got, err := nabla.WeighForTest(now, f, e, e, x)
		if err != nil || math.Abs(got-c.want) > 1e-12 || pushes > 16 || pulls > 16 {
			t.Errorf("%+v: %v, %d and %d calls, %v", c, got, pushes, pulls, err)
		}
		set := c.set
		if set == 0 {
			set = got
		}
		p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: e, ReverseCost: set}, x)
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Plan().Coloring.Reverse(); r != c.reverse {
			t.Errorf("%+v: %v", c, p.Plan())
		}
	}
	for _, slow := range []string{"forward", "reverse"} {
		var clock time.Duration
		e := clocked{clock: &clock, lanes: 1, sleep: 1, pushes: new(int), pulls: new(int)}
		want := 0
		if slow == "forward" {
			e.push, want = 3*time.Millisecond, 2
		} else {
			e.pull = 3 * time.Millisecond
		}
		p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: e}, x)
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Plan().Coloring.Reverse(); r != want {
			t.Errorf("slow %s products: %v", slow, p.Plan())
		}
	}
	for _, cost := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: tracker.Backend{}, ReverseCost: cost},
			x); err == nil {
			t.Errorf("ReverseCost %v is no error", cost)
		}
	}
}

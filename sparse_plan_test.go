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
	longtest.Serial(t)
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
	longtest.Serial(t)
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

// slowed is an engine that sleeps before each sweep.
type slowed struct {
	reversediff.Backend
	push, pull time.Duration
}

func (s slowed) Name() string { return "slowed" }

func (s slowed) Lanes(int) int { return 1 }

func (s slowed) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	p, err := forwarddiff.Backend{}.PreparePushforward(f, x, lanes)
	return slowedPush{s, p}, err
}

func (s slowed) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := tracker.Backend{}.PreparePullback(f, x, lanes)
	return slowedPull{s, p}, err
}

type slowedPush struct {
	slowed
	p engine.Pushforward
}

func (s slowedPush) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	time.Sleep(s.push)
	return s.p.Pushforward(y, ydot, x, xdot)
}

type slowedPull struct {
	slowed
	p engine.Pullback
}

func (s slowedPull) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	time.Sleep(s.pull)
	return s.p.Pullback(y, xbar, x, ybar)
}

// TestReverseCost: the cost of a reverse product, measured or, which takes precedence, given as AutoSparse.ReverseCost,
// decides between products of rows and of columns.
func TestReverseCost(t *testing.T) {
	// Eight products of columns, or two of rows.
	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Dot(x, x), nabla.Sum(x...)} }
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		push, pull time.Duration
		set        float64
		reverse    int // products of the plan
	}{
		{push: 3 * time.Millisecond, reverse: 2},
		{pull: 3 * time.Millisecond},
		{pull: 3 * time.Millisecond, set: 3.9, reverse: 2},
		{push: 3 * time.Millisecond, set: 4.1},
		{set: 1, reverse: 2},
		{set: 0.01, reverse: 2},
		{set: 100},
	} {
		p, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: slowed{push: c.push, pull: c.pull},
			ReverseCost: c.set}, x)
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Plan().Coloring.Reverse(); r != c.reverse {
			t.Errorf("%+v: %v", c, p.Plan())
		}
	}
	for _, cost := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := nabla.PrepareJacobian(f, nabla.AutoSparse{Dense: tracker.Backend{}, ReverseCost: cost},
			x); err == nil {
			t.Errorf("ReverseCost %v is no error", cost)
		}
	}
}

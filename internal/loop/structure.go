package loop

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// These bound the operations on words that a pattern takes, and its entries; beyond them it is full.
const (
	mostPatternWork    = 1 << 26
	mostPatternEntries = 1 << 22
)

// Structure implements core.Structured: the dependence of the step, which must hold everywhere, is followed through all
// steps.
func (l loop) Structure(int) (rows [][]int, linear bool) {
	if l.level > 0 {
		return nil, false
	}
	step := l.b.stepPattern()
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if last := &l.b.structure; last.rows == nil || last.n != l.n {
		last.n, last.rows = l.n, l.follow(step)
	}
	return l.b.structure.rows, false
}

// A structure is the pattern of the loop of n steps.
type structure struct {
	n    int
	rows [][]int
}

// follow returns the inputs that each output of l depends on, or nil if the pattern of the step is unknown or the one
// of the loop too large.
func (l loop) follow(step [][]int) [][]int {
	b, words := l.b, (l.in()+63)/64
	entries := 0
	for _, row := range step {
		entries += 1 + len(row)
	}
	if step == nil || float64(l.n)*float64(entries)*float64(words) > mostPatternWork ||
		float64(l.out())*float64(l.in()) > mostPatternEntries {
		return nil
	}
	newSets := func(n int) [][]uint64 {
		sets := make([][]uint64, n)
		for j := range sets {
			sets[j] = make([]uint64, words)
		}
		return sets
	}
	// sets[j] are the inputs that number j of the state, or parameter j-State, depends on, and out those of the results
	// of a step.
	sets, out := newSets(b.State+b.Params), newSets(len(step))
	for j := range sets {
		sets[j][j/64] |= 1 << (j % 64)
	}
	rows := make([][]int, l.out())
	for i := range l.n {
		for r, row := range step {
			clear(out[r])
			for _, j := range row {
				if j >= len(sets) { // an input of the step
					j += i * b.Inputs
					out[r][j/64] |= 1 << (j % 64)
					continue
				}
				for k, w := range sets[j] {
					out[r][k] |= w
				}
			}
		}
		for r, set := range out[b.State:] {
			rows[b.State+i*b.Output+r] = elements(set)
		}
		same := b.Inputs+b.Output == 0
		for r := range b.State {
			same = same && slices.Equal(sets[r], out[r])
			sets[r], out[r] = out[r], sets[r]
		}
		if same { // as it is after all further steps
			break
		}
	}
	for r := range b.State {
		rows[r] = elements(sets[r])
	}
	return rows
}

func elements(set []uint64) []int {
	out := []int{}
	for k, w := range set {
		for ; w != 0; w &= w - 1 {
			out = append(out, k*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// stepPattern returns the inputs that each output of the step depends on, or nil if no pattern holds everywhere.
func (b *Body) stepPattern() [][]int {
	b.once.Do(func() {
		p, err := sparsity.Global{}.Jacobian(blindStep{b}, make([]float64, b.stepIn()+1))
		if err != nil {
			return
		}
		t := p.Transpose()
		b.pattern = make([][]int, b.stepOut())
		for r := range b.pattern {
			for _, j := range t.Col(r) {
				if j < b.stepIn() { // the last one is the number of the step
					b.pattern[r] = append(b.pattern[r], j)
				}
			}
		}
	})
	return b.pattern
}

// A blindStep is the step as a function of its inputs and its number.
type blindStep struct{ b *Body }

// Name implements sparsity.Function.
func (s blindStep) Name() string { return s.b.Name }

// Dims implements sparsity.Function.
func (s blindStep) Dims() (n, m int) { return s.b.stepIn() + 1, s.b.stepOut() }

var errBlind = errors.New("nabla: a step is recorded without values for its pattern")

// Value implements sparsity.Function. No pattern is checked by values.
func (s blindStep) Value([]float64, []float64) error { return errBlind }

// Program implements sparsity.Function.
func (s blindStep) Program([]float64) (*program.Program, error) { return nil, errBlind }

// OverIn implements sparsity.Function.
func (s blindStep) OverIn(t *core.Tracer, y, x []core.Rep) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case core.Abort:
			err = v
		default:
			panic(v)
		}
	}()
	for i := range y {
		y[i] = core.Poison()
	}
	xs := append([]core.Rep(nil), x[:len(x)-1]...)
	s.b.New()(y, xs, x[len(x)-1])
	if again, failed := t.End(x); again || failed != nil {
		return errBlind
	}
	for _, r := range y {
		if r.ID != 0 && !t.Owns(r) {
			return errBlind
		}
	}
	return nil
}

package loop

import (
	"errors"
	"math/bits"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// mostPatternWork bounds the operations on words, and the entries, of a pattern; beyond it the pattern is full.
const mostPatternWork = 1 << 26

// Structure implements core.Structured: the dependence of the step, which must hold everywhere, is followed through all
// steps.
func (l loop) Structure(int) (rows [][]int, linear bool) {
	if l.level > 0 {
		return nil, false
	}
	b, words := l.b, (l.in()+63)/64
	step := b.stepPattern()
	if step == nil {
		return nil, false
	}
	entries := 0
	for _, row := range step {
		entries += 1 + len(row)
	}
	if work := float64(l.n) * float64(entries) * float64(words); work > mostPatternWork ||
		float64(l.out())*float64(l.in()) > mostPatternWork {
		return nil, false
	}
	// sets[j] are the inputs that number j of the state, or parameter j-State, depends on.
	sets := make([][]uint64, b.State+b.Params)
	for j := range sets {
		sets[j] = make([]uint64, words)
		sets[j][j/64] |= 1 << (j % 64)
	}
	rows = make([][]int, l.out())
	for i := range l.n {
		out := make([][]uint64, len(step))
		for r, row := range step {
			out[r] = make([]uint64, words)
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
		copy(sets, out[:b.State])
		for r, set := range out[b.State:] {
			rows[b.State+i*b.Output+r] = elements(set)
		}
	}
	for r := range b.State {
		rows[r] = elements(sets[r])
	}
	return rows, false
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
	b.rows.Do(func() {
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

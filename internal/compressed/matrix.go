// Package compressed computes the values of sparse Jacobians and Hessians from few products.
//
// The product of a matrix with the sum of several unit vectors is the sum of the columns that belong to them. Columns
// that have no entry in a common row can be read off the sum, and so can others where a neighbour tells them apart. The
// terms are:
//
//   - group: columns, or rows, that one product computes together, a colour of package coloring;
//   - seed: the vector of that product, 1 for the members of the group and 0 elsewhere;
//   - compressed matrix: the products of all groups side by side;
//   - recovery: reading the entries off the compressed matrix, by a [coloring.Decompressor];
//   - probe: one more product, in a random direction, with which the recovered matrix is compared;
//   - scope: where a pattern is known to hold, on one branch of the function or on all, for one bound struct.
//
// An entry that the pattern lacks would be recovered in the place of another one. So the matrix is compared with a
// probe when it is prepared, in calls that a schedule chooses, and in those in which the function leaves the scope.
//
// The input is a [Spec]: the groups, the function as engines see it, and the scope of the pattern; and the engines, by
// which the matrix prepares its products. The output is a [Matrix], whose calls give the values in the order of the
// pattern, or a *[engine.PatternError]. [Colorings], [Cheapest] and [ReverseCost] find the groups.
package compressed

import (
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// A Spec describes a sparse derivative.
type Spec struct {
	// Coloring has the pattern and the groups. If it is for some wanted entries, the values are those, and Unchecked is
	// set: nothing can be compared with a part of a matrix.
	Coloring *coloring.Coloring
	// Scope describes where the pattern is known to hold all entries. Calls elsewhere compare the matrix with a probe.
	Scope Scope
	// F is the differentiated function, and Of the one whose derivative has the pattern. They differ if the matrix is
	// the Hessian of a sum by the first inputs of F, whose other inputs are the weights of the outputs of Of.
	F, Of *engine.Function
	// Detect returns the pattern that a detector finds. Nil stands for the derivative of Of.
	Detect func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error)
	// X is the point of preparation.
	X []float64
	// Workers is the number of goroutines that share the products, 0 or 1 for none.
	Workers int
	// Unchecked disables all comparisons.
	Unchecked bool
	// StreamBytes is the memory beyond which not all products are kept at a time; 0 is 64 MiB.
	StreamBytes int64
	// TrustReplays takes all recordings for those of the preparation. That is a mistake, which tests make on purpose.
	TrustReplays bool
}

// entries returns the number of values: those of the wanted entries, if the colouring is for some.
func (s *Spec) entries() int {
	if w := s.Coloring.Problem().Wanted; w != nil {
		return w.NNZ()
	}
	return s.Coloring.Pattern().NNZ()
}

// A sweeper computes products with a matrix, in one goroutine.
type sweeper interface {
	// sweep writes A·seed, or Aᵀ·seed if row is set, to result. Unless out is nil, it gets the value that A is the
	// derivative of: that of the function for a Jacobian, the gradient for a Hessian. Then y is the value of a function
	// whose Hessian A is.
	sweep(row bool, out []float64, result engine.Block, x []float64, seed engine.Block) (y float64, err error)
	// Recordings returns how often the function was recorded.
	Recordings() int
}

// A Matrix computes the values of a sparse derivative, in the order of its pattern. It is for one goroutine at a time.
type Matrix struct {
	op      string
	spec    Spec
	p       *products
	probe   *probe
	product sweeper // of the probe
	trust   trust
	outputs int       // of spec.F for a Jacobian, 0 for a Hessian
	data    []float64 // all values
}

// newMatrix returns a Matrix whose products prepare prepares. detect finds patterns of spec.Of.
func newMatrix(op string, spec Spec, prepare func(m *Matrix) error,
	detect func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error)) (*Matrix, error) {
	m := &Matrix{op: op, spec: spec, data: make([]float64, spec.entries())}
	if spec.Detect != nil {
		detect = spec.Detect
	}
	m.trust = trust{off: spec.Unchecked, replay: spec.TrustReplays, f: spec.F, pattern: detect}
	err := m.trust.settled(spec.Scope, func() error {
		if err := prepare(m); err != nil {
			return err
		}
		if err := spec.Of.Broken(); err != nil { // the bound struct could not be copied for a worker
			return err
		}
		return m.first()
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// first computes and compares the matrix at the point of preparation, so that a wrong pattern is an error of the
// preparation.
func (m *Matrix) first() error {
	var out []float64
	if m.outputs > 0 {
		out = make([]float64, m.outputs)
	}
	if _, err := m.take(out, m.data, m.spec.X); err != nil || m.trust.off {
		return err
	}
	return m.compare(out, m.data, m.spec.X)
}

// Buffer returns memory of m for the values.
func (m *Matrix) Buffer() []float64 { return m.data }

// Recordings returns how often the function was recorded.
func (m *Matrix) Recordings() (n int) {
	for _, w := range m.p.workers {
		n += w.Recordings()
	}
	return n
}

// Values writes the values at x to data. out, unless nil, gets the value of the function for a Jacobian, for which it
// is not nil, and the gradient for a Hessian; then y is the value of the function.
func (m *Matrix) Values(out, data, x []float64) (y float64, err error) {
	m.trust.begin()
	if y, err = m.take(out, data, x); err != nil || !m.trust.due() {
		return y, err
	}
	return y, m.trust.compared(m.spec.Coloring.Pattern(), x, m.compare(out, data, x))
}

// Always reports whether every call is compared, because nothing tells which branch the function takes.
func (m *Matrix) Always() bool { return m.trust.every }

// Elsewhere reports whether the operations of the last call are outside of the scope in which the pattern is known to
// hold.
func (m *Matrix) Elsewhere() bool { return !m.trust.off && m.trust.elsewhere() }

// CompareNext makes the next call a compared one, and restarts the schedule as after a preparation.
func (m *Matrix) CompareNext() { m.trust.soon() }

// Adopt makes the recordings of the function that others prepared at the point of preparation count as those of m.
func (m *Matrix) Adopt() {
	if !m.trust.off {
		m.trust.replays.Accept()
	}
}

// Begin opens a call that computes other products of the function and relies on the pattern. Check ends it.
func (m *Matrix) Begin() { m.trust.begin() }

// Check computes and compares the matrix at x if the call that Begin opened has to be compared.
func (m *Matrix) Check(x []float64) error {
	if !m.trust.due() {
		return nil
	}
	var out []float64
	if m.outputs > 0 {
		out = make([]float64, m.outputs)
	}
	if _, err := m.take(out, m.data, x); err != nil {
		return err
	}
	return m.trust.compared(m.spec.Coloring.Pattern(), x, m.compare(out, m.data, x))
}

// take computes the products and recovers the values from them.
func (m *Matrix) take(out, data, x []float64) (y float64, err error) {
	if len(m.p.tasks) == 0 { // a Jacobian without entries
		clear(data)
		return 0, m.spec.F.Value(out, x)
	}
	return m.p.compute(out, data, x)
}

// compare compares the values, whose products have just been computed, with the derivative in a random direction.
func (m *Matrix) compare(out, data, x []float64) error {
	at := x
	if m.probe.turned {
		at = out
	}
	taken := m.p.extra() != nil
	return m.probe.compare(m.op, m.spec.Coloring.Pattern(), data, at, taken, func(v []float64) error {
		_, err := m.product.sweep(m.probe.turned, nil, engine.Column(m.probe.want), x, engine.Column(v))
		return err
	})
}

// workerFunc returns the function for worker i: a clone of it for all but the first.
func (m *Matrix) workerFunc(i int) *engine.Function {
	if i > 0 {
		return m.spec.F.Clone()
	}
	m.spec.F.DivideSweeps(len(m.p.workers), 1)
	return m.spec.F
}

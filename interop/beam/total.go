package nablabeam

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/nabla-ad/nabla/sums"
)

// terms are the registered terms, *sums.Term[B] for some B, by name.
var terms sync.Map

// blockTypes are the types of blocks that Beam knows.
var blockTypes sync.Map

// Register makes t known under a name to the program that builds pipelines and to its workers. It belongs into an init
// function, and panics if the name is taken.
func Register[B any](name string, t *sums.Term[B]) {
	if _, taken := terms.LoadOrStore(name, t); taken {
		panic(fmt.Sprintf("nablabeam: Register: there is a term %q already", name))
	}
	if _, known := blockTypes.LoadOrStore(reflect.TypeFor[B](), true); known {
		return
	}
	beam.RegisterType(reflect.TypeFor[B]())
	register.DoFn4x1[B, []byte, func([]byte), func(Dead[B]), error](&bundleFn[B]{})
	register.Emitter1[Dead[B]]()
	beam.RegisterType(reflect.TypeFor[Dead[B]]())
}

func init() {
	register.Combiner1[[]byte](&mergeFn{})
	register.Function1x2(zero)
	register.Emitter1[[]byte]()
}

// term returns the term of a name.
func term[B any](name string) (*sums.Term[B], error) {
	t, ok := terms.Load(name)
	if !ok {
		return nil, &RegisterError{Name: name}
	}
	u, ok := t.(*sums.Term[B])
	if !ok {
		return nil, &RegisterError{name, reflect.TypeOf(t).String(), reflect.TypeFor[*sums.Term[B]]().String()}
	}
	return u, nil
}

// A Dead is a block with rows that were left out of a sum.
type Dead[B any] struct {
	Block  B
	Rows   int64  // how many were left out
	Reason string // what was wrong with the last of them
}

// Total returns the sum for q over the blocks of col, a PCollection<B>: a PCollection<[]byte> of one element, an
// encoded [sums.Sum]. It is a sum over no rows if col is empty.
//
// An error is one of q, or a *[RegisterError]. Errors of the term, such as a *sums.RowError, end the job.
func Total[B any](s beam.Scope, name string, q *sums.Query, col beam.PCollection) (beam.PCollection, error) {
	b, err := q.MarshalBinary()
	if err != nil {
		return beam.PCollection{}, err
	}
	sum, _, err := TotalAt[B](s, name, beam.Create(s, b), col)
	return sum, err
}

// TotalAt is like [Total] for a query that is computed in the pipeline, such as the next step of an iteration: q is a
// PCollection<[]byte> of one element, an encoded [sums.Query], which all workers get as a side input. dead is a
// PCollection<Dead[B]> of the blocks with rows that were left out, for terms with sums.LeaveOut.
func TotalAt[B any](s beam.Scope, name string, q, col beam.PCollection) (sum, dead beam.PCollection, err error) {
	if _, err := term[B](name); err != nil {
		return sum, dead, err
	}
	s = s.Scope("nablabeam.Total")
	side := beam.SideInput{Input: q}
	bundles, dead := beam.ParDo2(s, &bundleFn[B]{Term: name}, col, side)
	none := beam.ParDo(s, zero, q) // a sum even if there are no bundles
	return beam.Combine(s, &mergeFn{}, beam.Flatten(s, bundles, none)), dead, nil
}

// A bundleFn sums the blocks of a bundle.
type bundleFn[B any] struct {
	Term string

	worker *sums.Worker[B]
	query  []byte // that of worker
	sum    sums.Sum
}

// Setup prepares f for bundles.
func (f *bundleFn[B]) Setup() error {
	t, err := term[B](f.Term)
	if err != nil {
		return err
	}
	f.worker, err = t.Worker(nil)
	return err
}

// StartBundle begins a bundle, or the same one again.
func (f *bundleFn[B]) StartBundle(q []byte, _ func([]byte), _ func(Dead[B])) error {
	if f.query == nil || string(f.query) != string(q) {
		var query sums.Query
		if err := query.UnmarshalBinary(q); err != nil {
			return err
		}
		if err := f.worker.Ask(&query); err != nil {
			return err
		}
		f.query = append([]byte(nil), q...)
	}
	f.sum = *f.worker.NewSum()
	return nil
}

// ProcessElement adds a block.
func (f *bundleFn[B]) ProcessElement(b B, _ []byte, _ func([]byte), dead func(Dead[B])) error {
	before := f.sum.BadRows
	f.sum.Bad = f.sum.Bad[:0] // indices within a bundle say nothing
	if err := f.worker.Add(&f.sum, &b); err != nil {
		return err
	}
	if bad := f.sum.Bad; f.sum.BadRows > before {
		dead(Dead[B]{b, f.sum.BadRows - before, bad[len(bad)-1].Reason})
	}
	return nil
}

// FinishBundle emits the sum.
func (f *bundleFn[B]) FinishBundle(_ []byte, sum func([]byte), _ func(Dead[B])) error {
	f.sum.Bad = f.sum.Bad[:0]
	b, err := f.sum.MarshalBinary()
	if err != nil {
		return err
	}
	sum(b)
	return nil
}

// zero returns the sum over no rows for a query, both encoded.
func zero(q []byte) ([]byte, error) {
	var query sums.Query
	if err := query.UnmarshalBinary(q); err != nil {
		return nil, err
	}
	s, err := sums.NewSum(&query)
	if err != nil {
		return nil, err
	}
	return s.MarshalBinary()
}

// A mergeFn merges encoded sums. An empty accumulator is the zero Sum.
type mergeFn struct{}

// MergeAccumulators returns the sum of a and b.
func (*mergeFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	switch {
	case len(a) == 0:
		return b, nil
	case len(b) == 0:
		return a, nil
	}
	var s, t sums.Sum
	if err := s.UnmarshalBinary(a); err != nil {
		return nil, err
	}
	if err := t.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	if err := s.Merge(&t); err != nil {
		return nil, err
	}
	return s.MarshalBinary()
}

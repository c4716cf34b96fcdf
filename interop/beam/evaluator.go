package nablabeam

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"github.com/nabla-ad/nabla/sums"
)

// Options of an [Evaluator].
type Options struct {
	// Scratch is a directory that this program and all workers can reach, in which each sum is a file until it is read:
	// of a file system that is imported, as package beam/io/filesystem/local or gcs.
	Scratch string
	// Runner is the name of the runner; empty is that of the flag -runner.
	Runner string
	// Rows, unless 0, is the number of rows of the data. A sum with another one is a *[RowsError].
	Rows int64
	// Dead, unless nil, adds to each pipeline what becomes of the blocks with rows that are left out, a
	// PCollection<Dead[B]>, such as a file of them.
	Dead func(s beam.Scope, dead beam.PCollection)
}

// An Evaluator sums over a collection of blocks, with a pipeline for each sum. It implements [sums.Evaluator].
type Evaluator[B any] struct {
	name    string
	read    func(beam.Scope) beam.PCollection
	options Options
	run     string // distinguishes the files of evaluators
	jobs    atomic.Int64
}

// New returns an evaluator of the term registered under name. read adds the transforms that read the data to a
// pipeline, and returns a PCollection<B>; it is called for each sum.
//
// An error is a *[RegisterError], or that Options.Scratch is missing.
func New[B any](name string, read func(beam.Scope) beam.PCollection, o Options) (*Evaluator[B], error) {
	if _, err := term[B](name); err != nil {
		return nil, err
	}
	if o.Scratch == "" {
		return nil, &OptionError{"Scratch is empty, want a directory that this program and all workers can reach"}
	}
	return &Evaluator[B]{name: name, read: read, options: o,
		run: fmt.Sprintf("%s-%x", clean(name), time.Now().UnixNano())}, nil
}

// clean returns name with letters and digits only.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}

// Sum runs a pipeline and returns its sum for q.
//
// An error is one of q, a *[JobError], or a *[RowsError], beside which is the sum.
func (e *Evaluator[B]) Sum(ctx context.Context, q *sums.Query) (*sums.Sum, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	b, err := q.MarshalBinary()
	if err != nil {
		return nil, err
	}
	job := fmt.Sprintf("%s-%d", e.run, e.jobs.Add(1))
	file := e.options.Scratch + "/" + job
	if !strings.Contains(file, "://") {
		file = path.Clean(file)
	}
	p, s := beam.NewPipelineWithRoot()
	sum, dead, err := TotalAt[B](s, e.name, beam.Create(s, b), e.read(s))
	if err != nil {
		return nil, err
	}
	if e.options.Dead != nil {
		e.options.Dead(s, dead)
	}
	beam.ParDo0(s, &writeFn{File: file}, sum)
	runner := e.options.Runner
	if runner == "" {
		runner = *runners.Runner
	}
	if _, err := beam.Run(ctx, runner, p); err != nil {
		return nil, &JobError{job, err}
	}
	return e.result(ctx, job, file)
}

// result reads the sum of a job from its file, which it removes.
func (e *Evaluator[B]) result(ctx context.Context, job, file string) (*sums.Sum, error) {
	fs, err := filesystem.New(ctx, file)
	if err != nil {
		return nil, &JobError{job, err}
	}
	defer fs.Close()
	b, err := filesystem.Read(ctx, fs, file)
	if err != nil {
		return nil, &JobError{job, err}
	}
	if r, ok := fs.(filesystem.Remover); ok {
		r.Remove(ctx, file) // what cannot be removed stays
	}
	s := new(sums.Sum)
	if err := s.UnmarshalBinary(b); err != nil {
		return nil, &JobError{job, err}
	}
	if got, want := s.Rows+s.BadRows, e.options.Rows; want != 0 && got != want {
		return s, &RowsError{got, want}
	}
	return s, nil
}

// A writeFn writes an element to a file. An attempt writes a file of its own, which then takes the name.
type writeFn struct{ File string }

func init() { register.DoFn2x1[context.Context, []byte, error](&writeFn{}) }

// ProcessElement writes b.
func (f *writeFn) ProcessElement(ctx context.Context, b []byte) error {
	fs, err := filesystem.New(ctx, f.File)
	if err != nil {
		return err
	}
	defer fs.Close()
	attempt := fmt.Sprintf("%s.%x", f.File, time.Now().UnixNano())
	if err := filesystem.Write(ctx, fs, attempt, b); err != nil {
		return err
	}
	return filesystem.Rename(ctx, fs, attempt, f.File)
}

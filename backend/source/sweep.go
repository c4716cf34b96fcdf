package source

import (
	"fmt"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// width is the number of directions in a sweep in vector mode.
const width = 4

// A sweeper runs forward sweeps for tangents or reverse sweeps for cotangents, in scalar mode or in vector mode. The
// fields of a mode that the code lacks are nil. Between the sweeps of a Jacobian the elements of in and in4 are 0.
type sweeper struct {
	*runner
	in, out   []float64
	in4, out4 [][width]float64
	one       func(y, out, x, in []float64) error
	four      func(y, x []float64) error // from in4 to out4
	forward   bool

	flat           []float64 // scratch to settle vector mode
	marks4, again4 [][width]float64
}

// newSweeper returns a sweeper with ins inputs and outs outputs per direction; one and four select the modes.
func newSweeper(r *runner, ins, outs int, one, four bool) *sweeper {
	s := &sweeper{runner: r}
	if one {
		s.in, s.out = make([]float64, ins), make([]float64, outs)
	}
	if four {
		s.in4, s.out4 = make([][width]float64, ins), make([][width]float64, outs)
	}
	return s
}

// batch returns the number of the k remaining directions that the next sweep takes. A single one is swept in scalar
// mode, which costs less.
func (s *sweeper) batch(k int) int {
	if s.in4 == nil || k == 1 {
		return 1
	}
	return min(k, width)
}

// alone reports whether a batch of k directions is swept in scalar mode.
func (s *sweeper) alone(k int) bool { return k == 1 && s.in != nil }

// block sweeps along all columns of in.
func (s *sweeper) block(y []float64, out engine.Block, x []float64, in engine.Block) error {
	if in.B == 0 {
		return s.f.Value(y, x)
	}
	if s.alone(in.B) && out.Stride <= 1 && in.Stride <= 1 {
		return s.one(y, vec(out.Data[:len(s.out)]), x, vec(in.Data[:len(s.in)]))
	}
	if ins, outs := s.laned(in), s.laned(out); ins != nil && outs != nil {
		copy(s.in4, ins) // generated code overwrites its seeds
		own := s.out4
		s.out4 = outs
		err := s.four(y, x)
		s.out4 = own
		return err
	}
	for first, k := 0, 0; first < in.B; first += k {
		if k = s.batch(in.B - first); s.alone(k) {
			column(s.in, in, first)
			err := s.one(y, s.out, x, s.in)
			if err != nil {
				return err
			}
			setColumn(out, first, s.out)
			continue
		}
		for i := range s.in4 { // a last partial batch is filled up with zeros
			row := &s.in4[i]
			clear(row[copy(row[:], in.Row(i)[first:first+k]):])
		}
		if err := s.four(y, x); err != nil {
			return err
		}
		for i := range s.out4 {
			copy(out.Row(i)[first:first+k], s.out4[i][:])
		}
	}
	return nil
}

// laned returns the memory of a block as that of vector mode, nil if it is laid out otherwise.
func (s *sweeper) laned(b engine.Block) [][width]float64 {
	if s.in4 == nil || b.B != width || b.Stride != width || b.N == 0 || len(b.Data) < b.N*width {
		return nil
	}
	return unsafe.Slice((*[width]float64)(unsafe.Pointer(unsafe.SliceData(b.Data))), b.N)
}

// settleOne settles out, the result of a scalar sweep.
func (s *sweeper) settleOne(out, x, in []float64) error {
	s.settler.x, s.settler.seeds = x, in
	return s.settle(out, single{s})
}

// A single is a scalar sweep as a judged computation.
type single struct{ *sweeper }

func (s single) again(out []float64, mark bool) {
	t := &s.settler
	in := t.seeds
	if mark {
		in = core.Marked(t.marks[:len(in)], in)
	}
	if s.forward {
		s.code.Tangent(t.value, out, vec(t.x), in, s.arg())
	} else {
		s.code.Adjoint(t.value, out, vec(t.x), in, s.arg())
	}
}

func (s single) ask(out []float64) { s.fromReals(out, s.settler.x, s.settler.seeds) }

func (s single) element(i int) string { return s.name(i) }

// fromReals replaces out by the derivatives of the form over Reals.
func (s *sweeper) fromReals(out, x, in []float64) {
	if s.forward {
		s.forth(out, x, in)
	} else {
		s.back(out, x, in)
	}
}

// name describes element i of the result of a sweep.
func (s *sweeper) name(i int) string {
	if s.forward {
		return fmt.Sprintf("the tangent of output %d", i)
	}
	return fmt.Sprintf("the derivative by input %d", i)
}

// settle4 settles out4, the result of a sweep in vector mode.
func (s *sweeper) settle4(x []float64) error {
	if len(s.out4) == 0 || s.sure(unsafe.Slice(&s.out4[0][0], width*len(s.out4))) {
		return nil
	}
	if s.flat == nil {
		s.flat, s.marks4 = make([]float64, width*len(s.out4)), make([][width]float64, len(s.in4))
		s.again4 = make([][width]float64, len(s.out4))
	}
	s.settler.x = x
	flatten(s.flat, s.out4)
	if err := s.settle(s.flat, quad{s}); err != nil {
		return err
	}
	for i := range s.out4 {
		copy(s.out4[i][:], s.flat[width*i:])
	}
	return nil
}

func flatten(dst []float64, src [][width]float64) {
	for i := range src {
		copy(dst[width*i:], src[i][:])
	}
}

// A quad is a sweep in vector mode as a judged computation.
type quad struct{ *sweeper }

func (s quad) again(out []float64, mark bool) {
	in := s.in4
	if mark {
		for i := range in {
			core.Marked(s.marks4[i][:], in[i][:])
		}
		in = s.marks4
	}
	if s.forward {
		s.code.Tangent4(s.settler.value, s.again4, vec(s.settler.x), in, s.arg())
	} else {
		s.code.Adjoint4(s.settler.value, s.again4, vec(s.settler.x), in, s.arg())
	}
	flatten(out, s.again4)
}

func (s quad) ask(out []float64) {
	one, res := make([]float64, len(s.in4)), make([]float64, len(s.out4))
	for k := range width {
		for i := range one {
			one[i] = s.in4[i][k]
		}
		for i := range res {
			res[i] = out[width*i+k]
		}
		s.fromReals(res, s.settler.x, one)
		for i := range res {
			out[width*i+k] = res[i]
		}
	}
}

func (s quad) element(i int) string { return s.name(i / width) }

// A jacobian computes a Jacobian with one sweep for every four columns, or rows.
type jacobian struct {
	*sweeper
	rows bool
}

func (j *jacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if j.directions() == 0 {
		return j.f.Value(y, x)
	}
	for i := range j.Sweeps() {
		if err := j.Sweep(i, y, jac, x); err != nil {
			return err
		}
	}
	return nil
}

// directions returns the number of directions of all sweeps.
func (j *jacobian) directions() int { return max(len(j.in), len(j.in4)) }

// Sweeps implements engine.SweptJacobian.
func (j *jacobian) Sweeps() int {
	if j.in4 == nil {
		return j.directions()
	}
	return (j.directions() + width - 1) / width
}

// Sweep implements engine.SweptJacobian.
func (j *jacobian) Sweep(i int, y []float64, jac engine.Block, x []float64) error {
	first := i
	if j.in4 != nil {
		first *= width
	}
	k := j.batch(j.directions() - first)
	out := j.out
	if j.rows {
		out = jac.Row(first)
	}
	if err := j.units(y, out, x, first, k); err != nil {
		return err
	}
	switch {
	case !j.alone(k):
		j.store(jac, first, k)
	case !j.rows:
		setColumn(jac, first, out)
	}
	return nil
}

// units sweeps along k unit vectors from index first on. A scalar sweep writes to out, one in vector mode to out4.
func (j *jacobian) units(y, out, x []float64, first, k int) error {
	if j.alone(k) {
		j.in[first] = 1
		err := j.one(y, out, x, j.in)
		j.in[first] = 0
		return err
	}
	for i := range k {
		j.in4[first+i][i] = 1
	}
	err := j.four(y, x)
	for i := range k {
		j.in4[first+i][i] = 0
	}
	return err
}

// store copies k rows or columns from out4 to jac, from index first on.
func (j *jacobian) store(jac engine.Block, first, k int) {
	if !j.rows {
		for i := range j.out4 {
			copy(jac.Row(i)[first:first+k], j.out4[i][:])
		}
		return
	}
	n := len(j.out4)
	switch k { // all rows at a time
	case 2:
		a, b := jac.Row(first)[:n], jac.Row(first + 1)[:n]
		for c := range j.out4 {
			a[c], b[c] = j.out4[c][0], j.out4[c][1]
		}
	case width:
		a, b, c, d := jac.Row(first)[:n], jac.Row(first + 1)[:n], jac.Row(first + 2)[:n], jac.Row(first + 3)[:n]
		for i := range j.out4 {
			o := &j.out4[i]
			a[i], b[i], c[i], d[i] = o[0], o[1], o[2], o[3]
		}
	default:
		for i := range k {
			row := jac.Row(first + i)[:n]
			for c := range j.out4 {
				row[c] = j.out4[c][i]
			}
		}
	}
}

package nabla_test

import (
	"errors"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// given is a detector that returns a fixed pattern and error.
type given struct {
	s   *sparsity.Pattern
	err error
}

func (given) Name() string { return "given" }
func (d given) Jacobian(sparsity.Function, []float64) (*sparsity.Pattern, error) {
	return d.s, d.err
}
func (d given) Hessian(sparsity.Function, []float64) (*sparsity.Pattern, error) {
	return d.s, d.err
}

// nothing is an algorithm that colours nothing.
type nothing struct{}

func (nothing) String() string { return "nothing" }
func (nothing) Color(*sparsity.Pattern, coloring.Problem) (*coloring.Coloring, error) {
	return nil, nil
}

// foreign is an algorithm that colours another pattern.
type foreign struct{}

func (foreign) String() string { return "foreign" }
func (foreign) Color(p *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
	m, n := p.Dims()
	return coloring.Greedy{}.Color(sparsity.Empty(m, n), problem)
}

// TestSparseErrors: a mistake in the settings of sparse derivatives is a typed error that gives the
// value, the expected one and the remedy.
func TestSparseErrors(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(x[1]), x[1].Sq()} }
	g := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Mul(x[1]) }
	plain := func(x []float64) float64 { return x[0] * x[1] }
	x := []float64{1, 2}
	fwd, rev := forwarddiff.Backend{}, reversediff.Backend{Compile: true}
	as, mm := nabla.AutoSparse{Dense: fwd}, nabla.MixedMode{Forward: fwd, Reverse: rev}
	so := nabla.SecondOrder{Outer: fwd, Inner: rev}
	var nilSparse *nabla.AutoSparse
	triangle := sparsity.Full(2, 2).Triangle('U')
	known := func(s *sparsity.Pattern) nabla.AutoSparse {
		return nabla.AutoSparse{Dense: fwd, Detector: given{s: s}}
	}
	boom := errors.New("boom")

	var (
		unsupported = new(*nabla.UnsupportedError)
		pattern     = new(*nabla.PatternError)
		missing     = new(*sparsity.MissingError)
		length      = new(*coloring.LengthError)
		invalid     = new(*coloring.InvalidColoringError)
		panicked    = new(*nabla.PanicError)
	)
	for _, c := range []struct {
		b       nabla.Backend
		op      string // "jacobian", "hessian", or both for ""
		as      any
		message []string
	}{
		// Nothing where an engine should be.
		{nilSparse, "", unsupported, []string{"nil (a *nabla.AutoSparse)"}},
		{nabla.AutoSparse{Dense: (*forwarddiff.Backend)(nil)}, "", unsupported,
			[]string{"AutoSparse.Dense is nil (a *forwarddiff.Backend)"}},
		// Composites in the wrong order, behind a pointer or a Policy or not.
		{nabla.AutoSparse{Dense: as}, "", unsupported, []string{"AutoSparse inside of an AutoSparse", "use one"}},
		{nabla.AutoSparse{Dense: nabla.Policy{Backend: &as}}, "", unsupported,
			[]string{"AutoSparse inside of an AutoSparse"}},
		{nabla.SecondOrder{Outer: as, Inner: rev}, "", unsupported,
			[]string{"AutoSparse inside of a SecondOrder", "AutoSparse{Dense: SecondOrder{…}}"}},
		{nabla.SecondOrder{Outer: fwd, Inner: &as}, "", unsupported, []string{"AutoSparse inside of a SecondOrder"}},
		{nabla.SecondOrder{Outer: mm, Inner: rev}, "", unsupported,
			[]string{"MixedMode inside of a SecondOrder", "Forward over Reverse"}},
		{nabla.MixedMode{Forward: as, Reverse: rev}, "", unsupported,
			[]string{"a composite inside of a MixedMode", "an engine for each"}},
		{nabla.MixedMode{Forward: fwd, Reverse: so}, "", unsupported, []string{"a composite inside of a MixedMode"}},
		{nabla.MixedMode{Forward: fwd, Reverse: &mm}, "", unsupported, []string{"a composite inside of a MixedMode"}},
		// Settings.
		{nabla.AutoSparse{Dense: fwd, Workers: -3}, "", unsupported, []string{"Workers is -3", "0 is the default"}},
		{nabla.AutoSparse{Dense: fwd, Decompression: 7}, "", unsupported,
			[]string{"Decompression is 7", "coloring.Direct or coloring.Substitution"}},
		// Detectors.
		{known(nil), "", pattern, []string{"detector given returned no pattern and no error"}},
		{known(sparsity.Full(2, 3)), "", pattern, []string{"2×3, want 2×2"}},
		{known(sparsity.Full(3, 3)), "", pattern, []string{"3×3, want 2×2"}},
		{known(triangle), "hessian", pattern, []string{"symmetric", "unite it with its transpose"}},
		{known(sparsity.Empty(2, 2)), "", pattern, []string{"misses entries", "sparsity.Global", "prepare again"}},
		{known(sparsity.Banded(2, 2, 0, 0)), "", pattern, []string{"misses entries"}},
		{nabla.AutoSparse{Dense: rev, Detector: given{s: sparsity.Banded(2, 2, 0, 0)}}, "", pattern,
			[]string{"entry (0, 1) is", "not in the sparsity pattern", "prepare again"}},
		{nabla.AutoSparse{Dense: fwd, Detector: given{err: boom}}, "", &boom, []string{"boom"}},
		{nabla.AutoSparse{Dense: fwd, Detector: sparsity.Known{}}, "jacobian", missing,
			[]string{"no Jacobian pattern", "set Known.J"}},
		{nabla.AutoSparse{Dense: fwd, Detector: sparsity.Known{}}, "hessian", missing,
			[]string{"no Hessian pattern", "set Known.H"}},
		{nabla.AutoSparse{Dense: fwd, Detector: nabla.DenseDetector{Backend: (*forwarddiff.Backend)(nil)}}, "",
			unsupported,
			[]string{"DenseDetector", "is nil"}},
		{nabla.AutoSparse{Dense: fwd, Detector: nabla.DenseDetector{Backend: fwd, Tol: -1}}, "", unsupported,
			[]string{"Tol is -1", "from 0 on"}},
		{nabla.AutoSparse{Dense: fwd, Detector: (*sparsity.Recorded)(nil)}, "", panicked,
			[]string{"nil *Recorded pointer"}},
		// Colours.
		{nabla.AutoSparse{Dense: fwd, Coloring: coloring.Constant{}}, "", length,
			[]string{"AutoSparse.Coloring", "len(Columns) = 0, want 2", "nil finds colours"}},
		{nabla.AutoSparse{Dense: fwd, Coloring: coloring.Constant{Columns: []int{1, 1}}}, "", invalid,
			[]string{"AutoSparse.Coloring", "colour 1"}},
		{nabla.AutoSparse{Dense: fwd, Coloring: coloring.Constant{Columns: []int{1, 9}}}, "", invalid,
			[]string{"colour 9"}},
		{nabla.AutoSparse{Dense: fwd, Coloring: nothing{}}, "", unsupported,
			[]string{"by nothing is none of this pattern", "let Color return the colouring"}},
		{nabla.AutoSparse{Dense: fwd, Coloring: foreign{}}, "", unsupported,
			[]string{"by foreign is none of this pattern", "such as coloring.Greedy, computed"}},
	} {
		for _, op := range []string{"jacobian", "hessian"} {
			if c.op != "" && c.op != op {
				continue
			}
			var err error
			if op == "jacobian" {
				_, err = nabla.PrepareJacobian(f, c.b, x)
			} else {
				_, err = nabla.PrepareHessian(g, c.b, x)
			}
			name := "nil"
			if c.b != nilSparse {
				if d, ok := c.b.(nabla.AutoSparse); !ok || d.Detector != (*sparsity.Recorded)(nil) {
					name = c.b.Name()
				}
			}
			ok := errors.Is(err, boom)
			if c.as != any(&boom) {
				ok = errors.As(err, c.as)
			}
			if !ok {
				t.Errorf("%s: %s: %T: %v", name, op, err, err)
				continue
			}
			for _, s := range c.message {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %s: %q does not say %q", name, op, err, s)
				}
			}
		}
	}

	_, err := nabla.PrepareHessian(plain, nabla.AutoSparse{Dense: finitediff.Backend{}}, x)
	if !errors.As(err, unsupported) || !strings.Contains(err.Error(), "sparsity.Known{H: …}") {
		t.Errorf("Hessian over float64: %v", err)
	}

	// Pointers to composites are the composites.
	for _, b := range []nabla.Backend{&as, &mm, &so, &nabla.Policy{Backend: &as}, nabla.AutoSparse{Dense: &so},
		nabla.AutoSparse{Dense: &mm}} {
		j, err := nabla.Jacobian(f, b, x)
		if err != nil || j.At(0, 0) != 2 || j.At(1, 0) != 0 || j.At(1, 1) != 4 {
			t.Errorf("%T %s: %v, %v", b, b.Name(), j, err)
		}
		h, err := nabla.Hessian(g, b, x)
		if err != nil || h.At(0, 1) != 4 || h.At(1, 1) != 2 {
			t.Errorf("%T %s: %v, %v", b, b.Name(), h, err)
		}
		y, err := nabla.Pullback(f, b, x, []float64{1, 1})
		if err != nil || y[0] != 2 || y[1] != 5 {
			t.Errorf("%T %s: %v, %v", b, b.Name(), y, err)
		}
		if y, err = nabla.Pushforward(f, b, x, []float64{1, 1}); err != nil || y[0] != 3 || y[1] != 4 {
			t.Errorf("%T %s: %v, %v", b, b.Name(), y, err)
		}
	}

	// Destinations. A dense backend has no sparse ones, and the other way round all.
	j, err := nabla.PrepareJacobian(f, fwd, x)
	if err != nil {
		t.Fatal(err)
	}
	var dst mat.Matrix = new(sparse.CSC)
	if _, err := j.Jacobian(dst, x); !errors.As(err, unsupported) ||
		!strings.Contains(err.Error(), "prepare with nabla.AutoSparse") {
		t.Errorf("a *sparse.CSC of a dense backend: %v", err)
	}
}

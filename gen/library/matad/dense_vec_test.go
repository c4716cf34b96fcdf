package matad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/gen/library/matad"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// A world holds random arguments of a method and of the function of this package in its place: the same for the same
// seed, except for the types of transposes.
type world struct {
	r      *rand.Rand
	ours   bool
	memory []float64 // of which some matrices are views
	dense  *mat.Dense
	vec    *mat.VecDense
}

func newWorld(seed uint64, ours bool) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 3)), ours: ours}
	w.memory = w.floats(24)
	w.vec, w.dense = w.newVec(), w.newDense()
	return w
}

func (w *world) floats(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Round(8*w.r.NormFloat64()) / 4
	}
	return x
}

// size is mostly the same number, so that matrices fit.
func (w *world) size() int { return []int{2, 2, 2, 2, 2, 3, 3, 1}[w.r.IntN(8)] }

func (w *world) newDense() *mat.Dense {
	r, c := w.size(), w.size()
	switch w.r.IntN(6) {
	case 0:
		return new(mat.Dense)
	case 1:
		m := mat.NewDense(4, 6, w.memory)
		i, j := w.r.IntN(4-r+1), w.r.IntN(6-c+1)
		return m.Slice(i, i+r, j, j+c).(*mat.Dense)
	case 2:
		m := mat.NewDense(r, c, w.floats(r*c))
		m.Reset()
		return m
	}
	return mat.NewDense(r, c, w.floats(r*c))
}

func (w *world) newVec() *mat.VecDense {
	n := w.size()
	switch w.r.IntN(6) {
	case 0:
		return new(mat.VecDense)
	case 1:
		m := mat.NewDense(4, 6, w.memory)
		return m.ColView(w.r.IntN(6)).(*mat.VecDense).SliceVec(0, n).(*mat.VecDense)
	case 2:
		i := w.r.IntN(20)
		return mat.NewVecDense(n, w.memory[i:i+n:i+n])
	}
	return mat.NewVecDense(n, w.floats(n))
}

// matrix returns an operand, which may be the receiver.
func (w *world) matrix() mat.Matrix {
	n := w.size()
	switch w.r.IntN(14) {
	case 0:
		return w.dense
	case 1:
		return w.transpose(w.dense)
	case 2, 3, 4:
		return w.newDense()
	case 5, 6:
		return w.transpose(w.newDense())
	case 7:
		return w.newVec()
	case 8:
		if v := w.newVec(); w.ours {
			return matad.VecDenseT(v)
		} else {
			return v.T()
		}
	case 9:
		return mat.NewSymDense(n, w.floats(n*n))
	case 10:
		return mat.NewTriDense(n, mat.TriKind(w.r.IntN(2) == 0), w.floats(n*n))
	case 11:
		t := mat.NewTriDense(n, mat.TriKind(w.r.IntN(2) == 0), w.floats(n*n))
		if w.ours {
			return matad.TriDenseT(t)
		}
		return t.T()
	case 12:
		return mat.NewDiagDense(n, w.floats(n))
	}
	b := mat.NewBandDense(n, n, 0, n-1, w.floats(n*n)) // of a type that is not known
	return b
}

func (w *world) transpose(m *mat.Dense) mat.Matrix {
	if w.ours {
		return matad.DenseT(m)
	}
	return m.T()
}

// vector returns an operand, which may be the receiver.
func (w *world) vector() mat.Vector {
	v := w.newVec()
	switch w.r.IntN(6) {
	case 0:
		return w.vec
	case 1:
		if w.ours {
			return matad.VecDenseTVec(v)
		}
		return v.TVec()
	case 2:
		if w.ours {
			return matad.VecDenseTVec(w.vec)
		}
		return w.vec.TVec()
	}
	return v
}

// elements returns the size and the elements of a.
func elements(a mat.Matrix) (out []float64) {
	r, c := a.Dims()
	out = append(out, float64(r), float64(c))
	for i := range r {
		for j := range c {
			out = append(out, a.At(i, j))
		}
	}
	return out
}

// outcome returns the numbers that f returns and leaves in memory, and its panic.
func (w *world) outcome(f func(w *world) []float64) (out []float64, failure string) {
	defer func() {
		if r := recover(); r != nil {
			failure = fmt.Sprintf("%T: %v", r, r)
			if strings.HasPrefix(failure, "runtime.") {
				failure = "runtime error"
			}
		}
	}()
	out = f(w)
	return slices.Concat(out, elements(w.dense), elements(w.vec), w.memory), ""
}

// none is a call without results.
func none(f func(w *world)) func(w *world) []float64 {
	return func(w *world) []float64 { f(w); return nil }
}

func one(f func(w *world) float64) func(w *world) []float64 {
	return func(w *world) []float64 { return []float64{f(w)} }
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (w *world) norm() float64 { return []float64{1, 2, math.Inf(1), 3}[w.r.IntN(4)] }

func (w *world) alpha() float64 { return []float64{-1, 0, 1, 1.5}[w.r.IntN(4)] }

func (w *world) permutation() []int { return w.r.Perm(w.size()) }

// step is a function of an element that has a state.
func step() func(i, j int, v float64) float64 {
	n := 0.0
	return func(i, j int, v float64) float64 { n++; return v*float64(i+2*j) + n }
}

var calls = map[string][2]func(w *world) []float64{
	"Dense.At": {one(func(w *world) float64 { return w.dense.At(w.r.IntN(3), w.r.IntN(3)-1) }),
		one(func(w *world) float64 { return matad.DenseAt(w.dense, w.r.IntN(3), w.r.IntN(3)-1) })},
	"Dense.Set": {none(func(w *world) { w.dense.Set(w.r.IntN(3), w.r.IntN(3)-1, 9) }),
		none(func(w *world) { matad.DenseSet(w.dense, w.r.IntN(3), w.r.IntN(3)-1, 9) })},
	"VecDense.At": {one(func(w *world) float64 { return w.vec.At(w.r.IntN(4)-1, w.r.IntN(2)) }),
		one(func(w *world) float64 { return matad.VecDenseAt(w.vec, w.r.IntN(4)-1, w.r.IntN(2)) })},
	"VecDense.AtVec": {one(func(w *world) float64 { return w.vec.AtVec(w.r.IntN(4) - 1) }),
		one(func(w *world) float64 { return matad.VecDenseAtVec(w.vec, w.r.IntN(4)-1) })},
	"VecDense.SetVec": {none(func(w *world) { w.vec.SetVec(w.r.IntN(4)-1, 9) }),
		none(func(w *world) { matad.VecDenseSetVec(w.vec, w.r.IntN(4)-1, 9) })},
	"Dense.Add": {none(func(w *world) { w.dense.Add(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseAdd(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Sub": {none(func(w *world) { w.dense.Sub(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseSub(w.dense, w.matrix(), w.matrix()) })},
	"Dense.MulElem": {none(func(w *world) { w.dense.MulElem(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseMulElem(w.dense, w.matrix(), w.matrix()) })},
	"Dense.DivElem": {none(func(w *world) { w.dense.DivElem(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseDivElem(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Mul": {none(func(w *world) { w.dense.Mul(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseMul(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Product0": {none(func(w *world) { w.dense.Product() }),
		none(func(w *world) { matad.DenseProduct0(w.dense) })},
	"Dense.Product1": {none(func(w *world) { w.dense.Product(w.matrix()) }),
		none(func(w *world) { matad.DenseProduct1(w.dense, w.matrix()) })},
	"Dense.Product2": {none(func(w *world) { w.dense.Product(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseProduct2(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Product3": {none(func(w *world) { w.dense.Product(w.matrix(), w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseProduct3(w.dense, w.matrix(), w.matrix(), w.matrix()) })},
	"Dense.Product4": {none(func(w *world) { w.dense.Product(w.matrix(), w.matrix(), w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseProduct4(w.dense, w.matrix(), w.matrix(), w.matrix(), w.matrix()) })},
	"Dense.Product5": {
		none(func(w *world) { w.dense.Product(w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix()) }),
		none(func(w *world) {
			matad.DenseProduct5(w.dense, w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix())
		})},
	"Dense.Product6": {
		none(func(w *world) {
			w.dense.Product(w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix())
		}),
		none(func(w *world) {
			matad.DenseProduct6(w.dense, w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix(), w.matrix())
		})},
	"Dense.Stack": {none(func(w *world) { w.dense.Stack(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseStack(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Augment": {none(func(w *world) { w.dense.Augment(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseAugment(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Kronecker": {none(func(w *world) { w.dense.Kronecker(w.matrix(), w.matrix()) }),
		none(func(w *world) { matad.DenseKronecker(w.dense, w.matrix(), w.matrix()) })},
	"Dense.Scale": {none(func(w *world) { w.dense.Scale(w.alpha(), w.matrix()) }),
		none(func(w *world) { matad.DenseScale(w.dense, w.alpha(), w.matrix()) })},
	"Dense.Apply": {none(func(w *world) { w.dense.Apply(step(), w.matrix()) }),
		none(func(w *world) { matad.DenseApply(w.dense, step(), w.matrix()) })},
	"Dense.Copy": {
		func(w *world) []float64 {
			r, c := w.dense.Copy(w.matrix())
			return []float64{float64(r), float64(c)}
		},
		func(w *world) []float64 {
			r, c := matad.DenseCopy(w.dense, w.matrix())
			return []float64{float64(r), float64(c)}
		},
	},
	"Dense.CloneFrom": {none(func(w *world) { w.dense.CloneFrom(w.matrix()) }),
		none(func(w *world) { matad.DenseCloneFrom(w.dense, w.matrix()) })},
	"Dense.Pow": {none(func(w *world) { w.dense.Pow(w.matrix(), w.r.IntN(7)-1) }),
		none(func(w *world) { matad.DensePow(w.dense, w.matrix(), w.r.IntN(7)-1) })},
	"Dense.Exp": {none(func(w *world) { w.dense.Exp(w.matrix()) }),
		none(func(w *world) { matad.DenseExp(w.dense, w.matrix()) })},
	"Dense.Outer": {none(func(w *world) { w.dense.Outer(w.alpha(), w.vector(), w.vector()) }),
		none(func(w *world) { matad.DenseOuter(w.dense, w.alpha(), w.vector(), w.vector()) })},
	"Dense.RankOne": {none(func(w *world) { w.dense.RankOne(w.matrix(), w.alpha(), w.vector(), w.vector()) }),
		none(func(w *world) { matad.DenseRankOne(w.dense, w.matrix(), w.alpha(), w.vector(), w.vector()) })},
	"Dense.PermuteRows": {none(func(w *world) { w.dense.PermuteRows(w.permutation(), w.r.IntN(2) == 0) }),
		none(func(w *world) { matad.DensePermuteRows(w.dense, w.permutation(), w.r.IntN(2) == 0) })},
	"Dense.PermuteCols": {none(func(w *world) { w.dense.PermuteCols(w.permutation(), w.r.IntN(2) == 0) }),
		none(func(w *world) { matad.DensePermuteCols(w.dense, w.permutation(), w.r.IntN(2) == 0) })},
	"Dense.Norm": {one(func(w *world) float64 { return w.dense.Norm(w.norm()) }),
		one(func(w *world) float64 { return matad.DenseNorm(w.dense, w.norm()) })},
	"VecDense.Norm": {one(func(w *world) float64 { return w.vec.Norm(w.norm()) }),
		one(func(w *world) float64 { return matad.VecDenseNorm(w.vec, w.norm()) })},
	"VecDense.AddVec": {none(func(w *world) { w.vec.AddVec(w.vector(), w.vector()) }),
		none(func(w *world) { matad.VecDenseAddVec(w.vec, w.vector(), w.vector()) })},
	"VecDense.SubVec": {none(func(w *world) { w.vec.SubVec(w.vector(), w.vector()) }),
		none(func(w *world) { matad.VecDenseSubVec(w.vec, w.vector(), w.vector()) })},
	"VecDense.MulElemVec": {none(func(w *world) { w.vec.MulElemVec(w.vector(), w.vector()) }),
		none(func(w *world) { matad.VecDenseMulElemVec(w.vec, w.vector(), w.vector()) })},
	"VecDense.DivElemVec": {none(func(w *world) { w.vec.DivElemVec(w.vector(), w.vector()) }),
		none(func(w *world) { matad.VecDenseDivElemVec(w.vec, w.vector(), w.vector()) })},
	"VecDense.AddScaledVec": {none(func(w *world) { w.vec.AddScaledVec(w.vector(), w.alpha(), w.vector()) }),
		none(func(w *world) { matad.VecDenseAddScaledVec(w.vec, w.vector(), w.alpha(), w.vector()) })},
	"VecDense.ScaleVec": {none(func(w *world) { w.vec.ScaleVec(w.alpha(), w.vector()) }),
		none(func(w *world) { matad.VecDenseScaleVec(w.vec, w.alpha(), w.vector()) })},
	"VecDense.MulVec": {none(func(w *world) { w.vec.MulVec(w.matrix(), w.vector()) }),
		none(func(w *world) { matad.VecDenseMulVec(w.vec, w.matrix(), w.vector()) })},
	"VecDense.CopyVec": {one(func(w *world) float64 { return float64(w.vec.CopyVec(w.vector())) }),
		one(func(w *world) float64 { return float64(matad.VecDenseCopyVec(w.vec, w.vector())) })},
	"VecDense.CloneFromVec": {none(func(w *world) { w.vec.CloneFromVec(w.vector()) }),
		none(func(w *world) { matad.VecDenseCloneFromVec(w.vec, w.vector()) })},
	"Dot": {one(func(w *world) float64 { return mat.Dot(w.vector(), w.newVec()) }),
		one(func(w *world) float64 { return matad.Dot(w.vector(), w.newVec()) })},
	"Inner": {one(func(w *world) float64 { return mat.Inner(w.vector(), w.matrix(), w.vector()) }),
		one(func(w *world) float64 { return matad.Inner(w.vector(), w.matrix(), w.vector()) })},
	"Col": {func(w *world) []float64 { return mat.Col(make([]float64, 2)[:w.r.IntN(3)], w.r.IntN(2), w.matrix()) },
		func(w *world) []float64 { return matad.Col(make([]float64, 2)[:w.r.IntN(3)], w.r.IntN(2), w.matrix()) }},
	"Row": {func(w *world) []float64 { return mat.Row(nil, w.r.IntN(3), w.matrix()) },
		func(w *world) []float64 { return matad.Row(nil, w.r.IntN(3), w.matrix()) }},
	"Sum": {one(func(w *world) float64 { return mat.Sum(w.matrix()) }),
		one(func(w *world) float64 { return matad.Sum(w.matrix()) })},
	"Trace": {one(func(w *world) float64 { return mat.Trace(w.matrix()) }),
		one(func(w *world) float64 { return matad.Trace(w.matrix()) })},
	"Max": {one(func(w *world) float64 { return mat.Max(w.matrix()) }),
		one(func(w *world) float64 { return matad.Max(w.matrix()) })},
	"Min": {one(func(w *world) float64 { return mat.Min(w.matrix()) }),
		one(func(w *world) float64 { return matad.Min(w.matrix()) })},
	"Norm": {one(func(w *world) float64 { return mat.Norm(w.matrix(), w.norm()) }),
		one(func(w *world) float64 { return matad.Norm(w.matrix(), w.norm()) })},
	"Equal": {one(func(w *world) float64 { return truth(mat.Equal(w.matrix(), w.matrix())) }),
		one(func(w *world) float64 { return truth(matad.Equal(w.matrix(), w.matrix())) })},
	"EqualApprox": {one(func(w *world) float64 { return truth(mat.EqualApprox(w.matrix(), w.matrix(), 2)) }),
		one(func(w *world) float64 { return truth(matad.EqualApprox(w.matrix(), w.matrix(), 2)) })},
}

// TestAgainstMat compares the functions with the originals: results, memory and panics.
func TestAgainstMat(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			panics := map[string]int{}
			tolerance := 1e-12
			if name == "Dense.Exp" {
				// For the transpose of the receiver gonum takes the norm after it has transposed it, and may choose too
				// small a degree.
				tolerance = 1e-7
			}
			for seed := range uint64(longtest.Cases(0, 2000, 2000, 30000)) {
				want, failure := newWorld(seed, false).outcome(call[0])
				got, fails := newWorld(seed, true).outcome(call[1])
				panics[failure]++
				if fails != failure || !slices.EqualFunc(got, want, func(x, y float64) bool {
					return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= tolerance*(1+math.Abs(y))
				}) {
					t.Fatalf("seed %d: got %v %q, want %v %q", seed, got, fails, want, failure)
				}
			}
			if panics[""] == 0 {
				t.Errorf("no call returned: %v", panics)
			}
		})
	}
}

package matad

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// randomDense returns a random matrix.
func randomDense(r *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, r.NormFloat64())
		}
	}
	return m
}

// outcome holds the effects of a method: the matrices and numbers that it writes and returns, its error and its panic.
type outcome struct {
	m     []float64
	err   error
	panic any
}

func record(f func() ([]float64, error)) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{panic: p}
		}
	}()
	o.m, o.err = f()
	return o
}

// flat returns the size of m and its elements.
func flat(m mat.Matrix) []float64 {
	r, c := m.Dims()
	out := []float64{float64(r), float64(c)}
	for i := range r {
		for j := range c {
			out = append(out, m.At(i, j))
		}
	}
	return out
}

// compare compares the effects of the function of this package with those of the method of package mat.
func compare(t *testing.T, what string, got, want func() ([]float64, error)) {
	t.Helper()
	g, w := record(got), record(want)
	if fmt.Sprint(g.panic) != fmt.Sprint(w.panic) {
		t.Errorf("%s: panic %v, want %v", what, g.panic, w.panic)
		return
	}
	var c, d mat.Condition
	if errors.As(g.err, &c) != errors.As(w.err, &d) || (g.err == nil) != (w.err == nil) ||
		math.IsInf(float64(c), 1) != math.IsInf(float64(d), 1) {
		t.Errorf("%s: error %v, want %v", what, g.err, w.err)
	}
	if len(g.m) != len(w.m) {
		t.Errorf("%s: %d numbers, want %d", what, len(g.m), len(w.m))
		return
	}
	size := 1.0
	for _, v := range w.m {
		size = max(size, math.Abs(v))
	}
	for i, v := range w.m {
		if !(math.Abs(g.m[i]-v) <= 1e-12*size) && !(v != v && g.m[i] != g.m[i]) && g.m[i] != v {
			t.Errorf("%s: number %d is %v, want %v", what, i, g.m[i], v)
			return
		}
	}
}

// receivers are matrices that results are written to: an empty one, one of the right size, a view with a stride, and
// one of another size.
func receivers(rows, cols int) map[string]func() *mat.Dense {
	fill := func(m *mat.Dense) *mat.Dense {
		r, c := m.Dims()
		for i := range r {
			for j := range c {
				m.Set(i, j, 7)
			}
		}
		return m
	}
	return map[string]func() *mat.Dense{
		"empty": func() *mat.Dense { return new(mat.Dense) },
		"sized": func() *mat.Dense { return fill(mat.NewDense(rows, cols, nil)) },
		"view": func() *mat.Dense {
			return fill(mat.NewDense(rows+2, cols+1, nil)).Slice(1, rows+1, 0, cols).(*mat.Dense)
		},
		"other": func() *mat.Dense { return mat.NewDense(rows+1, cols, nil) },
	}
}

// known returns a as generated code has it, with the type for the transpose of this package.
func known(a mat.Matrix) mat.Matrix {
	if t, ok := a.(mat.Transpose); ok {
		return Transposed{t.Matrix.(*mat.Dense)}
	}
	return a
}

// matrices are those that are factorised.
func matrices(r *rand.Rand) map[string]mat.Matrix {
	list := map[string]mat.Matrix{"zero": mat.NewDense(3, 2, nil), "wide zero": mat.NewDense(2, 3, nil),
		"dependent": mat.NewDense(3, 2, []float64{1, 2, 2, 4, 3, 6}),
		"symmetric": mat.NewSymDense(2, []float64{2, 1, 0, 3}),
		"empty":     new(mat.Dense), "vector": mat.NewVecDense(3, []float64{1, -2, 0.5}),
		"view": randomDense(r, 6, 6).Slice(1, 5, 2, 5), "transposed": randomDense(r, 3, 4).T()}
	for _, s := range [][2]int{{1, 1}, {2, 2}, {4, 4}, {5, 3}, {3, 5}, {4, 1}, {1, 4}, {40, 35}} {
		list[fmt.Sprint(s)] = randomDense(r, s[0], s[1])
	}
	return list
}

// TestQR compares QR and LQ with package mat.
func TestQR(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, a := range matrices(r) {
		rows, cols := a.Dims()
		a := known(a)
		var f, g mat.QR
		compare(t, name+": Factorize",
			func() ([]float64, error) { QRFactorize(&f, a); return []float64{f.Cond()}, nil },
			func() ([]float64, error) { g.Factorize(a); return []float64{g.Cond()}, nil })
		var l, m mat.LQ
		compare(t, name+": Factorize of LQ",
			func() ([]float64, error) { LQFactorize(&l, a); return []float64{l.Cond()}, nil },
			func() ([]float64, error) { m.Factorize(a); return []float64{m.Cond()}, nil })
		for to, dst := range receivers(rows, cols) {
			compare(t, name+": RTo "+to, func() ([]float64, error) { d := dst(); QRRTo(&f, d); return flat(d), nil },
				func() ([]float64, error) { d := dst(); g.RTo(d); return flat(d), nil })
			compare(t, name+": LTo "+to, func() ([]float64, error) { d := dst(); LQLTo(&l, d); return flat(d), nil },
				func() ([]float64, error) { d := dst(); m.LTo(d); return flat(d), nil })
		}
		for to, dst := range receivers(rows, rows) {
			compare(t, name+": QTo "+to, func() ([]float64, error) { d := dst(); QRQTo(&f, d); return flat(d), nil },
				func() ([]float64, error) { d := dst(); g.QTo(d); return flat(d), nil })
		}
		for to, dst := range receivers(cols, cols) {
			compare(t, name+": QTo of LQ "+to,
				func() ([]float64, error) { d := dst(); LQQTo(&l, d); return flat(d), nil },
				func() ([]float64, error) { d := dst(); m.QTo(d); return flat(d), nil })
		}
		for _, i := range []int{-1, 0, 1, rows} {
			for _, j := range []int{-1, 0, 1, cols} {
				compare(t, fmt.Sprintf("%s: At %d %d", name, i, j),
					func() ([]float64, error) { return []float64{QRAt(&f, i, j)}, nil },
					func() ([]float64, error) { return []float64{g.At(i, j)}, nil })
				if rows > 0 && rows <= cols {
					compare(t, fmt.Sprintf("%s: At of LQ %d %d", name, i, j),
						func() ([]float64, error) { return []float64{LQAt(&l, i, j)}, nil },
						func() ([]float64, error) { return []float64{m.At(i, j)}, nil })
				}
			}
		}
		for _, trans := range []bool{false, true} {
			in, out := rows, cols
			if trans {
				in, out = out, in
			}
			for _, k := range []int{1, 3} {
				b := randomDense(r, max(in, 1), k)
				for to, dst := range receivers(max(out, 1), k) {
					what := fmt.Sprintf("%s: SolveTo %s %v", name, to, trans)
					compare(t, what,
						func() ([]float64, error) {
							d := dst()
							err := QRSolveTo(&f, d, trans, b)
							return flat(d), err
						},
						func() ([]float64, error) { d := dst(); err := g.SolveTo(d, trans, b); return flat(d), err })
					compare(t, what+" of LQ",
						func() ([]float64, error) {
							d := dst()
							err := LQSolveTo(&l, d, trans, b)
							return flat(d), err
						},
						func() ([]float64, error) { d := dst(); err := m.SolveTo(d, trans, b); return flat(d), err })
					if !trans && rows != cols {
						compare(t, what+" least squares",
							func() ([]float64, error) { d := dst(); err := leastSquares(d, a, b); return flat(d), err },
							func() ([]float64, error) { d := dst(); err := d.Solve(a, b); return flat(d), err })
					}
				}
			}
			memory := make([]float64, 50)
			for i := range memory {
				memory[i] = r.NormFloat64()
			}
			for what, of := range map[string]func(x []float64) (dst *mat.VecDense, b mat.Vector){
				"empty": func(x []float64) (*mat.VecDense, mat.Vector) {
					return new(mat.VecDense), mat.NewVecDense(max(in, 1), x[:max(in, 1)])
				},
				"length": func(x []float64) (*mat.VecDense, mat.Vector) {
					return new(mat.VecDense), mat.NewVecDense(in+1, x[:in+1])
				},
				"itself": func(x []float64) (*mat.VecDense, mat.Vector) {
					v := mat.NewVecDense(max(in, 1), x[:max(in, 1)])
					return v, v
				},
				"overlap": func(x []float64) (*mat.VecDense, mat.Vector) {
					return mat.NewVecDense(max(out, 1), x[1:][:max(out, 1)]),
						mat.NewVecDense(max(in, 1), x[:max(in, 1)])
				},
				"column": func(x []float64) (*mat.VecDense, mat.Vector) {
					return mat.NewDense(max(out, 1), 1, x[:max(out, 1)]).ColView(0).(*mat.VecDense),
						mat.DenseCopyOf(mat.NewDense(max(in, 1), 2, make([]float64, 2*max(in, 1)))).ColView(1)
				},
			} {
				what = fmt.Sprintf("%s: SolveVecTo %s %v", name, what, trans)
				call := func(solve func(dst *mat.VecDense, b mat.Vector) error) func() ([]float64, error) {
					return func() ([]float64, error) {
						x := append([]float64(nil), memory...)
						dst, b := of(x)
						err := solve(dst, b)
						return flat(dst), err
					}
				}
				compare(t, what,
					call(func(dst *mat.VecDense, b mat.Vector) error { return QRSolveVecTo(&f, dst, trans, b) }),
					call(func(dst *mat.VecDense, b mat.Vector) error { return g.SolveVecTo(dst, trans, b) }))
				compare(t, what+" of LQ",
					call(func(dst *mat.VecDense, b mat.Vector) error { return LQSolveVecTo(&l, dst, trans, b) }),
					call(func(dst *mat.VecDense, b mat.Vector) error { return m.SolveVecTo(dst, trans, b) }))
			}
		}
	}
}

// TestEigenSym compares eigenvalues and eigenvectors with package mat.
func TestEigenSym(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{0, 1, 2, 5, 40} {
		a := mat.NewSymDense(max(n, 1), nil)
		for i := range n {
			for j := range i + 1 {
				a.SetSym(i, j, r.NormFloat64())
			}
		}
		var s mat.Symmetric = a
		if n == 0 {
			s = new(mat.SymDense)
		}
		for _, vectors := range []bool{false, true} {
			what := fmt.Sprintf("%d %v", n, vectors)
			var f, g mat.EigenSym
			compare(t, what+": Factorize",
				func() ([]float64, error) { return []float64{boolean(EigenSymFactorize(&f, s, vectors))}, nil },
				func() ([]float64, error) { return []float64{boolean(g.Factorize(s, vectors))}, nil })
			compare(t, what+": RawValues", func() ([]float64, error) { return EigenSymRawValues(&f), nil },
				func() ([]float64, error) { return g.RawValues(), nil })
			for _, k := range []int{-1, n, n + 1} {
				var dst []float64
				if k >= 0 {
					dst = make([]float64, k)
				}
				compare(t, what+": Values", func() ([]float64, error) { return EigenSymValues(&f, dst), nil },
					func() ([]float64, error) { return g.Values(dst), nil })
			}
			for to, dst := range receivers(n, n) {
				if n == 0 && to != "empty" {
					continue
				}
				compare(t, what+": VectorsTo "+to,
					func() ([]float64, error) { d := dst(); EigenSymVectorsTo(&f, d); return flat(d), nil },
					func() ([]float64, error) { d := dst(); g.VectorsTo(d); return flat(d), nil })
			}
			compare(t, what+": RawQ", func() ([]float64, error) { return flat(EigenSymRawQ(&f)), nil },
				func() ([]float64, error) { return flat(g.RawQ()), nil })
			for _, i := range []int{-1, 0, 1, n} {
				for _, j := range []int{-1, 0, 1, n} {
					compare(t, fmt.Sprintf("%s: At %d %d", what, i, j),
						func() ([]float64, error) { return []float64{EigenSymAt(&f, i, j)}, nil },
						func() ([]float64, error) { return []float64{g.At(i, j)}, nil })
				}
			}
		}
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestSVD compares singular values and vectors with package mat.
func TestSVD(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for name, a := range matrices(r) {
		rows, cols := a.Dims()
		k := min(rows, cols)
		if k == 0 {
			continue
		}
		a := known(a)
		for _, kind := range []mat.SVDKind{mat.SVDNone, mat.SVDThin, mat.SVDFull, mat.SVDThinU, mat.SVDFullV,
			mat.SVDFullU | mat.SVDThinV} {
			what := fmt.Sprintf("%s %d", name, kind)
			var f, g mat.SVD
			compare(t, what+": Factorize", func() ([]float64, error) {
				return []float64{boolean(SVDFactorize(&f, a, kind)), float64(f.Kind())}, nil
			}, func() ([]float64, error) { return []float64{boolean(g.Factorize(a, kind)), float64(g.Kind())}, nil })
			for _, n := range []int{-1, k, k + 1} {
				var dst []float64
				if n >= 0 {
					dst = make([]float64, n)
				}
				compare(t, what+": Values", func() ([]float64, error) { return SVDValues(&f, dst), nil },
					func() ([]float64, error) { return g.Values(dst), nil })
			}
			compare(t, what+": Rank", func() ([]float64, error) { return []float64{float64(f.Rank(1e-10))}, nil },
				func() ([]float64, error) { return []float64{float64(g.Rank(1e-10))}, nil })
			if k < 2 || g.Values(nil)[k-1] > 1e-10 {
				compare(t, what+": Cond", func() ([]float64, error) { return []float64{SVDCond(&f)}, nil },
					func() ([]float64, error) { return []float64{g.Cond()}, nil })
			}
			u, v := k, k
			if kind&mat.SVDFullU != 0 {
				u = rows
			}
			if kind&mat.SVDFullV != 0 {
				v = cols
			}
			for to, dst := range receivers(rows, u) {
				if u > k {
					o := record(func() ([]float64, error) { SVDUTo(&f, dst()); return nil, nil })
					if want := "nabla: the last columns of a full U have no derivative: factorise with " +
						"mat.SVDThinU"; o.panic != want {
						t.Errorf("%s: UTo: panic %v", what, o.panic)
					}
					continue
				}
				compare(t, what+": UTo "+to,
					func() ([]float64, error) { d := dst(); SVDUTo(&f, d); return flat(d), nil },
					func() ([]float64, error) { d := dst(); g.UTo(d); return flat(d), nil })
			}
			for to, dst := range receivers(cols, v) {
				if v > k {
					o := record(func() ([]float64, error) { SVDVTo(&f, dst()); return nil, nil })
					if want := "nabla: the last columns of a full V have no derivative: factorise with " +
						"mat.SVDThinV"; o.panic != want {
						t.Errorf("%s: VTo: panic %v", what, o.panic)
					}
					continue
				}
				compare(t, what+": VTo "+to,
					func() ([]float64, error) { d := dst(); SVDVTo(&f, d); return flat(d), nil },
					func() ([]float64, error) { d := dst(); g.VTo(d); return flat(d), nil })
			}
		}
	}
	var f, g mat.SVD
	compare(t, "Values", func() ([]float64, error) { return SVDValues(&f, nil), nil },
		func() ([]float64, error) { return g.Values(nil), nil })
}

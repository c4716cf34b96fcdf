package nabla_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// TestRandomFunctionsManyTimes applies one random function to many blocks of the
// inputs, so that equal operations stand side by side and are run together.
func TestRandomFunctionsManyTimes(t *testing.T) {
	failures := 0
	for seed := range longtest.Seeds(50, 50, 50) {
		r := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 10+r.IntN(100))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		blocks := []int{2, 5, 13, 30}[r.IntN(4)]
		p, xs := randfunc.New(data, blocks, randfunc.Options{M: 1})
		if err := checkBlocks(p, xs); err != nil {
			kind := failureKind(err)
			q, ys := randfunc.Shrink(p, xs, func(p *randfunc.Prog, xs [][]float64) bool {
				e := checkBlocks(p, xs)
				return e != nil && failureKind(e) == kind
			})
			t.Errorf("seed %d: %v\n%s%s", seed, checkBlocks(q, ys), q, randfunc.Points(ys))
			if failures++; failures > 3 {
				t.Fatal("more failures are not looked at")
			}
		}
	}
}

// checkBlocks compares the sum over blocks, the products of neighbours, and the
// blocks side by side with the derivatives of one block.
func checkBlocks(p *randfunc.Prog, xs [][]float64) error {
	n, m := p.N, len(xs)
	one := p.Real()
	x := make([]float64, 0, n*m)
	var oracles []*randfunc.Oracle
	for _, b := range xs {
		x = append(x, b...)
		oracles = append(oracles, p.Oracle(b))
	}
	away := make([]float64, len(x)) // where it is prepared
	for i := range away {
		away[i] = 0.3 + float64(i%5)/7
	}
	sum := func(x []nabla.Real) nabla.Real {
		s := nabla.Const(0)
		for i := range m {
			s = s.Add(one.Scalar(x[i*n : (i+1)*n : (i+1)*n]).Scale(float64(i%3 + 1)))
		}
		return s
	}
	each := nabla.InPlace(m, func(y, x []nabla.Real) {
		for i := range m {
			y[i] = one.Scalar(x[i*n : (i+1)*n : (i+1)*n])
		}
	})
	for _, b := range firstOrder {
		name := b.Name()
		g, err := nabla.PrepareGradient(sum, b, away)
		if err != nil {
			return fmt.Errorf("prepare with %s: %w", name, err)
		}
		grad, err := g.Gradient(nil, x)
		if err != nil {
			return fmt.Errorf("gradient with %s: %w", name, err)
		}
		j, err := nabla.PrepareJacobian(each, b, away)
		if err != nil {
			return fmt.Errorf("prepare Jacobian with %s: %w", name, err)
		}
		y, jac, err := j.ValueAndJacobian(nil, nil, x)
		if err != nil {
			return fmt.Errorf("Jacobian with %s: %w", name, err)
		}
		push, err := nabla.PreparePushforward(each, b, away)
		if err != nil {
			return fmt.Errorf("prepare pushforward with %s: %w", name, err)
		}
		V := mat.NewDense(n*m, 7, nil)
		V.Apply(func(i, k int, _ float64) float64 { return float64(i%3-k) + 0.5 }, V)
		JV, err := push.PushforwardBatch(nil, x, V)
		if err != nil {
			return fmt.Errorf("pushforwards with %s: %w", name, err)
		}
		pull, err := nabla.PreparePullback(each, b, away)
		if err != nil {
			return fmt.Errorf("prepare pullback with %s: %w", name, err)
		}
		W := mat.NewDense(m, 11, nil)
		W.Apply(func(i, k int, _ float64) float64 { return float64(i%4-k) + 0.5 }, W)
		JW, err := pull.PullbackBatch(nil, x, W)
		if err != nil {
			return fmt.Errorf("pullbacks with %s: %w", name, err)
		}
		for i, o := range oracles {
			if !identical(y[i], o.Y[0]) {
				return fmt.Errorf("value with %s: block %d: %v, want %v", name, i, y[i], o.Y[0])
			}
			if o.Big || !finite(o.Scale[0]) {
				continue
			}
			row := jac.(*mat.Dense).RawRowView(i)
			if err := agreeWithOracle(o, 0, row[i*n:(i+1)*n]); err != nil {
				return fmt.Errorf("Jacobian with %s wrong: block %d: %w", name, i, err)
			}
			part := make([]float64, n)
			for k := range part {
				part[k] = grad[i*n+k] / float64(i%3+1)
			}
			if err := agreeWithOracle(o, 0, part); err != nil {
				return fmt.Errorf("gradient with %s wrong: block %d: %w", name, i, err)
			}
			for k := range row {
				if k/n != i && row[k] != 0 {
					return fmt.Errorf("Jacobian with %s not block diagonal: %v at %d, %d", name, row[k], i, k)
				}
			}
			for c := range 7 {
				want, scale := 0.0, 0.0
				for k := range n {
					want += o.Grad[0][k] * V.At(i*n+k, c)
					scale += o.Scale[0][k] * math.Abs(V.At(i*n+k, c))
				}
				if !(math.Abs(JV.At(i, c)-want) <= 1e-11*scale+1e-290) {
					return fmt.Errorf("pushforwards with %s wrong: block %d, column %d: %v, want %v", name, i, c,
						JV.At(i, c), want)
				}
			}
			for c := range 11 {
				for k := range n {
					want, scale := o.Grad[0][k]*W.At(i, c), o.Scale[0][k]*math.Abs(W.At(i, c))
					if !(math.Abs(JW.At(i*n+k, c)-want) <= 1e-11*scale+1e-290) {
						return fmt.Errorf("pullbacks with %s wrong: block %d, column %d: %v, want %v", name, i, c,
							JW.At(i*n+k, c), want)
					}
				}
			}
		}
	}
	if m > 13 {
		return nil
	}
	for _, b := range secondOrder {
		h, err := nabla.PrepareHessian(sum, b, away)
		if err != nil {
			return fmt.Errorf("prepare Hessian with %s: %w", b.Name(), err)
		}
		H, err := h.Dense(nil, x)
		if err != nil {
			return fmt.Errorf("Hessian with %s: %w", b.Name(), err)
		}
		for i, o := range oracles {
			if o.Big || !finite(o.Scale[0]) || !finite(o.Scale2[0]) {
				continue
			}
			w := float64(i%3 + 1)
			for a := range n {
				for c := range n * m {
					got, want, tol := H.At(i*n+a, c), 0.0, 0.0
					if c/n == i {
						want, tol = w*o.Hess[0][a*n+c%n], 1e-10*w*(o.Scale2[0][a*n+c%n]+o.Scale2[0][c%n*n+a])+1e-200
					} else if q := oracles[c/n]; q.Big || !finite(q.Scale[0]) || !finite(q.Scale2[0]) {
						continue
					}
					if !(math.Abs(got-want) <= tol) {
						return fmt.Errorf("Hessian with %s wrong: block %d, element %d %d: %v, want %v ± %g", b.Name(),
							i, a, c, got, want, tol)
					}
				}
			}
		}
	}
	return nil
}

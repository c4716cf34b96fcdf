package sums_test

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sums"
)

// A Decay has values at times.
type Decay struct{ T, Y nabla.Vec }

// squares is the sum of the squared deviations of the rows from x₀·exp(-x₁·t).
func squares(x []nabla.Real, d *Decay) nabla.Real {
	s := nabla.Const(0)
	for i := range d.T.Len() {
		model := x[0].Mul(nabla.Exp(x[1].Neg().Mul(d.T.At(i))))
		s = s.Add(model.Sub(d.Y.At(i)).Sq())
	}
	return s
}

// decays are blocks of rows; one row is bad.
func decays() (list []Decay) {
	for i := range 4 {
		var t, y []float64
		for j := range 5 {
			t = append(t, float64(5*i+j)/4)
			y = append(y, 3*math.Exp(-t[j]))
		}
		list = append(list, Decay{nabla.VecOf(t), nabla.VecOf(y)})
	}
	list[2].Y = nabla.VecOf([]float64{0, math.NaN(), 0, 0, 0})
	return list
}

// Value and gradient of a sum over blocks of rows, some of which are bad.
func Example() {
	term := sums.Loss(squares, nil, sums.Options[Decay]{
		Rows: func(d *Decay) int { return d.T.Len() },
		Row:  func(dst, d *Decay, i int) { dst.T, dst.Y = d.T.Slice(i, i+1), d.Y.Slice(i, i+1) },
		Bad:  sums.LeaveOut,
	})
	local := sums.NewLocal(term, sums.Slice(decays()), nil)
	s, err := local.Sum(background, sums.At([]float64{3, 1}, true))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f %.6f\n", s.Value(0), s.Gradient(nil, 0))
	fmt.Println(s.Rows, "rows, left out:", s.Bad)
	// Output:
	// 0.104688 [0.069792 -0.582460]
	// 19 rows, left out: [{11 1 the value at point 0 is NaN (sums.NonFiniteError)}]
}

// Sums of two processes merge; they travel as bytes.
func ExampleSum_Merge() {
	term := sums.Loss(squares, nil, sums.Options[Decay]{Rows: func(d *Decay) int { return d.T.Len() }})
	q := sums.At([]float64{3, 0.5}, false)
	list := decays()
	var encoded [2][]byte
	for i := range encoded {
		w, err := term.Worker(q)
		if err != nil {
			panic(err)
		}
		var s sums.Sum
		if err := w.Add(&s, &list[i]); err != nil {
			panic(err)
		}
		if encoded[i], err = s.MarshalBinary(); err != nil {
			panic(err)
		}
	}
	var total sums.Sum
	for _, b := range encoded {
		var s sums.Sum
		if err := s.UnmarshalBinary(b); err != nil {
			panic(err)
		}
		if err := total.Merge(&s); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%d rows: %.6f\n", total.Rows, total.Value(0))
	// Output:
	// 10 rows: 3.859338
}

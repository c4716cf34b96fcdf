package network

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

func numbers(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64() / 2
	}
	return x
}

func rows(r *rand.Rand, n, of int) (list [][]float64) {
	for range n {
		list = append(list, numbers(r, of))
	}
	return list
}

// sample returns a network, a batch and the sizes of both.
func sample(inputs, hidden, outputs, batch int) (*MLP, *Batch, *Sizes) {
	r := rand.New(rand.NewPCG(1, 2))
	m := &MLP{W1: numbers(r, hidden*inputs), B1: numbers(r, hidden), W2: numbers(r, outputs*hidden),
		B2: numbers(r, outputs), Decay: 0.25}
	d := &Batch{rows(r, batch, inputs), rows(r, batch, outputs)}
	return m, d, &Sizes{*d, inputs, hidden, outputs}
}

// split returns the rows of n numbers in w.
func split(w []float64, n int) (list [][]float64) {
	for ; len(w) > 0; w = w[n:] {
		list = append(list, w[:n])
	}
	return list
}

// inRows, deep and dense return m as networks of the other types.
func inRows(m *MLP, inputs, hidden int) *Rows {
	return &Rows{split(m.W1, inputs), split(m.W2, hidden), m.B1, m.B2, m.Decay}
}

func deep(m *MLP, inputs, hidden int) *Deep {
	return &Deep{Layers: []Layer{{split(m.W1, inputs), m.B1}, {split(m.W2, hidden), m.B2}}, Decay: m.Decay}
}

func dense(m *MLP, d *Batch, inputs, hidden int) (*Dense, *Matrices) {
	transposed := func(w []float64, n int) *mat.Dense { return mat.DenseCopyOf(mat.NewDense(len(w)/n, n, w).T()) }
	matrix := func(rows [][]float64) *mat.Dense {
		a := mat.NewDense(len(rows), len(rows[0]), nil)
		for i, row := range rows {
			a.SetRow(i, row)
		}
		return a
	}
	return &Dense{transposed(m.W1, inputs), transposed(m.W2, hidden), m.B1, m.B2, m.Decay},
		&Matrices{matrix(d.X), matrix(d.Y)}
}

func check(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// A form is the loss as a function of the numbers of a struct.
type form struct {
	name string
	f    *nabla.Func
	x    []float64
	flat func(v []float64) []float64 // brings a vector of the form into the order of LossFlat
}

func formOf[S any](t *testing.T, name string, s *S, flat func(v, out *S) []float64) func(*nabla.Func, *nabla.Layout[S],
	error) form {
	return func(f *nabla.Func, l *nabla.Layout[S], err error) form {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return form{name, f, l.Flatten(nil, s), func(v []float64) []float64 {
			out := new(S)
			l.Unflatten(out, v)
			return flat(s, out)
		}}
	}
}

// forms returns the loss over each of the types.
func forms(t *testing.T, m *MLP, d *Batch, inputs, hidden int) []form {
	join := func(list ...[]float64) (all []float64) {
		for _, v := range list {
			all = append(all, v...)
		}
		return all
	}
	list := inRows(m, inputs, hidden)
	p := deep(m, inputs, hidden)
	q, data := dense(m, d, inputs, hidden)
	data64 := func(a *mat.Dense) []float64 { return mat.DenseCopyOf(a.T()).RawMatrix().Data }
	return []form{
		formOf(t, "MLP", m, func(_, v *MLP) []float64 {
			return join(v.W1, v.B1, v.W2, v.B2, []float64{v.Decay})
		})(nabla.BindStructPlain(Loss, m, d)),
		formOf(t, "Rows", list, func(_, v *Rows) []float64 {
			return join(join(v.W1...), v.B1, join(v.W2...), v.B2, []float64{v.Decay})
		})(nabla.BindStructPlain(RowsLoss, list, d)),
		formOf(t, "Deep", p, func(_, v *Deep) []float64 {
			a, b := v.Layers[0], v.Layers[1]
			return join(join(a.W...), a.B, join(b.W...), b.B, []float64{v.Decay})
		})(nabla.BindStructPlain((*Deep).Loss, p, d)),
		formOf(t, "Dense", q, func(_, v *Dense) []float64 {
			return join(data64(v.W1), v.B1, data64(v.W2), v.B2, []float64{v.Decay})
		})(BindDense(q, data)),
	}
}

// TestForms compares the derivatives with respect to structs, by all engines, with those of the function of a vector.
func TestForms(t *testing.T) {
	const inputs, hidden, outputs = 3, 4, 2
	m, d, sizes := sample(inputs, hidden, outputs, 5)
	x := append(append(append(append(append([]float64(nil), m.W1...), m.B1...), m.W2...), m.B2...), m.Decay)
	flat := nabla.Bind(LossFlat, sizes)
	y, g, err := nabla.ValueAndGradient(flat, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	differences, err := nabla.Gradient(flat, finitediff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "differences", differences, g, 1e-7)
	h, err := nabla.Hessian(flat, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	engines := []nabla.Backend{source.Reverse{}, source.Forward{}, finitediff.Backend{}, forwarddiff.Backend{},
		reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
		nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: source.Reverse{}}}
	for _, f := range forms(t, m, d, inputs, hidden) {
		for _, e := range engines {
			tol := 1e-12
			if _, ok := e.(finitediff.Backend); ok {
				tol = 1e-5
			}
			name := f.name + " with " + e.Name()
			got, grad, err := nabla.ValueAndGradient(f.f, e, f.x)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			check(t, name+": value", []float64{got}, []float64{y}, tol)
			check(t, name+": gradient", f.flat(grad), g, tol)
			hess, err := nabla.Hessian(f.f, e, f.x)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for i := range f.x {
				unit := make([]float64, len(f.x))
				unit[i] = 1
				k := 0
				for j, v := range f.flat(unit) {
					if v == 1 {
						k = j
					}
				}
				check(t, name+": row of the Hessian", f.flat(mat.Row(nil, i, hess)), mat.Row(nil, k, h), 100*tol)
			}
		}
	}
}

// TestPrepared: a prepared object sees changes of the batch and another batch, allocates nothing, and works beside its
// clones.
func TestPrepared(t *testing.T) {
	const inputs, hidden, outputs = 3, 4, 2
	m, d, sizes := sample(inputs, hidden, outputs, 5)
	flat := nabla.Bind(LossFlat, sizes)
	for _, f := range forms(t, m, d, inputs, hidden)[:3] {
		p, err := nabla.PrepareGradient(f.f, source.Reverse{}, f.x)
		if err != nil {
			t.Fatal(err)
		}
		hv, err := nabla.PrepareHVP(f.f, source.Reverse{}, f.x)
		if err != nil {
			t.Fatal(err)
		}
		var clones []*nabla.GradientPrep
		for range 4 {
			clones = append(clones, p.Clone())
		}
		for step := range 20 {
			d.X[0][0], d.Y[1][0] = float64(step)/10, float64(step)/20
			x := numbers(rand.New(rand.NewPCG(3, uint64(step))), len(f.x))
			want, err := nabla.Gradient(flat, source.Reverse{}, f.flat(x))
			if err != nil {
				t.Fatal(err)
			}
			g, err := p.Gradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			check(t, f.name, f.flat(g), want, 1e-12)
			var wg sync.WaitGroup
			for _, q := range clones {
				wg.Go(func() {
					g, err := q.Gradient(nil, x)
					if err != nil {
						t.Error(err)
						return
					}
					check(t, f.name+": clone", f.flat(g), want, 1e-12)
				})
			}
			wg.Wait()
		}
		_, other, _ := sample(inputs, hidden, outputs, 2)
		if err := p.Rebind(other); err != nil {
			t.Fatal(err)
		}
		g, v, out := make([]float64, len(f.x)), make([]float64, len(f.x)), make([]float64, len(f.x))
		if _, err := p.Gradient(g, f.x); err != nil {
			t.Fatal(err)
		}
		want, err := nabla.Gradient(nabla.Bind(LossFlat, &Sizes{*other, inputs, hidden, outputs}), source.Reverse{},
			f.flat(f.x))
		if err != nil {
			t.Fatal(err)
		}
		check(t, f.name+": another batch", f.flat(g), want, 1e-12)
		v[1] = 1
		if f.name == "Deep" { // the function itself allocates
			continue
		}
		for what, call := range map[string]func() error{
			"Gradient":         func() error { _, err := p.Gradient(g, f.x); return err },
			"ValueAndGradient": func() error { _, _, err := p.ValueAndGradient(g, f.x); return err },
			"HVP":              func() error { _, err := hv.HVP(out, f.x, v); return err },
		} {
			if n := testing.AllocsPerRun(20, func() {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s: %s: %v allocations", f.name, what, n)
			}
		}
	}
}

// TestForward: forward mode, four directions at a time through a struct, agrees with reverse mode and allocates
// nothing.
func TestForward(t *testing.T) {
	const n = 6
	r := rand.New(rand.NewPCG(7, 8))
	m, d := &Perceptron{W: numbers(r, n), B: 0.5}, &Batch{X: rows(r, 4, n), Y: rows(r, 4, 1)}
	f, l, err := nabla.BindStructPlain(UnitLoss, m, d)
	if err != nil {
		t.Fatal(err)
	}
	x := l.Flatten(nil, m)
	want, err := nabla.Gradient(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := nabla.PrepareGradient(f, source.Forward{}, x)
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, len(x))
	if allocs := testing.AllocsPerRun(20, func() {
		if _, err := p.Gradient(g, x); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	check(t, "gradient", g, want, 1e-12)
}

// TestWithoutValue compares gradients, by code that does not compute the value, and Hessian-vector products with closed
// forms.
func TestWithoutValue(t *testing.T) {
	const n = 3
	r := rand.New(rand.NewPCG(5, 6))
	m, d := &Perceptron{numbers(r, n), 0.5}, &Batch{rows(r, 7, n), rows(r, 7, 1)}
	f, l, err := nabla.BindStructPlain(UnitLoss, m, d)
	if err != nil {
		t.Fatal(err)
	}
	x, v := l.Flatten(nil, m), numbers(r, n+1)
	g, hv := make([]float64, n+1), make([]float64, n+1)
	for k, row := range d.X {
		row = append(row[:n:n], 1)
		z, zDot, y := 0.0, 0.0, d.Y[k][0]
		for j := range row {
			z += row[j] * x[j]
			zDot += row[j] * v[j]
		}
		p := 1 / (1 + math.Exp(-z))
		for j := range row {
			g[j] += (p - y) * row[j]
			hv[j] += p * (1 - p) * zDot * row[j]
		}
	}
	p, err := nabla.PrepareGradient(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	q, err := nabla.PrepareHVP(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // some calls compare values, and compute them therefore
		got, err := p.Gradient(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "gradient", got, g, 1e-12)
		if got, err = q.HVP(nil, x, v); err != nil {
			t.Fatal(err)
		}
		check(t, "product", got, hv, 1e-12)
	}
}

// TestProductAlone compares Hessian-vector products by code that computes nothing else with a closed form.
func TestProductAlone(t *testing.T) {
	const n = 3
	r := rand.New(rand.NewPCG(7, 8))
	m, d := &Perceptron{numbers(r, n), 0.5}, &Batch{rows(r, 7, n), rows(r, 7, 1)}
	f, l, err := nabla.BindStructPlain(SquaresLoss, m, d)
	if err != nil {
		t.Fatal(err)
	}
	x, v := l.Flatten(nil, m), numbers(r, n+1)
	want := make([]float64, n+1)
	for k, row := range d.X {
		z, zDot, y := x[n], v[n], d.Y[k][0]
		for j := range row {
			z += x[j] * x[j] * row[j]
			zDot += 2 * x[j] * v[j] * row[j]
		}
		th := math.Tanh(z)
		slope := 1 - th*th
		first, second := 2*y*(th-y)*slope, y*(2*slope*slope-4*(th-y)*th*slope) // derivatives by z
		for j := range row {
			want[j] += second*zDot*2*x[j]*row[j] + first*2*v[j]*row[j]
		}
		want[n] += second * zDot
	}
	q, err := nabla.PrepareHVP(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		got, err := q.HVP(nil, x, v)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "product", got, want, 1e-12)
	}
}

// TestDirect calls generated functions with structs: with the memory that LossShadow returns, without bars and
// directions, and with bars of a part of the struct.
func TestDirect(t *testing.T) {
	const inputs, hidden, outputs = 3, 4, 2
	m, d, _ := sample(inputs, hidden, outputs, 5)
	f, l, err := nabla.BindStructPlain(Loss, m, d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := nabla.Gradient(f, reversediff.Backend{}, l.Flatten(nil, m))
	if err != nil {
		t.Fatal(err)
	}
	bar, ws := LossShadow(m), new(AdjointWork)
	if y := LossAdjoint(m, d, bar, 1, ws); y != Loss(m, d) {
		t.Errorf("value %v, want %v", y, Loss(m, d))
	}
	check(t, "into a shadow", l.Flatten(nil, bar), want, 1e-12)
	if n := testing.AllocsPerRun(10, func() { LossAdjoint(m, d, bar, 0, ws) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if y := LossAdjoint(m, d, nil, 1, ws); y != Loss(m, d) {
		t.Errorf("without bars: %v", y)
	}
	layers := deep(m, inputs, hidden)
	deepBar, dBar := DeepLossShadow(layers, d)
	DeepLossAdjoint(layers, d, deepBar, dBar, 1, ws)
	if n := testing.AllocsPerRun(10, func() { DeepLossAdjoint(layers, d, deepBar, dBar, 1, ws) }); n != 0 {
		t.Errorf("layers: %v allocations", n)
	}
	part := &MLP{B2: make([]float64, outputs)}
	LossAdjoint(m, d, part, 1, nil)
	check(t, "a part", part.B2, bar.B2, 1e-14)
	if part.W1 != nil || part.W2 != nil {
		t.Error("parts that are not wanted have been set")
	}
	dot := LossShadow(m)
	dot.W2[3] = 1
	if _, yDot := LossTangent(m, d, dot); math.Abs(yDot-bar.W2[3]) > 1e-12 {
		t.Errorf("tangent %v, want %v", yDot, bar.W2[3])
	}
}

// TestMixed compares the derivatives of two results with respect to two structs with differences.
func TestMixed(t *testing.T) {
	d := &Batch{X: [][]float64{{1.5}, {-0.5}, {2}}}
	a, b := &Perceptron{[]float64{0.5}, 2}, &Perceptron{[]float64{1, -2}, 0.25}
	weigh := func() float64 {
		p, q := Mixed(a, b, d)
		return 3*p - 2*q
	}
	aBar, bBar := MixedShadow(a, b)
	MixedAdjoint(a, b, d, aBar, bBar, 3, -2, nil)
	for _, c := range []struct {
		name string
		x    *float64
		got  float64
	}{{"a.W[0]", &a.W[0], aBar.W[0]}, {"a.B", &a.B, aBar.B}, {"b.W[0]", &b.W[0], bBar.W[0]},
		{"b.W[1]", &b.W[1], bBar.W[1]}, {"b.B", &b.B, bBar.B}} {
		const h = 1e-6
		old := *c.x
		*c.x = old + h
		up := weigh()
		*c.x = old - h
		want := (up - weigh()) / (2 * h)
		*c.x = old
		if math.Abs(c.got-want) > 1e-7 {
			t.Errorf("%s: %v, want %v", c.name, c.got, want)
		}
	}
	only := mixedOnly(a, b, d)
	if math.Abs(only.B-bBar.B) > 1e-14 {
		t.Errorf("b alone: %v, want %v", only.B, bBar.B)
	}
}

// mixedOnly returns the derivatives of TestMixed with respect to b; those with respect to a are not wanted.
func mixedOnly(a, b *Perceptron, d *Batch) *Perceptron {
	_, bBar := MixedShadow(nil, b)
	MixedAdjoint(a, b, d, nil, bBar, 3, -2, nil)
	return bBar
}

// TestError: the error of a function of a struct comes back from the call, from every engine.
func TestError(t *testing.T) {
	const inputs, hidden, outputs = 3, 4, 2
	m, d, _ := sample(inputs, hidden, outputs, 5)
	q, data := dense(m, d, inputs, hidden)
	f, l, err := BindDense(q, data)
	if err != nil {
		t.Fatal(err)
	}
	good := l.Flatten(nil, q)
	q.Decay = -1
	bad := l.Flatten(nil, q)
	for _, e := range []nabla.Backend{source.Reverse{}, source.Forward{}, finitediff.Backend{}, forwarddiff.Backend{},
		reversediff.Backend{Compile: true}, tracker.Backend{}} {
		p, err := nabla.PrepareGradient(f, e, good)
		if err != nil {
			t.Fatal(err)
		}
		var returned *nabla.ReturnedError
		if _, err := p.Gradient(nil, bad); !errors.As(err, &returned) || !errors.Is(err, errNegative) {
			t.Errorf("%s: %v", e.Name(), err)
		}
		if _, err := p.Gradient(nil, good); err != nil {
			t.Errorf("%s: after an error: %v", e.Name(), err)
		}
	}
}

// BenchmarkStruct is how many times as long as over a vector the gradient and the Hessian-vector product take over the
// struct.
func BenchmarkStruct(b *testing.B) {
	for _, size := range []struct {
		name                           string
		inputs, hidden, outputs, batch int
	}{{"batch=1", 64, 64, 10, 1}, {"batch=32", 64, 64, 10, 32}} {
		m, d, sizes := sample(size.inputs, size.hidden, size.outputs, size.batch)
		f, l, err := nabla.BindStructPlain(Loss, m, d)
		if err != nil {
			b.Fatal(err)
		}
		p := inRows(m, size.inputs, size.hidden)
		rows, lr, err := nabla.BindStructPlain(RowsLoss, p, d)
		if err != nil {
			b.Fatal(err)
		}
		x, xr := l.Flatten(nil, m), lr.Flatten(nil, p)
		flat := nabla.Bind(LossFlat, sizes)
		b.Run(size.name+"/gradient", func(b *testing.B) {
			timingtest.Ratio(b, gradient(b, f, x, source.Reverse{}), gradient(b, flat, x, source.Reverse{}))
		})
		b.Run(size.name+"/gradient/rows", func(b *testing.B) {
			timingtest.Ratio(b, gradient(b, rows, xr, source.Reverse{}), gradient(b, flat, x, source.Reverse{}))
		})
		if size.batch == 1 {
			b.Run(size.name+"/forward", func(b *testing.B) {
				timingtest.Ratio(b, gradient(b, f, x, source.Forward{}), gradient(b, flat, x, source.Forward{}))
			})
		}
		b.Run(size.name+"/hvp", func(b *testing.B) { timingtest.Ratio(b, hvp(b, f, x), hvp(b, flat, x)) })
	}
}

func gradient(b *testing.B, f *nabla.Func, x []float64, e nabla.Backend) func() {
	p, err := nabla.PrepareGradient(f, e, x)
	if err != nil {
		b.Fatal(err)
	}
	g := make([]float64, len(x))
	return func() {
		if _, _, err := p.ValueAndGradient(g, x); err != nil {
			b.Fatal(err)
		}
	}
}

func hvp(b *testing.B, f *nabla.Func, x []float64) func() {
	p, err := nabla.PrepareHVP(f, source.Reverse{}, x)
	if err != nil {
		b.Fatal(err)
	}
	v, out := make([]float64, len(x)), make([]float64, len(x))
	for i := range v {
		v[i] = float64(i%7) - 3
	}
	return func() {
		if _, err := p.HVP(out, x, v); err != nil {
			b.Fatal(err)
		}
	}
}

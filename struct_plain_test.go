package nabla

import (
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

type ledger struct {
	W    []float64
	B    float64
	Next *ledger
}

type ledgerOf[T any] struct {
	W    []T
	B    T
	Next *ledgerOf[T]
}

type rates struct{ K float64 }

func ledgerSum(l *ledger) float64 {
	s := l.B * l.B
	for _, w := range l.W {
		s += w * l.B
	}
	return s
}

func ledgerRated(l *ledger, r *rates) float64 { return r.K * ledgerSum(l) }

var errLedger = errors.New("negative")

func ledgerChecked(l *ledger) (float64, error) {
	if l.B < 0 {
		return 0, errLedger
	}
	return ledgerSum(l), nil
}

func ledgerRatedChecked(l *ledger, r *rates) (float64, error) {
	s, err := ledgerChecked(l)
	return r.K * s, err
}

func ledgerReal(l *ledgerOf[Real]) (Real, error) {
	if l.B.Less(Const(0)) {
		return Const(0), errLedger
	}
	s := l.B.Sq()
	for _, w := range l.W {
		s = s.Add(w.Mul(l.B))
	}
	return s, nil
}

func ledgerRealRated(l *ledgerOf[Real], r *struct{ K Real }) (Real, error) {
	s, err := ledgerReal(l)
	return s.Mul(r.K), err
}

// TestStructErrors: functions of a struct with and without an error have the same derivatives, in all forms, and their
// errors come back from the call.
func TestStructErrors(t *testing.T) {
	s, of := &ledger{W: []float64{1, 2}, B: 3}, &ledgerOf[float64]{W: []float64{1, 2}, B: 3}
	k := &struct{ K Real }{Const(2)}
	x, bad := []float64{1, 2, 3}, []float64{1, 2, -3}
	for _, c := range []struct {
		name    string
		make    func() (*Func, error)
		b       Backend
		factor  float64
		returns bool
	}{
		{"StructPlain", func() (*Func, error) { f, _, err := StructPlain(ledgerSum, s); return f, err },
			finitediff.Backend{}, 1, false},
		{"StructPlain with an error", func() (*Func, error) {
			f, _, err := StructPlain(ledgerChecked, s)
			return f, err
		}, finitediff.Backend{}, 1, true},
		{"BindStructPlain", func() (*Func, error) {
			f, _, err := BindStructPlain(ledgerRated, s, &rates{2})
			return f, err
		}, finitediff.Backend{}, 2, false},
		{"BindStructPlain with an error", func() (*Func, error) {
			f, _, err := BindStructPlain(ledgerRatedChecked, s, &rates{2})
			return f, err
		}, finitediff.Backend{}, 2, true},
		{"StructWithError", func() (*Func, error) { f, _, err := StructWithError(ledgerReal, of); return f, err },
			forwarddiff.Backend{}, 1, true},
		{"BindStructWithError", func() (*Func, error) {
			f, _, err := BindStructWithError(ledgerRealRated, of, k)
			return f, err
		}, forwarddiff.Backend{}, 2, true},
	} {
		f, err := c.make()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := PrepareGradient(f, c.b, x)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		g, err := p.Gradient(nil, x)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		near(t, c.name, g, []float64{3 * c.factor, 3 * c.factor, 9 * c.factor}, 1e-7)
		_, err = p.Gradient(nil, bad)
		var returned *ReturnedError
		if c.returns != errors.As(err, &returned) || c.returns != errors.Is(err, errLedger) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// TestStructMistakes: a nil struct or function, data that is no struct, a struct of another shape, and a function
// without code are typed errors that name the mistake.
func TestStructMistakes(t *testing.T) {
	s := &ledger{W: []float64{1, 2}, B: 3}
	var none func(*ledger) float64
	third := 3
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { _, _, err := StructPlain(ledgerSum, (*ledger)(nil)); return err },
			"the struct is nil (a *nabla.ledger)"},
		{func() error { _, _, err := StructPlain(none, s); return err }, "the function is nil"},
		{func() error { _, _, err := BindStructPlain(ledgerRated, (*ledger)(nil), &rates{}); return err },
			"the struct is nil (a *nabla.ledger)"},
		{func() error { _, _, err := BindStructPlain(ledgerRated, s, (*rates)(nil)); return err },
			"the bound struct is nil (a *nabla.rates)"},
		{func() error {
			_, _, err := BindStructPlain(func(*ledger, *int) float64 { return 0 }, s, &third)
			return err
		}, "want a pointer to a struct"},
		{func() error { _, _, err := StructWithError(ledgerReal, (*ledgerOf[float64])(nil)); return err },
			"the struct is nil"},
	} {
		var fe *FuncError
		if err := c.make(); !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	f, l, err := StructPlain(ledgerSum, s)
	if err != nil {
		t.Fatal(err)
	}
	var ue *UnsupportedError
	if _, err := Gradient(f, source.Reverse{}, l.Flatten(nil, s)); !errors.As(err, &ue) ||
		!strings.Contains(err.Error(), "nabla.ledgerSum computes with float64 and has no generated derivative code") {
		t.Errorf("without code: %v", err)
	}
	var se *ShapeError
	_, err = Gradient(f, source.Reverse{}, make([]float64, 2))
	if !errors.As(err, &se) || se.Got != 2 || se.Want != 3 {
		t.Errorf("a short vector: %v", err)
	}
	for _, c := range []struct {
		s    *ledger
		want string
	}{
		{&ledger{W: []float64{1}}, "len(W) is 1, want 2"},
		{&ledger{W: []float64{1, 2}, Next: s}, "field Next is a pointer, want nil"},
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Flatten: %v, want %q", err, c.want)
				}
			}()
			l.Flatten(nil, c.s)
		}()
	}
}

// TestStructLanes: code in vector mode gets structs of four directions, which share slices with the vectors of the
// call, and is left out if it does not say their type.
func TestStructLanes(t *testing.T) {
	type lanes struct {
		W    [][4]float64
		B    [4]float64
		Next *lanes
	}
	f, l, err := StructPlain(ledgerSum, &ledger{W: []float64{1, 2}, B: 3})
	if err != nil {
		t.Fatal(err)
	}
	code := Code{
		Tangent4: func(y []float64, ydot [][4]float64, _ []float64, _ [][4]float64, p any) int {
			x, d := p.(*StructArg).Value.(*ledger), p.(*StructArg).Dot.(*lanes)
			y[0] = ledgerSum(x)
			for k := range 4 {
				ydot[0][k] = (2*x.B+x.W[0]+x.W[1])*d.B[k] + x.B*(d.W[0][k]+d.W[1][k])
			}
			return 1
		},
		Adjoint4: func(_ []float64, _ [][4]float64, _ []float64, ybar [][4]float64, p any) int {
			x, d := p.(*StructArg).Value.(*ledger), p.(*StructArg).Bar.(*lanes)
			for k, b := range ybar[0] {
				d.B[k] += (2*x.B + x.W[0] + x.W[1]) * b
				d.W[0][k] += x.B * b
				d.W[1][k] += x.B * b
			}
			return 1
		},
	}
	for _, of := range []any{nil, lanes{}, (*rates)(nil)} {
		if f.lanesOf(&Generated{LanesStruct: of}) != nil {
			t.Errorf("a layout for %T", of)
		}
	}
	if c := structCode(l.l, nil, code); c.Tangent4 != nil || c.Adjoint4 != nil {
		t.Error("vector mode without a struct")
	}
	c := structCode(l.l, f.lanesOf(&Generated{LanesStruct: (*lanes)(nil)}), code)
	y, ydot, x := []float64{0}, make([][4]float64, 1), []float64{1, 2, 3}
	xbar := [][4]float64{{1}, {2}, {3}} // overwritten
	c.Tangent4(y, ydot, x, [][4]float64{{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}, nil)
	c.Adjoint4(y, xbar, x, [][4]float64{{1, 2, 0, -1}}, nil)
	near(t, "directions", ydot[0][:], []float64{3, 3, 9, 15}, 0)
	for i, want := range [][]float64{{3, 6, 0, -3}, {3, 6, 0, -3}, {9, 18, 0, -9}} {
		near(t, "seeds", xbar[i][:], want, 0)
	}
}

// TestBoundConstants: a form over Reals whose data has another type gets a copy of the bound struct with constants. It
// sees changes of numbers, of lengths and of the struct, is as before after the function has written to it, and is not
// made again for each call.
func TestBoundConstants(t *testing.T) {
	type data struct {
		X [][]float64
		K float64
		N int
	}
	type dataReal struct {
		X [][]Real
		K Real
		N int
	}
	sum := func(x []float64, d *data) float64 { return 0 }
	d := &data{X: [][]float64{{1}, {2, 3}}, K: 10, N: 1}
	f := Bind(sum, d)
	form, err := f.tracedForm(Generated{TracedBound: (*dataReal)(nil), Traced: func(y, x []Real, p any) int {
		b := p.(*dataReal)
		y[0] = x[0].Mul(b.K).AddConst(float64(b.N))
		for _, row := range b.X {
			for i, v := range row {
				y[0] = y[0].Add(v)
				row[i] = x[0]
			}
		}
		b.K, b.N, b.X[0] = x[0], 7, nil
		return 1
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := f.context()
	y, x := make([]Real, 1), []Real{Const(2)}
	call := func() {
		if n, err := form(y, x, c); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	for i, change := range []func(){
		func() {},
		func() {},
		func() { d.K = 20 },
		func() { d.X[1][0] = 5 },
		func() { d.X = append(d.X, []float64{100, 200}) },
		func() { d.N, d.X[0] = 3, nil },
		func() {
			if err := c.Rebind(&data{K: 0.5, X: make([][]float64, 1)}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		call()
		if got, want := y[0].Value(), []float64{27, 27, 47, 50, 350, 351, 1}[i]; got != want {
			t.Errorf("step %d: %v, want %v", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(20, call); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStructInPlaceMistakes: a negative number of outputs, a struct of another type than a plain function takes, a
// function that leaves an output unwritten, and another number of outputs than at preparation are typed errors.
func TestStructInPlaceMistakes(t *testing.T) {
	s := &ledger{W: []float64{1, 2}, B: 3}
	write := func(y []float64, l *ledger) { y[0] = l.B }
	var se *ShapeError
	if _, _, err := StructInPlace(-1, write, s); !errors.As(err, &se) || se.Arg != "m" || se.Got != -1 {
		t.Errorf("m = -1: %v", err)
	}
	var fe *FuncError
	if _, _, err := StructInPlace(1, write, &rates{}); !errors.As(err, &fe) ||
		!strings.Contains(err.Error(), "it takes a *nabla.ledger and the struct is a *nabla.rates") {
		t.Errorf("another struct: %v", err)
	}
	f, l, err := StructInPlace(2, write, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Jacobian(f, finitediff.Backend{}, l.Flatten(nil, s)); !errors.Is(err, ErrOutputNotWritten) {
		t.Errorf("an output that is not written: %v", err)
	}
	f, l, err = StructPlain(func(l *ledger) []float64 { return make([]float64, 1+int(l.B)%2) }, s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := PrepareJacobian(f, finitediff.Backend{}, l.Flatten(nil, s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Jacobian(nil, []float64{1, 2, 4}); !errors.As(err, &se) || se.Got != 1 || se.Want != 2 {
		t.Errorf("another number of outputs: %v", err)
	}
}

// TestStructRegistration: code whose struct over Reals does not match is a reason why there is no such form, and a
// function of a struct and a number is no function that code is registered for.
func TestStructRegistration(t *testing.T) {
	noted := func(l *ledger) float64 { return l.B }
	for _, c := range []struct {
		twin any
		want string
	}{
		{nil, "no TracedStruct"},
		{(*rates)(nil), "does not match"},
		{(*ledger)(nil), "are numbers of"},
	} {
		l, _, err := StructPlain(noted, &ledger{W: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		form, err := l.tracedForm(Generated{Traced: func(y, x []Real, p any) int { return 1 }, TracedStruct: c.twin})
		if form != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.twin, err, c.want)
		}
	}
	defer func() {
		if v := recover(); v == nil {
			t.Error("a function of a struct and a number was registered")
		}
	}()
	Register(func(*ledger, float64) float64 { return 0 },
		Generated{Version: CodeVersion, New: func() Code { return Code{} }})
}

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
// without code are typed errors that say what is wrong.
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

// TestStructRegistration: code whose struct over Reals does not match is a reason why there is no such form, and a
// function of a struct that returns a slice is no function that code is registered for.
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
			t.Error("a function of a struct that returns a slice was registered")
		}
	}()
	Register(func(*ledger) []float64 { return nil },
		Generated{Version: CodeVersion, New: func() Code { return Code{} }})
}

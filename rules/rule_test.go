package rules_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/nabla-ad/nabla/rules"
)

func TestTable(t *testing.T) {
	for o := Invalid + 1; o < NumOps; o++ {
		r := Info(o)
		if r.Name == "" || r.Arity == 0 || r.Value == "" || r.Domain == "" || r.Kinks == "" || r.Source == "" {
			t.Errorf("op %d: incomplete row %+v", o, *r)
		}
		if r.Name != strings.ToLower(r.Name) || o.String() != r.Name {
			t.Errorf("op %d: name %q, String %q", o, r.Name, o)
		}
		if got, ok := Lookup(r.Name); !ok || got != o {
			t.Errorf("Lookup(%q) = %v, %v", r.Name, got, ok)
		}
		if o.Arity() != r.Arity || r.Arity > 3 {
			t.Errorf("%v: arity %d", o, r.Arity)
		}
		if want := o == Max || o == Min || o == Select; o.Choice() != want {
			t.Errorf("%v: Choice = %v", o, !want)
		}
		if n := len(r.Partials); n != r.Arity && !(o.Choice() && n == 0) {
			t.Errorf("%v: %d partials", o, n)
		}
		for i := range r.Arity {
			zero := o.Choice() || r.Partials[i] == "0"
			if p := Partial(o, i); (p == nil) != zero {
				t.Errorf("%v: partial %d is %v", o, i, p)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for o, want := range map[Op]string{
		Exp: "exp", Atan2: "atan2", LogAddExp: "logaddexp", RoundToEven: "roundtoeven", Invalid: "invalid",
		250: "op(250)",
	} {
		if o.String() != want {
			t.Errorf("String = %q, want %q", o, want)
		}
	}
	for _, name := range []string{"", "invalid", "Exp", "x", "numops"} {
		if o, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %v", name, o)
		}
	}
}

// TestPanics holds the calls that are bugs of the caller.
func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"Info":      func() { Info(Invalid) },
		"Arity":     func() { NumOps.Arity() },
		"Partial":   func() { Partial(Sin, 1) },
		"Value1":    func() { Value1(Add, 1) },
		"Value2":    func() { Value2(Sin, 1, 2) },
		"Value3":    func() { Value3(Sin, 1, 2, 3) },
		"Partial1":  func() { Partial1(Add, 1, 2) },
		"Partials2": func() { Partials2(FMA, 1, 2, 3) },
		"PartialX2": func() { PartialX2(250, 1, 2, 3) },
		"PartialY2": func() { PartialY2(Invalid, 1, 2, 3) },
		"Chosen":    func() { Chosen(Select, 1, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, _ := recover().(string); !strings.HasPrefix(msg, "rules: "+name) && name != "Arity" {
					t.Errorf("panic %q", msg)
				}
			}()
			f()
			t.Error("no panic")
		})
	}
}

func TestChosen(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x, y     float64
		max, min int
	}{
		{1, 2, 1, 0}, {2, 1, 0, 1}, {1, 1, 0, 0}, {0, math.Copysign(0, -1), 0, 0},
		{nan, 1, 0, 0}, {1, nan, 1, 1}, {nan, nan, 0, 0},
		{inf, inf, 0, 0}, {-inf, inf, 1, 0},
		{nan, inf, 1, 0}, {inf, nan, 0, 1}, {nan, -inf, 0, 1}, {-inf, nan, 1, 0},
	} {
		for o, want := range map[Op]int{Max: c.max, Min: c.min} {
			if got := Chosen(o, c.x, c.y); got != want {
				t.Errorf("Chosen(%v, %v, %v) = %d, want %d", o, c.x, c.y, got, want)
			}
			if v := Value2(o, c.x, c.y); !same(v, []float64{c.x, c.y}[want]) {
				t.Errorf("%v(%v, %v) = %v is not the argument chosen", o, c.x, c.y, v)
			}
			px, py := Partials2(o, c.x, c.y, 0)
			if px != float64(1-want) || py != float64(want) {
				t.Errorf("Partials2(%v, %v, %v) = %v, %v", o, c.x, c.y, px, py)
			}
		}
	}
}

// TestNoAllocation runs every numeric function once.
func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		for o := Invalid + 1; o < NumOps; o++ {
			switch o.Arity() {
			case 1:
				Partial1(o, 0.5, Value1(o, 0.5))
			case 2:
				Partials2(o, 1, 2, Value2(o, 1, 2))
			default:
				Value3(o, 1, 2, 3)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package nabla_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
)

// A prodRule is the product of two numbers as a rule, with additional actions of its functions.
// before and after are called around every function with its name and its arguments.
type prodRule struct {
	name     string // the only derivative that the rule has
	before   func(what string, out, x, y, d []float64)
	after    func(what string, out, x, y, d []float64)
	overReal func(what string, out, x, y, d []nabla.Real)
}

func (p prodRule) rule() nabla.Rule {
	around := func(what string, out, x, y, d []float64, f func()) {
		if p.before != nil {
			p.before(what, out, x, y, d)
		}
		f()
		if p.after != nil {
			p.after(what, out, x, y, d)
		}
	}
	r := nabla.Rule{Name: "prod", Value: func(y, x []float64) {
		around("Value", y, x, nil, nil, func() { y[0] = x[0] * x[1] })
	}}
	switch p.name {
	case "JVP":
		r.JVP = func(ydot, x, y, xdot []float64) {
			around("JVP", ydot, x, y, xdot, func() { ydot[0] = x[1]*xdot[0] + x[0]*xdot[1] })
		}
	case "VJP":
		r.VJP = func(xbar, x, y, ybar []float64) {
			around("VJP", xbar, x, y, ybar, func() { xbar[0] += x[1] * ybar[0]; xbar[1] += x[0] * ybar[0] })
		}
	case "JVPReal":
		r.JVPReal = func(ydot, x, y, xdot []nabla.Real) {
			ydot[0] = x[1].Mul(xdot[0]).Add(x[0].Mul(xdot[1]))
			p.real("JVPReal", ydot, x, y, xdot)
		}
	case "VJPReal":
		r.VJPReal = func(xbar, x, y, ybar []nabla.Real) {
			xbar[0] = xbar[0].Add(x[1].Mul(ybar[0]))
			xbar[1] = xbar[1].Add(x[0].Mul(ybar[0]))
			p.real("VJPReal", xbar, x, y, ybar)
		}
	}
	return r
}

func (p prodRule) real(what string, out, x, y, d []nabla.Real) {
	if p.overReal != nil {
		p.overReal(what, out, x, y, d)
	}
}

// prodFunc returns x₀x₁ + sin x₀ plus the product again, which shows whether the rule has modified
// x.
func prodFunc(r nabla.Rule) func(x []nabla.Real) nabla.Real {
	f := r.Func()
	return func(x []nabla.Real) nabla.Real { return f(x...)[0].Add(nabla.Sin(x[0])).Add(f(x...)[0]) }
}

var ruleForms = []string{"JVP", "VJP", "JVPReal", "VJPReal"}

// TestRulesThatWriteArguments has rules whose functions write to each of the arguments that they
// may only read: an error, the same in every engine.
func TestRulesThatWriteArguments(t *testing.T) {
	for _, form := range ruleForms {
		args := map[string]bool{"Value x": true, form + " x": true, form + " y": true, form + " direction": true}
		for mistake := range args {
			at, arg, _ := strings.Cut(mistake, " ")
			p := prodRule{name: form, after: func(what string, _, x, y, d []float64) {
				if what == at {
					map[string][]float64{"x": x, "y": y, "direction": d}[arg][0] += 70
				}
			}, overReal: func(what string, _, x, y, d []nabla.Real) {
				if what == at {
					s := map[string][]nabla.Real{"x": x, "y": y, "direction": d}[arg]
					s[0] = s[0].AddConst(70)
				}
			}}
			words := at + " writes to " + arg
			if arg == "direction" && form[0] == 'J' {
				words = at + " writes to xdot"
			} else if arg == "direction" {
				words = at + " writes to ybar"
			}
			sameWords(t, mistake, p, words)
		}
	}
}

// sameWords differentiates with every engine and looks that each gives one error, a
// FuncError with these words, and the same text but for values that an engine passes.
func sameWords(t *testing.T, mistake string, p prodRule, words string) {
	t.Helper()
	texts := map[string]string{}
	for _, b := range append(slices.Clone(firstOrder), nabla.SecondOrder{Outer: firstOrder[0], Inner: compiled}) {
		for name, differentiate := range map[string]func(f func([]nabla.Real) nabla.Real) error{
			"Gradient": func(f func([]nabla.Real) nabla.Real) error {
				_, err := nabla.Gradient(f, b, []float64{2, 3})
				return err
			},
			"Pullback": func(f func([]nabla.Real) nabla.Real) error {
				_, err := nabla.Pullback(f, b, []float64{2, 3}, []float64{1})
				return err
			},
			"HVP": func(f func([]nabla.Real) nabla.Real) error {
				_, err := nabla.HVP(f, b, []float64{2, 3}, []float64{1, 1})
				return err
			},
			"prepared": func(f func([]nabla.Real) nabla.Real) error {
				q, err := nabla.PrepareGradient(f, b, []float64{2, 3})
				if err != nil {
					return err
				}
				_, err = q.Gradient(nil, []float64{2, 3})
				if _, again := q.Gradient(nil, []float64{2, 3}); again == nil {
					t.Errorf("%s, %s with %s: the second call gave no error", p.name, mistake, b.Name())
				}
				return err
			},
		} {
			var fe *nabla.FuncError
			err := differentiate(prodFunc(p.rule()))
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), words) || fe.Op != "Rule" ||
				fe.Function != "prod" {
				t.Errorf("%s, %s: %s with %s gave %v, want a FuncError with %q", p.name, mistake, name, b.Name(), err,
					words)
				continue
			}
			if text := fe.Error(); strings.HasPrefix(mistake, "Value") || strings.HasSuffix(mistake, " x") ||
				strings.HasSuffix(mistake, " y") {
				texts[text] = name + " with " + b.Name()
			}
		}
	}
	if len(texts) > 1 {
		t.Errorf("%s, %s: different words: %v", p.name, mistake, texts)
	}
}

// TestRulesThatKeepArguments has rules that keep a slice of an earlier call, and write to it or
// read from it in a later one.
func TestRulesThatKeepArguments(t *testing.T) {
	for _, form := range ruleForms[:2] {
		for _, at := range []string{"Value", form} {
			for _, which := range []string{"out", "x", "y", "d"} {
				if at == "Value" && which > "x" || at == "Value" && which == "d" {
					continue
				}
				var kept []float64
				pick := func(out, x, y, d []float64) []float64 {
					return map[string][]float64{"out": out, "x": x, "y": y, "d": d}[which]
				}
				writes := prodRule{name: form, before: func(what string, out, x, y, d []float64) {
					if what == at {
						if kept != nil {
							kept[0] = 5
						}
						kept = pick(out, x, y, d)
					}
				}}
				f := prodFunc(writes.rule())
				for _, b := range firstOrder {
					kept = nil
					err := calls(f, b, 4)
					var fe *nabla.FuncError
					if !errors.As(err, &fe) || !strings.Contains(fe.Problem, "keeps a slice") {
						t.Errorf("%s keeps %s and writes to it, with %s: %v", at, which, b.Name(), err)
					}
				}
				reads := prodRule{name: form, after: func(what string, out, x, y, d []float64) {
					if what == at {
						if kept != nil {
							out[0] += kept[0] - x[0]
						}
						kept = pick(out, x, y, d)
					}
				}}
				f = prodFunc(reads.rule())
				for _, b := range firstOrder {
					kept = nil
					err := calls(f, b, 4)
					var fe *nabla.FuncError
					if !errors.As(err, &fe) || !strings.Contains(fe.Problem, "reads a slice that it has kept") {
						t.Errorf("%s reads its %s of an earlier call, with %s: %v", at, which, b.Name(), err)
					}
				}
			}
		}
	}
}

// calls is the first error of k calls of a prepared gradient.
func calls(f func([]nabla.Real) nabla.Real, b nabla.Backend, k int) error {
	p, err := nabla.PrepareGradient(f, b, []float64{2, 3})
	for i := 0; i < k && err == nil; i++ {
		_, err = p.Gradient(nil, []float64{2, 3 + float64(i)})
	}
	return err
}

// TestRulesThatCompareSlices has a rule that keeps the slice x to see whether the next one is
// the same: a cache that an engine with memory of its own would defeat.
func TestRulesThatCompareSlices(t *testing.T) {
	for _, b := range append(slices.Clone(firstOrder), finitediff.Backend{}) {
		var last []float64
		var was float64
		r := nabla.Rule{Name: "cached", Value: func(y, x []float64) {
			if !slices.Equal(last, x) {
				last, was = x, x[0]*x[1]
			}
			y[0] = was
		}, VJP: func(xbar, x, y, ybar []float64) { xbar[0] += x[1] * ybar[0]; xbar[1] += x[0] * ybar[0] }}
		p, err := nabla.PrepareGradient(prodFunc(r), b, []float64{2, 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{{2, 3}, {4, 5}, {4, 6}, {1, 1}, {2, 3}} {
			y, _, err := p.ValueAndGradient(nil, x)
			if want := x[0]*x[1] + math.Sin(x[0]) + x[0]*x[1]; err != nil || y != want {
				t.Errorf("%s: f(%v) is %v, %v, want %v", b.Name(), x, y, err, want)
			}
		}
	}
}

// TestRulesThatSetInsteadOfAdd has a VJP that sets xbar where it has to add: its own memory makes no
// difference of it.
func TestRulesThatSetInsteadOfAdd(t *testing.T) {
	r := nabla.Rule{Name: "prod", Value: func(y, x []float64) { y[0] = x[0] * x[1] },
		VJP: func(xbar, x, y, ybar []float64) {
			xbar[0], xbar[1] = x[1]*ybar[0], x[0]*ybar[0]
		}}
	for _, b := range firstOrder {
		g, err := nabla.Gradient(prodFunc(r), b, []float64{2, 3})
		if err != nil || math.Abs(g[0]-(6+math.Cos(2))) > 1e-12 || g[1] != 4 {
			t.Errorf("%s: %v, %v", b.Name(), g, err)
		}
	}
}

// TestRulesWithChangingOutputs has a rule whose number of outputs changes from call to call.
func TestRulesWithChangingOutputs(t *testing.T) {
	const words = "Out(2) was 1 in an earlier call and is "
	for _, form := range ruleForms {
		for _, b := range append(slices.Clone(firstOrder), finitediff.Backend{}) {
			out := 0
			r := prodRule{name: form}.rule()
			r.Out = func(int) int { out++; return out }
			_, err := nabla.Gradient(prodFunc(r), b, []float64{2, 3})
			var fe *nabla.FuncError
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s with %s: %v, want a FuncError with %q", form, b.Name(), err, words)
			}
		}
	}
	// Numbers that depend on that of inputs are as they should be.
	r := nabla.Rule{Name: "copy", Out: func(n int) int { return n }, Value: func(y, x []float64) { copy(y, x) },
		VJP: func(xbar, _, _, ybar []float64) {
			for i, v := range ybar {
				xbar[i] += v
			}
		}}.Func()
	f := func(x []nabla.Real) nabla.Real { return r(x[0])[0].Mul(r(x...)[1]) }
	for _, b := range firstOrder {
		if g, err := nabla.Gradient(f, b, []float64{2, 3}); err != nil || !slices.Equal(g, []float64{3, 2}) ||
			len(r()) != 0 {
			t.Errorf("%s: %v, %v, want [3 2]", b.Name(), g, err)
		}
	}
}

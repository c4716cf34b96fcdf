package activity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// TestWritten finds the parameters behind which a function may write.
func TestWritten(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       activity.Mask
	}{
		{"reads", "func f(x []float64) (r float64) exit {\n\tr = x[0]\n}", activity.Bits(0)},
		{"an element", "func f(x []float64, y []float64) exit {\n\ty[0] = x[0]\n}", activity.Bits(2)},
		{"an increment", "func f(x []float64, p *float64) exit {\n\t*p += x[0]\n}", activity.Bits(2)},
		{"the variable itself", "func f(x []float64) exit {\n\tx = x[1:]\n}", activity.Bits(0)},
		{"a view", "func f(x []float64) exit {\n\tlet y []float64 = x[1:]\n\ty[0] = 1\n}", activity.Bits(1)},
		{"a copy", "func f(x []float64, y []float64) exit {\n\tcopy(x, y)\n}", activity.Bits(1)},
		{"a clear", "func f(x []float64) exit {\n\tclear(x)\n}", activity.Bits(1)},
		{"behind the length", "func f(x []float64) exit {\n\tlet y []float64\n\ty = append(x[:1], 2)\n}",
			activity.Bits(1)},
		{"what is appended", "func f(x []float64) exit {\n\tlet y []float64\n\ty = append(y, x...)\n\ty[0] = 1\n}",
			activity.Bits(0)},
		{"a callee", "func f(x []float64, y []float64) exit {\n\tcall g(y, x)\n}\n\nfunc g(a []float64, b " +
			"[]float64) exit {\n\tb[0] = a[0]\n\tcall f(a, b)\n}", activity.Bits(3)},
		{"one callee", "func f(x []float64, y []float64) exit {\n\tcall g(y, x)\n}\n\nfunc g(a []float64, b " +
			"[]float64) exit {\n\tb[0] = a[0]\n}", activity.Bits(1)},
		{"a rule", "func f(x []float64, n int) exit {\n\tcall rule \"other.F\"(x, n)\n}", activity.Bits(1)},
	} {
		for _, m := range []activity.Mask{activity.Bits(0), activity.Bits(1)} {
			facts, err := activity.New().Analyze(parse(t, tt.text)[0], m)
			if err != nil {
				t.Fatal(err)
			}
			if facts.Written != tt.want {
				t.Errorf("%s: written are %v, want %v", tt.name, facts.Written, tt.want)
			}
		}
	}
}

const sum = `

func sum(x []float64) (r float64) passive exit {
	r = x[0]
}`

// TestPassive: results of passive functions do not depend on their arguments.
func TestPassive(t *testing.T) {
	for _, tt := range []struct {
		name, text, want, err string
	}{
		{"a number", "func f(x []float64) (r float64) exit {\n\tlet s float64\n\ts = call sum(x)\n\tr = s * 2\n}" + sum,
			"x", ""},
		{"beside others",
			"func f(x []float64) (r float64) exit {\n\tlet s float64\n\ts = call sum(x)\n\tr = s * x[0]\n}" + sum,
			"r x", ""},
		{"writes", "func f(x []float64) (r float64) exit {\n\tcall g(x)\n\tr = x[0]\n}\n\nfunc g(a []float64) " +
			"passive exit {\n\ta[0] = 1\n}", "", "writes memory of its argument 1"},
		{"writes elsewhere",
			"func f(x []float64, y []float64) (r float64) exit {\n\tcall g(y)\n\tr = x[0] * y[0]\n}\n\nfunc g(a " +
				"[]float64) passive exit {\n\ta[0] = 1\n}", "r x", ""},
		{"returns a view",
			"func f(x []float64) (r float64) exit {\n\tlet y []float64\n\ty = call g(x)\n\tr = y[0]\n}\n\nfunc g(a " +
				"[]float64) (r []float64) passive exit {\n\tr = a[1:]\n}", "", "returns memory to y"},
		{"in a callee", "func f(x []float64) exit {\n\tcall h(x)\n}\n\nfunc h(x []float64) exit {\n\tcall g(x)\n}\n" +
			"\nfunc g(a []float64) passive exit {\n\ta[0] = 1\n}", "", "writes"},
	} {
		p := activity.New()
		facts, err := p.Analyze(parse(t, tt.text)[0], activity.Bits(1))
		if tt.err != "" {
			var e *activity.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.err) || e.Func == "" || e.Remedy == "" {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
			// Other functions of the program are not to blame.
			if _, err := p.Analyze(parse(t, "func f(x float64) exit {\n}")[0], activity.Bits(1)); err != nil {
				t.Errorf("%s: another function: %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if got := active(facts); got != tt.want {
			t.Errorf("%s: active are %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestPassiveRule requires that effects of a passive function that is not lowered follow from its type.
func TestPassiveRule(t *testing.T) {
	env := &ir.Env{Rules: map[string]*ir.Rule{"other.F": {Name: "other.F", Passive: true}}}
	fs, err := ir.Parse("func f(x []float64) (r float64) exit {\n\tlet s float64\n\ts = call rule \"other.F\"(x)\n"+
		"\tr = s\n}", env)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := activity.New().Analyze(fs[0], activity.Bits(1))
	if err != nil || active(facts) != "x" || !facts.Written.Empty() {
		t.Errorf("%v, active are %s, written %v", err, active(facts), facts.Written)
	}
}

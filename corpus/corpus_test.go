package main

import (
	"os"
	"strings"
	"testing"
)

func TestFunctions(t *testing.T) {
	list, err := functions(".")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range list {
		names[f.name()] = true
	}
	for _, name := range []string{rightFile, wrongFile} {
		listed, err := lines(name)
		if err != nil {
			t.Fatal(err)
		}
		for f := range listed {
			if !names[f] {
				t.Errorf("%s lists %s, which does not exist", name, f)
			}
		}
	}
}

// Every module that functions use is in the table of README.md with its version.
func TestModulesAreListed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		f := strings.Fields(line)
		if len(f) != 2 || !strings.HasPrefix(f[1], "v") || f[0] == "github.com/nabla-ad/nabla" {
			continue
		}
		if !strings.Contains(string(readme), "| "+f[0]+" | "+f[1]+" |") {
			t.Errorf("README.md does not list %s %s", f[0], f[1])
		}
	}
}

func TestReasonKind(t *testing.T) {
	for _, test := range []struct{ reason, want string }{
		{"call of p.F: its source cannot be differentiated: call of interface method M: it depends on the value " +
			"(a/b.go:3), and so of field x, function f, 3 more",
			"in a library: call of interface method …+" + unexported + "+" + noBody +
				"+in a library: constructs that the refusal does not list"},
		{"a *p.T is taken out of the interface value v, behind which numbers carry derivatives",
			"a value is taken out of an interface value, behind which numbers carry derivatives"},
		{"call of f: which function it holds is not known", "call of …: which function it holds is not known"},
		{"call of fmt.Println: its source is not available and it has no rule",
			"call of …: its source is not available and it has no rule"},
		{"call of p.F: its source cannot be differentiated: field x: package p does not export it (a/b.go:3)",
			unexported},
		{"call of interface method At: which function it is depends on the value", "call of interface method …"},
		{"no tangent: the argument a of p.G, which carries a derivative: its rule has none with respect to it",
			"no derivative: the argument … of …, which carries a derivative: its rule has none with respect to it"},
	} {
		if got := strings.Join(reasonKinds(test.reason), "+"); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.reason, got, test.want)
		}
	}
}

// A function whose derivatives are missing without a reason is wrong, as is one with an internal error.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		have     string
		refusals []refusal
		want     outcome
	}{
		{"Tangent Adjoint AdjointTangent", nil, untested},
		{"Tangent Adjoint", nil, wrong},
		{"Tangent", []refusal{{Reason: "no adjoint: of a kind"}}, refused},
		{"Tangent Adjoint", []refusal{{Reason: "second order: of a kind"}}, refused},
		{"", []refusal{{Reason: "internal error of nabla gen (tangent): index out of range"}}, wrong},
	} {
		f := &function{ident: "F", generated: map[string]bool{}, refusals: test.refusals}
		for _, s := range strings.Fields(test.have) {
			f.generated[s] = true
		}
		if f.judge(); f.outcome != test.want {
			t.Errorf("%+v: %v", test, f.outcome)
		}
	}
}

// The report fails for a wrong function that is not known, and for one that is not right any more.
func TestReport(t *testing.T) {
	for _, test := range []struct {
		outcome outcome
		right   map[string]string
		known   map[string]string
		want    bool
	}{
		{right, map[string]string{"d.F": ""}, nil, true},
		{refused, nil, nil, true},
		{refused, map[string]string{"d.F": ""}, nil, false},
		{wrong, nil, nil, false},
		{unclear, nil, nil, false},
		{warned, nil, nil, true},
		{warned, map[string]string{"d.F": ""}, nil, false},
		{wrong, nil, map[string]string{"d.F": "bisection"}, true},
	} {
		var s strings.Builder
		list := []*function{{dir: "d", ident: "F", outcome: test.outcome}}
		if got := report(&s, list, test.right, test.known, true); got != test.want {
			t.Errorf("%+v: %v\n%s", test, got, s.String())
		}
	}
}

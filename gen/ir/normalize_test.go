package ir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// testdata/normal.ir holds functions in pairs: as they come, then in normal form under
// the same name with a ' behind.
func TestNormalize(t *testing.T) {
	const name = "testdata/normal.ir"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ir.Func
	for _, f := range parse(t, string(text)) {
		if strings.HasSuffix(f.Name, "'") {
			continue
		}
		if ir.CheckNormal(f) == nil && f.Name != "geom.Normal" {
			t.Errorf("%s is normal", f.Name)
		}
		g, _ := ir.Clone(f, nil)
		g.Name += "'"
		ir.Normalize(g)
		if err := ir.Check(g); err != nil {
			t.Error(err)
		}
		if err := ir.CheckNormal(g); err != nil {
			t.Error(err)
		}
		out = append(out, f, g)
	}
	got := printed(t, out...)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	compare(t, got, string(text))
}

func TestCheckNormal(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"if ok {\nleave exit\n}\nr = 1", "if ok {: not normal: statements after an if with an exit"},
		{"if ok {\nleave exit\n} else {\npanic(s)\n}\nr = 1", "control does not reach this statement"},
		{"for a, b {\n}\nr = 1", "r = 1: not normal: control does not reach this statement"},
		{"leave exit", "control reaches the end of exit without it"},
		{"for a, b {\nif ok {\nleave b\n}\n}", "leave b: not normal: control reaches the end of b without it"},
		{"for a, b {\nif ok {\nleave exit\n}\n}", "a leave of exit that could be one of a"},
		{"scope a {\nr = 1\n}\nr = 2", "a scope without a leave of it that is no join"},
		{"scope a {\nfor b, c {\nleave a\n}\n}", "a scope at the end of a block that can be left instead"},
		{"if ok {\nscope a {\nfor b, c {\nif ok {\nif n > 0 {\nleave c\n}\n} else {\nif n == 0 {\nleave b\n}\n}\n}\n" +
			"}\n}\nr = 1", "not normal"},
	} {
		f := parse(t, head+test.body+"\n}\n")[0]
		if err := ir.CheckNormal(f); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", test.body, err, test.want)
		}
		ir.Normalize(f)
		if err := ir.CheckNormal(f); err != nil {
			t.Errorf("%s: %v", test.body, err)
		}
	}
}

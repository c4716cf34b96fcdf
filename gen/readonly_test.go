package gen_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestReadOnly checks that registrations list exactly the fields of a bound struct that neither the function nor a
// callee writes, including memory reachable from them.
func TestReadOnly(t *testing.T) {
	source := read(t, "testdata/readonly.txt")
	dir := module(t, map[string]string{"go.mod": "module golden/readonly\n\ngo 1.26\n", "readonly.go": source})
	r := generate(t, dir, ".")
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(dir, "nabla_gen.go"))
	got := map[string][]string{}
	registered := regexp.MustCompile(`Name: "([^"]*)", Version: \d+,\n(?:\t*ReadOnly: \[\]string\{([^}]*)\},\n)?`)
	for _, m := range registered.FindAllStringSubmatch(text, -1) {
		got[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(`", `, r) })
	}
	fields := strings.Fields("K Data Buf View Rows Next Cur N In Arr")
	list := regexp.MustCompile(`(?m)^func (?:\(p \*S\) )?([A-Z]\w*)\(.*// :(.*)$`).FindAllStringSubmatch(source, -1)
	if len(list) != len(got) || len(list) < 25 {
		t.Errorf("%d functions, and %d that are registered; problems: %s", len(list), len(got), problems(r, dir))
	}
	for _, m := range list {
		written := strings.Fields(m[2])
		want := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return slices.Contains(written, f) })
		have := got[m[1]]
		if m[1] == "Loss" {
			have = got["(*S).Loss"]
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s: %v are only read, want %v", m[1], have, want)
		}
	}
}

// TestReadOnlyRace runs the functions of TestReadOnly in clones: nothing that is shared is
// written.
func TestReadOnlyRace(t *testing.T) {
	longtest.Skip(t, "builds a program for the race detector")
	dir := module(t, map[string]string{
		"go.mod": "module golden/readonly\n\ngo 1.26\n", "readonly.go": read(t, "testdata/readonly.txt"),
		"readonly_test.go": read(t, "testdata/readonly_test.txt"),
	})
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	runTests(t, dir, "-race", ".")
}

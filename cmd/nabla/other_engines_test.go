package main

import (
	"strings"
	"testing"
)

// TestOtherEngines: engines that are not in the list have a name too.
func TestOtherEngines(t *testing.T) {
	r := run(t, measured(), "bench", "-tasks", "T1", "-sizes", "6", "-time", "1ms", "-format", "csv", "-engines",
		"forwarddiff(chunk=2, workers=2), tracker, reversediff+fixedcaptures")
	for _, name := range []string{`"forwarddiff(chunk=2, workers=2)"`, "tracker", "reversediff+fixedcaptures"} {
		if r.code != 0 || !strings.Contains(r.out, "T1,6,"+name+",") {
			t.Errorf("bench of %s: exit code %d\n%s%s", name, r.code, r.out, r.err)
		}
	}
	r = run(t, measured(), "backends", "-engines", "hyperdual(chunk=3),zero(reverse)")
	if r.code != 0 || strings.Count(r.out, "(chunk=3)") != 1 || !strings.Contains(r.out, "zero") {
		t.Errorf("backends: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, measured(), "test", "-engines", "hyperdual(chunk=3)", "-run", "num_to_num")
	if r.code != 0 || !strings.Contains(r.out, "(chunk=3)") {
		t.Errorf("test: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, measured(), "bench", "-engines", "mixed(source(forward), trackr)")
	if r.code != 2 || !strings.Contains(r.err, `column 24: got "trackr"`) ||
		!strings.Contains(r.err, "did you mean tracker?") {
		t.Errorf("a misspelled part: exit code %d\n%s", r.code, r.err)
	}
}

package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestGenNothing: a run that has nothing to do says what it would do something for.
func TestGenNothing(t *testing.T) {
	longtest.Serial(t)
	genModule(t, map[string]string{"go.mod": genMod, "m.go": "package m\n\nfunc F(x float64) float64 { return x }\n"})
	for _, line := range []string{"gen", "gen -v", "gen -check"} {
		if r := do(t, nil, strings.Fields(line)...); r.code != 0 ||
			!strings.Contains(r.err, "no functions to differentiate in .") {
			t.Errorf("%s: exit code %d, stderr %q", line, r.code, r.err)
		}
	}
}

// TestGenByHash: a package whose hashes agree is not generated again, others are, and -time says so.
func TestGenByHash(t *testing.T) {
	longtest.Skip(t, "generates many times")
	genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss, "sub/s.go": "package sub\n",
		"other/o.go": "package other\n\n//nabla:differentiate\nfunc F(x float64) float64 { return x * x }\n"})
	stages := func(out string) (names []string) {
		for _, m := range regexp.MustCompile(`(?m)^([a-z -]*[a-z]) +\d+\.\d\d s$`).FindAllStringSubmatch(out, -1) {
			names = append(names, m[1])
		}
		return names
	}
	const all = "compare hashes load lower derive print type-check total processor"
	const none = "compare hashes total processor"
	for _, tt := range []struct{ line, want string }{
		{"gen -time ./...", all}, {"gen -time ./...", none}, {"gen -check -time ./...", none},
		{"gen -check -v -time ./...", all},
	} {
		r := do(t, nil, strings.Fields(tt.line)...)
		got := strings.Join(stages(r.out), " ")
		if _, _, known := usage(); !known {
			got += " processor"
		}
		if r.code != 0 || got != tt.want || r.err != "" {
			t.Errorf("%s: exit code %d, stages %q, want %q, stderr %q", tt.line, r.code, got, tt.want, r.err)
		}
	}
	before, err := os.Stat("nabla_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	edit(t, "other/o.go", "x * x", "x * x * x")
	if r := do(t, nil, "gen", "-check", "./..."); r.code != 1 ||
		r.err != "other/nabla_gen.go: it is not up to date; run nabla gen\n" {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	if r := do(t, nil, "gen", "./..."); r.code != 0 || r.err != "" {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	if after, err := os.Stat("nabla_gen.go"); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the code of an unchanged package was written: %v, %v", after.ModTime(), err)
	}
	// Hashes alone make nothing out of date.
	edit(t, "m.go", "x * x }", "x * x } // squared")
	if r := do(t, nil, "gen", "-check", "./..."); r.code != 0 || r.err != "" {
		t.Errorf("after the edit of a comment: exit code %d, stderr %q", r.code, r.err)
	}
}

// edit replaces old in a file.
func edit(t *testing.T, name, old, text string) {
	t.Helper()
	before, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(before), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(before), old, text, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestGenWatch generates after each edit, goes on after errors, and ends when it is interrupted.
func TestGenWatch(t *testing.T) {
	longtest.Skip(t, "waits for edits and generates")
	genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss})
	ctx, interrupt := context.WithCancel(t.Context())
	done := make(chan result)
	go func() { done <- runApp(ctx, app{}, "gen", "-w") }()
	wait := func(text string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if got, _ := os.ReadFile("nabla_gen.go"); strings.Contains(string(got), text) {
				return
			}
		}
		interrupt()
		t.Fatalf("nabla_gen.go has no %q; %+v", text, <-done)
	}
	wait("func LossTangent")
	edit(t, "m.go", "func Slope()", "//nabla:differentiate\nfunc Second(x float64) float64 { return x * x }\n\n"+
		"func Slope()")
	wait("func SecondTangent")
	edit(t, "m.go", "func Slope()", "//nabla:differentiate\nfunc Third(x float64) float64 { return wrong }\n\n"+
		"//nabla:differentiate\nfunc Fourth(x float64) float64 { return x }\n\nfunc Slope()")
	wait("func FourthTangent")
	edit(t, "m.go", "wrong", "x")
	wait("func ThirdTangent")
	time.Sleep(2 * watchInterval) // until the line is printed
	interrupt()
	r := <-done
	lines := strings.Count(r.out, "nabla_gen.go changed")
	if r.code != 0 || lines != 4 || strings.Count(r.out, "with errors") != 1 ||
		!strings.Contains(r.err, "undefined: wrong") {
		t.Errorf("exit code %d, stdout\n%s\nstderr\n%s", r.code, r.out, r.err)
	}
}

// TestGenWatchNothing ends at once if there is nothing to watch.
func TestGenWatchNothing(t *testing.T) {
	genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss})
	if r := do(t, nil, "gen", "-w", "./nothing"); r.code != 1 || !strings.Contains(r.err, "nothing") {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
}

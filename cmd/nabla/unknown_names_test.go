package main

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/spelling"
)

// refusedLine runs a line that makes no sense and returns the one line that says so.
func refusedLine(t *testing.T, line ...string) string {
	t.Helper()
	r := runApp(t.Context(), app{engines: measured(), subjects: subjects()}, line...)
	if r.code != 2 || r.out != "" || strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "nabla: ") {
		t.Errorf("%q: exit code %d, stdout %q, stderr %q, want 2 and one line", line, r.code, r.out, r.err)
	}
	for _, foreign := range []string{"nabla: nabla", "strconv", "provided", "exit status", "stderr"} {
		if strings.Contains(r.err, foreign) {
			t.Errorf("%q: %q has %q", line, r.err, foreign)
		}
	}
	return r.err
}

// typos are slips of the finger in a word, one of them in the usual form of the tests.
func typos(word string) []string {
	w := strings.TrimLeft(word, "-")
	if len(w) < 4 {
		return nil
	}
	dashes := word[:len(word)-len(w)]
	all := []string{
		dashes + w[:2] + w[3:],                          // a letter less
		dashes + w[:2] + string(w[3]) + w[2:3] + w[4:],  // two exchanged
		dashes + w + "s",                                // a letter more
		dashes + w[:len(w)-1] + "q",                     // another letter
		dashes + strings.ToUpper(w[:1]) + w[1:len(w)-1]} // the beginning, in capitals
	if longtest.Long() {
		return all
	}
	return all[len(w)%5:][:1] // words take turns
}

// TestTypos misspells every command, every flag of every command, and every name that a
// flag takes.
func TestTypos(t *testing.T) {
	longtest.Serial(t)
	a := app{engines: measured(), subjects: subjects()}
	root := a.command()
	says := func(line []string, word string, exist []string) {
		t.Helper()
		for _, e := range exist { // the typo of one word may be nearer to another
			if strings.EqualFold(e, line[len(line)-1]) {
				return
			}
		}
		got := refusedLine(t, line...)
		_, meant, ok := strings.Cut(got, "; did you mean ")
		meant, _, _ = strings.Cut(meant, "? ")
		if ok && spelling.Distance(meant, line[len(line)-1]) <= spelling.Distance(word, line[len(line)-1]) {
			return
		}
		if meant != word {
			t.Errorf("%q: %q, want the words did you mean %s?", line, got, word)
		}
	}
	for _, name := range commandNames(root) {
		for _, typo := range typos(name) {
			says([]string{typo}, name, commandNames(root))
			says([]string{"help", typo}, name, commandNames(root))
		}
	}
	commands := append([]*cli.Command{root}, root.Commands...)
	for _, c := range commands {
		var line []string
		if c != root {
			line = []string{c.Name}
		}
		refusedLine(t, append(line, "-nosuch")...)
		refusedLine(t, append(line, "--nosuch=3")...)
		for _, f := range c.Flags {
			flag := "-" + f.Names()[0]
			for _, typo := range typos(flag) {
				says(append(line[:len(line):len(line)], typo), flag, flagNames(c))
			}
			values := a.values(c.Name, f.Names()[0])
			if c.Name == "bench" && flag == "-engines" {
				values = a.engineNames()
			}
			for _, v := range values {
				for _, typo := range typos(v) {
					says(append(line[:len(line):len(line)], flag, typo), v, values)
				}
			}
			if values != nil {
				refusedLine(t, append(line[:len(line):len(line)], flag, "ἄλφα")...)
				refusedLine(t, append(line[:len(line):len(line)], flag)...)
			}
		}
	}
}

func TestBadValues(t *testing.T) {
	for line, want := range map[string]string{
		"program -n many":          `-n "many": want a whole number`,
		"bench -time soon":         `-time "soon": want a time, such as 100ms`,
		"gen -check=perhaps":       `-check "perhaps": want true or false`,
		"bench -tasks gnm,T1":      `unknown task "gnm"; did you mean gmm? tasks: T1, T3`,
		"bench -tasks t3":          `did you mean T3?`,
		"test -engines tracker,so": `unknown engine "so"; did you mean source(forward)?`,
		"test -engines zz":         `unknown engine "zz"; engines: finitediff`,
		"completion fihs":          "did you mean fish?",
		"version now":              `unexpected argument "now"`,
	} {
		if got := refusedLine(t, strings.Fields(line)...); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", line, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, line := range []string{"version", "--version", "-version"} {
		r := do(t, nil, line)
		if r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, "nabla ") || strings.Count(r.out, "\n") != 1 ||
			!strings.Contains(r.out, "go1.") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", line, r.code, r.out, r.err)
		}
	}
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.99", Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, c := range []struct {
		info  *debug.BuildInfo
		known bool
		want  string
	}{
		{build("v1.2.3"), true, "nabla v1.2.3, go1.99 "},
		{build(""), true, "nabla (devel), go1.99 "},
		{build("(devel)", revision), true, "nabla (devel), revision 0123456789ab, go1.99 "},
		{build("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), true,
			"nabla (devel), revision 0123456789ab with changes, go1.99 "},
		{nil, false, "nabla (unknown version), go1."},
	} {
		if got := versionOf(c.info, c.known); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q first", got, c.want)
		}
	}
}

// TestGenOutside runs gen where it cannot find packages: the error is about the packages, and not about the commands
// that gen runs.
func TestGenOutside(t *testing.T) {
	t.Setenv("GOWORK", "off")
	say := func(wants []string, line ...string) {
		t.Helper()
		r := do(t, nil, line...)
		for _, want := range wants {
			if r.code != 1 || r.out != "" || !strings.HasPrefix(r.err, "nabla: gen: ") ||
				!strings.Contains(r.err, want) {
				t.Errorf("%q: exit code %d, stdout %q, stderr %q, want %q in it", line, r.code, r.out, r.err, want)
			}
		}
		for _, raw := range []string{"exit status", "stderr", "err: ", ": -: ", "nabla: nabla"} {
			if strings.Contains(r.err, raw) {
				t.Errorf("%q: %q has %q", line, r.err, raw)
			}
		}
	}
	t.Chdir(t.TempDir())
	for _, line := range longtest.Sample([]string{"gen -check", "gen", "gen .", "gen ./...", "gen -dump lowered:F",
		"gen -explain F"}, 2) {
		say([]string{"there is no go.mod in ", "go mod init"}, strings.Fields(line)...)
	}
	genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss})
	say([]string{"nowhere"}, "gen", "./nowhere")
	say([]string{"nowhere"}, "gen", "./nowhere/...")
	say([]string{"no/such/package"}, "gen", "no/such/package")
	if err := os.WriteFile("go.mod", []byte("module"), 0o666); err != nil {
		t.Fatal(err)
	}
	say([]string{"go.mod"}, "gen")
	t.Setenv("PATH", "")
	say([]string{"the go command"}, "gen")
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// do runs a command line on these subjects.
func do(t *testing.T, subjects []subject, line ...string) result {
	t.Helper()
	return runApp(t.Context(), app{subjects: subjects}, line...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("got\n%s\nwant\n%s%v; run with -update and read the difference", got, want, err)
	}
}

func TestSubjects(t *testing.T) {
	a := app{engines: measured(), subjects: subjects()}
	// The sparse ones compute two operators in another form, and pass the rest through; export and by hand are no
	// engines for others.
	timed := slices.DeleteFunc(a.engineNames(), func(name string) bool {
		return strings.HasPrefix(name, "sparse(") || name == "export" || name == "by hand"
	})
	s := a.subjectNames()
	if !slices.Equal(s, timed) {
		t.Errorf("backends and test know %q, bench %q", s, timed)
	}
}

// pusher is forwarddiff with pushforwards alone, wrong where a test says so.
type pusher struct {
	name  string
	wrong bool
}

func (p pusher) Name() string { return p.name }

func (p pusher) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	q, err := forwarddiff.Backend{}.PreparePushforward(f, x, lanes)
	return pushing{q, p.wrong}, err
}

type pushing struct {
	p     engine.Pushforward
	wrong bool
}

func (p pushing) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	err := p.p.Pushforward(y, ydot, x, xdot)
	if p.wrong && ydot.N > 0 && ydot.B > 0 {
		ydot.Row(0)[0] += 1
	}
	return err
}

func TestBackendsGolden(t *testing.T) {
	for format, file := range map[string]string{"table": "backends.txt", "markdown": "backends.md"} {
		r := do(t, subjects(), "backends", "-format", format)
		if r.code != 0 || r.err != "" {
			t.Errorf("exit code %d, stderr %q", r.code, r.err)
		}
		golden(t, file, r.out)
	}
}

// TestBackendsJSON compares the matrix with the interfaces that the backends implement.
func TestBackendsJSON(t *testing.T) {
	r := do(t, append(subjects(), subject{backend: pusher{name: "mine"}}), "backends", "-format", "json")
	var got []capability
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
		t.Fatalf("exit code %d, %v: %s", r.code, err, r.out)
	}
	if len(got) != len(subjects())+1 || len(got[0].Operators) != len(engine.Operators()) ||
		len(got[0].Functions) != len(functionKinds) {
		t.Fatalf("%d engines: %s", len(got), r.out)
	}
	for i, s := range append(subjects(), subject{backend: pusher{name: "mine"}}) {
		outer, inner := parts(s.backend)
		for _, o := range got[i].Operators {
			native := false
			switch o.Operator {
			case "Pushforward":
				_, native = inner.(engine.Pusher)
			case "Pullback":
				_, native = inner.(engine.Puller)
			case "Gradient":
				_, native = inner.(engine.Gradienter)
			case "Jacobian":
				_, native = inner.(engine.Jacobianer)
			case "LinearOp":
				_, native = inner.(engine.Lineariser)
			case "HVP":
				_, native = outer.(engine.HVPer)
				native = native && outer == inner
			case "Hessian":
				_, native = outer.(engine.Hessianer)
				native = native && outer == inner
			case "SecondDerivative":
				_, native = outer.(engine.Seconder)
				native = native && outer == inner
			}
			if o.Native != native || len(o.Path) == 0 {
				t.Errorf("%s on %s: %+v, native is %v", o.Operator, got[i].Engine, o, native)
			}
		}
		for _, f := range got[i].Functions {
			plain := strings.HasPrefix(got[i].Engine, "finitediff")
			generated := strings.HasPrefix(got[i].Engine, "source(")
			works := f.Kind == "generated" || !generated && (f.Kind != "float64" || plain)
			if f.Works != works || f.Works != (f.Why == "") {
				t.Errorf("%s: %+v", got[i].Engine, f)
			}
		}
	}
	if last := got[len(got)-1]; last.Operators[3].Operator != "Gradient" ||
		!slices.Equal(last.Operators[3].Path, []string{"pullback of 1", "one pushforward per input"}) {
		t.Errorf("mine: %+v", last)
	}
}

// TestBackendsProbe has an engine whose derivatives are wrong.
func TestBackendsProbe(t *testing.T) {
	c := capabilityOf(pusher{name: "wrong", wrong: true})
	for _, f := range c.Functions[:3] {
		if f.Works || !strings.Contains(f.Why, "want") {
			t.Errorf("%+v", f)
		}
	}
	if near([]float64{math.NaN()}, 1) == nil || near(nil, 1) == nil || near([]float64{1}, 1) != nil {
		t.Error("near is not")
	}
}

func TestLetters(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 52: "ba"} {
		if got := letters(i); got != want {
			t.Errorf("letter %d is %s, want %s", i, got, want)
		}
	}
}

func TestTestTable(t *testing.T) {
	r := do(t, []subject{{backend: tracker.Backend{}}, {backend: pusher{name: "mine"}}}, "test", "-run",
		"^(num_to_num|vec_to_vec)/", "-short")
	want := `family      tracker  mine
num_to_num  4/4      4/4
vec_to_vec  12/12    12/12
`
	if r.code != 0 || r.err != "" || r.out != want {
		t.Errorf("exit code %d, stderr %q\n%swant\n%s", r.code, r.err, r.out, want)
	}
}

// TestTestPairs: with -pairs each row is a way to use the chosen engines, with both kinds of functions if it takes
// them.
func TestTestPairs(t *testing.T) {
	r := do(t, subjects(), "test", "-pairs", "-short", "-engines", "tracker,source(reverse)", "-run",
		"^(num_to_num/derivative|vec_to_vec/jacobian|arr_to_num.vector./hessian)/")
	want := `engines/functions                                                    passed  skipped
tracker/reals                                                        7/7     0
tracker over tracker/reals                                           2/2     0
sparse(tracker over tracker)/reals                                   skipped 0
`
	if r.code != 0 || r.err != "" || !strings.HasPrefix(strings.ReplaceAll(r.out, " ", ""),
		strings.ReplaceAll(want, " ", "")) {
		t.Errorf("exit code %d, stderr %q\n%swant\n%s", r.code, r.err, r.out, want)
	}
	for _, row := range []string{
		"tracker over source(reverse)/reals", "source(reverse) over tracker/generated", "all",
	} {
		if !strings.Contains(r.out, "\n"+row+" ") {
			t.Errorf("no row %s in\n%s", row, r.out)
		}
	}
	if strings.Contains(r.out, "source(reverse) over tracker/reals") || strings.Contains(r.out, "finitediff") {
		t.Errorf("rows of other runs in\n%s", r.out)
	}
}

func TestTestFailing(t *testing.T) {
	broken := []subject{{backend: tracker.Backend{}}, {backend: pusher{name: "wrong", wrong: true}}}
	r := do(t, broken, "test", "-run", "num_to_num", "-short")
	if r.code != 1 || !strings.HasPrefix(r.err, "nabla: test: ") ||
		!strings.HasSuffix(r.err, " of 8 scenarios failed\n") {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	for _, part := range []string{"num_to_num  4/4", "FAIL\n", "\nFAIL wrong: num_to_num/derivative", "[unprepared]",
		"got", "want"} {
		if !strings.Contains(r.out, part) {
			t.Errorf("no %q in\n%s", part, r.out)
		}
	}
	r = do(t, broken[1:], "test", "-short", "-run", "num_to|vec_to")
	if r.code != 1 || !strings.Contains(r.out, "more failed; -run shows some of them, -format json all\n") ||
		strings.Count(r.out, "\nFAIL ") != mostShown {
		t.Errorf("exit code %d\n%s", r.code, r.out)
	}
	r = do(t, broken, "test", "-run", "num_to_num", "-format", "json")
	var cells []conformance
	if err := json.Unmarshal([]byte(r.out), &cells); err != nil || r.code != 1 || len(cells) != 2 {
		t.Fatalf("exit code %d, %v: %s", r.code, err, r.out)
	}
	if c := cells[0]; c.Engine != "tracker" || c.Family != "num_to_num" || c.Passed != 28 || c.Failed != 0 {
		t.Errorf("%+v", c)
	}
	if c := cells[1]; c.Failed == 0 || c.Failed != len(c.Failures) || len(c.Failures[0].Messages) == 0 {
		t.Errorf("%+v", c)
	}
}

func TestTestSkipped(t *testing.T) {
	s := subject{backend: tracker.Backend{},
		conform: difftest.Options{Skip: map[string]string{"num_to_num/": "on holiday"}}}
	r := do(t, []subject{s}, "test", "-run", "^(num_to_num|empty/gradient)")
	if r.code != 0 || !strings.Contains(r.out, "num_to_num  skipped\n") ||
		!strings.Contains(r.out, "empty       7/7\n") {
		t.Errorf("exit code %d\n%s", r.code, r.out)
	}
}

// TestRunnerPanic has a scenario that the kit itself does not survive.
// TestSourceEngines: the kit has functions with generated code of every shape.
func TestSourceEngines(t *testing.T) {
	r := do(t, subjects(), "test", "-short", "-engines", "source(forward),source(reverse)", "-format", "json")
	var cells []conformance
	if err := json.Unmarshal([]byte(r.out), &cells); err != nil {
		t.Fatal(err)
	}
	shapes := 0
	for _, c := range cells {
		if strings.Contains(c.Family, "_to_") {
			shapes++
			if c.Passed == 0 || c.Failed+c.Skipped > 0 {
				t.Errorf("%s on %s: %d passed, %d failed, %d skipped", c.Family, c.Engine, c.Passed, c.Failed,
					c.Skipped)
			}
		}
	}
	if r.code != 0 || shapes != 20 {
		t.Errorf("exit code %d, %d families named after shapes, stderr %q", r.code, shapes, r.err)
	}
}

func TestRunnerPanic(t *testing.T) {
	var s scenario
	r := &runner{ctx: t.Context(), match: regexp.MustCompile(""), begins: func(string) {},
		ended: func(_ string, errors []string, skipped bool) {
			s = scenario{errors, skipped}
		}}
	r.Run("x", func(difftest.Reporter) { panic("kit") })
	if len(s.errors) != 1 || !strings.HasPrefix(s.errors[0], "panic: kit\n") || s.skipped {
		t.Errorf("%+v", s)
	}
	r.Run("y", func(r difftest.Reporter) { r.Run("z", func(r difftest.Reporter) { r.Errorf("%d", 7); r.Skipf("") }) })
	if !slices.Equal(s.errors, []string{"7"}) || !s.skipped {
		t.Errorf("%+v", s)
	}
}

func TestTestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "out.json")
	r := runApp(ctx, app{subjects: subjects()}, "test", "-format", "json", "-o", file)
	text, err := os.ReadFile(file)
	if r.code != 130 || !strings.HasPrefix(r.err, "nabla: test: interrupted after 0 of ") || err != nil ||
		!json.Valid(text) {
		t.Errorf("exit code %d, stderr %q, %q, %v", r.code, r.err, text, err)
	}
}

func TestTestProgress(t *testing.T) {
	a := app{subjects: []subject{{backend: tracker.Backend{}}}, terminal: true}
	r := runApp(t.Context(), a, "test", "-run", "num_to_num", "-short")
	if !strings.Contains(r.err, "[1/4] tracker num_to_num") || !strings.HasSuffix(r.err, "\r\x1b[K") ||
		strings.Contains(r.out, "\x1b") {
		t.Errorf("stderr on a terminal is %q, stdout %q", r.err, r.out)
	}
}

// TestConformance is the matrix of this module's own engines. The tests of the
// engines run the modifiers too.
func TestConformance(t *testing.T) {
	var engines []string
	for _, s := range longtest.Sample(subjects(), longtest.Cases(0, 1, 1, 3)) {
		engines = append(engines, s.backend.Name())
	}
	if r := do(t, subjects(), "test", "-short", "-engines", strings.Join(engines, ",")); r.code != 0 {
		t.Errorf("exit code %d, stderr %q\n%s", r.code, r.err, r.out)
	}
}

func TestProgramGolden(t *testing.T) {
	longtest.Serial(t)
	for _, tt := range []struct{ file, line string }{
		{"T3.txt", "program -task T3 -n 3"},
		{"T3_gradient.txt", "program -n 3 -stage vjp,simplified,scheduled"},
		{"T1.dot", "program -task T1 -n 2 -stage simplified -format dot"},
		{"T3_gradient.go.txt", "program -n 3 -stage vjp,simplified -export go"},
		{"T3_gradient.c.txt", "program -n 3 -stage vjp,simplified -export c"},
		{"T1.json", "program -task T1 -n 2 -stage simplified -export json"},
	} {
		r := do(t, nil, strings.Fields(tt.line)...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: exit code %d, stderr %q", tt.line, r.code, r.err)
		}
		golden(t, tt.file, r.out)
	}
}

// TestProgramStages reads the text of every task back, and that of every stage
// where it is not of a hundred thousand lines.
func TestProgramStages(t *testing.T) {
	longtest.Serial(t)
	for _, task := range taskNames() {
		names := stageNames()
		if slices.Contains([]string{"T5", "gmm", "T7", "T8"}, task) {
			names = names[:1]
		}
		for _, stage := range names {
			r := do(t, nil, "program", "-task", task, "-stage", stage)
			p, err := program.Parse(r.out, nil)
			if r.code != 0 || err != nil {
				t.Fatalf("%s %s: exit code %d, %s, %v", task, stage, r.code, r.err, err)
			}
			if err := program.Check(p); err != nil {
				t.Errorf("%s %s: %v", task, stage, err)
			}
			if derived := len(p.Outs) > 1; derived != (stage == "vjp" || stage == "jvp") {
				t.Errorf("%s %s: outputs %v", task, stage, p.Outs)
			}
		}
	}
}

func TestProgramToGraphviz(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed; apt-get install graphviz")
	}
	cmd := exec.Command(dot, "-Tsvg")
	cmd.Stdin = strings.NewReader(do(t, nil, "program", "-task", "T3", "-stage", "vjp,simplified", "-format",
		"dot").out)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "</svg>") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestOutputFile checks that -o writes the same as standard output gets.
func TestOutputFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(file, []byte(strings.Repeat("an old and longer text\n", 1000)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"backends", "test -short -run num_to_num", "program"} {
		direct := do(t, subjects(), strings.Fields(line)...)
		r := do(t, subjects(), strings.Fields(line+" -o "+file)...)
		got, err := os.ReadFile(file)
		if r.code != 0 || r.out != "" || r.err != "" || err != nil || string(got) != direct.out {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, file %q, %v", line, r.code, r.out, r.err, got, err)
		}
	}
}

func TestOutputFileFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	for _, line := range []string{"backends", "test -short -run num_to_num", "program"} {
		r := do(t, subjects(), strings.Fields(line+" -o /dev/full")...)
		if r.code != 1 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "writing the result") {
			t.Errorf("%s: exit code %d, stderr %q", line, r.code, r.err)
		}
		var err strings.Builder
		a := app{subjects: subjects(), out: closedPipe{}, err: &err}
		if code := a.run(t.Context(), strings.Fields(line)); code != 1 ||
			!strings.Contains(err.String(), "closed pipe") {
			t.Errorf("%s: exit code %d, stderr %q", line, code, err.String())
		}
	}
}

func TestAbandon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new")
	s := &sink{command: "x", created: true}
	var err error
	if s.file, err = os.Create(file); err != nil {
		t.Fatal(err)
	}
	s.abandon()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was created for nothing is there: %v", err)
	}
}

func TestBadInputOfCommands(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "such", "file")
	for _, tt := range []struct {
		line string
		want []string // parts of the message
	}{
		{"backends -engines tracker,enzyme", []string{`unknown engine "enzyme"`, "finitediff, finitediff(adaptive), forwarddiff"}},
		{"backends -format csv", []string{`unknown format "csv"`, "table, json, markdown"}},
		{"backends -o " + missing, []string{"-o", missing}},
		{"backends -o=", []string{"-o: want the name of a file"}},
		{"backends tracker", []string{`unexpected argument "tracker"`}},
		{"backends -engine tracker", []string{"-engine", "-engines"}},
		{"test -engines enzyme", []string{`unknown engine "enzyme"`}},
		{"test -run (", []string{"-run", "missing closing )"}},
		{"test -run laplacian", []string{"no scenario", `"laplacian"`}},
		{"test -format xml", []string{`unknown format "xml"`, "table, json"}},
		{"test -o " + missing, []string{missing}},
		{"test num_to_num", []string{`unexpected argument`}},
		{"program -task T9",
			[]string{`unknown task "T9"`, "T1, T2, T3, T4, T5, gmm, T6, ba, T7, T8, T4-modulo, T8-arrays, lstm, hand, hand_triangles"}},
		{"program -stage optimised",
			[]string{`unknown stage "optimised"`, "recorded, vjp, jvp, simplified, scheduled"}},
		{"program -stage vjp,", []string{`unknown stage ""`}},
		{"program -format svg", []string{`unknown format "svg"`, "text, dot"}},
		{"program -export fortran", []string{`unknown export "fortran"`, "go, c, json, latex, dot, text"}},
		{"program -export c -format dot", []string{"-format dot", "-export c"}},
		{"program -n 1", []string{"-n 1", "from 2 to 100000"}},
		{"program -n 1000000", []string{"-n 1000000"}},
		{"program -n many", []string{"many", "-n"}},
		{"program -task T7 -n 10", []string{"-n 10", "T7 has 20 inputs"}},
		{"program -o " + missing, []string{missing}},
		{"program T3", []string{`unexpected argument "T3"`}},
		{"completion", []string{"which shell", "bash, zsh, fish, pwsh"}},
		{"completion tcsh", []string{`unknown shell "tcsh"`}},
		{"completion bash now", []string{`unexpected argument "now"`}},
		{"completion -x", []string{"-x"}},
		{"help me", []string{`help: unknown command "me"`, "commands: bench"}},
		{"tset", []string{`"tset"`, "commands: bench, backends, test, program"}},
	} {
		r := do(t, subjects(), strings.Fields(tt.line)...)
		if r.code != 2 || r.out != "" {
			t.Errorf("%q: exit code %d, stdout %q, want 2 and nothing", tt.line, r.code, r.out)
		}
		if strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "nabla: ") {
			t.Errorf("%q: stderr %q, want one line", tt.line, r.err)
		}
		for _, part := range tt.want {
			if !strings.Contains(r.err, part) {
				t.Errorf("%q: %q does not say %q", tt.line, r.err, part)
			}
		}
	}
}

func TestHelpOfCommands(t *testing.T) {
	for line, want := range map[string][]string{
		"help":          {"Exit codes:", "130", "completion", "backends", "test", "program", "bench", "gen"},
		"help backends": {"native", "-o FILE", "--format"},
		"test -h":       {"--run REGEXP", "--short", "family/operator/function"},
		"program -h":    {"--stage STAGES", "scheduled", "T8    Lorenz system, 6 inputs", "-n N"},
		"gen -h": {"//nabla:differentiate", "//nabla:rule tangent=F pullback=G", "file:line:col: function F",
			"--check", "--explain FUNC", "--dump STAGE:FUNC", "go tool nabla gen"},
		"completion -h": {"bash"},
	} {
		r := do(t, subjects(), strings.Fields(line)...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%q: exit code %d, stderr %q", line, r.code, r.err)
		}
		for _, part := range want {
			if !strings.Contains(r.out, part) {
				t.Errorf("%q does not say %q:\n%s", line, part, r.out)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		line      string
		want, not []string
	}{
		{"program", []string{"--task:NAME", "--stage:", "-n:", "-o:"}, []string{"`", "T3\n"}},
		{"program -st", []string{"--stage:"}, []string{"--task"}},
		{"program -task", []string{"T1\n", "gmm\n"}, []string{"--"}},
		{"program --stage", []string{"recorded\n", "vjp\n"}, nil},
		{"program -format", []string{"text\ndot\n"}, nil},
		{"program -export", []string{"go\nc\njson\n"}, nil},
		{"program -task T3 -format", []string{"dot\n"}, nil},
		{"backends -engines", []string{"tracker\n"}, []string{"(", "over"}},
		{"backends -format", []string{"markdown\n"}, nil},
		{"test -format", []string{"json\n"}, []string{"markdown"}},
		{"test -o", nil, []string{"-"}},
		{"bench -tasks", []string{"T1\n", "listing2\n", "T4\n"}, nil},
		{"bench -format", []string{"csv\n"}, nil},
		{"gen -layout", []string{"package\nsource\n"}, []string{"-"}},
		{"gen -dump", []string{"lowered\n", "adjointTangent\n"}, []string{"-"}},
	} {
		r := do(t, subjects(), append(strings.Fields(tt.line), "--generate-shell-completion")...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%q: exit code %d, stderr %q", tt.line, r.code, r.err)
		}
		for _, part := range tt.want {
			if !strings.Contains(r.out, part) {
				t.Errorf("%q: no %q in %q", tt.line, part, r.out)
			}
		}
		for _, part := range tt.not {
			if strings.Contains(r.out, part) {
				t.Errorf("%q: %q in %q", tt.line, part, r.out)
			}
		}
	}
}

// TestCompletionScripts has each shell, where it is installed, read its script, and
// bash complete with it.
func TestCompletionScripts(t *testing.T) {
	longtest.Serial(t)
	scripts := map[string]string{}
	for _, sh := range shells {
		r := do(t, subjects(), "completion", sh)
		if r.code != 0 || r.err != "" || !strings.Contains(r.out, "generate-shell-completion") {
			t.Errorf("%s: exit code %d, stderr %q, stdout %q", sh, r.code, r.err, r.out)
		}
		scripts[sh] = r.out
		if path, err := exec.LookPath(sh); err == nil && sh != "pwsh" {
			cmd := exec.Command(path, "-n")
			cmd.Stdin = strings.NewReader(r.out)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v\n%s", sh, err, out)
			}
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(dir, "nabla")); err != nil {
		t.Fatal(err)
	}
	t.Setenv(asCommand, "1")
	for _, tt := range []struct{ words, want string }{
		{"pro", "program"},
		{"program --st", "--stage"},
		{"program -task g", "gmm"},
		{"backends -format m", "markdown"},
		{"", "bench"},
	} {
		words := "nabla " + tt.words
		script := "PATH=" + dir + ":$PATH\n_get_comp_words_by_ref() { :; }\n" + scripts["bash"] +
			"\nCOMP_WORDS=(" + words + ")\n"
		if strings.HasSuffix(words, " ") {
			script += "COMP_WORDS+=('')\n"
		}
		script += "COMP_CWORD=$((${#COMP_WORDS[@]}-1))\n__nabla_bash_autocomplete\necho \"${COMPREPLY[@]}\"\n"
		out, err := exec.Command(bash, "-c", script).CombinedOutput()
		if got := strings.Fields(string(out)); err != nil || len(got) == 0 || got[0] != tt.want {
			t.Errorf("%q completes to %q, %v; want %s", words, out, err, tt.want)
		}
	}
}

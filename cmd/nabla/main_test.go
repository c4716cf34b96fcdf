package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/problems"
)

// asCommand is an environment variable with which the test binary is the command.
const asCommand = "NABLA_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	genOptions.Load.Packages = loaded.Packages
	longtest.Main(m)
}

// fake copies the reference, and adds off to the last component.
func fake(name string, off float64) bench.Engine {
	return bench.Engine{Name: name, Prepare: func(p *problems.Problem) (bench.Derivative, error) {
		return func(y, d, x []float64) error {
			copy(y, p.Cases[0].Value)
			copy(d, p.Cases[0].Derivative)
			d[len(d)-1] += off
			return nil
		}, nil
	}}
}

// A result holds the output and exit code of a command line.
type result struct {
	code     int
	out, err string
}

func runApp(ctx context.Context, a app, line ...string) result {
	var out, err strings.Builder
	a.out, a.err = &out, &err
	code := a.run(ctx, line)
	return result{code, out.String(), err.String()}
}

func run(t *testing.T, engines []bench.Engine, line ...string) result {
	t.Helper()
	return runApp(t.Context(), app{engines: engines}, line...)
}

func TestBenchTable(t *testing.T) {
	r := run(t, []bench.Engine{fake("one", 0), fake("two over one", 0)}, "bench", "-tasks", "T3,T1", "-sizes", "5,7",
		"-time", "10us")
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit code %d, stderr %q", r.code, r.err)
	}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 1+2*2*2 {
		t.Fatalf("%d lines, want a head and 8 rows:\n%s", len(lines), r.out)
	}
	for i, want := range []string{"engine", "one", "two over one", "one", "two over one"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	if !strings.Contains(lines[1], "T1") || !strings.Contains(lines[5], "T3") {
		t.Errorf("tasks are out of order:\n%s", r.out)
	}
}

func TestBenchJSON(t *testing.T) {
	r := run(t, []bench.Engine{fake("one", 0), fake("two", 0)}, "bench", "--tasks=T7", "--engines=two", "--format=json",
		"--time=1ms")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || r.code != 0 {
		t.Fatalf("exit code %d, %v: %s", r.code, err, r.out)
	}
	if len(rows) != 1 || len(rows[0]) != 18 {
		t.Fatalf("rows %v, want one of 18 keys", rows)
	}
	for key, want := range map[string]any{"task": "T7", "n": 20.0, "engine": "two", "ok": true, "error": 0.0,
		"allocs": 0.0} {
		if rows[0][key] != want {
			t.Errorf("%s is %v, want %v", key, rows[0][key], want)
		}
	}
	for _, key := range []string{"plain_ns", "derivative_ns", "ratio", "prepare_ns", "unprepared_ns", "samples"} {
		if v, _ := rows[0][key].(float64); v <= 0 {
			t.Errorf("%s is %v", key, rows[0][key])
		}
	}
}

func TestBenchWrong(t *testing.T) {
	engines := []bench.Engine{fake("honest", 0), fake("liar", 1e-3)}
	r := run(t, engines, "bench", "-tasks", "T1", "-sizes", "10", "-time", "10us")
	if r.code != 1 || !strings.Contains(r.out, "WRONG") || r.err != "nabla: bench: 1 of 2 derivatives are wrong\n" {
		t.Errorf("exit code %d, stdout\n%sstderr %q", r.code, r.out, r.err)
	}
	r = run(t, engines, "bench", "-tasks", "T1", "-sizes", "10", "-time", "10us", "-format", "csv")
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if r.code != 1 || rows[1][9] != "true" || rows[2][9] != "false" || rows[2][3] != "" {
		t.Errorf("exit code %d, rows %q", r.code, rows)
	}
	r = run(t, engines, "bench", "-tasks", "T1", "-sizes", "10", "-time", "10us", "-format", "json")
	if r.code != 1 || !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("exit code %d, stdout %s", r.code, r.out)
	}
}

func TestBenchFailing(t *testing.T) {
	broken := bench.Engine{Name: "broken", Prepare: func(*problems.Problem) (bench.Derivative, error) {
		return nil, errors.New("no gears")
	}}
	r := run(t, []bench.Engine{broken}, "bench", "-tasks", "T8", "-time", "10us")
	if r.code != 1 || !strings.Contains(r.out, "FAILED") ||
		!strings.Contains(r.err, "T8 n=6 broken: prepare: no gears\n") {
		t.Errorf("exit code %d, stdout\n%sstderr %q", r.code, r.out, r.err)
	}
}

func TestBadInput(t *testing.T) {
	engines := []bench.Engine{fake("one", 0), fake("two", 0)}
	for _, tt := range []struct {
		line string
		want []string // parts of the message
	}{
		{"", []string{"no command", "bench"}},
		{"bnech", []string{`"bnech"`, "commands: bench"}},
		{"-x", []string{"-x", "flags:"}},
		{"bench -tasks T1,T9", []string{`unknown task "T9"`, "T1, T3, T5, gmm, T6, T7, T8, T8-arrays, listing2, T4, T4-modulo"}},
		{"bench -tasks T2", []string{`unknown task "T2"`}},
		{"bench -tasks=", []string{`unknown task ""`}},
		{"bench -engines one,three", []string{`unknown engine "three"`, "one, two"}},
		{"bench -format xml", []string{`unknown format "xml"`, "table, csv, json, markdown, benchstat, html, svg\n"}},
		{"bench -format png",
			[]string{"go get -tool github.com/nabla-ad/nabla/cmd/nablapng", "go tool nablapng", "-format svg"}},
		{"bench -o x.png", []string{"go tool nablapng"}},
		{"bench -format xml -o x.csv", []string{`unknown format "xml"`}},
		{"bench -o=", []string{"-o", "file"}},
		{"bench -o", []string{"-o"}},
		{"bench -sizes 10,x", []string{`size "x"`, "from 2 to"}},
		{"bench -sizes 0", []string{`size "0"`}},
		{"bench -sizes -5", []string{`size "-5"`}},
		{"bench -sizes 99999999999999999999", []string{"size"}},
		{"bench -tasks T3 -sizes 1", []string{`size "1"`, "from 2 to"}},
		{"bench -tasks T7 -sizes 10", []string{"-sizes", "T1, T3 and listing2"}},
		{"bench -tasks listing2 -sizes 1", []string{`size "1"`, "from 2 to"}},
		{"bench -tasks T4 -sizes 72", []string{"-sizes", "T1, T3 and listing2"}},
		{"bench -tasks listing2 -sizes 5000", []string{"none of the engines takes part", "n = 3000"}},
		{"bench -time soon", []string{"soon", "-time"}},
		{"bench -time 0s", []string{"-time 0s"}},
		{"bench -time", []string{"-time"}},
		{"bench -fromat csv", []string{"fromat", "-tasks, -engines, -sizes, -growth, -format, -o, -date, -time"}},
		{"bench --tasks", []string{"-tasks"}},
		{"bench T1", []string{`unexpected argument "T1"`}},
		{"bench -tasks T1 -5", []string{`unexpected argument "-5"`}},
	} {
		r := run(t, engines, strings.Fields(tt.line)...)
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

func TestHelp(t *testing.T) {
	for _, line := range []string{"help", "-h", "--help", "bench -h", "bench --help", "help bench"} {
		r := run(t, []bench.Engine{fake("one", 0)}, strings.Fields(line)...)
		if r.code != 0 || r.err != "" || !strings.Contains(r.out, "bench") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", line, r.code, r.out, r.err)
		}
	}
}

// stuckIn is an engine that interrupts the program in a task and does not return.
func stuckIn(task string, cancel func()) bench.Engine {
	e := fake("stuck", 0)
	prepare := e.Prepare
	e.Prepare = func(p *problems.Problem) (bench.Derivative, error) {
		if p.Name == task {
			cancel()
			select {}
		}
		return prepare(p)
	}
	return e
}

func TestInterrupted(t *testing.T) {
	for format, want := range map[string]string{
		"table": "stuck", "csv": "T1,5,stuck", "json": "]\n", "markdown": "| one | T1 |",
		"benchstat": "BenchmarkT1/n=5/one",
		"html":      "Interrupted: 2 of the rows", "svg": "</svg>",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r := runApp(ctx, app{engines: []bench.Engine{fake("one", 0), stuckIn("T3", cancel)}},
			"bench", "-tasks", "T1,T3", "-sizes", "5", "-time", "10us", "-format", format)
		if r.code != 130 || !strings.Contains(r.out, want) || r.err != "nabla: bench: interrupted after 2 of 4 rows\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", format, r.code, r.out, r.err)
		}
		if format == "json" && !json.Valid([]byte(r.out)) {
			t.Errorf("not JSON: %q", r.out)
		}
		cancel()
	}
}

// TestInterruptedAtOnce has nothing to show: a file that was there stays as it is.
func TestInterruptedAtOnce(t *testing.T) {
	for _, format := range []string{"html", "svg"} {
		for _, before := range []string{"", "an earlier report"} {
			name := filepath.Join(t.TempDir(), "report")
			if before != "" {
				if err := os.WriteFile(name, []byte(before), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			r := runApp(ctx, app{engines: []bench.Engine{stuckIn("T1", cancel)}}, "bench", "-tasks", "T1", "-sizes",
				"5", "-format", format, "-o", name)
			cancel()
			if r.code != 130 || r.err != "nabla: bench: interrupted after 0 of 1 rows\n" {
				t.Errorf("exit code %d, stderr %q", r.code, r.err)
			}
			got, err := os.ReadFile(name)
			if string(got) != before || (before == "") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file holds %q, error %v, want %q", got, err, before)
			}
		}
	}
}

// TestBenchOutput writes every format to a file, which its name tells.
func TestBenchOutput(t *testing.T) {
	dir := t.TempDir()
	for _, f := range longtest.Sample([][2]string{
		{"r", "engine "}, {"r.csv", "task,"}, {"r.txt", "engine "}, {"r.svg", "<?xml"}, {"r.json", "[\n"},
		{"r.md", "| engine"}, {"r.html", "<!DOCTYPE html>"},
	}, 2) {
		name, want := f[0], f[1]
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, make([]byte, 1<<20), 0o666); err != nil { // longer than any report
			t.Fatal(err)
		}
		r := run(t, []bench.Engine{fake("one", 0)}, "bench", "-tasks", "T1", "-sizes", "5,10", "-time", "10us", "-o",
			file)
		got, err := os.ReadFile(file)
		if r.code != 0 || r.out != "" || r.err != "" || err != nil || !strings.HasPrefix(string(got), want) ||
			strings.Contains(string(got[len(got)-9:]), "\x00\x00\x00\x00\x00\x00\x00\x00\x00") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, error %v, file %.40q", name, r.code, r.out, r.err, err,
				got)
		}
	}
	// A flag is stronger than a name.
	file := filepath.Join(dir, "r.html")
	r := run(t, []bench.Engine{fake("one", 0)}, "bench", "-tasks", "T1", "-sizes", "5", "-time", "10us", "-format",
		"json", "-o", file)
	if got, err := os.ReadFile(file); r.code != 0 || err != nil || !json.Valid(got) {
		t.Errorf("exit code %d, error %v, file %.40q", r.code, err, got)
	}
}

// TestGrowth: -growth has a choice of tasks, of sizes unless others are given, and columns per input.
func TestGrowth(t *testing.T) {
	made := 0
	e := bench.Engine{Name: "source(reverse)", Prepare: func(p *problems.Problem) (bench.Derivative, error) {
		made++
		kept := make([]float64, 100*p.N)
		return func(y, d, x []float64) error {
			p.Eval(y, x)
			kept[0] = y[0]
			copy(d, p.Dense(p.Select(0)))
			return nil
		}, nil
	}}
	r := run(t, []bench.Engine{e, fake("other", 0)}, "bench", "-growth", "-sizes", "1000,2000", "-time", "10us")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 || len(lines) != 5 || made == 0 || strings.Contains(r.out, "other") {
		t.Fatalf("exit code %d, %q, stderr %q", r.code, r.out, r.err)
	}
	for _, name := range []string{"function/n", "derivative/n", "prepare/n", "allocated/n", "kept/n"} {
		if !strings.Contains(lines[0], name) {
			t.Errorf("no column %s in %q", name, lines[0])
		}
	}
	for i, want := range []string{"T1  1000", "T1  2000", "T3  1000", "T3  2000"} {
		if f := strings.Join(strings.Fields(lines[i+1])[1:3], "  "); f != want {
			t.Errorf("row %d is of %s, want %s", i, f, want)
		}
		fields := strings.Fields(lines[i+1])
		if kept, err := strconv.Atoi(fields[len(fields)-2]); err != nil || kept < 600 || kept > 1000 {
			t.Errorf("row %d keeps %v for each input, want about 800 B", i, fields[len(fields)-2:])
		}
	}
}

// TestGrowthLimit: recordings of ten million inputs are not refused.
func TestGrowthLimit(t *testing.T) {
	r := run(t, []bench.Engine{fake("reversediff(compile)", 0)}, "bench", "-growth", "-tasks", "T1", "-sizes", "1000",
		"-time", "10us")
	if r.code != 0 || !strings.Contains(r.out, "reversediff(compile, limit=200000000)") {
		t.Errorf("exit code %d, %q, stderr %q", r.code, r.out, r.err)
	}
}

// TestUnwritable finds out before anything is measured.
func TestUnwritable(t *testing.T) {
	e := bench.Engine{Name: "one", Prepare: func(*problems.Problem) (bench.Derivative, error) {
		t.Error("it was measured for nothing")
		return nil, errors.New("no")
	}}
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "no", "such", "r.html"), dir} {
		r := run(t, []bench.Engine{e}, "bench", "-tasks", "T1", "-o", name)
		if r.code != 2 || r.out != "" || strings.Count(r.err, "\n") != 1 ||
			!strings.HasPrefix(r.err, "nabla: bench: -o: open "+name) {
			t.Errorf("exit code %d, stdout %q, stderr %q", r.code, r.out, r.err)
		}
	}
}

// TestNothingToPlot keeps the file that was there when there is no picture.
func TestNothingToPlot(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.svg")
	if err := os.WriteFile(name, []byte("an earlier picture"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := run(t, []bench.Engine{fake("liar", 1)}, "bench", "-tasks", "T1", "-sizes", "5", "-time", "10us",
		"-o", name)
	if got, err := os.ReadFile(name); r.code != 1 || !strings.Contains(r.err, "nothing to plot") || err != nil ||
		string(got) != "an earlier picture" {
		t.Errorf("exit code %d, stderr %q, file %q, error %v", r.code, r.err, got, err)
	}
}

// TestHTML has the date that was given, and a wrong row.
func TestHTML(t *testing.T) {
	r := run(t, []bench.Engine{fake("honest", 0), fake("liar", 1)}, "bench", "-tasks", "T1", "-sizes", "5", "-time",
		"1ms", "-format", "html", "-date", "2026-11-21")
	if r.code != 1 || r.err != "nabla: bench: 1 of 2 derivatives are wrong\n" {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	for _, part := range []string{"<dd>2026-11-21</dd>", "1 of 2 derivatives are wrong", "WRONG",
		"<dd>1ms in 11 rounds</dd>", "</html>"} {
		if !strings.Contains(r.out, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
}

func TestProgress(t *testing.T) {
	a := app{engines: []bench.Engine{fake("one", 0), fake(strings.Repeat("long ", 20), 0)}, terminal: true}
	r := runApp(t.Context(), a, "bench", "-tasks", "T1", "-sizes", "5", "-time", "10us")
	if !strings.Contains(r.err, "T1 n=5 one") || !strings.Contains(r.err, "T1 n=5 prepared 1/11") ||
		!strings.HasSuffix(r.err, "\r\x1b[K") {
		t.Errorf("stderr on a terminal is %q", r.err)
	}
	for line := range strings.SplitSeq(r.err, "\r") {
		if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > 79 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	if strings.Contains(r.err, "\n") {
		t.Errorf("the progress takes several lines: %q", r.err)
	}
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("progress is in the output: %q", r.out)
	}
}

// TestProgressIsCut checks that a text too long for the line ends in an ellipsis, so that the bar does not move.
func TestProgressIsCut(t *testing.T) {
	column := func(what string) (string, int) {
		var b strings.Builder
		newBar(&b, true).step(0, 3, what)
		before, _, ok := strings.Cut(b.String()[strings.LastIndex(b.String(), "\r")+1:], "0%")
		if !ok {
			t.Fatalf("no percentage in %q", b.String())
		}
		return before, utf8.RuneCountInString(before)
	}
	_, want := column("short")
	for _, n := range []int{33, 34, 35, 100} {
		shown, got := column(strings.Repeat("é", n))
		if cut := strings.Contains(shown, "…"); got != want || cut != (n > 34) {
			t.Errorf("%d letters: %q in %d columns, want %d", n, shown, got, want)
		}
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("closed pipe") }

func TestOutputFails(t *testing.T) {
	var err strings.Builder
	a := app{engines: []bench.Engine{fake("one", 0)}, out: closedPipe{}, err: &err}
	code := a.run(t.Context(), strings.Fields("bench -tasks T1 -sizes 5 -time 10us"))
	if code != 1 || err.String() != "nabla: bench: writing the result: closed pipe\n" {
		t.Errorf("exit code %d, stderr %q", code, err.String())
	}
}

// TestEngines runs this module's own engines on small problems.
func TestEngines(t *testing.T) {
	tasks := []string{"T1,6,", "T3,6,", "T6,15,", "T8,6,", "listing2,6,"}
	asked := "T1,T3,T6,T8,listing2"
	if !longtest.Long() {
		tasks, asked = []string{"T1,6,", "listing2,6,"}, "T1,listing2"
	}
	r := run(t, measured(), "bench", "-tasks", asked, "-sizes", "6", "-time", "10us", "-format", "csv")
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
	for _, name := range []string{
		"finitediff", "finitediff(adaptive)", "forwarddiff", "reversediff", "reversediff(compile)", "tracker",
		"forwarddiff over reversediff(compile)",
		"sparse(forwarddiff)", "sparse(reversediff(compile))", "sparse(forwarddiff over reversediff(compile))",
	} {
		sparse := strings.HasPrefix(name, "sparse(")
		for _, task := range tasks {
			want := task != "listing2,6," && !sparse
			if task == "listing2,6," {
				want = !strings.HasPrefix(name, "finitediff") && name != "reversediff" && name != "tracker"
			}
			if strings.Contains(r.out, task+name+",") != want {
				t.Errorf("row %s%s is there: %v, want %v:\n%s", task, name, !want, want, r.out)
			}
		}
	}
	r = run(t, measured(), "bench", "-tasks", "listing2", "-engines", "tracker,finitediff", "-sizes", "6", "-time",
		"10us", "-format", "csv")
	if r.code != 0 || !strings.Contains(r.out, "listing2,6,tracker,") ||
		!strings.Contains(r.out, "listing2,6,finitediff,") || strings.Contains(r.out, "nnz") {
		t.Errorf("engines asked for by name: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, measured(), "bench", "-tasks", "T1", "-engines", "sparse(forwarddiff)")
	if r.code != 2 || !strings.HasPrefix(r.err, "nabla: bench: none of the engines takes part") ||
		strings.Count(r.err, "\n") != 1 {
		t.Errorf("a sparse engine in T1: exit code %d, stderr %q", r.code, r.err)
	}
}

// TestSparse measures the Jacobian of the Brusselator and a Hessian, and checks the figures that sparse engines report.
func TestSparse(t *testing.T) {
	longtest.Serial(t)
	r := run(t, measured(), "bench", "-tasks", "listing2,T4", "-sizes", "50", "-engines",
		"sparse(forwarddiff),sparse(reversediff(compile))", "-time", "10us", "-format", "json")
	var rows []struct {
		Task, Engine string
		N            int
		OK           bool
		Error        float64
		NNZ          int
		Colors       *int
		Detection    float64  `json:"detection_ns"`
		Coloring     *float64 `json:"coloring_ns"`
	}
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || r.code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.out, r.err)
	}
	if len(rows) != 6 {
		t.Fatalf("%d rows, want 6:\n%s", len(rows), r.out)
	}
	for i, row := range rows {
		want := []struct {
			task   string
			n, nnz int
		}{{"listing2", 50, 148}, {"T4", 72, 432}, {"T4", 2048, 12288}}[i/2]
		if row.Task != want.task || row.N != want.n || row.NNZ != want.nnz || !row.OK || row.Error > 1e-12 ||
			!(row.Detection > 0) {
			t.Errorf("row %+v, want %+v", row, want)
		}
		if products := row.Engine == "sparse(forwarddiff)"; products != (row.Colors != nil) ||
			products != (row.Coloring != nil) ||
			products && (*row.Colors < 2 || *row.Colors > 12) {
			t.Errorf("%s: colours %v, colouring %v", row.Engine, row.Colors, row.Coloring)
		}
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

const genLoss = `package m

import "fmt"

//nabla:differentiate
func Loss(x []float64) float64 { return helper(x[0]) * x[1] }

func helper(x float64) float64 { return x * x }

func slope(x, v []float64) float64 {
	_, dot := LossTangent(x, v)
	return dot
}

func Slope() string { return fmt.Sprint(slope([]float64{3, 2}, []float64{1, 0})) }
`

// genModule is a module without requirements, which is the current directory of the test.
func genModule(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	return dir
}

const genMod = "module m\n\ngo 1.26\n"

func TestGen(t *testing.T) {
	longtest.Serial(t)
	dir := genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss, "sub/s.go": "package sub\n"})
	file := filepath.Join(dir, "nabla_gen.go")
	stale := "nabla_gen.go: it is not up to date; run nabla gen\n"
	for _, tt := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"gen -check", 1, "", stale},
		{"gen", 0, "", ""},
		{"gen -check", 0, "", ""},
		{"gen -check ./...", 0, "", ""},
		{"gen -v ./...", 0, "m: LossTangent: tangent of Loss, registered\n", ""},
		{"gen -dump normal:helper", 0, "func m.helper(x float64) (r float64) exit {\n\tr = x * x\n}\n", ""},
		{"gen -explain helper", 0,
			"m.go:8: m.helper\n    8  func helper(x float64) float64 { return x * x }  // active: x, the result\n", ""},
	} {
		r := do(t, nil, strings.Fields(tt.line)...)
		if r.code != tt.code || !strings.HasPrefix(r.out, tt.out) || tt.out == "" && r.out != "" || r.err != tt.err {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", tt.line, r.code, r.out, r.err)
		}
	}
	if text, err := os.ReadFile(file); err != nil ||
		!strings.Contains(string(text), "func LossTangent(x, xDot []float64) (r, rDot float64) {") {
		t.Errorf("%v\n%s", err, text)
	}
	// Without a target the file goes.
	if err := os.WriteFile("m.go", []byte("package m\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := do(t, nil, "gen", "-check"); r.code != 1 || r.err != stale {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	if r := do(t, nil, "gen", "-v"); r.code != 0 || r.out != "nabla_gen.go: removed\n" {
		t.Errorf("exit code %d, stdout %q", r.code, r.out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestGenLayout divides the generated code, keeps the layout without the flag, and names left-over files.
func TestGenLayout(t *testing.T) {
	longtest.Skip(t, "generates ten times")
	genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss})
	stale := func(names ...string) (text string) {
		for _, name := range names {
			text += name + ": it is not up to date; run nabla gen\n"
		}
		return text
	}
	for _, tt := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"gen -layout source", 0, "", ""},
		{"gen -check", 0, "", ""},
		{"gen -check -layout source", 0, "", ""},
		{"gen -check -layout package", 1, "", stale("nabla_gen.go", "m_nabla.go")},
		{"gen -layout package", 0, "", ""},
		{"gen -check", 0, "", ""},
		{"gen -check -layout source", 1, "", stale("nabla_gen.go", "m_nabla.go")},
	} {
		r := do(t, nil, strings.Fields(tt.line)...)
		if r.code != tt.code || r.out != tt.out || r.err != tt.err {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", tt.line, r.code, r.out, r.err)
		}
	}
	for _, args := range [][]string{{"-layout", "files"}, {"-layout", ""}} {
		r := do(t, nil, append([]string{"gen"}, args...)...)
		if r.code != 2 || !strings.Contains(r.err, "layouts: package, source") {
			t.Errorf("%q: exit code %d, stderr %q", args, r.code, r.err)
		}
	}
}

// TestGenRefused checks that functions that cannot be differentiated are reported and code for the others is generated.
func TestGenRefused(t *testing.T) {
	longtest.Serial(t)
	dir := genModule(t, map[string]string{"go.mod": genMod, "m.go": genLoss, "bad.go": `package m

//nabla:differentiate
func Bad(x map[int]float64) float64 {
	return wrong
}
`})
	const want = "bad.go:5:9: function Bad: it has an error: undefined: wrong\n"
	for _, line := range []string{"gen", "gen -v", "gen -explain Bad", "gen -dump tangent:Bad"} {
		r := do(t, nil, strings.Fields(line)...)
		if err := strings.ReplaceAll(r.err, dir+string(filepath.Separator), ""); r.code != 1 || err != want {
			t.Errorf("%s: exit code %d, stderr %q", line, r.code, r.err)
		}
	}
	if _, err := os.Stat("nabla_gen.go"); err != nil {
		t.Error(err)
	}
	if r := do(t, nil, "gen", "./nothing"); r.code != 1 || !strings.HasPrefix(r.err, "nabla: gen: ") ||
		!strings.Contains(r.err, "nothing") {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
}

func TestGenUsage(t *testing.T) {
	for line, want := range map[string]string{
		"gen -chekc":                   "chekc",
		"gen -check -explain Loss":     "one of -check, -explain and -dump",
		"gen -dump Loss":               "STAGE:FUNC",
		"gen -dump :Loss":              "STAGE:FUNC",
		"gen -fix -check":              "-fix writes files",
		"gen -w -check":                "-w writes files",
		"gen -lanes none":              `-lanes "none"`,
		"gen -lanes 0":                 "from 1 to",
		"gen -dump lowered:Loss -v -x": "-x",
	} {
		r := do(t, nil, strings.Fields(line)...)
		if r.code != 2 || r.out != "" || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", line, r.code, r.out, r.err)
		}
	}
}

// TestGoTool generates code in another module, which has the command as a tool, and builds and runs the result, before
// and after its first generation.
// TestGenFix: the warning of a closure has the source of a declared function, and -fix changes the source to that.
func TestGenFix(t *testing.T) {
	longtest.Skip(t, "generates many times")
	mod, sum := dependent.Mod(t)
	dir := genModule(t, map[string]string{"go.mod": genMod + mod, "go.sum": sum, "m.go": `package m

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func Fit(k float64, x []float64) ([]float64, error) {
	return nabla.Gradient(func(x []float64) float64 { return k * x[0] }, source.Reverse{}, x)
}
`})
	for _, v := range dependent.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GO") {
			t.Setenv(name, value)
		}
	}
	call := "nabla.Bind(fitFunc, &fitFuncData{k: k})"
	r := do(t, nil, "gen")
	for _, want := range []string{"m.go:9:24: warning: Gradient is passed",
		"\n\ttype fitFuncData struct {\n\t\tk float64\n\t}\n",
		"\n\tfunc fitFunc(x []float64, d *fitFuncData) float64 { return d.k * x[0] }\n", "\n\t" + call + "\n"} {
		if r.code != 0 || !strings.Contains(r.err, want) {
			t.Errorf("exit code %d, want %q in\n%s", r.code, want, r.err)
		}
	}
	r = do(t, nil, "gen", "-fix")
	text, err := os.ReadFile(filepath.Join(dir, "m.go"))
	if err != nil || r.code != 0 || r.out != "m.go: rewritten\n" || r.err != "" ||
		!strings.Contains(string(text), call) {
		t.Errorf("exit code %d, stdout %q, stderr %q\n%s", r.code, r.out, r.err, text)
	}
	if r = do(t, nil, "gen", "-check", "-fix=false"); r.code != 0 || r.err != "" {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
}

func TestGoTool(t *testing.T) {
	longtest.Skip(t, "it links the command, which the other tests run in this process")
	mod, sum := dependent.Mod(t)
	genModule(t, map[string]string{
		"go.mod": genMod + "\ntool github.com/nabla-ad/nabla/cmd/nabla\n" + mod,
		"go.sum": sum,
		"m.go":   "//go:generate go tool nabla gen\n\n" + genLoss,
		"cmd/use/main.go": `package main

import (
	"fmt"

	"m"
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func main() {
	fmt.Println(m.Slope())
	fmt.Println(nabla.Pushforward(m.Loss, source.Forward{}, []float64{3, 2}, []float64{0, 1}))
}
`,
	})
	command := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Env = dependent.Environ()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := command("run", "./cmd/use"); err == nil || !strings.Contains(out, "undefined: LossTangent") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"tool", "nabla", "gen", "./..."}, {"tool", "nabla", "gen", "-check", "./..."},
		{"vet", "./..."}} {
		if out, err := command(args...); err != nil || out != "" {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	first, err := os.ReadFile("nabla_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command("run", "./cmd/use"); err != nil || out != "12\n[9] <nil>\n" {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.Remove("nabla_gen.go"); err != nil {
		t.Fatal(err)
	}
	if out, err := command("generate", "."); err != nil || out != "" {
		t.Fatalf("%v\n%s", err, out)
	}
	if again, err := os.ReadFile("nabla_gen.go"); err != nil || string(again) != string(first) {
		t.Errorf("go generate gives something else: %v\n%s", err, again)
	}
}

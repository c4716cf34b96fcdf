package lower_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// loopsSource has functions that tell a variable of a loop from one of each iteration.
const loopsSource = `

func Value(x []float64) (s float64) {
	var ps []*float64
	for _, v := range x {
		ps = append(ps, &v)
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

func Key(x []float64) (s float64) {
	var ps []*int
	for i := range x {
		ps = append(ps, &i)
	}
	for _, p := range ps {
		s = 3*s + float64(*p)
	}
	return s
}

func Both(x []float64) (s float64) {
	var ps []*int
	var vs []*float64
	for i, v := range x {
		if i%2 == 0 {
			ps, vs = append(ps, &i), append(vs, &v)
			continue
		}
		*vs[0] += 10
	}
	for k := range ps {
		s = 2*s + float64(*ps[k]) + *vs[k]
	}
	return s
}

func Counted(x []float64) (s float64) {
	var ps []*int
	for i := 0; i < len(x); i++ {
		ps = append(ps, &i)
	}
	for _, p := range ps {
		s = 3*s + float64(*p)
	}
	return s
}

func Two(x []float64) (s float64) {
	var first *float64
	for a, i := 0.5, 0; i < len(x); a, i = a*2, i+1 {
		if first == nil {
			first = &a
		}
		*first += x[i]
		s += a
	}
	return s + *first
}

// Post: the last statement of an iteration writes to the variable of the next one.
func Post(x []float64) (s float64) {
	var old *float64
	for v := 1.0; v < 9; v *= 2 {
		if old != nil {
			s = 5*s + *old
		}
		old = &v
	}
	return s * x[0]
}

func Closure(x []float64) (s float64) {
	var ps []*float64
	for _, v := range x {
		get := func() *float64 { v *= 2; return &v }
		ps = append(ps, get())
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

type cell struct{ v float64 }

func (c *cell) at() *float64 { return &c.v }

func Method(x []float64) (s float64) {
	var ps []*float64
	for _, c := range []cell{{x[0]}, {x[1]}, {3}} {
		ps = append(ps, c.at())
	}
	return *ps[0] + 10**ps[1] + 100**ps[2]
}

func Window(x []float64) (s float64) {
	var ws [][]float64
	for _, a := range [][2]float64{{x[0], 1}, {x[1], 2}} {
		ws = append(ws, a[:])
	}
	ws[0][1] = 7
	return ws[0][0] + 10*ws[1][0] + 100*ws[0][1] + 1000*ws[1][1]
}

func Array(x []float64) (s float64) {
	a := [3]float64{x[0], x[1], 5}
	var ps []*float64
	for _, v := range a {
		ps = append(ps, &v)
		*ps[0]++
	}
	for _, v := range &a {
		ps = append(ps, &v)
	}
	for _, p := range ps {
		s = 2*s + *p
	}
	return s
}

func String(x []float64) (s float64) {
	var ps []*rune
	for _, r := range "abc" {
		ps = append(ps, &r)
	}
	for _, p := range ps {
		s = 2*s + float64(*p-'a')
	}
	return s * x[0]
}

func Nested(x []float64) (s float64) {
	var ps []*float64
outer:
	for i, v := range x {
		for j, w := range x {
			ps = append(ps, &v, &w)
			if j > i {
				continue outer
			}
		}
		if i == 2 {
			break
		}
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

// Outer assigns to a variable that it does not declare: it has been one at all times.
func Outer(x []float64) (s float64) {
	var v float64
	var ps []*float64
	for _, v = range x {
		ps = append(ps, &v)
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

func Local(x []float64) (s float64) {
	var ps []*float64
	for _, v := range x {
		v := v
		ps = append(ps, &v)
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

// Pointers is an iterator, whose loop stays one of its own file where its body is put.
func Pointers(x []float64) func(yield func(p *float64) bool) {
	return func(yield func(p *float64) bool) {
		for _, v := range x {
			if !yield(&v) {
				return
			}
		}
	}
}
`

// iteratedSource has loops over such iterators.
const iteratedSource = `package iterated

import (
	"m/loops"
	oldloops "old/loops"
)

func Old(x []float64) (s float64) {
	var ps []*float64
	for p := range oldloops.Pointers(x) {
		ps = append(ps, p)
	}
	for i, p := range ps {
		s += *p * float64(i+1)
	}
	return s
}

func New(x []float64) (s float64) {
	var ps []**float64
	for p := range loops.Pointers(x) {
		ps = append(ps, &p)
	}
	for i, p := range ps {
		s += **p * float64(i+1)
	}
	return s
}
`

var loopNames = []string{
	"Value", "Key", "Both", "Counted", "Two", "Post", "Closure", "Method", "Window", "Array", "String", "Nested",
	"Outer", "Local",
}

// TestLanguageVersions runs one source as code of modules and files of several Go versions,
// as Go and as intermediate form.
func TestLanguageVersions(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), `module m

go 1.26

require (
	old v0.0.0
	none v0.0.0
	edge v0.0.0
	candidate v0.0.0
)

replace (
	old => ./old
	none => ./none
	edge => ./edge
	candidate => ./candidate
)
`)
	write(t, filepath.Join(dir, "old/go.mod"), "module old\n\ngo 1.13\n")
	write(t, filepath.Join(dir, "none/go.mod"), "module none\n")
	write(t, filepath.Join(dir, "edge/go.mod"), "module edge\n\ngo 1.21.9\n")
	write(t, filepath.Join(dir, "candidate/go.mod"), "module candidate\n\ngo 1.22rc1\n")
	packages := []struct {
		path, constraint string
		shared           bool // loops have one variable
	}{
		{"old/loops", "", true},
		{"old/lowered", "go1.9", true},
		{"old/raised", "go1.22", false},
		{"none/loops", "", true},
		{"none/lowered", "go1.20", true},
		{"none/raised", "go1.23 && !nothing", false},
		{"edge/loops", "", true},
		{"candidate/loops", "", false},
		{"m/loops", "", false},
		{"m/lowered", "go1.21", true},
		{"m/lowest", "go1.1", true},
		{"m/exact", "go1.22", false},
		{"m/either", "go1.21 || go1.25", true},
		{"m/not", "!go1.1 || m || gc", false}, // which implies no version
	}
	write(t, filepath.Join(dir, "iterated/iterated.go"), iteratedSource)
	main := "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n"
	calls := ")\n\nfunc main() {\n\tx := []float64{0.5, 1.25, -2, 3}\n\tout := map[string]float64{\n"
	call := func(path string, names ...string) {
		alias := strings.ReplaceAll(path, "/", "_")
		main += "\t" + alias + " \"" + path + "\"\n"
		for _, name := range names {
			calls += "\t\t\"" + path + "." + name + "\": " + alias + "." + name + "(x),\n"
		}
	}
	call("m/iterated", "Old", "New")
	for _, p := range packages {
		text := "package " + filepath.Base(p.path) + loopsSource
		if p.constraint != "" {
			text = "//go:build " + p.constraint + "\n\n" + text
		}
		write(t, filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(p.path, "m/")), "loops.go"), text)
		call(p.path, loopNames...)
	}
	write(t, filepath.Join(dir, "main.go"),
		main+calls+"\t}\n\tif err := json.NewEncoder(os.Stdout).Encode(out); err != nil {\n\t\tpanic(err)\n\t}\n}\n")
	cmd := exec.Command("go", "run", "-ldflags=-w", "-trimpath", ".")
	cmd.Dir = dir
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	var want map[string]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	pkgs, err := lower.Load(dir, []string{"old/...", "none/...", "edge/...", "candidate/...", "./..."},
		lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	prog := lower.New(pkgs, lower.Options{})
	for call, want := range want {
		path, name, _ := strings.Cut(call, ".")
		f, err := prog.Func(prog.Lookup(path, name))
		if err != nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		verify(t, f)
		out, err := ir.Eval(f, ir.ValuesOf([]float64{0.5, 1.25, -2, 3}))
		if err != nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		if got := ir.As[float64](out[0]); got != want {
			t.Errorf("%s is %v, want %v\n%s", call, got, want, f)
		}
	}
	for _, p := range packages {
		shared := want[p.path+".Value"] == 10*3
		if shared != p.shared {
			t.Errorf("%s: loops have one variable: %t, want %t", p.path, shared, p.shared)
		}
	}
}

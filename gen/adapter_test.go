package gen

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// handwritten returns a build that finds derivatives in the package itself. The names of their parameters determine the
// roles.
func handwritten(suffix string) *build {
	return &build{name: "handwritten " + suffix, suffix: suffix, code: suffix,
		make: func(u *unit, t *target) (*built, error) {
			lowerCase := strings.ToLower(t.base[:1]) + t.base[1:]
			fn := u.program.lower.Lookup(u.pkg.PkgPath, lowerCase+suffix)
			if fn == nil {
				return nil, errors.New("not written")
			}
			f, err := u.program.lower.Func(fn)
			if err != nil {
				return nil, err
			}
			facts, err := activity.New().Analyze(t.f, t.mask)
			if err != nil {
				return nil, err
			}
			b := &built{fn: f, facts: facts, doc: "is written by hand."}
			roleOf := func(name string) role {
				r := role{}
				for i, end := range []string{"", "Dot", "Bar", "BarDot"} {
					if rest, ok := strings.CutSuffix(name, end); ok && end != "" {
						if !strings.HasSuffix(rest, "Bar") {
							r.slot, name = slot(i), rest
						}
					}
				}
				if strings.HasSuffix(name, "BarDot") {
					r.slot, name = barDot, strings.TrimSuffix(name, "BarDot")
				}
				for i, v := range t.f.Params {
					if v.Name == name {
						r.of = i
						return r
					}
				}
				r.result, r.work = name == "r", name == "work"
				return r
			}
			for _, v := range f.Params {
				b.params = append(b.params, roleOf(v.Name))
			}
			for _, v := range f.Results {
				b.results = append(b.results, roleOf(v.Name))
			}
			return b, nil
		}}
}

// TestAdapters runs reverse code in the shape of engines, with derivatives that are
// written by hand.
func TestAdapters(t *testing.T) {
	longtest.Skip(t, "builds a program")
	dir := t.TempDir()
	mod, sum := dependent.Mod(t)
	files := map[string]string{"go.mod": "module adapters\n\ngo 1.26\n" + mod, "go.sum": sum}
	for name, from := range map[string]string{"adapters.go": "testdata/adapters/adapters.go.txt",
		"adapters_test.go": "testdata/adapters/adapters_test.go.txt"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	env := dependent.Environ()
	p, err := Load(dir, []string{"."}, &Options{Load: lower.LoadOptions{Env: env, Packages: loaded.Packages}})
	if err != nil {
		t.Fatal(err)
	}
	p.builds = []*build{tangentBuild(1), tangentBuild(4)}
	for _, f := range codeFields {
		if f.name != "Tangent" && f.name != "Tangent4" {
			p.builds = append(p.builds, handwritten(f.name))
		}
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range r.Problems() {
		if problem.Severity > Note {
			t.Error(problem)
		}
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	// The test looks at the code that is registered.
	text := string(r.Packages[0].Files[0].Text)
	text = strings.ReplaceAll(text, "nabla.Register(", "register(")
	text += `
var (
	code   = map[string]func() nabla.Code{}
	traced = map[string]func(y, x []nabla.Real, p any) int{}
)

func register(f any, g nabla.Generated) {
	code[g.Name], traced[g.Name] = g.New, g.Traced
	nabla.Register(f, g)
}
`
	if err := os.WriteFile(r.Packages[0].Files[0].Name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := [][]string{{"test", "-count=1", "-vet=off", "-ldflags=-w", "-trimpath", "."}}
	if longtest.Long() {
		tests = [][]string{{"vet", "."}, {"test", "."}}
	}
	for _, args := range tests {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s\n%s", args, err, out, text[strings.Index(text, "func init()"):])
		}
	}
}

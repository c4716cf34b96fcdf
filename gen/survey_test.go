package gen_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/current"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// followed is a module whose function depends on other packages, a module in a directory, and one of a proxy.
var followed = map[string]string{
	"go.mod": "module m\n\ngo 1.26.0\n\nrequire (\n\texample.com/near v0.0.0\n\texample.com/far v1.0.0\n)\n\n" +
		"replace example.com/near => ./near\n",
	"m.go": `package m

import (
	"example.com/far"
	"example.com/near"
	"m/k"
)

//nabla:differentiate
func Loss(x []float64) float64 { return far.Scale(k.Square(x[0])) * near.Half(x[1]) }
`,
	"tagged.go": "//go:build tagged\n\npackage m\n\n//nabla:differentiate\n" +
		"func Tagged(x float64) float64 { return 2 * x }\n",
	"k/k.go":        "package k\n\nimport \"m/third\"\n\nfunc Square(x float64) float64 { return third.C * x * x }\n",
	"third/c.go":    "package third\n\nconst C = 3\n",
	"near/go.mod":   "module example.com/near\n\ngo 1.26.0\n",
	"near/near.go":  "package near\n\nfunc Half(x float64) float64 { return x / 2 }\n",
	"near/LICENSE":  "", // that of this module
	"plain/p.go":    "package plain\n\nfunc Plain() int { return 1 }\n",
	"plain/sub.txt": "",
}

// followedModule writes the module and returns its directory and the environment of the go command there, with two
// versions of example.com/far in a proxy.
func followedModule(t *testing.T) (dir string, load lower.LoadOptions) {
	t.Helper()
	dir = t.TempDir()
	permissive := read(t, filepath.Join("..", "LICENSE"))
	for name, text := range followed {
		if name == "near/LICENSE" {
			text = permissive
		}
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	proxy := t.TempDir()
	at := filepath.Join(proxy, "example.com", "far", "@v")
	for version, factor := range map[string]string{"v1.0.0": "2", "v1.1.0": "5"} {
		mod := "module example.com/far\n\ngo 1.26.0\n"
		write(t, filepath.Join(at, version+".mod"), mod)
		write(t, filepath.Join(at, version+".info"), fmt.Sprintf("{%q: %q}", "Version", version))
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range map[string]string{"go.mod": mod, "LICENSE": permissive,
			"far.go": "package far\n\nfunc Scale(x float64) float64 { return " + factor + " * x }\n"} {
			f, err := w.Create("example.com/far@" + version + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(at, version+".zip"), b.String())
	}
	env := append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy),
		"GONOSUMDB=*", "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GOMODCACHE="+t.TempDir())
	return dir, lower.LoadOptions{Env: env, Packages: loaded.Packages}
}

// survey returns a survey.
func survey(t *testing.T, dir string, o gen.Options, patterns ...string) *gen.Survey {
	t.Helper()
	s, err := gen.NewSurvey(dir, patterns, &o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outdated returns the paths of outdated packages.
func outdated(t *testing.T, dir string, o gen.Options, patterns ...string) []string {
	t.Helper()
	paths, all := survey(t, dir, o, patterns...).Outdated(false)
	if paths == nil && all {
		return []string{"all"}
	}
	return paths
}

// refresh generates packages, writes their files, and returns the names of those that changed.
func refresh(t *testing.T, dir string, o gen.Options, patterns ...string) []string {
	t.Helper()
	p, err := survey(t, dir, o, patterns...).Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := r.Write()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range changed {
		changed[i], _ = filepath.Rel(dir, name)
	}
	return changed
}

// TestSurveyFindsChanges changes everything that generated code depends on, and the code. Each change must make the
// package outdated; after a generation it is current again, and the code is that of a generation from nothing.
func TestSurveyFindsChanges(t *testing.T) {
	longtest.Serial(t)
	dir, load := followedModule(t)
	file := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	o := gen.Options{Load: load}
	edit := func(name, old, text string) func() {
		return func() {
			before := read(t, file(name))
			if !strings.Contains(before, old) {
				t.Fatalf("%s has no %q", name, old)
			}
			write(t, file(name), strings.Replace(before, old, text, 1))
		}
	}
	changed := refresh(t, dir, o, "./...")
	if !slices.Equal(changed, []string{"nabla_gen.go", "nabla_gen_licenses.txt"}) {
		t.Fatalf("changed %q", changed)
	}
	if got := outdated(t, dir, o, "./..."); got != nil {
		t.Fatalf("after a generation %q are outdated", got)
	}
	changes := []struct {
		change string
		do     func()
		whole  bool // generates in the usual form too, and compares with a generation from nothing
	}{
		{"the file", edit("m.go", "x[1])", "x[1]) + x[0]"), true},
		{"another package", edit("k/k.go", "* x * x", "* x * x * x"), false},
		{"a constant in a third package", edit("third/c.go", "3", "4"), false},
		{"a module in a directory", edit("near/near.go", "/ 2", "/ 4"), false},
		{"its licence", edit("near/LICENSE", "Copyright (c) 2026", "Copyright (c) 2027"), true},
		{"the version of a module", edit("go.mod", "far v1.0.0", "far v1.1.0"), true},
		{"the language version", edit("go.mod", "go 1.26.0", "go 1.26.1"), false},
		{"an added file", func() { write(t, file("third/d.go"), "package third\n\nvar D = 1\n") }, true},
		{"a file of another build", func() {
			write(t, file("other.go"), "//go:build other\n\npackage m\n\nfunc LossAdjoint() {}\n")
		}, false},
		{"a removed file", func() {
			if err := os.Remove(file("third/d.go")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a build tag", edit("tagged.go", "//go:build tagged", "//go:build tagged || linux || !linux"), false},
		{"generated code", edit("nabla_gen.go", "return", "return /* edited */"), false},
		{"a generated licence", edit("nabla_gen_licenses.txt", "Copyright (c) 2027", "Copyright (c) 2028"), false},
		{"removed code", func() {
			if err := os.Remove(file("nabla_gen.go")); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"code without hashes", edit("nabla_gen.go", current.SumPrefix+"generator", "// generator"), false},
		{"a left-over file", func() { write(t, file("x_nabla.go"), lower.Header+"\n\npackage m\n") }, false},
		{"a left-over SIMD file", func() { write(t, file("nabla_gen_simd.go"), lower.Header+"\n\npackage m\n") },
			false},
	}
	for i, tt := range changes {
		if !longtest.Long() && !tt.whole && i%3 != 0 {
			continue
		}
		before := filesBelow(t, dir)
		tt.do()
		if got := outdated(t, dir, o, "."); len(got) == 0 {
			t.Errorf("%s: nothing is outdated", tt.change)
		}
		if !tt.whole && !longtest.Long() {
			restore(t, dir, before)
			continue
		}
		refresh(t, dir, o, ".")
		if got := outdated(t, dir, o, "."); got != nil {
			t.Errorf("%s: %q are outdated after a generation", tt.change, got)
		}
		p, err := gen.Load(dir, []string{"."}, &o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if stale, err := r.Stale(); err != nil || stale != nil {
			t.Errorf("%s: a generation from nothing gives other files: %q, %v", tt.change, stale, err)
		}
	}
	if got := outdated(t, dir, o, "."); got != nil {
		t.Errorf("%q are outdated after all changes", got)
	}
	sub := edit("plain/p.go", "func Plain", "//nabla:differentiate\nfunc Plain")
	sub()
	if got := outdated(t, dir, o, "./..."); !slices.Equal(got, []string{"m/plain"}) {
		t.Errorf("outdated %q, want m/plain, which has a directive now", got)
	}
}

// filesBelow returns the contents of the files below a directory.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// restore makes the files below a directory those that filesBelow has returned.
func restore(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name := range filesBelow(t, dir) {
		if _, ok := files[name]; !ok {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range files {
		write(t, name, text)
	}
}

// TestSurveyOptions: hashes agree only with the same options, tags and generator.
func TestSurveyOptions(t *testing.T) {
	longtest.Skip(t, "generates with many options")
	dir, load := followedModule(t)
	base := gen.Options{Load: load}
	tagged := base
	tagged.Load.Flags = []string{"-tags=tagged"}
	arm := base
	arm.Load.Env = append(slices.Clip(load.Env), "GOARCH=arm64")
	refresh(t, dir, base, ".")
	text := read(t, filepath.Join(dir, lower.Output))
	for name, o := range map[string]gen.Options{
		"lanes": {Load: load, Lanes: []int{3}}, "simd": {Load: load, SIMD: true}, "test": {Load: load, Test: true},
		"layout": {Load: load, Layout: gen.OnePerSource}, "tags": tagged, "platform": arm,
	} {
		if got := outdated(t, dir, o, "."); len(got) == 0 {
			t.Errorf("%s: the package is not outdated", name)
		}
	}
	if got := outdated(t, dir, gen.Options{Load: load, Layout: gen.OnePerPackage}, "."); got != nil {
		t.Errorf("outdated %q with the layout that it has", got)
	}
	if changed := refresh(t, dir, arm, "."); changed != nil || read(t, filepath.Join(dir, lower.Output)) != text {
		t.Errorf("the same code for another platform changes %q", changed)
	}
	restore := gen.SetGenerator("v9.9.9")
	defer restore()
	if got := outdated(t, dir, base, "."); len(got) == 0 {
		t.Error("code of another generator is not outdated")
	}
	if changed := refresh(t, dir, base, "."); !slices.Equal(changed, []string{lower.Output}) {
		t.Errorf("a released generator changes %q, want its version in the file", changed)
	}
	gen.SetGenerator("0123456789abcdef")
	if got := outdated(t, dir, base, "."); len(got) == 0 {
		t.Error("code of another revision of the generator is not outdated")
	}
	if changed := refresh(t, dir, base, "."); !slices.Equal(changed, []string{lower.Output}) {
		t.Errorf("another revision changes %q, want its hash in the file", changed)
	}
	if got := outdated(t, dir, base, "."); len(got) > 0 {
		t.Errorf("outdated %q after code was generated by another revision", got)
	}
}

// TestSurveyProblems: a package with errors is never current, and one with warnings only if they do not matter.
func TestSurveyProblems(t *testing.T) {
	dir, load := followedModule(t)
	o := gen.Options{Load: load}
	write(t, filepath.Join(dir, "bad.go"), "package m\n\n//nabla:differentiate\n"+
		"func Bad(x map[int]float64) float64 { return wrong }\n")
	refresh(t, dir, o, ".")
	for _, warnings := range []bool{false, true} {
		if paths, _ := survey(t, dir, o, ".").Outdated(warnings); len(paths) == 0 {
			t.Errorf("a package with an error is current, warnings %v", warnings)
		}
	}
	if err := os.Remove(filepath.Join(dir, "bad.go")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "near", "LICENSE"), "Do as you like.\n") // which is a warning
	refresh(t, dir, o, ".")
	for _, warnings := range []bool{false, true} {
		if paths, _ := survey(t, dir, o, ".").Outdated(warnings); (len(paths) == 0) != warnings {
			t.Errorf("with a warning %q are outdated, warnings %v", paths, warnings)
		}
	}
}

// TestSurveyEditWhileLoading: a file that is edited after the survey makes the code outdated, though it is read later.
func TestSurveyEditWhileLoading(t *testing.T) {
	dir, load := followedModule(t)
	o := gen.Options{Load: load}
	refresh(t, dir, o, ".")
	s := survey(t, dir, o, ".")
	p, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "third", "c.go"), "package third\n\nconst C = 8\n")
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	if got := outdated(t, dir, o, "."); len(got) == 0 {
		t.Error("the package is current, though a file was edited while it was generated")
	}
}

// TestRandomEdits makes random edits and compares the code after each with that of a generation from nothing, where
// only packages with hashes that differ are generated.
func TestRandomEdits(t *testing.T) {
	longtest.Serial(t)
	dir, load := followedModule(t)
	o := gen.Options{Load: load}
	r := rand.New(rand.NewPCG(1, 2))
	terms := []string{"x*x", "2 * x", "third.C * x", "x / (1 + x*x)", "x - 1"}
	for i := range longtest.Cases(0, 2, 2, 100) {
		term := terms[r.IntN(len(terms))]
		switch r.IntN(4) {
		case 0:
			write(t, filepath.Join(dir, "k", "k.go"), "package k\n\nimport \"m/third\"\n\nconst c = third.C\n\n"+
				"func Square(x float64) float64 { return "+term+" }\n")
		case 1:
			write(t, filepath.Join(dir, "third", "c.go"), fmt.Sprintf("package third\n\nconst C = %d\n", r.IntN(3)))
		case 2:
			write(t, filepath.Join(dir, "plain", "p.go"), fmt.Sprintf("package plain\n\n//nabla:differentiate\n"+
				"func Plain(x float64) float64 { return %d * x }\n", r.IntN(3)))
		case 3: // nothing
		}
		s := survey(t, dir, o, "./...")
		if paths, all := s.Outdated(false); len(paths) > 0 || all {
			p, err := s.Load(paths...)
			if err != nil {
				t.Fatal(err)
			}
			report, err := p.Generate()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := report.Write(); err != nil {
				t.Fatal(err)
			}
		}
		p, err := gen.Load(dir, []string{"./..."}, &o)
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if stale, err := report.Stale(); err != nil || stale != nil {
			t.Fatalf("edit %d: stale %q, %v", i, stale, err)
		}
	}
}

// TestGeneratedTest: the test that is written passes while the code is current, and names the file that changed.
func TestGeneratedTest(t *testing.T) {
	longtest.Skip(t, "runs the go command many times")
	files := map[string]string{
		"go.mod": "module m\n\ngo 1.26.0\n", "m.go": followed["m.go"], "k/k.go": followed["k/k.go"],
		"third/c.go": followed["third/c.go"],
	}
	files["m.go"] = strings.NewReplacer("\t\"example.com/far\"\n", "", "\t\"example.com/near\"\n", "", "far.Scale", "",
		"near.Half", "").Replace(files["m.go"])
	dir := module(t, files)
	o := gen.Options{Load: loading, Test: true, Layout: gen.OnePerSource}
	if changed := refresh(t, dir, o, "."); !slices.Contains(changed, current.TestFile) {
		t.Fatalf("changed %q", changed)
	}
	o.Test = false // the file is kept up to date
	if got := outdated(t, dir, o, "."); got != nil {
		t.Fatalf("outdated %q", got)
	}
	runTests(t, dir, ".")
	verify := func() string {
		_, table, _ := strings.Cut(read(t, filepath.Join(dir, current.TestFile)), "`\n")
		table, _, _ = strings.Cut(table, "`")
		changes, err := current.Verify(dir, table)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(changes, "; ")
	}
	for _, tt := range []struct{ name, text, want string }{
		{"third/c.go", "package third\n\nconst C = 7\n", "third/c.go has changed"},
		{"third/new.go", "package third\n", "third/new.go has been added"},
		{"third/new.go", "", "third/new.go has been removed"},
		{"m_nabla.go", lower.Header + "\n\npackage m\n", "m_nabla.go has been edited, though it is generated"},
		{"go.mod", strings.Replace(read(t, filepath.Join(dir, "go.mod")), "gonum v0.17.0", "gonum v0.16.0", 1),
			"go.mod: the requirement of gonum.org/v1/gonum has changed"},
	} {
		name := filepath.Join(dir, filepath.FromSlash(tt.name))
		before, _ := os.ReadFile(name)
		if tt.text == "" {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, name, tt.text)
		}
		if got := verify(); got != tt.want {
			t.Errorf("%s: the test says %q, want %q", tt.name, got, tt.want)
		}
		if tt.name == "go.mod" { // the version is not there
			write(t, name, string(before))
		}
		if got := outdated(t, dir, o, "."); tt.name != "go.mod" && len(got) == 0 {
			t.Errorf("%s: the package is not outdated", tt.name)
		}
		refresh(t, dir, o, ".")
		if got := verify(); got != "" {
			t.Errorf("%s: after a generation the test says %q", tt.name, got)
		}
	}
	write(t, filepath.Join(dir, "m.go"), "package m\n")
	if changed := refresh(t, dir, o, "."); !slices.Contains(changed, current.TestFile) {
		t.Errorf("changed %q, want the test to be removed with the code", changed)
	}
	if _, err := os.Stat(filepath.Join(dir, current.TestFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the test is still there: %v", err)
	}
}

// TestSymlinkedOutput writes through symbolic links, also through one whose target does not exist yet.
func TestSymlinkedOutput(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": bootMod, "boot.go": boot, "real/keep.txt": ""})
	name, target := filepath.Join(dir, lower.Output), filepath.Join(dir, "real", "code.txt")
	if err := os.Symlink(filepath.Join("real", "link"), name); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("code.txt", filepath.Join(dir, "real", "link")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if changed, err := generate(t, dir, ".").Write(); err != nil || len(changed) == 0 {
			t.Fatalf("changed %q, %v", changed, err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("the link is gone: %v, %v", info, err)
		}
		if text := read(t, target); !strings.HasPrefix(text, lower.Header) || !strings.Contains(text, "func") {
			t.Errorf("the target has\n%s", text)
		}
		write(t, target, lower.Header+"\n\npackage boot\n")
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("link", target); err != nil {
		t.Fatal(err)
	}
	if _, err := gen.Load(dir, []string{"."}, &gen.Options{Load: loading}); err == nil {
		t.Error("a circle of links is no error")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".nabla_gen_*")); left != nil {
		t.Errorf("temporary files are left: %q", left)
	}
}

// TestWait returns after a change of a followed file, and not after one of a generated file or of another file.
func TestWait(t *testing.T) {
	dir, load := followedModule(t)
	o := gen.Options{Load: load}
	refresh(t, dir, o, ".")
	const interval = 5 * time.Millisecond
	wait := func(s *gen.Survey, long time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		return s.Wait(ctx, interval)
	}
	for name, counts := range map[string]bool{
		"third/c.go": true, "third/new.go": true, "near/near.go": true, "go.mod": true, "m.go": true,
		"nabla_gen.go": false, "x_nabla.go": false, "m_test.go": false, "plain/p.go": false, "notes.txt": false,
	} {
		s := survey(t, dir, o, ".")
		text := "\n"
		if before, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			text = string(before) + text
		} else if name == "x_nabla.go" {
			text = lower.Header + "\n\npackage m\n"
		} else {
			text = "package " + strings.TrimSuffix(filepath.Dir(name), ".") + "\n"
		}
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
		long := 30 * time.Second
		if !counts {
			long = 10 * interval
		}
		if err := wait(s, long); (err == nil) != counts {
			t.Errorf("%s: %v", name, err)
		}
		if counts { // once
			if err := wait(s, 10*interval); err == nil {
				t.Errorf("%s counts twice", name)
			}
		}
	}
}

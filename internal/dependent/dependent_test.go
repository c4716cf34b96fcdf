package dependent_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

const module = "github.com/nabla-ad/nabla"

// flags makes objects independent of the temporary module cache, so that packages in it are compiled once.
const flags = "-modcacherw -trimpath"

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// TestMod requires that a module with the results of Mod can use packages of this one, in the same versions of other
// modules.
func TestMod(t *testing.T) {
	const list = "{{range .Deps}}{{println .}}{{end}}"
	mod, sum := dependent.Mod(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n"+mod)
	write(t, filepath.Join(dir, "go.sum"), sum)
	write(t, filepath.Join(dir, "m.go"), "package m\n\nimport _ \""+module+"\"\n")
	if deps := output(t, dir, dependent.Environ(), "go", "list", "-f", list,
		"."); !strings.Contains(deps, module+"/engine\n") {
		t.Errorf("the module needs\n%s", deps)
	}
	version := func(dir string) string {
		return output(t, dir, dependent.Environ(), "go", "list", "-m", "gonum.org/v1/gonum", "golang.org/x/tools")
	}
	if got, want := version(dir), version("../.."); got != want {
		t.Errorf("the module has %s, want %s", got, want)
	}
}

// emptyCache returns an environment with an empty module cache, and a function that returns the names of the modules in
// it. Modules in the cache of this module are copied, not downloaded.
func emptyCache(t *testing.T) (env []string, modules func() []string) {
	t.Helper()
	cache := t.TempDir()
	old := strings.Fields(output(t, ".", os.Environ(), "go", "env", "GOMODCACHE", "GOPROXY"))
	env = append(os.Environ(), "GOMODCACHE="+cache, "GOFLAGS="+flags, "GOWORK=off",
		"GOPROXY=file://"+filepath.ToSlash(old[0])+"/cache/download,"+old[1])
	return env, func() (all []string) {
		t.Helper()
		root := filepath.Join(cache, "cache", "download")
		err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".zip") {
				path, err := filepath.Rel(root, filepath.Dir(filepath.Dir(name)))
				all = append(all, filepath.ToSlash(path))
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// TestDownloads requires that a module that imports every public package but gonumopt, for which gonum/optimize needs
// another module, and the conformance kit in its test, downloads only gonum, and that the command as a tool downloads
// only its own requirements.
func TestDownloads(t *testing.T) {
	longtest.Skip(t, "downloads modules")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var imports, names strings.Builder
	for path := range strings.Lines(output(t, root, os.Environ(), "go", "list", "-f",
		`{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")) {
		path = strings.TrimSpace(path)
		in, _ := strings.CutPrefix(path, module+"/")
		generator := in == "gen" ||
			strings.HasPrefix(in, "gen/") && !strings.HasPrefix(in, "gen/rt") && !strings.HasPrefix(in, "gen/library")
		if path != "" && !generator && !strings.Contains(path, "internal") && !strings.Contains(path, "testdata") &&
			in != "difftest" && in != "optim/gonumopt" {
			imports.WriteString("import _ \"" + path + "\"\n")
			names.WriteString(in + " ")
		}
	}
	if n := strings.Count(imports.String(), "\n"); n < 15 {
		t.Fatalf("only %d packages: %s", n, names.String())
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m.go"), "package m\n\n"+imports.String())
	write(t, filepath.Join(dir, "m_test.go"), `package m

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
)

func TestConformance(t *testing.T) { difftest.Run(t, reversediff.Backend{}, nil) }
`)
	env, modules := emptyCache(t)
	for _, args := range [][]string{
		{"mod", "init", "m"}, {"mod", "edit", "-require", module + "@v0.0.0", "-replace", module + "=" + root},
		{"mod", "tidy"}, {"vet", "."},
	} {
		output(t, dir, env, "go", args...)
	}
	if got := modules(); !slices.Equal(got, []string{"gonum.org/v1/gonum"}) {
		t.Errorf("a module that uses nabla downloads %v", got)
	}
	output(t, dir, env, "go", "mod", "edit", "-tool", module+"/cmd/nabla")
	output(t, dir, append(env, "GOFLAGS="+flags+" -mod=mod"), "go", "build", "-o", os.DevNull, module+"/cmd/nabla")
	want := []string{
		"github.com/google/licensecheck", "github.com/mitchellh/colorstring", "github.com/rivo/uniseg",
		"github.com/schollz/progressbar/v3",
		"github.com/urfave/cli/v3",
		"golang.org/x/mod", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/tools",
		"gonum.org/v1/gonum",
	}
	if got := modules(); !slices.Equal(got, want) {
		t.Errorf("the command downloads\n%v, want\n%v", got, want)
	}
}

// TestUnpublished runs the commands that README gives for unpublished versions, in an empty directory, and those after
// them.
func TestUnpublished(t *testing.T) {
	longtest.Skip(t, "downloads modules")
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a shell")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code, rest := block(t, string(text), "go")
	want, rest := block(t, rest, "text")
	published, rest := block(t, rest, "sh")
	unpublished, _ := block(t, rest, "sh")
	const begin = "go mod init example.com/wave\n"
	const get = "go get -tool github.com/nabla-ad/nabla/cmd/nabla\n"
	if !strings.HasPrefix(published, begin+get) || !strings.Contains(unpublished, "-replace") {
		t.Fatalf("the lines are\n%sand\n%s", published, unpublished)
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "nabla")); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "wave")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "wave.go"), code)
	env, _ := emptyCache(t)
	output(t, dir, env, "sh", "-e", "-c", begin)
	output(t, dir, env, "sh", "-e", "-c", unpublished)
	out := output(t, dir, env, "sh", "-e", "-c", strings.TrimPrefix(published, begin+get))
	if !strings.HasPrefix(out, want) || !strings.Contains(out, "func Wave(x []float64) float64 {") {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// block returns the first code block of the given language in text, and the text after it.
func block(t *testing.T, text, language string) (code, rest string) {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n```"+language+"\n")
	code, rest, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("no more code in %s", language)
	}
	return code, rest
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/dependent"
)

// costs is a module with the programs of the corpus, whose functions that are differentiated have a directive for all
// derivatives.
type costs struct {
	dir, nabla string
	lines      int
}

// newCosts writes packages of the corpus, or all of them. Functions that are refused lose their directive.
func newCosts(b *testing.B, packages ...string) *costs {
	b.Helper()
	c := &costs{dir: b.TempDir(), nabla: filepath.Join(b.TempDir(), "nabla")}
	if out, err := exec.Command("go", "build", "-o", c.nabla, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	mod, sum := dependent.Mod(b)
	c.write(b, "go.mod", "module cost\n\ngo 1.26\n"+mod)
	c.write(b, "go.sum", sum)
	from := filepath.Join("..", "..", "corpus", "programs")
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" {
			return err
		}
		rel, err := filepath.Rel(from, name)
		wanted := len(packages) == 0
		for _, p := range packages {
			wanted = wanted || filepath.Dir(rel) == p
		}
		if err != nil || !wanted {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil {
			c.lines += bytes.Count(text, []byte("\n"))
			c.write(b, rel, marks.ReplaceAllString(string(text), "//nabla:differentiate\n"))
		}
		return err
	})
	if err != nil || c.lines == 0 {
		b.Fatal(c.lines, err)
	}
	refused := regexp.MustCompile(`(?m)^(\S+\.go):\d+:\d+: function (?:\w+, which )?(\w+?)(?: calls)?:`)
	out, _ := c.command("gen", "./...").CombinedOutput()
	for _, m := range refused.FindAllStringSubmatch(string(out), -1) {
		text := c.read(b, m[1])
		of := regexp.MustCompile(`//nabla:differentiate\n(func (?:\([^)]*\) )?` + m[2] + `\b)`)
		c.write(b, m[1], of.ReplaceAllString(text, "$1"))
	}
	if out, err := c.command("gen", "./...").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return c
}

// marks are the comments of a function of the corpus that say where it is differentiated.
var marks = regexp.MustCompile(`(?m)(?:^//corpus:at.*\n)+`)

func (c *costs) write(b *testing.B, name, text string) {
	b.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
}

func (c *costs) read(b *testing.B, name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func (c *costs) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.nabla, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	return cmd
}

// measure runs the command once for each iteration, after before, and reports its processor time, that of the go
// commands it runs included.
func (c *costs) measure(b *testing.B, before func(i int), args ...string) {
	var cpu time.Duration
	i := 0
	for b.Loop() {
		b.StopTimer()
		before(i)
		i++
		cmd := c.command(args...)
		b.StartTimer()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		reportMemory(b, cmd.ProcessState)
	}
	b.ReportMetric(cpu.Seconds()/float64(i), "cpu-s/op")
	b.ReportMetric(float64(c.lines), "lines")
}

// BenchmarkGenFromNothing generates all derivatives of the programs of the corpus.
func BenchmarkGenFromNothing(b *testing.B) {
	c := newCosts(b)
	c.measure(b, func(int) {
		err := filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && (strings.HasSuffix(name, "_nabla.go") || d.Name() == "nabla_gen.go") {
				err = os.Remove(name)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}, "gen", "./...")
}

// BenchmarkGenCheck checks that they are current.
func BenchmarkGenCheck(b *testing.B) {
	c := newCosts(b)
	c.measure(b, func(int) {}, "gen", "-check", "./...")
}

// BenchmarkGenEdit generates after an edit of one function in a thousand lines, in one file.
func BenchmarkGenEdit(b *testing.B) {
	c := newCosts(b, "finance", "physics", "statistics", "signal")
	const file, line = "physics/physics.go", "den := 2*m1 + m2 - "
	text := c.read(b, file)
	if strings.Count(text, line) != 1 {
		b.Fatalf("%s has not one line %q", file, line)
	}
	c.measure(b, func(i int) {
		c.write(b, file, strings.Replace(text, line, fmt.Sprintf("den := %d + 2*m1 + m2 - ", i), 1))
	}, "gen", "./...")
}

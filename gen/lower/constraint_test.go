package lower

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNameConstraint compares the constraint of a file name with the decision of package go/build
// about the file, for many systems.
func TestNameConstraint(t *testing.T) {
	words := []string{"linux", "windows", "android", "amd64", "arm64", "wasm", "js", "unix", "file", "", "test",
		"gen-linux"}
	names := []string{"linux.go", "amd64.go", "nabla_gen.go", "a_linux.pb.go", "a.b_linux.go"}
	for _, a := range words {
		names = append(names, "x_"+a+".go", a+"_x.go")
		for _, b := range words {
			names = append(names, "x_"+a+"_"+b+".go", "x_y_"+a+"_"+b+".go", "x_"+a+"_"+b+"_test.go", a+"_"+b+".go")
		}
	}
	systems := []struct{ system, arch string }{
		{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"android", "arm64"}, {"js", "wasm"},
		{"darwin", "arm64"},
	}
	for _, name := range names {
		if name[0] == '_' {
			continue // Go never reads it
		}
		x := nameConstraint(name)
		for _, s := range systems {
			c := build.Context{GOOS: s.system, GOARCH: s.arch, Compiler: "gc",
				OpenFile: func(string) (io.ReadCloser, error) {
					return io.NopCloser(strings.NewReader("package p\n")), nil
				}}
			want, err := c.MatchFile(".", name)
			if err != nil {
				t.Fatal(err)
			}
			got := x == nil || x.Eval(func(tag string) bool {
				return tag == s.system || tag == s.arch || tag == "linux" && s.system == "android"
			})
			if got != want {
				t.Errorf("%s for %s/%s: %v is %t, want %t", name, s.system, s.arch, x, got, want)
			}
		}
	}
}

// TestConjunction compares conjunctions with their operands under all assignments of tags.
func TestConjunction(t *testing.T) {
	atoms := []string{"a", "!b", "go1.21", "!go1.20", "go1.99", "a || c", "b || go1.5", "!(a && go1.7)", "a && !c",
		"(a || go1.99) && go1.18", "!(b || c)"}
	seen := map[string][]bool{}
	for i := range atoms {
		for j := range atoms {
			for k := range atoms {
				texts := []string{atoms[i], atoms[j], atoms[k]}
				var list []constraint.Expr
				for _, text := range texts {
					x, err := constraint.Parse("//go:build " + text)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, x)
				}
				if i == j && j == k {
					list = append(list, nil)
				}
				got := conjunction(list...)
				if again := conjunction(list[2], list[1], list[0]); got != again {
					t.Fatalf("%q is %s, and the other way round %s", texts, got, again)
				}
				var truth []bool
				impossible := false
				for m := range 16 {
					has := func(tag string) bool {
						if n, ok := strings.CutPrefix(tag, "go1."); ok {
							minor, _ := strconv.Atoi(n)
							return minor <= 26 || m&8 != 0
						}
						return m&(1<<(tag[0]-'a')) != 0
					}
					want := true
					for _, x := range list {
						if x != nil {
							want = want && x.Eval(has)
							impossible = impossible || texts[0] == "!go1.20" || texts[1] == "!go1.20" ||
								texts[2] == "!go1.20"
						}
					}
					truth = append(truth, want)
					if impossible || got == "" {
						if got == "" && !want && !impossible {
							t.Fatalf("%q has no constraint", texts)
						}
						continue // no such file is ever compiled
					}
					x, err := constraint.Parse("//go:build " + got)
					if err != nil {
						t.Fatalf("%q is %s: %v", texts, got, err)
					}
					if x.Eval(has) != want {
						t.Fatalf("%q is %s", texts, got)
					}
				}
				if regexp.MustCompile(`go1\.(\d|1\d|2[0-6])\b`).MatchString(got) {
					t.Fatalf("%q is %s", texts, got)
				}
				seen[got] = truth
			}
		}
	}
	files := map[string]string{}
	for text := range seen {
		f := OutputFor(text)
		for what, s := range map[string]string{"name": f.Name, "suffix": f.Suffix} {
			if other, ok := files[what+strings.ToLower(s)]; ok {
				t.Errorf("%q and %q have one %s, %s", text, other, what, s)
			}
			files[what+strings.ToLower(s)] = text
		}
		if !isOutputName(f.Name) || !isOutputName(SIMDFileName(f.Name)) || nameConstraint(f.Name) != nil ||
			nameConstraint(SIMDFileName(f.Name)) != nil {
			t.Errorf("%q has the file %s", text, f.Name)
		}
		for _, source := range []string{"a.go", "linux.go", "a_simd.go", "a.pb.go", "nabla.go", "a_nabla.go"} {
			name := f.For(source)
			if other, ok := files["name"+strings.ToLower(name)]; ok {
				t.Errorf("%q of %q has the name %s as %q has", source, text, name, other)
			}
			files["name"+strings.ToLower(name)] = text
			if !isSourceOutputName(name) || !isOutputName(name) || nameConstraint(name) != nil {
				t.Errorf("%q of %q has the file %s", source, text, name)
			}
		}
	}
	for _, name := range []string{"_nabla.go", "nabla.go", "a_nabla", "a_nablas.go", "a-nabla.go"} {
		if isSourceOutputName(name) {
			t.Errorf("%s is taken for the name of a generated file", name)
		}
	}
	for text, want := range map[string]string{"": "a_nabla.go", "!race": "a_nabla-not-race.go"} {
		if got := OutputFor(text).For("a.go"); got != want {
			t.Errorf("%q has the file %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "nabla_gen.go", "linux": "nabla_gen-linux.go", "!race && unix": "nabla_gen-not-race-unix.go",
		"goexperiment.simd": "nabla_gen-goexperiment.simd.go",
	} {
		if f := OutputFor(text); f.Name != want {
			t.Errorf("%q has the file %s, want %s", text, f.Name, want)
		}
	}
}

// TestHeaderConstraint reads comments above package clauses.
func TestHeaderConstraint(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"package p\n", ""},
		{"//go:build a\n\npackage p\n", "a"},
		{"//go:build a\npackage p\n", "a"},
		{"// Copyright.\n\n//go:build a || b\n// +build c\n\n// Package p.\npackage p\n", "a || b"},
		{"// +build a\n\npackage p\n", "a"},
		{"// +build a b\n// +build !c,d\n\npackage p\n", "!c && (a || b) && d"},
		{"// +build a\npackage p\n", ""},
		{"package p\n\n//go:build a\n", ""},
		{"/*\n//go:build a\n*/\n\npackage p\n", ""},
	} {
		p, f := parsed(t, tt.text)
		if got := conjunction(p.fileConstraint(f)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestOldestGo compares the version that is taken for granted with that of the module.
func TestOldestGo(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\ngo 1.%d", oldestGo); !strings.Contains(string(text), want) {
		t.Errorf("go.mod does not say %s", want)
	}
}

func parsed(t *testing.T, text string) (*Program, *ast.File) {
	t.Helper()
	p := &Program{fset: token.NewFileSet()}
	f, err := parser.ParseFile(p.fset, "file.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return p, f
}

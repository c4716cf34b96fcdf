package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/corpus/check"
	"github.com/nabla-ad/nabla/gen"
)

// secondOrder begins the reasons of refusals that leave first derivatives.
const secondOrder = "second order: "

// suffixes are those of the derivatives that a function must have.
var suffixes = []string{"Tangent", "Adjoint", "AdjointTangent"}

// differentiate finds the outcomes of the functions.
func differentiate(list []*function, keep bool) error {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println(dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if err := module(dir); err != nil {
		return err
	}
	crashing := map[*function]bool{}
	if err := crashers(dir, list, crashing); err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f *function) bool { return crashing[f] })
	if len(crashing) > 0 {
		if err := generate(dir, list); err != nil {
			return err
		}
	}
	var tested []*function
	for _, f := range list {
		f.judge()
		if f.outcome == untested {
			tested = append(tested, f)
		}
	}
	return test(dir, tested)
}

// module makes dir a copy of this module without packages of functions.
func module(dir string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	mod = regexp.MustCompile(`=> \.\./?\n`).ReplaceAll(mod, []byte("=> "+filepath.Dir(here)+"\n"))
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	text, err := os.ReadFile("check/check.go")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"go.mod": mod, "go.sum": sum, "check/check.go": text} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// crashers generates the derivatives of list in dir. If nabla gen crashes or hangs, it divides the list until it has
// found the functions that are the cause, sets their outcomes and adds them to found.
func crashers(dir string, list []*function, found map[*function]bool) error {
	err := generate(dir, list)
	var crash *crashError
	switch {
	case !errors.As(err, &crash):
		return err
	case len(list) == 1:
		list[0].outcome, list[0].why = wrong, "nabla gen "+crash.text
		found[list[0]] = true
		return nil
	}
	for _, half := range [][]*function{list[:len(list)/2], list[len(list)/2:]} {
		if err := crashers(dir, half, found); err != nil {
			return err
		}
	}
	return nil
}

type crashError struct{ text string }

func (e *crashError) Error() string { return e.text }

// A generated holds the report of nabla gen on a package.
type generated struct {
	Path       string
	Functions  []string
	Refusals   []refusal
	Warnings   []refusal
	Signatures map[string]signature // of the functions
}

// generate generates the derivatives of list in dir and reads the reports of nabla gen, in another process, since it
// may crash.
func generate(dir string, list []*function) error {
	for _, part := range []string{"libraries", "programs"} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			return err
		}
	}
	packages := map[string][]*function{}
	for _, f := range list {
		packages[f.dir] = append(packages[f.dir], f)
	}
	args := []string{"-generate", dir}
	for name, fs := range packages {
		if err := copyTo(dir, fs); err != nil {
			return err
		}
		args = append(args, "./"+name)
	}
	slices.Sort(args[2:])
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Duration(len(list))*5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := "crashes: " + firstLine(errs.String())
		if ctx.Err() != nil {
			text = "does not end"
		}
		if strings.HasPrefix(errs.String(), "corpus:") {
			return errors.New(errs.String())
		}
		return &crashError{text}
	}
	var reports []generated
	if err := json.Unmarshal(out.Bytes(), &reports); err != nil {
		return err
	}
	for _, r := range reports {
		_, dir, _ := strings.Cut(r.Path, "/corpus/")
		for _, f := range packages[dir] {
			f.generated, f.refusals, f.warnings, f.signatures = map[string]bool{}, nil, nil, r.Signatures
			for _, s := range suffixes {
				f.generated[s] = slices.Contains(r.Functions, f.ident+s)
			}
			mine := func(p refusal) bool {
				return p.Func == f.ident || strings.HasSuffix(p.Func, ", which "+f.ident+" calls")
			}
			for _, p := range r.Refusals {
				if mine(p) {
					f.refusals = append(f.refusals, p)
				}
			}
			for _, p := range r.Warnings {
				if mine(p) {
					f.warnings = append(f.warnings, p)
				}
			}
		}
	}
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// generateHere generates derivatives in the packages of the module in dir and prints the reports.
func generateHere(dir string, packages []string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
	p, err := gen.Load(dir, packages, nil)
	if err != nil {
		fail(err)
	}
	report, err := p.Generate()
	if err != nil {
		fail(err)
	}
	if _, err := report.Write(); err != nil {
		fail(err)
	}
	var out []generated
	for _, pkg := range report.Packages {
		g := generated{Path: pkg.Path, Signatures: map[string]signature{}}
		for _, file := range pkg.Files {
			if err := read(g.Signatures, file.Text); err != nil {
				fail(err)
			}
		}
		for _, f := range pkg.Functions {
			g.Functions = append(g.Functions, f.Name)
		}
		for _, p := range pkg.Problems {
			if p.Func == "" {
				fail(p)
			}
			reason := p.Reason
			if p.Severity == gen.Note { // first derivatives are generated
				if strings.HasPrefix(reason, "no traced form") {
					continue
				}
				reason = secondOrder + reason
			}
			pos := strings.TrimPrefix(p.Pos.String(), dir+string(filepath.Separator))
			if p.Severity == gen.Warning && strings.Contains(reason, "by comparisons alone") {
				g.Warnings = append(g.Warnings, refusal{pos, p.Func, reason, p.Remedy})
				continue
			}
			g.Refusals = append(g.Refusals, refusal{pos, p.Func, reason, p.Remedy})
		}
		out = append(out, g)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		fail(err)
	}
}

// A signature lists the parameters and results of a generated function.
type signature struct{ Params, Results []variable }

// A variable is a parameter or result.
type variable struct{ Name, Zero string }

// read adds the signatures of the derivatives in a generated file.
func read(of map[string]signature, text []byte) error {
	if text == nil {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	list := func(fields *ast.FieldList) (list []variable) {
		if fields == nil {
			return nil
		}
		for _, p := range fields.List {
			zero := "nil"
			if _, ok := p.Type.(*ast.Ident); ok {
				zero = "0"
			}
			for _, name := range p.Names {
				list = append(list, variable{name.Name, zero})
			}
		}
		return list
	}
	for _, d := range file.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok && decl.Recv == nil {
			of[decl.Name.Name] = signature{list(decl.Type.Params), list(decl.Type.Results)}
		}
	}
	return nil
}

// judge sets the outcome if derivatives are missing.
func (f *function) judge() {
	missing := slices.IndexFunc(suffixes, func(s string) bool { return !f.generated[s] })
	note := func(r refusal) bool { return strings.HasPrefix(r.Reason, secondOrder) }
	if !f.generated["Tangent"] || !f.generated["Adjoint"] {
		f.refusals = slices.DeleteFunc(f.refusals, note)
	}
	switch {
	case missing < 0:
		return
	case len(f.refusals) == 0:
		f.outcome, f.why = wrong, "nabla gen gives no reason why there is no "+f.ident+suffixes[missing]
	default:
		f.outcome = refused
		for _, r := range f.refusals {
			if strings.Contains(r.Reason, "internal error") || strings.Contains(r.Reason, "does not compile") {
				f.outcome, f.why = wrong, r.Reason
				return
			}
		}
	}
}

// test builds a program that compares the derivatives with differences, and runs it.
func test(dir string, list []*function) error {
	list, err := build(dir, list)
	if err != nil {
		return err
	}
	for len(list) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Duration(len(list))*2*time.Second)
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "driver"), list[0].name())
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		cancel()
		d := json.NewDecoder(&out)
		for d.More() {
			var r check.Result
			if d.Decode(&r) != nil {
				break
			}
			list[0].result(r)
			list = list[1:]
		}
		if len(list) > 0 {
			list[0].outcome = wrong
			list[0].why = fmt.Sprintf("the derivatives end the program: %v: %s", err, firstLine(errs.String()))
			list = list[1:]
		}
	}
	return nil
}

// result sets the outcome from that of the comparison.
func (f *function) result(r check.Result) {
	switch {
	case r.Wrong != "" && len(f.warnings) > 0:
		f.outcome, f.why = warned, r.Wrong
	case r.Wrong != "":
		f.outcome, f.why = wrong, r.Wrong
	case r.Unclear != "":
		f.outcome, f.why = unclear, r.Unclear
	default:
		f.outcome, f.why = right, fmt.Sprintf("error %.1e", r.Error)
	}
}

// build builds the driver. Packages that do not compile are left out; it returns the functions of the others.
func build(dir string, list []*function) ([]*function, error) {
	for len(list) > 0 {
		if err := writeDriver(dir, list); err != nil {
			return nil, err
		}
		cmd := exec.Command("go", "build", "-trimpath", "-mod=mod", "-o", "driver", "./driver_main")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			return list, nil
		}
		bad := false
		rest := slices.DeleteFunc(slices.Clone(list), func(f *function) bool {
			i := strings.Index(string(out), f.dir+"/nabla_gen")
			if i < 0 {
				return false
			}
			f.outcome, f.why, bad = wrong, "does not compile: "+firstLine(string(out)[i:]), true
			return true
		})
		if !bad {
			return nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
		list = rest
	}
	return nil, nil
}

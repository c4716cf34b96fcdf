package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/spelling"
)

func (a *app) gen() *cli.Command {
	return &cli.Command{
		Name:      "gen",
		Usage:     "write the derivatives of plain Go functions as Go functions",
		ArgsUsage: "[packages]",
		Description: `Generates derivatives for each of the packages, by default that of the
current directory, into the file nabla_gen.go: of the functions with the comment

  //nabla:differentiate

and of those over float64 that the package passes to an operator of nabla: of these
what the operators need. //nabla:differentiate gradient asks for what gradients need,
and so with the other operators. Functions of the types that operators accept are registered, so that the engines of package
backend/source find their derivatives. A file is only written if it changes, and
removed if nothing is left to differentiate. The package may call generated functions
before the first run.

With -layout source the derivatives of the functions that loss.go declares are in
loss_nabla.go, and nabla_gen.go has the types and functions that several such files
share, if there are any. Runs without the flag keep the layout of a package, and
-layout package puts everything into one file again; files that are left over are
removed, and -check names them.

With -simd there are more files: nabla_gen_vector.go and nabla_gen_vector.s have
derivatives with loops in assembly, which are used if the processor is an amd64 with AVX;
and nabla_gen_simd.go has SIMD variants of functions for four directions or four seeds,
which are used if the package is built with GOEXPERIMENT=simd and the processor has AVX2.
The files are kept up to date without the flag, until they are removed.

The files record hashes of the sources. A package whose hashes agree is not loaded, and
-check takes a fraction of a second; if they differ, the code is generated and compared.
Hashes alone make no file out of date for -check. -test adds a test that compares them,
in nabla_gen_test.go, and fails in go test if a source file has changed since. -w keeps
the code up to date while files are edited.

If a function depends on files with build constraints, its derivatives are in a file
with these constraints, such as nabla_gen-linux.go. Run the command for each build,
with -tags or GOOS and GOARCH; files of other builds are not changed.

Function literals and method values that are passed to operators get no code. The warning
has a declared function that does the same, with a struct for the captured variables; with
-fix the source is changed to that first.

Above a function that differentiated functions call,

  //nabla:rule tangent=F pullback=G

names its handwritten derivatives F and G, and //nabla:passive states that it has none.
Rules for functions of other packages are in tables of type nabla.Rules, which apply in the
packages that import them; -v lists those that are used. Above a function,

  //nabla:norule example.com/special.Erfcx

has the source of special.Erfcx differentiated in it, whatever rules there are.

A function that cannot be differentiated is reported as

  file:line:col: function F: reason; remedy

and makes the exit code 1 if it has the comment; if it is only passed to an operator,
that is a warning. Errors at run time have the same text. In another module, with
"tool github.com/nabla-ad/nabla/cmd/nabla" in its go.mod:

  go tool nabla gen ./...
  //go:generate go tool nabla gen`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check",
				Usage: "write nothing; name the files that are not up to date, exit code 1 if there are any"},
			&cli.BoolFlag{Name: "fix",
				Usage: "before, rewrite function literals and method values passed to operators as declared functions"},
			&cli.StringFlag{Name: "explain",
				Usage: "print the source of `FUNC` with the variables that carry derivatives, and write nothing"},
			&cli.StringFlag{Name: "dump",
				Usage: "print a function after a stage, `STAGE:FUNC`, and write nothing; stages: lowered, " +
					"complete, normal, tangent, …"},
			&cli.StringFlag{Name: "lanes",
				Usage: "also derivatives for several directions or several seeds at once, `N,...` of them"},
			&cli.BoolFlag{Name: "simd",
				Usage: "also loops in assembly, and SIMD variants; existing files are kept up to date anyway"},
			&cli.StringFlag{Name: "layout",
				Usage: "files of the generated code, `LAYOUT`: package for one, nabla_gen.go; source for one beside " +
					"each source file, such as loss_nabla.go for loss.go; default: the present layout"},
			&cli.StringFlag{Name: "tags", Usage: "build with `TAGS`, separated by commas, as go build -tags does"},
			&cli.BoolFlag{Name: "test",
				Usage: "also nabla_gen_test.go, with a test that fails if the code is out of date; an existing " +
					"one is kept up to date anyway"},
			&cli.BoolFlag{Name: "w", Usage: "generate again whenever source files change, until interrupted"},
			&cli.BoolFlag{Name: "v",
				Usage: "print the generated functions, and derivatives that are missing; hashes do not count"},
			&cli.BoolFlag{Name: "time",
				Usage: "print the time of each stage, the processor time and the peak of memory"},
		},
		Action: a.runGen,
	}
}

// genOptions are options of every run. Tests share the packages that they load.
var genOptions gen.Options

func (a *app) runGen(ctx context.Context, c *cli.Command) error {
	patterns := c.Args().Slice()
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	modes := 0
	for _, name := range []string{"check", "explain", "dump"} {
		if c.IsSet(name) {
			modes++
		}
	}
	if modes > 1 {
		return usagef("gen: want one of -check, -explain and -dump")
	}
	for _, name := range []string{"fix", "w"} {
		if modes > 0 && c.Bool(name) {
			return usagef("gen: -%s writes files; it cannot be used with -check, -explain and -dump", name)
		}
	}
	stage, function, found := strings.Cut(c.String("dump"), ":")
	if c.IsSet("dump") && (!found || stage == "" || function == "") {
		meant := ""
		if near := spelling.Nearest(stage, gen.Stages()); near != "" && near != stage {
			meant = fmt.Sprintf("; did you mean %s? stages: %s", near, strings.Join(gen.Stages(), ", "))
		}
		return usagef("gen: -dump %q: want STAGE:FUNC, such as lowered:Loss%s", c.String("dump"), meant)
	}
	lanes, err := parseLanes(c)
	if err != nil {
		return err
	}
	layout, ok := layouts[c.String("layout")]
	if !ok || c.IsSet("layout") && layout == gen.KeepLayout {
		return unknown("gen", "layout", c.String("layout"), layoutNames())
	}
	opts := genOptions
	opts.Lanes, opts.SIMD, opts.Test, opts.Layout = lanes, c.Bool("simd"), c.Bool("test"), layout
	if c.IsSet("tags") {
		opts.Load.Flags = []string{"-tags=" + c.String("tags")}
	}
	// Most of the memory lives until the end. More than this saves little time, and takes a gigabyte for large modules.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(250))
	}
	run := &generation{a, patterns, &opts, c.Bool("check"), c.Bool("v"), c.Bool("time")}
	switch {
	case c.Bool("w"):
		return run.watch(ctx)
	case c.Bool("fix"):
		if err := run.fix(); err != nil {
			return fmt.Errorf("gen: %w", err)
		}
	}
	if modes == 0 || c.Bool("check") {
		return run.once()
	}
	p, err := gen.Load(".", patterns, &opts)
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	if c.IsSet("explain") {
		err = p.Explain(a.out, c.String("explain"))
	} else {
		err = p.Dump(a.out, stage, function)
	}
	var refused *gen.Problem
	switch {
	case errors.As(err, &refused):
		fmt.Fprintln(a.err, err)
		return &exitError{code: exitWrong}
	case err != nil:
		return fmt.Errorf("gen: %w", err)
	}
	return nil
}

// fix rewrites the functions that get no code, and prints the names of the changed files.
func (g *generation) fix() error {
	p, err := gen.Load(".", g.patterns, g.opts)
	if err != nil {
		return err
	}
	files, err := p.Fix()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(name, files[name], 0o666); err != nil {
			return err
		}
		fmt.Fprintf(g.out, "%s: rewritten\n", shorter(name))
	}
	return nil
}

// layouts maps the values of the flag -layout to layouts. The value of a flag that is not given is empty.
var layouts = map[string]gen.Layout{
	"": gen.KeepLayout, "package": gen.OnePerPackage, "source": gen.OnePerSource,
}

// layoutNames returns the values of the flag -layout.
func layoutNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(layouts)), func(name string) bool { return name == "" })
}

// parseLanes parses the flag -lanes.
func parseLanes(c *cli.Command) (lanes []int, err error) {
	if !c.IsSet("lanes") {
		return nil, nil
	}
	for _, text := range strings.Split(c.String("lanes"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > gen.MostLanes {
			return nil, usagef("gen: -lanes %q: want numbers from 1 to %d", text, gen.MostLanes)
		}
		lanes = append(lanes, n)
	}
	return lanes, nil
}

// done returns the verb for the change that was made to a file: it exists, or it was removed.
func done(name string) string {
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return "removed"
	}
	return "written"
}

// shorter returns the name of a file relative to the current directory, if that is shorter.
func shorter(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(dir, name); err == nil && len(rel) < len(name) {
		return rel
	}
	return name
}

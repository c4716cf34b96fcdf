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

and of those over float64 that the package passes to an operator of nabla. Functions
of the types that operators accept are registered, so that the engines of package
backend/source find their derivatives. A file is only written if it changes, and
removed if nothing is left to differentiate. The package may call generated functions
before the first run.

With -layout source the derivatives of the functions that loss.go declares are in
loss_nabla.go, and nabla_gen.go has the types and functions that several such files
share, if there are any. Runs without the flag keep the layout of a package, and
-layout package puts everything into one file again; files that are left over are
removed, and -check names them.

With -simd there is one more file, nabla_gen_simd.go, with SIMD variants of functions
for four directions or four seeds. They are used if the package is built with
GOEXPERIMENT=simd for amd64 and the processor has AVX2. The file is kept up to date
without the flag, until it is removed.

If a function depends on files with build constraints, its derivatives are in a file
with these constraints, such as nabla_gen-linux.go. Run the command for each build,
with -tags or GOOS and GOARCH; files of other builds are not changed.

Function literals and method values that are passed to operators get no code. The warning
has a declared function that does the same, with a struct for the captured variables; with
-fix the source is changed to that first.

Above a function that differentiated functions call,

  //nabla:rule tangent=F pullback=G

names its handwritten derivatives F and G, and //nabla:passive states that it has none.

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
				Usage: "also nabla_gen_simd.go, with SIMD variants; an existing one is kept up to date anyway"},
			&cli.StringFlag{Name: "layout",
				Usage: "files of the generated code, `LAYOUT`: package for one, nabla_gen.go; source for one beside " +
					"each source file, such as loss_nabla.go for loss.go; default: the present layout"},
			&cli.StringFlag{Name: "tags", Usage: "build with `TAGS`, separated by commas, as go build -tags does"},
			&cli.BoolFlag{Name: "v", Usage: "print the generated functions, and derivatives that are missing"},
		},
		Action: a.runGen,
	}
}

// genOptions are options of every run. Tests share the packages that they load.
var genOptions gen.Options

func (a *app) runGen(_ context.Context, c *cli.Command) error {
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
	if modes > 0 && c.Bool("fix") {
		return usagef("gen: -fix writes files; it cannot be used with -check, -explain and -dump")
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
	opts.Lanes, opts.SIMD, opts.Layout = lanes, c.Bool("simd"), layout
	if c.IsSet("tags") {
		opts.Load.Flags = []string{"-tags=" + c.String("tags")}
	}
	// The process ends soon, and nearly all that it allocates lives as long.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	p, err := gen.Load(".", patterns, &opts)
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	if c.Bool("fix") {
		if p, err = a.fix(p, patterns, &opts); err != nil {
			return fmt.Errorf("gen: %w", err)
		}
	}
	switch {
	case c.IsSet("explain"):
		err = p.Explain(a.out, c.String("explain"))
	case c.IsSet("dump"):
		err = p.Dump(a.out, stage, function)
	default:
		return a.generate(p, c.Bool("check"), c.Bool("v"))
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

// fix rewrites the functions that get no code, prints the names of the changed files and loads the packages again.
func (a *app) fix(p *gen.Program, patterns []string, opts *gen.Options) (*gen.Program, error) {
	files, err := p.Fix()
	if err != nil || len(files) == 0 {
		return p, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(name, files[name], 0o666); err != nil {
			return nil, err
		}
		fmt.Fprintf(a.out, "%s: rewritten\n", shorter(name))
	}
	return gen.Load(".", patterns, opts)
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

// generate writes or checks the files. Problems are printed to standard error, one per line, in a form that editors
// parse.
func (a *app) generate(p *gen.Program, check, verbose bool) error {
	report, err := p.Generate()
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	failed := false
	rewrites := map[*gen.Problem]string{}
	for _, pkg := range report.Packages {
		maps.Copy(rewrites, pkg.Rewrites)
	}
	for _, problem := range report.Problems() {
		failed = failed || problem.Severity == gen.Error
		if problem.Severity > gen.Note || verbose {
			q := *problem
			q.Pos.Filename = shorter(q.Pos.Filename)
			fmt.Fprintln(a.err, q.Error())
			if text := strings.TrimSpace(rewrites[problem]); text != "" {
				text = strings.ReplaceAll(text, "\n", "\n\t")
				fmt.Fprintf(a.err, "\n\t%s\n\n", strings.ReplaceAll(text, "\n\t\n", "\n\n"))
			}
		}
	}
	if verbose {
		for _, pkg := range report.Packages {
			for _, f := range pkg.Functions {
				registered := "registered"
				if f.Unregistered != "" {
					registered = "not registered: " + f.Unregistered
				}
				fmt.Fprintf(a.out, "%s: %s: %s of %s, %s\n", pkg.Path, f.Name, f.Build, f.Of, registered)
			}
		}
	}
	files, err := report.Stale()
	if err == nil && !check {
		files, err = report.Write()
	}
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	for _, name := range files {
		switch {
		case check:
			fmt.Fprintf(a.err, "%s: it is not up to date; run nabla gen\n", shorter(name))
		case verbose:
			fmt.Fprintf(a.out, "%s: %s\n", shorter(name), done(name))
		}
	}
	if failed || check && len(files) > 0 {
		return &exitError{code: exitWrong}
	}
	return nil
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

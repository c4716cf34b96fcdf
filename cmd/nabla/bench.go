package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/problems"
)

// benchTasks returns the names of the timed problems, in the order of the rows.
func benchTasks() (names []string) {
	for _, e := range problems.Benchmarked() {
		names = append(names, e.Name)
	}
	return names
}

// sizedTasks returns the names of the timed problems whose size can be chosen, as text.
func sizedTasks() string {
	var names []string
	for _, e := range problems.Benchmarked() {
		if e.Free {
			names = append(names, e.Name)
		}
	}
	k := len(names) - 1
	return strings.Join(names[:k], ", ") + " and " + names[k]
}

// benchTable returns a line for each timed problem.
func benchTable() string {
	var b strings.Builder
	for _, e := range problems.Benchmarked() {
		fmt.Fprintf(&b, "  %-9s %s\n", e.Name, e.About)
	}
	return b.String()
}

// endings maps file name extensions to formats.
var endings = map[string]string{
	".txt": "table", ".csv": "csv", ".json": "json", ".md": "markdown", ".html": "html", ".svg": "svg",
	".png": pngFormat,
}

// pngFormat is a format of the command nablapng only, so that nabla needs no plotting library.
const pngFormat = "png"

// largestSize limits the size of a problem, so that a typing error does not exhaust the memory.
const largestSize = 10_000_000

func (a *app) bench() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "compare the time of derivatives with that of the functions, for every engine",
		Description: fmt.Sprintf(`Every derivative is checked against a reference before it is timed. A wrong one
is marked WRONG (ok = false), has no times, and makes the exit code 1. An engine that
does not differentiate functions with branches is marked refused in those that have some.

The ratio is derivative time / function time: the prepared value and gradient (in
T6 a 2×15 Jacobian block, in T4 the whole Jacobian, in listing2 the Hessian alone)
over the same function in plain Go. All engines of a task and the function take
turns, and the times are medians.

In listing2 and T4 the engines sparse(…) detect the sparsity pattern and colour the
columns or rows that they compute products for. The columns nnz, colours, detection
and colouring show the results, and their share of the preparation; engines that
compute entries without products have no colours. For up to %d inputs there are also
dense matrices by their inner engines; by other engines only if both -tasks and
-engines name them.

The engine "by hand" is Go code that was written for each task: the limit for the others.

The engine export is Go code that package program/export wrote of recorded derivatives.
It is a part of this command, so that its preparation is nothing but memory, and exists
for %s.

Break-even is the smallest number of calls k for which prepare + k × derivative is
at most k × the cheapest unprepared call of any engine in the same task; if even a
prepared call is not faster, it is "never" (null in json, empty in csv). Finite
differences do not count as an alternative to an exact engine.

  -format html      one page with plots and tables to sort; needs no network
  -format svg       the plots alone; for png there is the command nablapng
  -format benchstat a line per sample, for golang.org/x/perf/cmd/benchstat

An interrupt (Ctrl-C) ends the run; the measurements so far are written.

%s
Without -tasks all of them are run, in about a minute.`, bench.LargestDense, bench.ExportedTasks(), benchTable()),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "tasks", Usage: "`NAMES` of tasks: " + strings.Join(benchTasks(), ","),
				DefaultText: "all"},
			&cli.StringFlag{Name: "engines",
				Usage:       "`NAMES` of engines, these or others: " + strings.Join(a.engineNames(), ","),
				DefaultText: "all"},
			&cli.StringFlag{Name: "sizes", Usage: "numbers of inputs `N,...` for " + sizedTasks(),
				DefaultText: "10,100,1000,10000 for T1, 1000 for T3 and listing2"},
			&cli.BoolFlag{Name: "growth",
				Usage: "show how T1 and T3 grow from 1000 inputs to ten million, with times and memory per input; " +
					"takes minutes, and some GB"},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the output: " + strings.Join(bench.Formats, ", "),
				DefaultText: "by the extension of -o, otherwise table"},
			outputFlag(),
			&cli.StringFlag{Name: "date", Usage: "`DATE` to show in the html report"},
			&cli.DurationFlag{Name: "time", Usage: "`TIME` for repeating each function and each prepared derivative",
				Value: 100 * time.Millisecond},
		},
		Action: a.runBench,
	}
}

func (a *app) engineNames() []string {
	names := make([]string, len(a.engines))
	for i, e := range a.engines {
		names[i] = e.Name
	}
	return names
}

// benchConfig translates the flags into a configuration.
func (a *app) benchConfig(c *cli.Command) (cfg bench.Config, format string, err error) {
	if err := noArguments(c); err != nil {
		return cfg, "", err
	}
	if cfg.Growth = c.Bool("growth"); cfg.Growth {
		if err := a.growthDefaults(c); err != nil {
			return cfg, "", err
		}
	}
	names, err := choose(c, "tasks", "task", benchTasks())
	if err != nil {
		return cfg, "", err
	}
	var entries []problems.Entry
	for _, name := range names {
		e, err := problems.Lookup(name)
		if err != nil {
			return cfg, "", err
		}
		entries = append(entries, e)
	}
	sizes, err := parseSizes(c, entries)
	if err != nil {
		return cfg, "", err
	}
	chosen, others, err := namedEngines(c, a.engineNames())
	if err != nil {
		return cfg, "", err
	}
	for _, e := range a.engines {
		if slices.Contains(chosen, e.Name) {
			e.SkipSparse = e.SkipSparse && !(c.IsSet("engines") && c.IsSet("tasks"))
			cfg.Engines = append(cfg.Engines, e)
		}
	}
	for _, b := range others {
		cfg.Engines = append(cfg.Engines, measure(engines.Like(b)))
	}
	if format, err = a.benchFormat(c); err != nil {
		return cfg, "", err
	}
	cfg.Budget = c.Duration("time")
	if cfg.Budget <= 0 {
		return cfg, "", usagef("bench: -time %v: want a time greater than 0, such as 100ms", cfg.Budget)
	}
	cfg.Tasks = bench.Tasks(entries, sizes)
	if cfg.Rows() == 0 {
		return cfg, "", usagef("bench: none of the engines takes part in the tasks; sparse(…) does in listing2 and "+
			"T4, and others there up to n = %d; export has %s", bench.LargestDense, bench.ExportedTasks())
	}
	return cfg, format, nil
}

// growthDefaults sets the flags that are not given to those of -growth. Recordings of ten million inputs need a limit
// above the default one.
func (a *app) growthDefaults(c *cli.Command) error {
	fast := slices.DeleteFunc([]string{"by hand", "source(reverse)", "reversediff(compile)"},
		func(name string) bool { return !slices.Contains(a.engineNames(), name) })
	if i := slices.Index(fast, "reversediff(compile)"); i >= 0 {
		fast[i] = "reversediff(compile,limit=200000000)"
	}
	for _, d := range [][2]string{{"tasks", "T1,T3"}, {"sizes", "1000,10000,100000,1000000,10000000"},
		{"engines", strings.Join(fast, ",")}} {
		if c.IsSet(d[0]) || d[1] == "" {
			continue
		}
		if err := c.Set(d[0], d[1]); err != nil {
			return err
		}
	}
	return nil
}

// benchFormat returns the format of the flag, or otherwise the one that the extension of the output file implies.
func (a *app) benchFormat(c *cli.Command) (format string, err error) {
	file := c.String("o")
	format = cmp.Or(endings[filepath.Ext(file)], "table")
	if c.IsSet("format") {
		format = c.String("format")
	}
	switch {
	case format == pngFormat:
		return "", usagef("bench: png is drawn by another command: go get -tool " +
			"github.com/nabla-ad/nabla/cmd/nablapng, then " +
			"nabla bench -format json | go tool nablapng > FILE; -format svg draws the same charts without it")
	case !slices.Contains(bench.Formats, format):
		return "", unknown("bench", "format", format, bench.Formats)
	}
	return format, nil
}

// choose parses a list of names; if the flag is not set, it returns all of exist. The result is in the order of exist.
func choose(c *cli.Command, flag, what string, exist []string) ([]string, error) {
	given, err := listed(c, flag, what, exist)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(exist), func(name string) bool { return !slices.Contains(given, name) }), nil
}

// parseSizes parses the list of sizes, which must be valid for every task with a free size.
func parseSizes(c *cli.Command, entries []problems.Entry) ([]int, error) {
	if !c.IsSet("sizes") {
		return nil, nil
	}
	least, free := 1, false
	for _, e := range entries {
		if e.Free {
			least, free = max(least, e.Min), true
		}
	}
	if !free {
		return nil, usagef("bench: -sizes: none of the tasks has sizes to choose; %s have", sizedTasks())
	}
	var sizes []int
	for s := range strings.SplitSeq(c.String("sizes"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < least || n > largestSize {
			return nil, usagef("bench: size %q: want whole numbers from %d to %d", s, least, largestSize)
		}
		if !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	return sizes, nil
}

func (a *app) runBench(ctx context.Context, c *cli.Command) error {
	cfg, format, err := a.benchConfig(c)
	if err != nil {
		return err
	}
	w, err := a.openSink(c) // before a minute of work
	if err != nil {
		return err
	}
	load := bench.Load()
	bar := newBar(a.err, a.terminal)
	cfg.Progress = bar.step
	rows, runErr := bench.Run(ctx, cfg)
	bar.clear()
	interrupted := errors.Is(runErr, context.Canceled)
	if runErr != nil && !interrupted {
		w.abandon()
		return runErr
	}
	report := bench.Report{Info: bench.Here(), Rows: rows, Want: cfg.Rows()}
	if load != "" {
		report.Info.Load = load + ", " + bench.Load()
	}
	report.Info.Version = moduleVersion(debug.ReadBuildInfo())
	report.Info.Date, report.Info.Budget = c.String("date"), cfg.Budget
	wrong := 0
	for _, r := range rows {
		if r.Err != nil {
			fmt.Fprintf(a.err, "nabla: bench: %s n=%d %s: %v\n", r.Task, r.N, r.Engine, r.Err)
		}
		if !r.OK && !r.Refused() {
			wrong++
		}
	}
	if err := writeReport(w, format, report); err != nil {
		return err
	}
	switch {
	case interrupted:
		return &exitError{exitInterrupted, fmt.Sprintf("bench: interrupted after %d of %d rows", len(rows), cfg.Rows())}
	case wrong > 0:
		return &exitError{exitWrong, fmt.Sprintf("bench: %d of %d derivatives are wrong", wrong, len(rows))}
	}
	return nil
}

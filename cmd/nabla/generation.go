package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/gen"
)

// A generation is what nabla gen is to do with packages.
type generation struct {
	*app
	patterns []string
	opts     *gen.Options
	// check names files that are not up to date in place of writing them.
	check bool
	// verbose prints generated functions and notes.
	verbose bool
	// timed prints time and memory.
	timed bool
}

// once writes or checks the files once.
func (g *generation) once() error {
	_, _, err := g.run()
	return err
}

// run writes or checks the files of the packages whose hashes do not agree, of all packages if it is verbose. It
// returns the survey, nil if there is none because the packages were not found, and the files that changed.
func (g *generation) run() (s *gen.Survey, files []string, err error) {
	began := time.Now()
	var paths []string
	all := true
	if s, err = gen.NewSurvey(".", g.patterns, g.opts); err == nil && !g.verbose {
		if paths, all = s.Outdated(g.check); len(paths) == 0 && !all {
			took := time.Since(began)
			if !s.HasOutputs() {
				g.sayNothing()
			}
			return s, nil, g.printTimes(nil, []gen.Time{{Stage: "compare hashes", Time: took}}, took)
		}
	}
	surveyed := time.Since(began)
	var p *gen.Program
	switch {
	case err != nil: // Load says why
		s = nil
		p, err = gen.Load(".", g.patterns, g.opts)
	case all:
		p, err = s.Load()
	default:
		p, err = s.Load(paths...)
	}
	if err != nil {
		return s, nil, fmt.Errorf("gen: %w", err)
	}
	report, err := p.Generate()
	if err != nil {
		return s, nil, fmt.Errorf("gen: %w", err)
	}
	files, failure := g.finish(report)
	nothing := !slices.ContainsFunc(report.Packages, func(p *gen.Package) bool {
		return len(p.Functions)+len(p.Problems)+p.GeneratedLines > 0
	})
	if nothing && len(files) == 0 && (s == nil || !s.HasOutputs()) {
		g.sayNothing()
	}
	times := append([]gen.Time{{Stage: "compare hashes", Time: surveyed}}, p.Times()...)
	if err := g.printTimes(report, times, time.Since(began)); failure == nil {
		failure = err
	}
	return s, files, failure
}

// sayNothing tells that there is nothing to generate.
func (g *generation) sayNothing() {
	fmt.Fprintf(g.err, "no functions to differentiate in %s; pass one over float64 to an operator of nabla, or write "+
		"//nabla:differentiate above it\n", strings.Join(g.patterns, " "))
}

// finish writes or checks the files of a report and prints it. Problems are printed to standard error, one per line, in
// a form that editors parse.
func (g *generation) finish(report *gen.Report) (files []string, err error) {
	failed := g.printProblems(report)
	if g.verbose {
		g.printFunctions(report)
	}
	if g.check {
		files, err = report.Stale()
	} else {
		files, err = report.Write()
	}
	if err != nil {
		return files, fmt.Errorf("gen: %w", err)
	}
	for _, name := range files {
		switch {
		case g.check:
			fmt.Fprintf(g.err, "%s: it is not up to date; run nabla gen\n", shorter(name))
		case g.verbose:
			fmt.Fprintf(g.out, "%s: %s\n", shorter(name), done(name))
		}
	}
	if failed || g.check && len(files) > 0 {
		return files, &exitError{code: exitWrong}
	}
	return files, nil
}

// printProblems prints the problems of a report, and reports whether there is an error among them.
func (g *generation) printProblems(report *gen.Report) (failed bool) {
	rewrites := map[*gen.Problem]string{}
	for _, pkg := range report.Packages {
		maps.Copy(rewrites, pkg.Rewrites)
	}
	for _, problem := range report.Problems() {
		failed = failed || problem.Severity == gen.Error
		if problem.Severity == gen.Note && !g.verbose {
			continue
		}
		q := *problem
		q.Pos.Filename = shorter(q.Pos.Filename)
		fmt.Fprintln(g.err, q.Error())
		if text := strings.TrimSpace(rewrites[problem]); text != "" {
			text = strings.ReplaceAll(text, "\n", "\n\t")
			fmt.Fprintf(g.err, "\n\t%s\n\n", strings.ReplaceAll(text, "\n\t\n", "\n\n"))
		}
	}
	return failed
}

// printFunctions prints the generated functions of a report.
func (g *generation) printFunctions(report *gen.Report) {
	for _, pkg := range report.Packages {
		for _, f := range pkg.Functions {
			registered := "registered"
			if f.Unregistered != "" {
				registered = "not registered: " + f.Unregistered
			}
			fmt.Fprintf(g.out, "%s: %s: %s of %s, %s\n", pkg.Path, f.Name, f.Build, f.Of, registered)
		}
	}
}

// printTimes prints the times of the stages, the total, the use of processor and memory of this process and those that
// it started, and the numbers of lines in the packages of report, if that is asked for.
func (g *generation) printTimes(report *gen.Report, stages []gen.Time, total time.Duration) error {
	if !g.timed {
		return nil
	}
	for _, s := range append(stages, gen.Time{Stage: "total", Time: total}) {
		fmt.Fprintf(g.out, "%-15s %8.2f s\n", s.Stage, s.Time.Seconds())
	}
	if processor, memory, ok := usage(); ok {
		fmt.Fprintf(g.out, "%-15s %8.2f s\n", "processor", processor.Seconds())
		fmt.Fprintf(g.out, "%-15s %8.0f MB\n", "memory", float64(memory)/1e6)
	}
	if report == nil {
		return nil
	}
	var lines, followed, generated int
	for _, pkg := range report.Packages {
		lines, followed, generated = lines+pkg.SourceLines, followed+pkg.FollowedLines, generated+pkg.GeneratedLines
	}
	if lines > 0 {
		fmt.Fprintf(g.out, "%-15s %8d lines\n%-15s %8d\n%-15s %8d, %.1f for each line of source\n", "source", lines,
			"differentiated", followed, "generated", generated, float64(generated)/float64(lines))
	}
	return nil
}

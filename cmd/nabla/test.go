package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/difftest"
)

var testFormats = []string{"table", "json"}

// mostShown is the number of failed scenarios that are listed after the table.
const mostShown = 20

func (a *app) test() *cli.Command {
	return &cli.Command{
		Name:  "test",
		Usage: "run the conformance kit on each engine",
		Description: `Rows are families of scenarios, columns are engines, cells are scenarios passed
of scenarios run. Failures and their reasons follow the table. To test another
engine, write difftest.Run(t, mine.Backend{}, nil) in a test.

A scenario is named family/operator/function/result/modifier. -run runs those whose
name matches a regular expression, as in go test:

  nabla test -engines tracker -run 'vec_to_mat/jacobian'

With -pairs the rows are all ways to use the engines: each alone, and each pair of two
as a SecondOrder, under AutoSparse and as a MixedMode; on functions over Reals, and on
plain functions with generated code.`,
		Flags: []cli.Flag{
			a.enginesFlag(),
			&cli.StringFlag{Name: "run", Usage: "run the scenarios whose name matches `REGEXP`", DefaultText: "all"},
			&cli.BoolFlag{Name: "short", Usage: "leave out the modifiers: bound data, closures, scratch, other sizes"},
			&cli.BoolFlag{Name: "pairs", Usage: "run all pairs of the engines, on both kinds of functions"},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the output: " + strings.Join(testFormats, ", "),
				Value: "table"},
			outputFlag(),
		},
		Action: a.runTest,
	}
}

// A conformance is a cell of the matrix: the results of an engine in a family of scenarios.
type conformance struct {
	Engine   string    `json:"engine"`
	Family   string    `json:"family"`
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"`
	Failures []failure `json:"failures,omitempty"`
}

func (c conformance) String() string {
	switch run := c.Passed + c.Failed; {
	case c.Failed > 0:
		return fmt.Sprintf("%d/%d FAIL", c.Passed, run)
	case run == 0:
		return "skipped"
	default:
		return fmt.Sprintf("%d/%d", c.Passed, run)
	}
}

type failure struct {
	Scenario string   `json:"scenario"`
	Messages []string `json:"messages"`
}

// A lister is a reporter that collects the names of the scenarios and runs none.
type lister struct{ names *[]string }

func (lister) Errorf(string, ...any)                        {}
func (lister) Skipf(string, ...any)                         {}
func (l lister) Run(name string, _ func(difftest.Reporter)) { *l.names = append(*l.names, name) }

// A runner is a reporter that runs the scenarios that match, until ctx ends. It calls begins before and ended after
// each.
type runner struct {
	ctx    context.Context
	match  *regexp.Regexp
	begins func(name string)
	ended  func(name string, errors []string, skipped bool)
}

func (*runner) Errorf(string, ...any) {}
func (*runner) Skipf(string, ...any)  {}

func (r *runner) Run(name string, f func(difftest.Reporter)) {
	if r.ctx.Err() != nil || !r.match.MatchString(name) {
		return
	}
	r.begins(name)
	var s scenario
	func() {
		defer func() {
			if v := recover(); v != nil {
				s.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		f(&s)
	}()
	r.ended(name, s.errors, s.skipped)
}

// A scenario is a reporter that collects the messages of one scenario.
type scenario struct {
	errors  []string
	skipped bool
}

func (s *scenario) Errorf(format string, args ...any) {
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}
func (s *scenario) Skipf(string, ...any)                    { s.skipped = true }
func (s *scenario) Run(_ string, f func(difftest.Reporter)) { f(s) }

func familyOf(name string) string {
	family, _, _ := strings.Cut(name, "/")
	return family
}

func (a *app) runTest(ctx context.Context, c *cli.Command) error {
	chosen, format, err := a.chosenSubjects(c, testFormats)
	if err != nil {
		return err
	}
	if c.Bool("pairs") {
		chosen = pairsOf(chosen)
	}
	match, err := regexp.Compile(c.String("run"))
	if err != nil {
		return usagef("test: -run: %v", err)
	}
	total := 0
	for i := range chosen {
		chosen[i].conform.NoModifiers = chosen[i].conform.NoModifiers || c.Bool("short")
		var names []string
		difftest.Check(lister{&names}, chosen[i].backend, &chosen[i].conform)
		for _, n := range names {
			if match.MatchString(n) {
				total++
			}
		}
	}
	if total == 0 {
		return usagef("test: -run: no scenario matches %q; families are such as vec_to_num, sparse, behaviour", match)
	}
	w, err := a.openSink(c)
	if err != nil {
		return err
	}
	var cells []conformance
	done, failed := 0, 0
	for _, s := range chosen {
		first := len(cells)
		r := &runner{ctx: ctx, match: match}
		r.begins = func(name string) {
			if a.terminal && done%10 == 0 {
				fmt.Fprintf(a.err, "\r[%d/%d] %s %s\x1b[K", done+1, total, s.name(), familyOf(name))
			}
		}
		r.ended = func(name string, errors []string, skipped bool) {
			done++
			i := first + slices.IndexFunc(cells[first:], func(c conformance) bool { return c.Family == familyOf(name) })
			if i < first {
				i = len(cells)
				cells = append(cells, conformance{Engine: s.name(), Family: familyOf(name)})
			}
			switch cell := &cells[i]; {
			case len(errors) > 0:
				failed++
				cell.Failed++
				cell.Failures = append(cell.Failures, failure{name, errors})
			case skipped:
				cell.Skipped++
			default:
				cell.Passed++
			}
		}
		difftest.Check(r, s.backend, &s.conform)
	}
	if a.terminal {
		fmt.Fprint(a.err, "\r\x1b[K")
	}
	switch {
	case format == "json":
		err = writeJSONLines(w, cells)
	case c.Bool("pairs"):
		writeRuns(w, chosen, cells)
		writeFailures(w, cells)
	default:
		writeConformance(w, chosen, cells)
		writeFailures(w, cells)
	}
	if err != nil {
		w.abandon()
		return err
	}
	if err := w.deliver(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, fmt.Sprintf("test: interrupted after %d of %d scenarios", done, total)}
	case failed > 0:
		return &exitError{exitWrong, fmt.Sprintf("test: %d of %d scenarios failed", failed, total)}
	}
	return nil
}

// writeRuns writes a row for each subject, with the scenarios of all families.
func writeRuns(w *sink, chosen []subject, cells []conformance) {
	var rows [][]string
	all := conformance{Engine: "all"}
	for _, s := range chosen {
		sum := conformance{Engine: s.name()}
		for _, c := range cells {
			if c.Engine == sum.Engine {
				sum.add(c)
			}
		}
		all.add(sum)
		rows = append(rows, []string{sum.Engine, sum.String(), fmt.Sprint(sum.Skipped)})
	}
	rows = append(rows, []string{all.Engine, all.String(), fmt.Sprint(all.Skipped)})
	writeGrid(w, []string{"engines/functions", "passed", "skipped"}, rows)
}

// add adds the counts of d to c.
func (c *conformance) add(d conformance) {
	c.Passed, c.Failed, c.Skipped = c.Passed+d.Passed, c.Failed+d.Failed, c.Skipped+d.Skipped
}

// writeConformance writes the matrix.
func writeConformance(w *sink, chosen []subject, cells []conformance) {
	head := []string{"family"}
	var rows [][]string
	for _, s := range chosen {
		head = append(head, s.name())
	}
	row := map[string]int{}
	for _, c := range cells {
		i, ok := row[c.Family]
		if !ok {
			i = len(rows)
			row[c.Family] = i
			rows = append(rows, append([]string{c.Family}, slices.Repeat([]string{"–"}, len(chosen))...))
		}
		rows[i][1+slices.IndexFunc(chosen, func(s subject) bool { return s.name() == c.Engine })] = c.String()
	}
	writeGrid(w, head, rows)
}

// writeFailures writes the failed scenarios, up to mostShown.
func writeFailures(w *sink, cells []conformance) {
	shown, more := 0, 0
	for _, c := range cells {
		for _, f := range c.Failures {
			if shown == mostShown {
				more++
				continue
			}
			shown++
			fmt.Fprintf(w, "\nFAIL %s: %s\n", c.Engine, f.Scenario)
			for _, m := range f.Messages {
				fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(m, "\n", "\n  "))
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "\n%d more failed; -run shows some of them, -format json all\n", more)
	}
}

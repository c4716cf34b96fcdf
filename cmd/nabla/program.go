package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
)

var programFormats = []string{"text", "dot"}

// largestProgram limits the size of a problem, so that a typing error does not exhaust the memory.
const largestProgram = 100_000

// stages are the values of -stage, with the transformation of a recorded program that each stands for.
var stages = []struct {
	name  string
	apply func(p *program.Program) *program.Program
}{
	{"recorded", func(p *program.Program) *program.Program { return p }},
	{"vjp", func(p *program.Program) *program.Program {
		return program.VJP(p, program.VJPOptions{Unit: p.NumOut() == 1})
	}},
	{"jvp", func(p *program.Program) *program.Program { return program.JVP(p, program.JVPOptions{}) }},
	{"simplified", program.Simplify},
	{"scheduled", program.Schedule},
}

func stageNames() []string {
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = s.name
	}
	return names
}

func taskNames() []string {
	var names []string
	for _, e := range problems.Entries() {
		names = append(names, e.Name)
	}
	return names
}

// taskList returns the part of the help that lists the tasks.
func taskList() string {
	var b strings.Builder
	for _, e := range problems.Entries() {
		p, err := e.New(max(e.Min, 1))
		if err != nil {
			continue // runProgram reports it
		}
		inputs := "any number of inputs"
		if !e.Free {
			inputs = fmt.Sprintf("%d inputs", p.N)
		}
		fmt.Fprintf(&b, "\n  %-4s  %s, %s", e.Name, p.Title, inputs)
	}
	return b.String()
}

func (a *app) program() *cli.Command {
	return &cli.Command{
		Name:  "program",
		Usage: "print the recorded program of a bundled problem",
		Description: `The text form is that of package program, which can read it back; dot is for
Graphviz:

  nabla program -task T3 -n 4 -stage vjp,simplified -format dot | dot -Tsvg > T3.svg

-stage is a list of transformations, applied one after the other:

  recorded    as the function ran, nothing simplified
  vjp         with its adjoint: the gradient, or the product of a cotangent and J
  jvp         with its tangent: the product of J and a direction
  simplified  constants folded, equal statements merged, dead ones removed
  scheduled   equal operations gathered into statements of many lanes

vjp,simplified,scheduled is what reversediff(compile) runs for a gradient.

-export writes the program as a file of another language instead, without anything
that it does not need:

  nabla program -task T3 -n 4 -stage vjp -export c > t3.c

  go    a Go function that needs package math at most
  c     a C99 function, in the form of CasADi
  json  data, which export.Load reads back
  dot   as -format dot, and text as -format text without the comments

Tasks, those of package problems at the first of their points:` + taskList(),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "`NAME` of the problem: " + strings.Join(taskNames(), ", "),
				Value: "T3"},
			&cli.IntFlag{Name: "n", Usage: "number `N` of inputs, if the problem has no fixed one", Value: 5,
				DefaultText: "5"},
			&cli.StringFlag{Name: "stage", Usage: "`STAGES` of transformation: " + strings.Join(stageNames(), ","),
				Value: "recorded"},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the output: " + strings.Join(programFormats, ", "),
				Value: "text"},
			&cli.StringFlag{Name: "export", Usage: "`LANGUAGE` of a file with the program: " +
				strings.Join(export.Formats, ", ")},
			outputFlag(),
		},
		Action: a.runProgram,
	}
}

func (a *app) runProgram(_ context.Context, c *cli.Command) error {
	if err := noArguments(c); err != nil {
		return err
	}
	task, err := oneOf(c, "task", taskNames())
	if err != nil {
		return err
	}
	entry, err := problems.Lookup(task)
	if err != nil {
		return err
	}
	n := c.Int("n")
	switch {
	case !entry.Free && c.IsSet("n") && n != entry.Sizes[0]:
		return usagef("program: -n %d: %s has %d inputs and no other number", n, task, entry.Sizes[0])
	case entry.Free && (n < entry.Min || n > largestProgram):
		return usagef("program: -n %d: want a number from %d to %d", n, entry.Min, largestProgram)
	}
	passes, err := listed(c, "stage", "stage", stageNames())
	if err != nil {
		return err
	}
	if !c.IsSet("stage") {
		passes = passes[:1]
	}
	format, err := oneOf(c, "format", programFormats)
	if err != nil {
		return err
	}
	language := ""
	if c.IsSet("export") {
		if language, err = oneOf(c, "export", export.Formats); err != nil {
			return err
		}
		if c.IsSet("format") {
			return usagef("program: -format %s and -export %s: want one of them", format, language)
		}
	}
	w, err := a.openSink(c)
	if err != nil {
		return err
	}
	if err := writeProgram(w, entry, n, passes, format, language); err != nil {
		w.abandon()
		return err
	}
	return w.deliver()
}

func writeProgram(w *sink, entry problems.Entry, n int, passes []string, format, language string) error {
	problem, err := entry.New(n)
	if err != nil {
		return err
	}
	p, err := problem.Program()
	if err != nil {
		return fmt.Errorf("program: recording %s: %w", problem.Name, err)
	}
	for _, name := range passes {
		for _, s := range stages {
			if s.name == name {
				p = s.apply(p)
			}
		}
		if err := program.Check(p); err != nil {
			return fmt.Errorf("program: after %s: %w", name, err)
		}
	}
	if language != "" {
		if err := export.Write(w, language, p, exportOptions(problem, passes, language)); err != nil {
			return fmt.Errorf("program: %s: %w", problem.Name, err)
		}
		return nil
	}
	if format == "dot" {
		w.WriteString(p.DOT())
		return nil
	}
	fmt.Fprintf(w, "# %s, %s, n = %d: %s\n", problem.Name, problem.Title, problem.N, strings.Join(passes, ", "))
	fmt.Fprintf(w, "# %d operations in %d statements, %d of them guards\n", p.Operations(), len(p.Stmts), p.Guards())
	w.WriteString(p.String())
	return nil
}

// exportOptions returns the name and the comment of the function that is written.
func exportOptions(problem *problems.Problem, passes []string, language string) export.Options {
	what := fmt.Sprintf("%s, %s, n = %d: %s", problem.Name, problem.Title, problem.N, strings.Join(passes, ", "))
	o := export.Options{Name: problem.Name, Package: "exported", Comment: what}
	if language == "go" {
		o.Name = strings.ToUpper(problem.Name[:1]) + problem.Name[1:]
		o.Comment = "is " + what + "."
	}
	return o
}

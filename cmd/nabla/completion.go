package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/program/export"
)

// exitCodes is the part of the help that scripts want to know.
const exitCodes = `Exit codes:

  0    done, and everything is right
  1    a derivative is wrong, a scenario failed, a function is refused, a generated file
       is not up to date, or a result could not be written
  2    the command line makes no sense; one line on standard error says why
  130  interrupted; what was found until then is written

Shell completion: source <(nabla completion bash); also zsh, fish and pwsh.`

// shells are the shells that completion scripts exist for.
var shells = []string{"bash", "zsh", "fish", "pwsh"}

// setUpCompletion makes the completion command of package cli visible, with errors in the form of the other commands.
func setUpCompletion(c *cli.Command) {
	c.Hidden = false
	c.Usage = "print a completion script for bash, zsh, fish or pwsh"
	c.OnUsageError = badFlag
	c.Action = func(_ context.Context, c *cli.Command) error {
		if !c.Args().Present() {
			return usagef("completion: which shell? one of %s", strings.Join(shells, ", "))
		}
		return unknown("completion", "shell", c.Args().First(), shells)
	}
	for _, s := range c.Commands {
		s.OnUsageError = badFlag
		print := s.Action
		s.Action = func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return print(ctx, c)
		}
	}
}

// values returns the values that can follow a flag of a command, nil if they cannot be listed.
func (a *app) values(command, flag string) []string {
	switch flag {
	case "engines":
		return a.subjectNames()
	case "tasks":
		return benchTasks()
	case "task":
		return taskNames()
	case "stage":
		return stageNames()
	case "export":
		return export.Formats
	case "layout":
		return layoutNames()
	case "dump": // STAGE:FUNC; the function is left to the user
		return gen.Stages()
	case "format":
		switch command {
		case "bench":
			return bench.Formats
		case "backends":
			return backendsFormats
		case "test":
			return testFormats
		case "program":
			return programFormats
		}
	}
	return nil
}

// complete prints the values of the flag before the cursor, otherwise the flags with the prefix that has been typed, in
// the form name:explanation that the scripts read.
func (a *app) complete(_ context.Context, c *cli.Command) {
	w, begun := c.Root().Writer, ""
	if args := c.Args().Slice(); len(args) > 0 {
		begun = strings.TrimLeft(args[len(args)-1], "-")
		if begun == args[len(args)-1] { // not a flag
			return
		}
		if values := a.values(c.Name, begun); values != nil {
			for _, v := range values {
				if !strings.ContainsAny(v, " ()") { // a shell would have to quote it
					fmt.Fprintln(w, v)
				}
			}
			return
		}
	}
	if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == begun }) {
		return // left to the shell: it may be a file name
	}
	for _, f := range c.Flags {
		if name := f.Names()[0]; strings.HasPrefix(name, begun) {
			usage := ""
			if d, ok := f.(cli.DocGenerationFlag); ok {
				usage = ":" + strings.ReplaceAll(d.GetUsage(), "`", "")
			}
			fmt.Fprintf(w, "%s%s%s\n", "--"[:min(2, len(name))], name, usage)
		}
	}
}

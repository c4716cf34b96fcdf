// Nabla measures and inspects automatic differentiation on the command line, and writes
// the derivatives of Go functions.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/nabla-ad/nabla/internal/bench"
)

// The exit codes.
const (
	exitWrong       = 1   // a check failed, or a result could not be written
	exitUsage       = 2   // the command line is invalid
	exitInterrupted = 130 // 128 + SIGINT, as in shells
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	a := app{
		engines: measured(), subjects: subjects(), out: os.Stdout, err: os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// An app is the program with its engines, output streams and environment.
type app struct {
	engines  []bench.Engine
	subjects []subject
	out, err io.Writer
	terminal bool // err is a terminal, which may show progress

}

// A usageError is a mistake in the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// An exitError ends the program with an exit code, and prints the message unless it is empty.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

// run runs the command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	err := root.Run(ctx, append([]string{"nabla"}, args...))
	code, message := 0, ""
	var usage *usageError
	var exit *exitError
	var topic cli.ExitCoder
	switch {
	case err == nil:
	case errors.As(err, &exit):
		code, message = exit.code, exit.message
	case errors.As(err, &usage):
		code, message = exitUsage, usage.message
	case errors.As(err, &topic): // help about a command that does not exist
		_, name, _ := strings.Cut(err.Error(), "'")
		code, message = exitUsage, unknown("help", "command", strings.TrimSuffix(name, "'"), commandNames(root)).Error()
	default:
		code, message = exitWrong, err.Error()
	}
	if message != "" {
		fmt.Fprintln(a.err, "nabla: "+strings.TrimPrefix(message, "nabla: "))
	}
	return code
}

func (a *app) command() *cli.Command {
	root := &cli.Command{
		Name:        "nabla",
		Usage:       "measure and inspect automatic differentiation",
		Description: exitCodes,
		Commands:    []*cli.Command{a.bench(), a.backends(), a.test(), a.program(), a.gen(), a.version()},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Usage: "print the version", Local: true},
		},
		Writer:    a.out,
		ErrWriter: a.err,

		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: setUpCompletion,
		// Only run prints errors and chooses exit codes.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	root.Action = func(_ context.Context, c *cli.Command) error {
		if c.Bool("version") {
			return a.printVersion()
		}
		if !c.Args().Present() {
			return usagef("no command; commands: %s", strings.Join(commandNames(root), ", "))
		}
		return unknown("", "command", c.Args().First(), commandNames(root))
	}
	for _, c := range append([]*cli.Command{root}, root.Commands...) {
		c.OnUsageError = badFlag
		if c != root {
			c.ShellComplete = a.complete
		}
	}
	return root
}

func commandNames(root *cli.Command) (names []string) {
	for _, c := range root.Commands {
		names = append(names, c.Name)
	}
	return names
}

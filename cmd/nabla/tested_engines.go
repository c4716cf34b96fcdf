package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/spelling"
)

// A subject is an engine in the commands backends and test.
type subject struct {
	backend nabla.Backend
	// conform holds the requirements of the conformance kit.
	conform difftest.Options
	// label is the name in reports, that of the backend if empty.
	label string
}

func (s subject) name() string {
	if s.label != "" {
		return s.label
	}
	return s.backend.Name()
}

// subjects returns the engines of this module as subjects, under the names that they have in measured().
func subjects() []subject {
	var all []subject
	for _, s := range engines.All() {
		all = append(all, subject{backend: s.Backend, conform: s.Conform})
	}
	return all
}

// pairsOf returns the runs of the kit on the engines of this module that are among chosen, and on their pairs.
func pairsOf(chosen []subject) (all []subject) {
	single := slices.DeleteFunc(engines.Single(), func(e engines.Engine) bool {
		return !slices.ContainsFunc(chosen, func(s subject) bool { return s.name() == e.Backend.Name() })
	})
	for _, r := range engines.Runs(single) {
		all = append(all, subject{r.Backend, r.Options, r.Name()})
	}
	return all
}

func (a *app) subjectNames() []string {
	names := make([]string, len(a.subjects))
	for i, s := range a.subjects {
		names[i] = s.name()
	}
	return names
}

func (a *app) enginesFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: "engines",
		Usage:       "`NAMES` of engines, these or others: " + strings.Join(a.subjectNames(), ","),
		DefaultText: "all"}
}

// chosenSubjects parses -engines and -format of a command without arguments.
func (a *app) chosenSubjects(c *cli.Command, formats []string) (chosen []subject, format string, err error) {
	if err := noArguments(c); err != nil {
		return nil, "", err
	}
	names, others, err := namedEngines(c, a.subjectNames())
	if err != nil {
		return nil, "", err
	}
	chosen = slices.DeleteFunc(slices.Clone(a.subjects),
		func(s subject) bool { return !slices.Contains(names, s.name()) })
	for _, b := range others {
		chosen = append(chosen, subject{backend: b, conform: engines.Like(b).Conform})
	}
	format, err = oneOf(c, "format", formats)
	return chosen, format, err
}

// namedEngines parses -engines: the names among exist, all of them if the flag is not set, and backends with other
// names.
func namedEngines(c *cli.Command, exist []string) (names []string, others []nabla.Backend, err error) {
	if !c.IsSet("engines") {
		return exist, nil, nil
	}
	for _, name := range engines.Split(c.String("engines")) {
		if slices.Contains(exist, name) {
			names = append(names, name)
			continue
		}
		b, err := engines.Parse(name)
		var bad *engines.ParseError
		near := spelling.Nearest(name, exist)
		switch {
		case errors.As(err, &bad) && (bad.Offset == 0 || near != "" && spelling.Distance(name, near) <= 2):
			return nil, nil, unknown(c.Name, "engine", name, exist)
		case err != nil:
			return nil, nil, usagef("%s: %s", c.Name, strings.TrimPrefix(err.Error(), "nabla: "))
		case slices.Contains(exist, b.Name()):
			names = append(names, b.Name())
		default:
			others = append(others, b)
		}
	}
	return names, others, nil
}

// listed parses a list of names and returns them in the order given; if the flag is not set, it returns exist.
func listed(c *cli.Command, flag, what string, exist []string) ([]string, error) {
	if !c.IsSet(flag) {
		return exist, nil
	}
	given := strings.Split(c.String(flag), ",")
	for i, name := range given {
		given[i] = strings.TrimSpace(name)
		if !slices.Contains(exist, given[i]) {
			return nil, unknown(c.Name, what, given[i], exist)
		}
	}
	return given, nil
}

// oneOf parses a flag that has one of a few values.
func oneOf(c *cli.Command, flag string, exist []string) (string, error) {
	v := c.String(flag)
	if !slices.Contains(exist, v) {
		return "", unknown(c.Name, flag, v, exist)
	}
	return v, nil
}

// noArguments returns a usage error if there are arguments after the flags.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return usagef("%s: unexpected argument %q", c.Name, c.Args().First())
	}
	return nil
}

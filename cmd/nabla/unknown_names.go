package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla/internal/spelling"
)

// unknown returns a usage error for a name that does not exist. It suggests the nearest name and lists the existing
// ones. kind describes the names; where is the command, empty for nabla itself.
func unknown(where, kind, name string, exist []string) error {
	if where != "" {
		where += ": "
	}
	meant := ";"
	if near := spelling.Nearest(name, exist); near != "" {
		meant = fmt.Sprintf("; did you mean %s?", near)
	}
	return usagef("%sunknown %s %q%s %ss: %s", where, kind, name, meant, kind, strings.Join(exist, ", "))
}

// badFlag translates an error of package cli about a flag into a usage error.
func badFlag(_ context.Context, c *cli.Command, err error, _ bool) error {
	where := c.Name
	if c == c.Root() {
		where = ""
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		return unknown(where, "flag", "-"+strings.TrimLeft(name, "-"), flagNames(c))
	}
	if where != "" {
		where += ": "
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return usagef("%s-%s: want a value; flags: %s", where, strings.TrimLeft(name, "-"),
			strings.Join(flagNames(c), ", "))
	}
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		if value, rest, ok := strings.Cut(rest, " for flag -"); ok {
			name, _, _ := strings.Cut(rest, ":")
			return usagef("%s-%s %s: want %s", where, name, value, wanted(c, name))
		}
	}
	return usagef("%s%v; flags: %s", where, err, strings.Join(flagNames(c), ", "))
}

func flagNames(c *cli.Command) (names []string) {
	for _, f := range c.Flags {
		names = append(names, "-"+f.Names()[0])
	}
	return names
}

// wanted returns a description of the values of the flag with that name.
func wanted(c *cli.Command, name string) string {
	for _, f := range c.Flags {
		if f.Names()[0] != name {
			continue
		}
		switch f.(type) {
		case *cli.IntFlag:
			return "a whole number"
		case *cli.DurationFlag:
			return "a time, such as 100ms or 2s"
		case *cli.BoolFlag:
			return "true or false, or the flag alone"
		}
	}
	return "another value"
}

package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla"
)

func (a *app) version() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of this program, and of the code that it generates",
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return a.printVersion()
		},
	}
}

func (a *app) printVersion() error {
	_, err := fmt.Fprintln(a.out, versionOf(debug.ReadBuildInfo()))
	return err
}

// versionOf returns a line about a build: the version of the module, the revision if it is known, and the Go version.
func versionOf(info *debug.BuildInfo, known bool) string {
	built := runtime.Version()
	if known {
		built = info.GoVersion
	}
	return fmt.Sprintf("nabla %s, %s %s/%s, generated code of version %d", moduleVersion(info, known), built,
		runtime.GOOS, runtime.GOARCH, nabla.CodeVersion)
}

// moduleVersion returns the version of the module, with the revision if it is known.
func moduleVersion(info *debug.BuildInfo, known bool) string {
	version := "(unknown version)"
	if known {
		if v := info.Main.Version; v != "" {
			version = v
		} else {
			version = "(devel)"
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if revision := settings["vcs.revision"]; revision != "" {
			version += ", revision " + revision[:min(len(revision), 12)]
			if settings["vcs.modified"] == "true" {
				version += " with changes"
			}
		}
	}
	return version
}

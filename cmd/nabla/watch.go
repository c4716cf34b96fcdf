package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/gen"
)

// watchInterval is the time between two looks at the files.
const watchInterval = 250 * time.Millisecond

// watch generates the files, and again whenever source files change, until ctx is done. Errors are printed and do not
// end it, unless there are no files to watch.
func (g *generation) watch(ctx context.Context) error {
	var last *gen.Survey
	for {
		began := time.Now()
		s, files, err := g.run()
		if s == nil || len(s.Dirs()) == 0 {
			if last == nil {
				return err
			}
			s = last
		}
		g.printRun(files, err, time.Since(began))
		debug.FreeOSMemory()
		if s.Wait(ctx, watchInterval) != nil {
			return nil
		}
		last = s
	}
}

// printRun prints a line about one run of watch, and the error of a run that failed.
func (g *generation) printRun(files []string, err error, took time.Duration) {
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintf(g.err, "nabla: %v\n", err)
	}
	result := "up to date"
	if len(files) > 0 {
		names := make([]string, len(files))
		for i, name := range files {
			names[i] = shorter(name)
		}
		result = strings.Join(names, ", ") + " changed"
	}
	if err != nil {
		result += ", with errors"
	}
	fmt.Fprintf(g.out, "%s: %s (%.2f s)\n", time.Now().Format(time.TimeOnly), result, took.Seconds())
}

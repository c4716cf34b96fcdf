package gen

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/gen/current"
)

// A fileState is the part of the state of a file that shows changes without reading it.
type fileState struct {
	size int64
	time time.Time
}

// states returns the states of the source files of a directory, and of its go.mod. A directory that cannot be read has
// none.
func states(dir string) map[string]fileState {
	entries, _ := os.ReadDir(dir)
	list := map[string]fileState{}
	for _, e := range entries {
		name := e.Name()
		if name != "go.mod" && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")) {
			continue
		}
		var info fs.FileInfo
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && !info.IsDir() {
			list[name] = fileState{info.Size(), info.ModTime()}
		}
	}
	return list
}

// Wait waits until a source file that the code of the packages depends on, or a go.mod, differs from its state when the
// survey read it. Files of one directory that appear, disappear or change in the same interval are one change. Wait
// looks at the files once in each interval, and returns the error of ctx when ctx is done.
func (s *Survey) Wait(ctx context.Context, interval time.Duration) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for settling := false; ; {
		changed := s.changed()
		if settling && !changed {
			return nil
		}
		settling = settling || changed
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// changed reports whether source files differ from their states, and makes the present states those to compare with.
func (s *Survey) changed() bool {
	changed := false
	for _, dir := range s.Dirs() {
		now := states(dir)
		before := s.states[dir]
		s.states[dir] = now
		if maps.Equal(now, before) {
			continue
		}
		for name, state := range now {
			if before[name] != state && !generated(filepath.Join(dir, name)) {
				changed = true
			}
		}
		for name := range before {
			if _, ok := now[name]; !ok && !mayBeGenerated(name) {
				changed = true
			}
		}
	}
	return changed
}

// generated reports whether a file is a generated one.
func generated(name string) bool {
	if !mayBeGenerated(name) {
		return false
	}
	text, err := os.ReadFile(name)
	return err == nil && isOutputFile(current.Of(filepath.Base(name), text))
}

// mayBeGenerated reports whether generated files may have this name.
func mayBeGenerated(name string) bool {
	return isOutputFile(current.File{Name: filepath.Base(name), Generated: true})
}

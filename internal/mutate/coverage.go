package main

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
)

// A block is a piece of a file that a cover profile counts.
type block struct {
	fromLine, fromCol, toLine, toCol int
	run                              bool
}

// coverage has the blocks of each file, by its base name.
type coverage map[string][]block

// readCoverage reads a profile of one package.
func readCoverage(r io.Reader) (coverage, error) {
	c := coverage{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		line := lines.Text()
		if first {
			if !strings.HasPrefix(line, "mode: ") {
				return nil, fmt.Errorf("a cover profile begins with its mode, and this one with %q", line)
			}
			continue
		}
		name, rest, _ := strings.Cut(line, ".go:")
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromCol, &b.toLine, &b.toCol, &statements,
			&count); err != nil {
			return nil, fmt.Errorf("cover profile: %q: %w", line, err)
		}
		b.run = count > 0
		base := path.Base(name) + ".go"
		c[base] = append(c[base], b)
	}
	return c, lines.Err()
}

// runs reports whether the tests run what m changes. What no block has, such as a variable
// of the package, is taken to be run.
func (c coverage) runs(m *mutant) bool {
	inside := false
	for _, b := range c[filepath.Base(m.file)] {
		after := m.line > b.fromLine || m.line == b.fromLine && m.col >= b.fromCol
		before := m.line < b.toLine || m.line == b.toLine && m.col < b.toCol
		if after && before {
			if b.run {
				return true
			}
			inside = true
		}
	}
	return !inside
}

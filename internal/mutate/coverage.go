package main

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
)

// A block is a range of a file that a cover profile counts.
type block struct {
	fromLine, fromCol, toLine, toCol int
	run                              bool
}

// A coverage maps base names of files to their blocks.
type coverage map[string][]block

// readCoverage reads the cover profile of one package.
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

// covers reports whether the tests run the code that m changes. Code outside of all blocks, such as a package-level
// variable, counts as covered.
func (c coverage) covers(m *mutant) bool {
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

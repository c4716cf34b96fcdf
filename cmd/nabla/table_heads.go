package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeGrid writes a table whose column heads are broken into several lines.
func writeGrid(w io.Writer, head []string, rows [][]string) {
	broken, height := make([][]string, len(head)), 0
	width := make([]int, len(head))
	for j, h := range head {
		broken[j] = brokenName(h)
		height = max(height, len(broken[j]))
		for _, line := range broken[j] {
			width[j] = max(width[j], utf8.RuneCountInString(line))
		}
	}
	for _, r := range rows {
		for j, cell := range r {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells func(j int) string) {
		var b strings.Builder
		for j := range head {
			fmt.Fprintf(&b, "%-*s  ", width[j], cells(j))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	for i := range height {
		line(func(j int) string {
			if k := i - height + len(broken[j]); k >= 0 {
				return broken[j][k]
			}
			return ""
		})
	}
	for _, r := range rows {
		line(func(j int) string { return r[j] })
	}
}

// brokenName breaks the name of an engine before its settings and around "over".
func brokenName(name string) []string {
	name = strings.ReplaceAll(name, " over ", " over\n")
	return strings.Split(strings.ReplaceAll(name, "(", "\n("), "\n")
}

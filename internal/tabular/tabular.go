// Package tabular writes tables as text and Markdown, and formats the numbers in them.
package tabular

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// A Column is left-aligned if it holds words, otherwise right-aligned.
type Column struct {
	Name string
	Word bool
}

// Text writes rows of cells below the names of the columns.
func Text(w io.Writer, columns []Column, rows [][]string) error {
	widths := make([]int, len(columns))
	head := make([]string, len(columns))
	for j, c := range columns {
		head[j], widths[j] = c.Name, utf8.RuneCountInString(c.Name)
	}
	for _, row := range rows {
		for j, s := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
		}
	}
	b := bufio.NewWriter(w)
	write := func(row []string) {
		var line strings.Builder
		for j, s := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s))
			if columns[j].Word {
				line.WriteString(s + pad + "  ")
			} else {
				line.WriteString(pad + s + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	write(head)
	for _, row := range rows {
		write(row)
	}
	return b.Flush()
}

// Markdown writes a Markdown table.
func Markdown(w io.Writer, columns []Column, rows [][]string) error {
	b := bufio.NewWriter(w)
	escape := strings.NewReplacer("|", `\|`)
	for _, c := range columns {
		b.WriteString("| " + escape.Replace(c.Name) + " ")
	}
	b.WriteString("|\n")
	for _, c := range columns {
		if c.Word {
			b.WriteString("|---")
		} else {
			b.WriteString("|--:")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows {
		for _, s := range row {
			b.WriteString("| " + escape.Replace(s) + " ")
		}
		b.WriteString("|\n")
	}
	return b.Flush()
}

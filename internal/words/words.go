// Package words measures the comments of Go source: comment lines per line of code, comment lines with the word
// [Avoided], and lines that are too wide.
//
// The figures compare packages with each other and with the standard library: math/big and go/ssa have 0.4 to 0.5
// comment lines per line of code, of which one in a thousand contains that word.
package words

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Columns is the width of the widest line allowed. A tab counts for TabWidth columns.
const (
	Columns  = 120
	TabWidth = 4
)

// Avoided begins relative clauses in places where a noun says more.
const Avoided = "what"

// Figures holds the counts of one file or of several.
type Figures struct {
	Files    int
	Code     int // lines with a token other than a comment
	Comments int // lines with a comment and no other token, without directives
	What     int // those of Comments that contain the word Avoided
}

// Add adds the counts of g.
func (f *Figures) Add(g Figures) {
	f.Files += g.Files
	f.Code += g.Code
	f.Comments += g.Comments
	f.What += g.What
}

var avoided = regexp.MustCompile(`(?i)\b` + Avoided + `\b`)

// Count counts the lines of a Go file. It fails if the source has a syntax error.
func Count(name string, src []byte) (Figures, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return Figures{}, err
	}
	file := fset.File(f.FileStart)
	code := map[int]bool{}
	var s scanner.Scanner
	s.Init(fset.AddFile(name, fset.Base(), len(src)), src, nil, 0)
	scanned := fset.File(token.Pos(fset.Base() - 1))
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		first := scanned.Line(pos)
		for i := range 1 + strings.Count(text, "\n") { // a raw string may have several lines
			code[first+i] = true
		}
	}
	n := Figures{Files: 1, Code: len(code)}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if directive(c) {
				continue
			}
			for i, line := range strings.Split(c.Text, "\n") {
				if code[file.Line(c.Pos())+i] {
					continue
				}
				n.Comments++
				if avoided.MatchString(line) {
					n.What++
				}
			}
		}
	}
	return n, nil
}

// directive reports whether c is a directive for a tool, such as //go:build and //nabla:passive.
func directive(c *ast.Comment) bool {
	name, _, found := strings.Cut(strings.TrimPrefix(c.Text, "//"), ":")
	return found && strings.HasPrefix(c.Text, "//") && name != "" && !strings.ContainsAny(name, " \t")
}

// Wide returns the numbers, from 1, of the lines of a Go file that are wider than Columns. Lines that cannot be broken
// do not count: directives, the output of examples, and lines with a part of a raw string.
func Wide(src []byte) []int {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	fixed := map[int]bool{}
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	output := false
	for {
		pos, tok, text := s.Scan()
		output = tok == token.COMMENT && (output || text == "// Output:" || text == "// Unordered output:")
		switch {
		case tok == token.EOF:
			return wide(src, func(line int, _ string) bool { return !fixed[line] })
		case tok == token.STRING && text[0] == '`', output, tok == token.COMMENT && directive(&ast.Comment{Text: text}):
			for i := range 1 + strings.Count(text, "\n") {
				fixed[file.Line(pos)+i] = true
			}
		}
	}
}

// WideMarkdown is Wide for Markdown. Rows of tables and lines of code blocks do not count.
func WideMarkdown(text []byte) []int {
	block := false
	return wide(text, func(_ int, line string) bool {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			block = !block
		}
		return !block && !strings.HasPrefix(line, "|")
	})
}

func wide(text []byte, counts func(number int, line string) bool) (numbers []int) {
	for i, line := range strings.Split(string(text), "\n") {
		width := utf8.RuneCountInString(line) + (TabWidth-1)*strings.Count(line, "\t")
		if counts(i+1, line) && width > Columns {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

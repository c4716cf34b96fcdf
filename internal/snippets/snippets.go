// Package snippets finds the Go programs in the Markdown documents of this module, for tests that build and run them.
//
// A block of Go is a whole program. The next block of text after it, before the next program, is its output.
package snippets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Program is a block of Go in a document.
type Program struct {
	File string // the document, relative to the directory of the module
	Line int    // the line of the document after the mark that begins the block, from 1
	Code string
	Want string // the output
}

// String returns the position of the program, document:line.
func (p Program) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Generated reports whether the program needs generated code.
func (p Program) Generated() bool { return strings.Contains(p.Code, "//go:generate") }

// Documents returns the names of the documents in directory root, the one of the module, relative to it: README.md and
// the pages in docs.
func Documents(root string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	names := []string{"README.md"}
	for _, page := range pages {
		names = append(names, "docs/"+filepath.Base(page))
	}
	return names, nil
}

// All returns the programs of all documents in directory root.
func All(root string) ([]Program, error) {
	names, err := Documents(root)
	if err != nil {
		return nil, err
	}
	var all []Program
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		programs, err := Parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, programs...)
	}
	return all, nil
}

// Parse returns the programs in the text of a document. It returns an error that names file and line if a block has no
// language or no end, or if a block of Go is no whole program or has no output.
func Parse(file, text string) ([]Program, error) {
	var found []Program
	language, begin, n := "", 0, 0
	open := false // whether the last program has no output so far
	var body strings.Builder
	fail := func(line int, problem string) ([]Program, error) {
		return nil, fmt.Errorf("%s:%d: %s", file, line, problem)
	}
	for line := range strings.Lines(text) {
		n++
		mark, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !ok:
			body.WriteString(line)
		case language == "" && mark == "":
			return fail(n, "a block without a language")
		case language == "":
			language, begin = mark, n+1
			body.Reset()
		case mark != "":
			return fail(n, "a block begins in another one")
		default:
			switch {
			case language == "go" && open:
				return fail(found[len(found)-1].Line, "a program without output")
			case language == "go" && !whole(body.String()):
				return fail(begin, "Go that is no whole program with one func main")
			case language == "go":
				found, open = append(found, Program{File: file, Line: begin, Code: body.String()}), true
			case language == "text" && open:
				found[len(found)-1].Want, open = body.String(), false
			}
			language = ""
		}
	}
	switch {
	case language != "":
		return fail(begin, "a block without an end")
	case open:
		return fail(found[len(found)-1].Line, "a program without output")
	}
	return found, nil
}

// whole reports whether code is a program that can also be compiled as a package with another name.
func whole(code string) bool {
	return strings.HasPrefix(code, "package main\n") && strings.Count(code, "\nfunc main() {\n") == 1
}

// Package returns the code of the program as a package with the given name, whose function Main is that of the program.
func (p Program) Package(name string) string {
	code := strings.Replace(p.Code, "package main\n", "package "+name+"\n", 1)
	return strings.Replace(code, "\nfunc main() {\n", "\nfunc Main() {\n", 1)
}

// Package linetable holds which lines of the source the lines of generated functions were made from, so that an
// operation of generated code is reported at its line of the user's function.
//
// A generated file ends with a table: a text for each of its functions over Reals, in their order. Lines are counted
// from the declarations of the functions, in the generated file and in the source, and the place of a function from the
// one after it or from the table. So a text changes with its function and not with the code around it. The texts are
// parsed when a place is first asked for.
//
//	text    = gap "+" lines { "|" function "|" file ":" line "|" marks }
//	marks   = [ mark { " " mark } ]
//	mark    = offset ":" offset
//
// gap is the number of lines from the declaration to that of the next function, or to the table; lines is the length of
// the function. A mark n:m says that line n after the declaration was made from line m after that of the named
// function, and the following lines, until the next mark of any function, from those after it. A function without name
// stands for code of nabla itself, whose place is that of its caller.
package linetable

import (
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// A Place is a line of a source file. The zero Place is one in code of nabla itself.
type Place struct {
	// Function is the declared function, as package runtime names it. In a table the name of a function of the package
	// of the generated file begins with a dot, without the path of the package.
	Function string
	// File is relative to the directory of the generated file, and begins with a dot if it has a slash, if it is of the
	// same module; otherwise it is the path of the package and the name in it, as for programs built with -trimpath.
	File string
	Line int
	// Declared is the line of the declaration of Function.
	Declared int
}

// A Form is a generated function: the place that each of its lines was made from, beginning with the declaration. Lines
// without a place, such as those with a closing brace alone, have a nil one.
type Form struct {
	Line   int // of the declaration in the generated file
	Places []*Place
}

// Encode returns the texts of forms, which are ordered by their lines, for a table at line end.
func Encode(forms []Form, end int) []string {
	texts := make([]string, len(forms))
	for i := len(forms) - 1; i >= 0; i-- {
		texts[i] = forms[i].encode(end)
		end = forms[i].Line
	}
	return texts
}

// A section has the marks of one function in the text of a form.
type section struct {
	head  string
	marks []string
}

// encode returns the text of f, which is followed by a form or table at line next.
func (f *Form) encode(next int) string {
	var sections []*section
	var last *section
	diagonal := 0 // line in the source minus line in the form, both from the declarations
	for n, p := range f.Places {
		if p == nil {
			continue
		}
		head := "|||" // a file whose name the table cannot hold counts as code of nabla
		if p.Function != "" && !strings.Contains(p.Function+p.File, "|") {
			head = fmt.Sprintf("|%s|%s:%d|", p.Function, p.File, p.Declared)
		}
		of := func() *section {
			for _, s := range sections {
				if s.head == head {
					return s
				}
			}
			sections = append(sections, &section{head: head})
			return sections[len(sections)-1]
		}()
		m := p.Line - p.Declared
		if of == last && (m-n == diagonal || head == "|||") {
			continue
		}
		of.marks = append(of.marks, fmt.Sprintf("%d:%d", n, m))
		last, diagonal = of, m-n
	}
	text := fmt.Sprintf("%d+%d", next-f.Line, len(f.Places))
	for _, s := range sections {
		text += s.head + strings.Join(s.marks, " ")
	}
	return text
}

// A mark is a parsed mark with the function that it is of.
type mark struct {
	at   int // line from the declaration of the form
	from Place
}

// A form is a parsed text.
type form struct {
	first, lines int
	marks        []mark // in ascending order
}

// parse parses a text of the form that is followed by one at line next. It returns nil if the text is malformed.
func parse(text string, next int) *form {
	fields := strings.Split(text, "|")
	head, list := fields[0], fields[1:]
	gap, lines, ok := pair(head, "+")
	if !ok || gap <= 0 || lines <= 0 || lines > gap || len(list)%3 != 0 {
		return nil
	}
	f := &form{first: next - gap, lines: lines}
	for ; len(list) > 0; list = list[3:] {
		at := Place{Function: list[0]}
		if at.Function != "" {
			k := strings.LastIndexByte(list[1], ':')
			if k <= 0 {
				return nil
			}
			line, err := strconv.Atoi(list[1][k+1:])
			if err != nil || line <= 0 {
				return nil
			}
			at.File, at.Declared = list[1][:k], line
		}
		for _, m := range strings.Fields(list[2]) {
			n, source, ok := pair(m, ":")
			if !ok || n < 0 || n >= lines {
				return nil
			}
			at.Line = at.Declared + source
			f.marks = append(f.marks, mark{n, at})
		}
	}
	sort.Slice(f.marks, func(i, j int) bool { return f.marks[i].at < f.marks[j].at })
	return f
}

// pair returns two numbers with a separator between them.
func pair(s, separator string) (a, b int, ok bool) {
	first, second, ok := strings.Cut(s, separator)
	if !ok {
		return 0, 0, false
	}
	a, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	b, err = strconv.Atoi(second)
	return a, b, err == nil
}

// place returns the place that line n of f, counted from the declaration, was made from.
func (f *form) place(n int) (Place, bool) {
	k := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].at > n }) - 1
	if k < 0 {
		return Place{}, false
	}
	p := f.marks[k].from
	if p.Function == "" {
		return Place{}, true
	}
	p.Line += n - f.marks[k].at
	return p, true
}

// A table is that of a generated file.
type table struct {
	pkg   string // path of the package
	line  int
	texts []string
	forms []*form // parsed on demand
}

var registered = struct {
	sync.Mutex
	tables map[string]*table // by file
}{tables: map[string]*table{}}

// Register keeps the table of a generated file, which a function of its package registers at the given line. Texts that
// are malformed are ignored.
func Register(file string, line int, function string, texts []string) {
	pkg := function
	if i := strings.IndexByte(pkg[strings.LastIndexByte(pkg, '/')+1:], '.'); i >= 0 {
		pkg = pkg[:strings.LastIndexByte(pkg, '/')+1+i]
	}
	registered.Lock()
	defer registered.Unlock()
	registered.tables[file] = &table{pkg: pkg, line: line, texts: texts}
}

// Of returns the place in the source that a line of a generated file was made from, with the file as a path beside the
// generated one. It reports false if the file has no table, or if no function of the table has the line.
func Of(file string, line int) (Place, bool) {
	registered.Lock()
	defer registered.Unlock()
	t := registered.tables[file]
	if t == nil {
		return Place{}, false
	}
	p, ok := t.place(line)
	if strings.HasPrefix(p.Function, ".") {
		p.Function = t.pkg + p.Function
	}
	if ok && p.File != "" && (strings.HasPrefix(p.File, ".") || !strings.Contains(p.File, "/")) {
		p.File = path.Join(path.Dir(file), p.File)
	}
	return p, ok
}

// place returns the place that a line of the file was made from.
func (t *table) place(line int) (Place, bool) {
	if t.forms == nil {
		t.forms = []*form{}
		for next, i := t.line, len(t.texts)-1; i >= 0; i-- {
			f := parse(t.texts[i], next)
			if f == nil { // the places of the forms before it follow from it
				break
			}
			t.forms = append(t.forms, f)
			next = f.first
		}
	}
	for _, f := range t.forms {
		if n := line - f.first; n >= 0 && n < f.lines {
			return f.place(n)
		}
	}
	return Place{}, false
}

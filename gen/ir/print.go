package ir

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"sort"
	"strconv"
	"strings"
)

// The printer of the text form. It accepts ill-formed functions, which it prints with question
// marks, since error messages show them. Its output for well-formed ones is deterministic and
// parses back.

// String returns f in the text form. It does not fail: parts that are not well-formed are printed
// as far as possible, so that messages can show them.
func (f *Func) String() string {
	var b bytes.Buffer
	Print(&b, f) // a buffer does not fail
	return b.String()
}

// Print writes functions in the text form, which [Parse] reads. An error is one of w.
func Print(w io.Writer, funcs ...*Func) error { return printAll(w, false, funcs) }

// PrintPositions is Print with the source position of each statement at the end of its line.
func PrintPositions(w io.Writer, funcs ...*Func) error { return printAll(w, true, funcs) }

// printAll writes the functions after the import lines, which are known only once all are printed.
func printAll(w io.Writer, positions bool, funcs []*Func) error {
	p := newPrinter()
	p.positions = positions
	for i, f := range funcs {
		if i > 0 {
			p.b.WriteString("\n")
		}
		p.fn(f)
	}
	if _, err := io.WriteString(w, p.imports()); err != nil {
		return err
	}
	_, err := w.Write(p.b.Bytes())
	return err
}

// A printer writes the text form. Packages are printed by name; if two have the same name, the
// second is renamed and gets an import line.
type printer struct {
	b bytes.Buffer
	// depth is the number of tabs before a line.
	depth int
	// positions is set if statements are followed by their source positions.
	positions bool
	// packages maps each package to its name in the text.
	packages map[*types.Package]string
	// taken holds the values of packages.
	taken  map[string]bool
	locals map[string]bool // names of the variables of the current function
}

// newPrinter returns a printer that has not renamed any package.
func newPrinter() *printer {
	return &printer{packages: make(map[*types.Package]string), taken: make(map[string]bool)}
}

// stmtText returns the first line of a statement, for messages.
func stmtText(s Stmt) string {
	p := newPrinter()
	p.stmt(s)
	line, _, _ := strings.Cut(p.b.String(), "\n")
	return line
}

// exprText returns an expression, for messages.
func exprText(e Expr) string {
	p := newPrinter()
	return p.expr(e, nil)
}

// qualifier returns the name of a package in the text, for types.TypeString.
func (p *printer) qualifier(pkg *types.Package) string {
	if name, ok := p.packages[pkg]; ok {
		return name
	}
	name := pkg.Name()
	for i := 2; p.taken[name]; i++ {
		name = pkg.Name() + strconv.Itoa(i)
	}
	p.taken[name] = true
	p.packages[pkg] = name
	return name
}

// imports returns import lines for the renamed packages, in order.
func (p *printer) imports() string {
	var lines []string
	for pkg, name := range p.packages {
		if name != pkg.Name() {
			lines = append(lines, fmt.Sprintf("import %s %q\n", name, pkg.Path()))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	sort.Strings(lines)
	return strings.Join(lines, "") + "\n"
}

// typ returns the text of a type, ? for nil.
func (p *printer) typ(t types.Type) string {
	if t == nil {
		return "?"
	}
	return types.TypeString(t, p.qualifier)
}

// fn prints a function.
func (p *printer) fn(f *Func) {
	p.locals = make(map[string]bool)
	for _, v := range Vars(f) {
		if v.Kind != Global {
			p.locals[v.Name] = true
		}
	}
	params := f.Params
	p.b.WriteString("func ")
	if f.Recv && len(params) > 0 {
		p.b.WriteString("(" + p.param(params[0], false) + ") ")
		params = params[1:]
	}
	p.b.WriteString(nameText(f.Name) + "(")
	for i, v := range params {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.b.WriteString(p.param(v, f.Variadic && i == len(params)-1))
	}
	p.b.WriteString(")")
	if len(f.Results) > 0 {
		list := make([]string, len(f.Results))
		for i, v := range f.Results {
			list[i] = p.param(v, false)
		}
		p.b.WriteString(" (" + strings.Join(list, ", ") + ")")
	}
	if f.Passive {
		p.b.WriteString(" passive")
	}
	p.b.WriteString(checkpointText(f.Checkpoint))
	p.b.WriteString(" " + labelName(f.Exit) + " {" + p.position(f.Pos) + "\n")
	p.block(f.Body)
	p.b.WriteString("}\n")
}

// param returns a parameter or result as name type.
func (p *printer) param(v *Var, variadic bool) string {
	if v == nil {
		return "?"
	}
	if e := ElemOf(v.Type); variadic && e != nil {
		return v.Name + " ..." + p.typ(e)
	}
	return v.Name + " " + p.typ(v.Type)
}

// position returns a //@ comment, or "" if positions are not printed.
func (p *printer) position(at token.Position) string {
	if !p.positions || !at.IsValid() {
		return ""
	}
	return " //@ " + at.String()
}

// block prints statements, indented by one level.
func (p *printer) block(b Block) {
	p.depth++
	for _, s := range b {
		p.stmt(s)
	}
	p.depth--
}

// indent starts a line.
func (p *printer) indent() { p.b.WriteString(strings.Repeat("\t", p.depth)) }

// stmt prints a statement with its blocks.
func (p *printer) stmt(s Stmt) {
	p.indent()
	open := func(head string) {
		p.b.WriteString(head + " {" + p.position(s.Position()) + "\n")
	}
	closing := func() {
		p.indent()
		p.b.WriteString("}\n")
	}
	switch s := s.(type) {
	case *If:
		open("if " + p.expr(s.Cond, types.Typ[types.Bool]))
		p.block(s.Then)
		if len(s.Else) > 0 {
			p.indent()
			p.b.WriteString("} else {\n")
			p.block(s.Else)
		}
		closing()
	case *Scope:
		open("scope " + labelName(s.L))
		p.block(s.Body)
		closing()
	case *Loop:
		head := "for " + labelName(s.L) + ", " + labelName(s.Next)
		if v := s.V; v != nil {
			less := "<"
			if s.Step < 0 {
				less = ">"
			}
			head += fmt.Sprintf(" %s %s = %s; %s %s %s; %s += %d", v.Name, p.typ(v.Type), p.expr(s.Lo, v.Type),
				v.Name, less, p.expr(s.Hi, v.Type), v.Name, s.Step)
		}
		if head += checkpointText(s.Checkpoint); s.Marked {
			head += " marked"
		}
		open(head)
		p.block(s.Body)
		closing()
	case nil:
		p.b.WriteString("?\n")
	default:
		p.b.WriteString(p.simple(s) + p.position(s.Position()) + "\n")
	}
}

// simple returns the text of a statement without blocks.
func (p *printer) simple(s Stmt) string {
	switch s := s.(type) {
	case *Let:
		if s.V == nil {
			return "let ?"
		}
		head := "let " + s.V.Name + " " + p.typ(s.V.Type)
		if s.E == nil {
			return head
		}
		return head + " = " + p.expr(s.E, s.V.Type)
	case *Set:
		return p.place(s.P) + " = " + p.expr(s.E, s.P.Type())
	case *Add:
		return p.place(s.P) + " += " + p.expr(s.E, s.P.Type())
	case *Call:
		return p.call(s)
	case *Append:
		t := s.P.Type()
		list := make([]string, len(s.Elems))
		for i, e := range s.Elems {
			if s.Spread {
				list[i] = p.expr(e, t) + "..."
			} else {
				list[i] = p.expr(e, ElemOf(t))
			}
		}
		return p.place(s.P) + " = append(" + strings.Join(append([]string{p.expr(s.S, t)}, list...), ", ") + ")"
	case *Copy:
		text := "copy(" + p.expr(s.Dst, nil) + ", " + p.expr(s.Src, nil) + ")"
		if s.N != nil {
			text = s.N.Name + " = " + text
		}
		return text
	case *Clear:
		return "clear(" + p.expr(s.S, nil) + ")"
	case *Batch:
		list := []string{p.expr(s.Dst, nil)}
		for _, e := range s.Args {
			list = append(list, p.expr(e, nil))
		}
		return "batch " + s.Name + "(" + strings.Join(list, ", ") + ")"
	case *Leave:
		return "leave " + labelName(s.L)
	case *Panic:
		return "panic(" + p.expr(s.E, nil) + ")"
	}
	return fmt.Sprintf("?%T", s)
}

// call returns the text of a call.
func (p *printer) call(s *Call) string {
	head := ""
	for i, v := range s.Results {
		if i > 0 {
			head += ", "
		}
		if v == nil {
			head += "_"
		} else {
			head += v.Name
		}
	}
	if head != "" {
		head += " = "
	}
	head += "call "
	var params []*Var
	switch c := s.Callee; {
	case c != nil && c.Func != nil:
		head += nameText(c.Func.Name)
		params = c.Func.Params
	case c != nil && c.Rule != nil:
		head += "rule " + strconv.Quote(c.Rule.Name)
	default:
		head += "?"
	}
	list := make([]string, len(s.Args))
	for i, e := range s.Args {
		var want types.Type
		if i < len(params) {
			want = params[i].Type
		}
		list[i] = p.expr(e, want)
	}
	return head + "(" + strings.Join(list, ", ") + ")"
}

// labelName returns the name of l, ? for nil.
func labelName(l *Label) string {
	if l == nil {
		return "?"
	}
	return l.Name
}

// nameText returns the name of a function in the text form: quoted unless it consists of names,
// dots, a receiver in parentheses before them and type arguments after them.
func nameText(name string) string {
	toks, err := scan(name + "(")
	if err == nil && strings.TrimSpace(name) == name && !strings.ContainsAny(name, "\n\r") {
		if end := nameEnd(toks, 0); end == len(toks)-1 && len(toks) > 1 && toks[0].tok != token.STRING {
			return name
		}
	}
	return strconv.Quote(name)
}

// nameEnd returns the index of the parenthesis after the function name that begins at toks[i], or
// -1 if there is no name.
func nameEnd(toks []tok, i int) int {
	at := func(t token.Token) bool { return i < len(toks) && toks[i].tok == t }
	if at(token.STRING) {
		i++
		if at(token.LPAREN) {
			return i
		}
		return -1
	}
	if at(token.LPAREN) {
		for !at(token.RPAREN) {
			if i++; i >= len(toks) {
				return -1
			}
		}
		if i++; !at(token.PERIOD) {
			return -1
		}
		i++
	}
	for {
		if !at(token.IDENT) {
			return -1
		}
		if i++; !at(token.PERIOD) {
			break
		}
		i++
	}
	if at(token.LBRACK) {
		for depth := 0; ; i++ {
			if i >= len(toks) {
				return -1
			}
			if at(token.LBRACK) {
				depth++
			} else if at(token.RBRACK) {
				if depth--; depth == 0 {
					i++
					break
				}
			}
		}
	}
	if !at(token.LPAREN) {
		return -1
	}
	return i
}

// A tok is a Go token at an offset of a line.
type tok struct {
	off int
	tok token.Token
	lit string
}

// scan splits a line into tokens, comments included. An error is an offsetError.
func scan(line string) ([]tok, error) {
	var (
		list []tok
		err  error
		s    scanner.Scanner
	)
	file := token.NewFileSet().AddFile("", -1, len(line))
	s.Init(file, []byte(line), func(at token.Position, msg string) {
		if err == nil {
			err = offsetError{at.Offset, msg}
		}
	}, scanner.ScanComments)
	for {
		pos, t, lit := s.Scan()
		if t == token.EOF {
			return list, err
		}
		if t == token.SEMICOLON && lit == "\n" {
			continue
		}
		list = append(list, tok{file.Offset(pos), t, lit})
	}
}

// An offsetError is a lexical error at an offset of a line.
type offsetError struct {
	off int
	msg string
}

func (e offsetError) Error() string { return e.msg }

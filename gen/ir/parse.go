package ir

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Parse reads functions from the text form, see the package comment for its grammar.
// Functions of one text may call one another in any order. Names of packages and what
// else is not in the text come from env, which may be nil. Errors begin with line:column.
//
// What is read is well-formed as text, and its expressions have types; [Check] says
// whether it is a function.
func Parse(text string, env *Env) (funcs []*Func, err error) {
	if env == nil {
		env = &Env{}
	}
	p := &parser{env: env, funcs: make(map[string]*Func)}
	p.packages, p.paths = env.known()
	defer func() {
		switch e := recover().(type) {
		case nil:
		case parseError:
			funcs, err = nil, e
		default:
			panic(e)
		}
	}()
	for name, f := range env.Funcs {
		p.funcs[name] = f
	}
	p.split(text)
	return p.text(), nil
}

// parser reads a text line by line. Expressions and types are Go's, so package
// go/parser reads those.
type parser struct {
	env      *Env
	packages map[string]*types.Package // by the names in the text
	paths    map[string]*types.Package
	funcs    map[string]*Func
	lines    []line
	next     int // the line to be read
	depth    int
	line     *line // the line that is read
	shift    int   // the offset in it of the expression that is read

	// Of the function that is read.
	vars   map[string]*Var
	labels map[string]*Label
	exits  map[string]bool // labels of what is being read
}

type line struct {
	num  int
	src  string
	toks []tok
	at   token.Position // of the source
}

type parseError struct {
	line, column int
	msg          string
}

func (e parseError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.msg) }

// fail fails at an offset of the line that is read.
func (p *parser) fail(off int, format string, args ...any) {
	panic(parseError{p.line.num, off + 1, fmt.Sprintf(format, args...)})
}

// failAt fails at an expression.
func (p *parser) failAt(x ast.Node, msg string) { p.fail(p.shift+int(x.Pos())-1, "%s", msg) }

// split scans the lines that hold something.
func (p *parser) split(text string) {
	for i, src := range strings.Split(text, "\n") {
		l := line{num: i + 1, src: src}
		toks, err := scan(src)
		if err != nil {
			panic(parseError{l.num, err.(offsetError).off + 1, err.Error()})
		}
		for _, t := range toks {
			if t.tok != token.COMMENT {
				l.toks = append(l.toks, t)
			} else if at, ok := strings.CutPrefix(t.lit, "//@ "); ok {
				l.at = readPosition(at)
			}
		}
		if len(l.toks) > 0 {
			p.lines = append(p.lines, l)
		}
	}
}

// readPosition reads file:line:column; the file may hold colons.
func readPosition(s string) token.Position {
	var at token.Position
	s, col, _ := cutLast(strings.TrimSpace(s))
	file, num, ok := cutLast(s)
	if !ok { // line:column
		file, num = "", s
	}
	at.Filename = file
	at.Line, _ = strconv.Atoi(num)
	at.Column, _ = strconv.Atoi(col)
	return at
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// text reads all functions: first the heads, so that calls find what comes later.
func (p *parser) text() []*Func {
	heads := make(map[int]*Func)
	for i := range p.lines {
		p.line = &p.lines[i]
		switch p.line.toks[0].tok {
		case token.IMPORT:
			p.importLine()
		case token.FUNC:
			f := p.head()
			if p.funcs[f.Name] != nil {
				p.fail(0, "function %s twice", f.Name)
			}
			p.funcs[f.Name] = f
			heads[i] = f
		}
	}
	var out []*Func
	for p.next < len(p.lines) {
		i := p.next
		p.line = &p.lines[i]
		p.next++
		if p.line.toks[0].tok == token.IMPORT {
			continue
		}
		f := heads[i]
		if f == nil {
			p.fail(p.line.toks[0].off, "a statement outside of functions")
		}
		p.vars, p.labels, p.exits = make(map[string]*Var), make(map[string]*Label), make(map[string]bool)
		for _, v := range append(f.Params[:len(f.Params):len(f.Params)], f.Results...) {
			p.declare(v, 0)
		}
		p.enter(f.Exit, 0)
		f.Body = p.block()
		if len(p.line.toks) > 1 {
			p.fail(p.line.toks[1].off, "text behind the function")
		}
		out = append(out, f)
	}
	return out
}

func (p *parser) importLine() {
	t := p.line.toks
	if len(t) != 3 || t[1].tok != token.IDENT || t[2].tok != token.STRING {
		p.fail(t[0].off, "not import name \"path\"")
	}
	path, _ := strconv.Unquote(t[2].lit)
	pkg := p.paths[path]
	if pkg == nil {
		p.fail(t[2].off, "no package %s", t[2].lit)
	}
	p.packages[t[1].lit] = pkg
}

// head reads func (recv T) name(params) (results) passive exit {
func (p *parser) head() *Func {
	t := p.line.toks
	f := &Func{Pos: p.line.at}
	last := len(t) - 1
	if last < 4 || t[last].tok != token.LBRACE || t[last-1].tok != token.IDENT {
		p.fail(t[last].off, "not func name(parameters) (results) label {")
	}
	f.Exit = &Label{t[last-1].lit}
	if f.Checkpoint = p.checkpoint(last - 1); f.Checkpoint != nil {
		last -= checkpointTokens
	}
	if f.Passive = t[last-2].tok == token.IDENT && t[last-2].lit == "passive"; f.Passive {
		last--
	}
	i := 1
	if t[i].tok == token.LPAREN {
		if end := closing(t, i); end > 0 && t[end+1].tok != token.PERIOD {
			f.Recv = true
			f.Params, _ = p.params(t[i].off, t[end].off+1, Param)
			if len(f.Params) != 1 {
				p.fail(t[i].off, "not one receiver")
			}
			i = end + 1
		}
	}
	open := nameEnd(t, i)
	if open < 0 {
		p.fail(t[i].off, "no name of a function")
	}
	f.Name = p.name(t[i:open], t[open].off)
	end := closing(t, open)
	if end < 0 || end >= last-1 {
		p.fail(t[open].off, "parenthesis is not closed")
	}
	params, variadic := p.params(t[open].off, t[end].off+1, Param)
	f.Params = append(f.Params, params...)
	f.Variadic = variadic
	if end+1 < last-1 {
		if t[end+1].tok != token.LPAREN || t[last-2].tok != token.RPAREN {
			p.fail(t[end+1].off, "results are not in parentheses")
		}
		f.Results, variadic = p.params(t[end+1].off, t[last-2].off+1, Result)
		if variadic {
			p.fail(t[end+1].off, "... in results")
		}
	}
	return f
}

// name is the name of a function that t is made of, up to an offset.
func (p *parser) name(t []tok, end int) string {
	if t[0].tok == token.STRING {
		s, err := strconv.Unquote(t[0].lit)
		if err != nil {
			p.fail(t[0].off, "not a string")
		}
		return s
	}
	return strings.TrimSpace(p.line.src[t[0].off:end])
}

// closing is the index of what closes the parenthesis t[i], -1 if nothing does.
func closing(t []tok, i int) int {
	depth := 0
	for ; i < len(t); i++ {
		switch t[i].tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// params reads a list of parameters with its parentheses.
func (p *parser) params(from, to int, kind VarKind) ([]*Var, bool) {
	x := p.goExpr("func", from, to)
	ft, ok := x.(*ast.FuncType)
	if !ok {
		p.fail(from, "not a list of parameters")
	}
	tuple, variadic := p.tuple(ft.Params)
	var out []*Var
	for v := range tuple.Variables() {
		if v.Name() == "" || v.Name() == "_" {
			p.fail(from, "a parameter without a name")
		}
		out = append(out, &Var{Name: v.Name(), Type: v.Type(), Kind: kind, Pos: p.line.at})
	}
	return out, variadic
}

// goExpr reads Go's expression or type at [from, to) of the line, with text in front.
func (p *parser) goExpr(front string, from, to int) ast.Expr {
	p.shift = from - len(front)
	x, err := goparser.ParseExprFrom(token.NewFileSet(), "", front+p.line.src[from:to], goparser.SkipObjectResolution)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			p.fail(p.shift+list[0].Pos.Offset, "%s", list[0].Msg)
		}
		p.fail(from, "%s", err)
	}
	return x
}

func (p *parser) declare(v *Var, off int) {
	if p.vars[v.Name] != nil {
		p.fail(off, "variable %s twice", v.Name)
	}
	p.vars[v.Name] = v
}

// enter makes a label known until [parser.exit].
func (p *parser) enter(l *Label, off int) {
	if p.labels[l.Name] != nil {
		p.fail(off, "label %s twice", l.Name)
	}
	p.labels[l.Name] = l
	p.exits[l.Name] = true
}

func (p *parser) exit(l *Label) { p.exits[l.Name] = false }

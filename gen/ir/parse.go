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

// The parser of the text form. It is line-based: a line is split into tokens, the keywords and
// separators outside parentheses are located, and the expressions and types between them are parsed
// by go/parser and then typed. Errors are panics of type parseError, which Parse recovers.

// Parse parses functions in the text form, whose grammar is in the package comment. The functions
// of a text may call one another in any order. Packages and other names that the text does not
// declare are resolved by env, which may be nil. Errors start with line:column.
//
// The result is syntactically correct and its expressions are typed; [Check] reports whether it is
// a valid function.
func Parse(text string, env *Env) (funcs []*Func, err error) {
	if env == nil {
		env = &Env{}
	}
	p := &parser{env: env, funcs: make(map[string]*Func)}
	p.packages, p.paths = env.packagesByName()
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

// A parser holds the state of one call of Parse.
type parser struct {
	env *Env
	// packages maps names used in the text to packages.
	packages map[string]*types.Package
	// paths maps paths to packages.
	paths map[string]*types.Package
	funcs map[string]*Func
	lines []line
	next  int // index in lines of the line after the current one
	// depth is the nesting depth of blocks.
	depth int
	// line is the current line; errors refer to it.
	line  *line
	shift int // offset in the current line of the expression passed to go/parser

	// State of the current function.
	vars   map[string]*Var
	labels map[string]*Label
	exits  map[string]bool // name of a label → whether its statement encloses the current one
}

// A line is a line of the text that has tokens other than comments.
type line struct {
	num  int
	src  string
	toks []tok
	// at is the position in the Go source that a //@ comment states, zero without one.
	at token.Position // position in the Go source, from a //@ comment
}

// A parseError is a syntax error in the text.
type parseError struct {
	line, column int
	msg          string
}

func (e parseError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.msg) }

// fail panics with a parseError at an offset of the current line.
func (p *parser) fail(off int, format string, args ...any) {
	panic(parseError{p.line.num, off + 1, fmt.Sprintf(format, args...)})
}

// failAt panics with a parseError at an expression of the current line.
func (p *parser) failAt(x ast.Node, msg string) { p.fail(p.shift+int(x.Pos())-1, "%s", msg) }

// split scans the text into lines; blank and comment lines are dropped.
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

// readPosition parses file:line:column or line:column. The file may contain colons.
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

// cutLast splits s at its last colon.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// text parses all functions. Heads are parsed first, so that calls can refer to later functions.
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
			p.fail(p.line.toks[1].off, "text after the function")
		}
		out = append(out, f)
	}
	return out
}

// importLine parses an import, which gives a package of the environment another name in the text.
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

// head parses func (recv T) name(params) (results) passive checkpoint(…) exit {
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

// name returns the name of a function that consists of the tokens t and ends at an offset.
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

// closing returns the index of the token that closes the parenthesis t[i], or -1.
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

// params parses a parameter list with its parentheses and reports whether it is variadic.
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

// goExpr parses the Go expression or type in [from, to) of the current line, preceded by front.
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

// declare makes v known by its name, which must be new.
func (p *parser) declare(v *Var, off int) {
	if p.vars[v.Name] != nil {
		p.fail(off, "variable %s twice", v.Name)
	}
	p.vars[v.Name] = v
}

// enter makes l a label that can be left, until [parser.exit].
func (p *parser) enter(l *Label, off int) {
	if p.labels[l.Name] != nil {
		p.fail(off, "label %s twice", l.Name)
	}
	p.labels[l.Name] = l
	p.exits[l.Name] = true
}

// exit ends the scope of l. Its name stays in use.
func (p *parser) exit(l *Label) { p.exits[l.Name] = false }

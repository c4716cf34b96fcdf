package ir

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// The parser of statements. Methods take indices of tokens of the current line.

// maxDepth bounds the nesting of blocks, so that no input overflows the stack.
const maxDepth = 10000

// block parses statements up to a line that begins with a closing brace, which becomes the current
// line.
func (p *parser) block() Block {
	if p.depth++; p.depth > maxDepth {
		p.fail(0, "blocks nested too deeply")
	}
	defer func() { p.depth-- }()
	var out Block
	for {
		if p.next >= len(p.lines) {
			p.fail(len(p.line.src), "missing }")
		}
		p.line = &p.lines[p.next]
		p.next++
		if p.line.toks[0].tok == token.RBRACE {
			return out
		}
		out = append(out, p.stmt())
	}
}

// closeBlock fails if the line has more than the closing brace.
func (p *parser) closeBlock() {
	if len(p.line.toks) > 1 {
		p.fail(p.line.toks[1].off, "text after }")
	}
}

// stmt parses the statement on the current line, with its blocks on the lines after it. A keyword
// of the text form is recognised by the token after it, since it can also be part of an expression.
func (p *parser) stmt() Stmt {
	t := p.line.toks
	at := At{p.line.at}
	word := ""
	if t[0].tok == token.IDENT && len(t) > 1 {
		word = t[0].lit
	}
	next := token.ILLEGAL
	if len(t) > 1 {
		next = t[1].tok
	}
	switch {
	case t[0].tok == token.IF:
		return p.ifStmt(at)
	case t[0].tok == token.FOR:
		return p.loop(at)
	case next == token.IDENT && word == "let":
		return p.let(at)
	case next == token.IDENT && word == "scope":
		s := &Scope{At: at, L: p.newLabel(1)}
		p.open(2)
		s.Body = p.block()
		p.closeBlock()
		p.exit(s.L)
		return s
	case next == token.IDENT && word == "leave":
		l := p.labels[t[1].lit]
		if l == nil || !p.exits[t[1].lit] {
			p.fail(t[1].off, "%s is no label around", t[1].lit)
		}
		p.endOfLine(2)
		return &Leave{at, l}
	case next == token.IDENT && word == "batch":
		return p.batch(at)
	case next == token.LPAREN && (word == "copy" || word == "clear" || word == "panic"):
		return p.builtin(at, word)
	}
	return p.assign(at)
}

// off returns the offset of token i, or of the end of the last token.
func (p *parser) off(i int) int {
	t := p.line.toks
	if i < len(t) {
		return t[i].off
	}
	last := t[len(t)-1]
	if n := len(last.lit); n > 0 {
		return last.off + n
	}
	return last.off + len(last.tok.String())
}

// endOfLine fails if the line has more than n tokens.
func (p *parser) endOfLine(n int) {
	if len(p.line.toks) > n {
		p.fail(p.off(n), "text after the statement")
	}
}

// open fails unless token n is an opening brace and the last token.
func (p *parser) open(n int) {
	if t := p.line.toks; len(t) <= n || t[n].tok != token.LBRACE {
		p.fail(p.off(n), "missing {")
	}
	p.endOfLine(n + 1)
}

// newLabel declares the label that token i names.
func (p *parser) newLabel(i int) *Label {
	t := p.line.toks
	if i >= len(t) || t[i].tok != token.IDENT {
		p.fail(p.off(i), "no label")
	}
	l := &Label{t[i].lit}
	p.enter(l, t[i].off)
	return l
}

// variable returns the variable that token i names.
func (p *parser) variable(i int) *Var {
	t := p.line.toks
	if i >= len(t) || t[i].tok != token.IDENT {
		p.fail(p.off(i), "no variable")
	}
	v := p.vars[t[i].lit]
	if v == nil {
		p.fail(t[i].off, "no variable %s", t[i].lit)
	}
	return v
}

// exprAt parses the expression in tokens i to j.
func (p *parser) exprAt(i, j int, want types.Type) Expr {
	return p.expr(p.goExpr("", p.start(i, j), p.off(j)), want)
}

// start returns the offset of token i; it fails unless i < j.
func (p *parser) start(i, j int) int {
	if i >= j {
		p.fail(p.off(i), "missing expression")
	}
	return p.off(i)
}

// placeAt parses the place in tokens i to j.
func (p *parser) placeAt(i, j int) *Place {
	return p.place(p.goExpr("", p.start(i, j), p.off(j)))
}

// ifStmt parses an if with its branches. The else is on the line of the closing brace.
func (p *parser) ifStmt(at At) Stmt {
	n := len(p.line.toks) - 1
	p.open(n)
	s := &If{At: at, Cond: p.exprAt(1, n, types.Typ[types.Bool])}
	s.Then = p.block()
	if t := p.line.toks; len(t) == 3 && t[1].tok == token.ELSE && t[2].tok == token.LBRACE {
		s.Else = p.block()
	}
	p.closeBlock()
	return s
}

// loop parses a loop, counted or not. Its index is in scope in the body and stays declared.
func (p *parser) loop(at At) Stmt {
	t := p.line.toks
	n := len(t) - 1
	p.open(n)
	s := &Loop{At: at, L: p.newLabel(1)}
	if len(t) < 3 || t[2].tok != token.COMMA {
		p.fail(p.off(2), "missing ,")
	}
	s.Next = p.newLabel(3)
	if t[n-1].tok == token.IDENT && t[n-1].lit == "marked" && n > 4 {
		s.Marked = true
		n--
	}
	s.Checkpoint = p.checkpoint(n)
	if s.Checkpoint != nil {
		n -= checkpointTokens
	}
	if n > 4 {
		p.counted(s, n)
	}
	s.Body = p.block()
	p.closeBlock()
	p.exit(s.L)
	p.exit(s.Next)
	return s
}

// counted parses i T = lo; i < hi; i += step from token 4 to token n.
func (p *parser) counted(s *Loop, n int) {
	t := p.line.toks
	eq := p.index(4, n, token.ASSIGN)
	one := p.index(eq, n, token.SEMICOLON)
	two := p.index(one+1, n, token.SEMICOLON)
	if t[4].tok != token.IDENT {
		p.fail(t[4].off, "no index")
	}
	typ := p.typ(p.goExpr("", p.start(5, eq), p.off(eq)))
	s.V = &Var{Name: t[4].lit, Type: typ, Pos: s.Pos}
	s.Lo = p.exprAt(eq+1, one, typ)
	same := func(i int) {
		if i >= n || t[i].tok != token.IDENT || t[i].lit != s.V.Name {
			p.fail(p.off(i), "not %s", s.V.Name)
		}
	}
	same(one + 1)
	down := false
	switch t[one+2].tok {
	case token.LSS:
	case token.GTR:
		down = true
	default:
		p.fail(t[one+2].off, "not < or >")
	}
	s.Hi = p.exprAt(one+3, two, typ)
	same(two + 1)
	if t[two+2].tok != token.ADD_ASSIGN {
		p.fail(t[two+2].off, "not +=")
	}
	step, err := strconv.ParseInt(p.line.src[p.start(two+3, n):p.off(n)], 0, 64)
	if text := p.line.src[p.off(two+3):p.off(n)]; err != nil {
		step, err = strconv.ParseInt(trim(text), 0, 64)
	}
	if err != nil || step == 0 || (step < 0) != down {
		p.fail(p.off(two+3), "not a step in the direction of the comparison")
	}
	s.Step = step
	p.declare(s.V, t[4].off)
}

// trim removes trailing spaces and tabs.
func trim(s string) string {
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// index returns the index of the first token of a kind in [i, n) outside parentheses. It fails if
// there is none.
func (p *parser) index(i, n int, kind token.Token) int {
	if j := p.seek(i, n, kind); j >= 0 {
		return j
	}
	p.fail(p.off(n), "missing %s", kind)
	return 0
}

// seek is index, but returns -1 if there is none.
func (p *parser) seek(i, n int, kind token.Token) int {
	depth := 0
	for ; i < n; i++ {
		switch t := p.line.toks[i].tok; {
		case t == kind && depth == 0:
			return i
		case t == token.LPAREN || t == token.LBRACK || t == token.LBRACE:
			depth++
		case t == token.RPAREN || t == token.RBRACK || t == token.RBRACE:
			depth--
		}
	}
	return -1
}

// let parses a declaration. The variable is not in scope in its own initialiser.
func (p *parser) let(at At) Stmt {
	t := p.line.toks
	v := &Var{Name: t[1].lit, Pos: at.Pos}
	s := &Let{At: at, V: v}
	eq := p.seek(2, len(t), token.ASSIGN)
	end := eq
	if eq < 0 {
		end = len(t)
	}
	v.Type = p.typ(p.goExpr("", p.start(2, end), p.off(end)))
	if eq >= 0 {
		s.E = p.exprAt(eq+1, len(t), v.Type)
	}
	p.declare(v, t[1].off)
	return s
}

// builtin parses copy, clear and panic as statements without results.
func (p *parser) builtin(at At, word string) Stmt {
	args, _ := p.args("", 0)
	want := 1
	if word == "copy" {
		want = 2
	}
	if len(args) != want {
		p.fail(p.off(0), "%s takes %d arguments", word, want)
	}
	x := p.expr(args[0], nil)
	switch word {
	case "copy":
		return &Copy{At: at, Dst: x, Src: p.expr(args[1], nil)}
	case "clear":
		return &Clear{at, x}
	}
	return &Panic{at, x}
}

// batch parses a Batch.
func (p *parser) batch(at At) Stmt {
	n := len(p.line.toks)
	open := p.seek(1, n, token.LPAREN)
	if open < 0 {
		p.fail(p.off(1), "not a call")
	}
	s := &Batch{At: at}
	for _, t := range p.line.toks[1:open] {
		if t.tok == token.PERIOD {
			s.Name += "."
		}
		s.Name += t.lit
	}
	args, _ := p.args("", 1)
	if len(args) < 2 {
		p.fail(p.off(1), "a batch has a destination and arguments")
	}
	for i, x := range args {
		e := p.expr(x, nil)
		if i == 0 {
			s.Dst = e
		} else {
			s.Args = append(s.Args, e)
		}
	}
	return s
}

// args parses a call from token i to the end of the line, preceded by front.
func (p *parser) args(front string, i int) (args []ast.Expr, spread bool) {
	call, ok := p.goExpr(front, p.off(i), p.off(len(p.line.toks))).(*ast.CallExpr)
	if !ok {
		p.fail(p.off(i), "not a call")
	}
	return call.Args, call.Ellipsis.IsValid()
}

// assign parses a statement that begins with a place, or with call.
func (p *parser) assign(at At) Stmt {
	t := p.line.toks
	n := len(t)
	is := func(i int, lit string) bool { return i < n && t[i].tok == token.IDENT && t[i].lit == lit }
	if is(0, "call") && p.seek(0, n, token.ASSIGN) < 0 {
		return p.call(at, nil, 1)
	}
	if i := p.seek(0, n, token.ADD_ASSIGN); i >= 0 {
		dst := p.placeAt(0, i)
		return &Add{at, dst, p.exprAt(i+1, n, dst.Type())}
	}
	i := p.seek(0, n, token.ASSIGN)
	if i < 0 {
		p.fail(t[0].off, "not a statement")
	}
	if is(i+1, "call") && i+2 < n {
		return p.call(at, p.results(i), i+2)
	}
	dst := p.placeAtOr(i)
	switch {
	case is(i+1, "append") && i+2 < n && t[i+2].tok == token.LPAREN:
		return p.appendStmt(at, dst, i+1)
	case is(i+1, "copy") && i+2 < n && t[i+2].tok == token.LPAREN:
		if len(dst.Path) > 0 || dst.Root.Kind == Global {
			p.fail(t[0].off, "copy gives its number to a variable only")
		}
		args, _ := p.args("", i+1)
		if len(args) != 2 {
			p.fail(t[i+1].off, "copy takes 2 arguments")
		}
		return &Copy{at, dst.Root, p.expr(args[0], nil), p.expr(args[1], nil)}
	}
	return &Set{at, dst, p.exprAt(i+1, n, dst.Type())}
}

// placeAtOr parses the place before token i.
func (p *parser) placeAtOr(i int) *Place { return p.placeAt(0, i) }

// results parses the variables before token eq; _ becomes nil.
func (p *parser) results(eq int) []*Var {
	var out []*Var
	t := p.line.toks
	for i := 0; i < eq; i += 2 {
		if t[i].tok == token.IDENT && t[i].lit == "_" {
			out = append(out, nil)
		} else {
			out = append(out, p.variable(i))
		}
		if i+1 < eq && (t[i+1].tok != token.COMMA || i+2 == eq) {
			p.fail(t[i+1].off, "not a list of variables")
		}
	}
	return out
}

// call parses a callee from token i on, and its arguments.
func (p *parser) call(at At, results []*Var, i int) Stmt {
	s := &Call{At: at, Results: results}
	t := p.line.toks
	rule := i+1 < len(t) && t[i].tok == token.IDENT && t[i].lit == "rule" && t[i+1].tok == token.STRING
	if rule {
		i++
	}
	open := nameEnd(t, i)
	if open < 0 {
		p.fail(p.off(i), "no name of a function")
	}
	name := p.name(t[i:open], t[open].off)
	var params []*Var
	if rule {
		r := p.env.Rules[name]
		if r == nil {
			r = &Rule{Name: name}
		}
		s.Callee = &Callee{Rule: r}
	} else {
		f := p.funcs[name]
		if f == nil {
			p.fail(t[i].off, "no function %s", name)
		}
		s.Callee = &Callee{Func: f}
		params = f.Params
	}
	args, spread := p.args("f", open)
	if spread {
		p.fail(t[open].off, "... in a call")
	}
	for i, x := range args {
		var want types.Type
		if i < len(params) {
			want = params[i].Type
		}
		s.Args = append(s.Args, p.expr(x, want))
	}
	return s
}

// appendStmt parses an append to dst whose keyword is token i.
func (p *parser) appendStmt(at At, dst *Place, i int) Stmt {
	args, spread := p.args("", i)
	if len(args) == 0 || spread && len(args) != 2 {
		p.fail(p.off(i), "append takes a slice and elements, or a slice and another with ...")
	}
	t := dst.Type()
	s := &Append{At: at, P: dst, S: p.expr(args[0], t), Spread: spread}
	want := ElemOf(t)
	if spread {
		want = t
	}
	for _, x := range args[1:] {
		s.Elems = append(s.Elems, p.expr(x, want))
	}
	return s
}

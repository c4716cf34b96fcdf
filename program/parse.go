package program

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/rules"
)

// A SyntaxError reports the position and the cause of a failure of Parse. Lines and columns count from 1, columns in
// bytes.
type SyntaxError struct {
	Line, Col int
	Msg       string
}

func (e *SyntaxError) Error() string {
	return page.Namef("program.SyntaxError", "program: line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// Parse reads a program in the text form of the package comment. customs maps names to the custom rules that the text
// calls; it may be nil if there are none. The output of String is read back as an Equal program.
//
// Parse checks only the grammar; Check whether the program is well formed. The error is a *SyntaxError.
func Parse(text string, customs map[string]Custom) (*Program, error) {
	t := &parser{p: &Program{}, customs: customs, called: map[string]int32{}}
	for i, line := range strings.Split(text, "\n") {
		t.line, t.number, t.pos = line, i+1, 0
		t.statement()
		if t.err != nil {
			return nil, t.err
		}
	}
	return t.p, nil
}

// A parser reads one line at a time. After an error its methods have no useful effect, and the first error is kept.
type parser struct {
	p       *Program
	customs map[string]Custom
	called  map[string]int32 // index into p.Customs
	line    string
	number  int
	pos     int
	err     error
}

// errorAt sets the error at byte pos of the line, unless there is one already.
func (t *parser) errorAt(pos int, format string, args ...any) {
	if t.err == nil {
		t.err = &SyntaxError{Line: t.number, Col: pos + 1, Msg: fmt.Sprintf(format, args...)}
	}
}

// want sets the error that the expected text is missing at the current position.
func (t *parser) want(what string) {
	got := "the end of the line"
	if t.peek() != 0 {
		rest := t.line[t.pos:]
		if i := strings.IndexAny(rest, " \t\r"); i > 0 {
			rest = rest[:i]
		}
		got = strconv.Quote(rest[:min(len(rest), 30)])
	}
	t.errorAt(t.pos, "got %s, want %s", got, what)
}

// peek skips spaces and returns the next byte, or 0 at the end of the line or a comment.
func (t *parser) peek() byte {
	for t.pos < len(t.line) && strings.IndexByte(" \t\r", t.line[t.pos]) >= 0 {
		t.pos++
	}
	if t.pos == len(t.line) || t.line[t.pos] == '#' {
		return 0
	}
	return t.line[t.pos]
}

// expect reads the byte c.
func (t *parser) expect(c byte, what string) {
	if t.peek() != c {
		t.want(what)
		return
	}
	t.pos++
}

// end reads the rest of the line, which must be empty.
func (t *parser) end() {
	if t.err == nil && t.peek() != 0 {
		t.want("the end of the line")
	}
}

// next reports whether the byte right here, with no space before it, is c.
func (t *parser) next(c byte) bool {
	return t.pos < len(t.line) && t.line[t.pos] == c
}

// int reads a number of digits.
func (t *parser) int(what string) int32 {
	start := t.pos
	for t.pos < len(t.line) && isDigit(t.line[t.pos]) {
		t.pos++
	}
	v, err := strconv.ParseInt(t.line[start:t.pos], 10, 32)
	if err != nil {
		if t.pos > start {
			t.errorAt(start, "got %s, want a number up to %d", t.line[start:t.pos], math.MaxInt32)
			return 0
		}
		t.want(what)
	}
	return int32(v)
}

// word skips spaces and reads an identifier; it may be empty.
func (t *parser) word() string {
	t.peek()
	start := t.pos
	for t.pos < len(t.line) && (isLetter(t.line[t.pos]) || t.pos > start && isDigit(t.line[t.pos])) {
		t.pos++
	}
	return t.line[start:t.pos]
}

// quoted reads a Go string in double quotes.
func (t *parser) quoted(what string) string {
	if t.peek() != '"' {
		t.want(what)
		return ""
	}
	q, err := strconv.QuotedPrefix(t.line[t.pos:])
	if err != nil {
		t.errorAt(t.pos, "got a string that does not end, want %s", what)
		return ""
	}
	t.pos += len(q)
	s, _ := strconv.Unquote(q) // QuotedPrefix has checked it
	return s
}

// name reads the name of a group.
func (t *parser) name() string {
	if t.peek() == '"' {
		return t.quoted("a name")
	}
	w := t.word()
	if w == "" {
		t.want("a name")
	}
	return w
}

// slot reads %7.
func (t *parser) slot(what string) int32 {
	t.expect('%', what)
	if t.err != nil {
		return 0
	}
	return t.int("the number of a slot")
}

// slots reads a list in brackets.
func (t *parser) slots() []int32 {
	t.expect('[', "a list of slots in brackets")
	list := []int32{}
	for t.err == nil {
		if t.peek() == ']' {
			t.pos++
			break
		}
		list = append(list, t.slot("a slot or ]"))
	}
	return list
}

// An address is an operand in the text, before the number of its addresses is known.
type address struct {
	o    Operand
	list []int32 // not nil: gathered
	pos  int
}

func (t *parser) address() address {
	c := t.peek()
	a := address{pos: t.pos}
	if c == '[' {
		a.list = t.slots()
		return a
	}
	a.o.Base = t.slot("an operand")
	if t.err != nil || !t.next(':') {
		return a
	}
	t.pos++
	sign := int32(1)
	switch {
	case t.next('+'):
	case t.next('-'):
		sign = -1
	default:
		t.want("a stride, as in %0:+1")
		return a
	}
	t.pos++
	a.o.Stride = sign * t.int("a stride")
	return a
}

// place converts a, which must have n addresses, to an operand.
func (t *parser) place(a address, n int64) Operand {
	if a.list == nil {
		return a.o
	}
	if int64(len(a.list)) != n {
		t.errorAt(a.pos, "got %d slots, want %d", len(a.list), n)
		return Operand{}
	}
	if n == 1 {
		return Slot(a.list[0])
	}
	o := Operand{Base: int32(len(t.p.Index)), Stride: Gather}
	t.p.Index = append(t.p.Index, a.list...)
	return o
}

// statement reads a line.
func (t *parser) statement() {
	switch c := t.peek(); {
	case c == 0:
	case c == '%':
		t.assignment()
	default:
		start := t.pos
		switch w := t.word(); {
		case w == "out":
			g := Group{Name: t.name()}
			list := t.slots()
			t.end()
			g.N = len(list)
			t.p.Outs = append(t.p.Outs, g)
			t.p.Result = append(t.p.Result, list...)
		case guardNamed(w) != 0:
			t.guard(guardNamed(w))
		default:
			t.pos = start
			t.want("a statement: %slot = …, a guard or out")
		}
	}
}

// guard reads a guard after its name.
func (t *parser) guard(op Op) {
	a, b := t.address(), t.address()
	t.expect('=', "= and the outcomes")
	t.peek()
	base := len(t.p.Outcomes)
	for t.next('0') || t.next('1') {
		t.p.Outcomes = append(t.p.Outcomes, t.line[t.pos]-'0')
		t.pos++
	}
	n := len(t.p.Outcomes) - base
	if n == 0 {
		t.want("an outcome, 0 or 1, for each lane")
	}
	t.end()
	s := Stmt{Op: op, N: int32(n), C: Operand{Base: int32(base)}}
	s.A, s.B = t.place(a, int64(n)), t.place(b, int64(n))
	t.p.Stmts = append(t.p.Stmts, s)
}

// assignment reads a statement with a result.
func (t *parser) assignment() {
	s := Stmt{N: 1}
	start := t.pos
	s.D = t.slot("a slot")
	if t.err == nil && t.next(':') {
		t.pos++
		s.N = t.int("the number of lanes")
	}
	if int64(t.p.Slots)+int64(s.N) > math.MaxInt32 {
		t.errorAt(start, "got more than %d slots in all", math.MaxInt32)
	}
	t.expect('=', "=")
	t.peek()
	at := t.pos
	w := t.word()
	if t.err != nil {
		return
	}
	switch op, ok := rules.Lookup(w); {
	case ok:
		s.Op = Op(op)
		ops := [3]*Operand{&s.A, &s.B, &s.C}
		for i := range op.Arity() {
			*ops[i] = t.place(t.address(), int64(s.N))
		}
	case w == "input":
		s.Op, s.K = Input, int32(len(t.p.Ins))
		t.p.Ins = append(t.p.Ins, Group{t.name(), int(s.N)})
	case w == "param":
		s.Op = Param
		t.peek()
		s.K = t.int("the number of the first parameter")
		t.p.Params += int(s.N)
	case w == "const":
		s.Op, s.K = Const, int32(len(t.p.Consts))
		for t.err == nil && t.peek() != 0 {
			t.p.Consts = append(t.p.Consts, t.float())
		}
		if n := len(t.p.Consts) - int(s.K); n != int(s.N) {
			t.errorAt(at, "got %d constants, want %d", n, s.N)
		}
	case w == "sum":
		s.Op = Sum
		t.peek()
		s.K = t.int("the number of terms")
		s.A = t.place(t.address(), int64(s.N)*int64(s.K))
	case w == "call":
		s.Op = Call
		s.K = t.custom()
		list := t.slots()
		b := builder{p: t.p}
		s.A, s.B = b.gather(list), Operand{Base: int32(len(list))}
	default:
		t.pos = at
		t.want("an operation")
	}
	t.end()
	t.p.Stmts = append(t.p.Stmts, s)
	t.p.Slots += s.N
}

// custom reads the name of a custom rule and returns its index.
func (t *parser) custom() int32 {
	t.peek()
	at := t.pos
	name := t.quoted("the name of a custom rule in quotes")
	if k, ok := t.called[name]; ok {
		return k
	}
	c := t.customs[name]
	if c == nil {
		t.errorAt(at, "got the name %q, want that of a custom rule given to Parse", name)
		return 0
	}
	k := int32(len(t.p.Customs))
	t.p.Customs = append(t.p.Customs, c)
	t.called[name] = k
	return k
}

// float reads a constant.
func (t *parser) float() float64 {
	start := t.pos
	for t.pos < len(t.line) && strings.IndexByte(" \t\r#", t.line[t.pos]) < 0 {
		t.pos++
	}
	w := t.line[start:t.pos]
	if hex, ok := strings.CutPrefix(w, "NaN(0x"); ok {
		hex, ok = strings.CutSuffix(hex, ")")
		bits, err := strconv.ParseUint(hex, 16, 64)
		if v := math.Float64frombits(bits); ok && err == nil && v != v {
			return v
		}
	}
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		t.pos = start
		t.want("a constant")
	}
	return v
}

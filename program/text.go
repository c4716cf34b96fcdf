package program

import (
	"bytes"
	"hash/fnv"
	"math"
	"strconv"
)

// String returns p in the text form that Parse reads, one statement per line. Programs that Check rejects are printed
// too, with "?" for references outside a table.
func (p *Program) String() string {
	var b []byte
	for i := range p.lines() {
		b = append(p.appendLine(b, i), '\n')
	}
	return string(b)
}

// Equal reports whether p and q have the same text form. Custom rules are compared by name and NaNs by their bits.
func Equal(p, q *Program) bool {
	if p.lines() != q.lines() {
		return false
	}
	var a, b []byte
	for i := range p.lines() {
		a, b = p.appendLine(a[:0], i), q.appendLine(b[:0], i)
		if !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// Hash returns a hash of the text form. Programs that are Equal have the same hash in every process.
func (p *Program) Hash() uint64 {
	h := fnv.New64a()
	var b []byte
	for i := range p.lines() {
		b = append(p.appendLine(b[:0], i), '\n')
		h.Write(b) // cannot fail
	}
	return h.Sum64()
}

// lines returns the number of lines of the text form: statements, then output groups.
func (p *Program) lines() int { return len(p.Stmts) + len(p.Outs) }

func (p *Program) appendLine(b []byte, i int) []byte {
	if i < len(p.Stmts) {
		return p.appendStmt(b, &p.Stmts[i])
	}
	i -= len(p.Stmts)
	at := total(p.Outs[:i])
	b = appendName(append(b, "out "...), p.Outs[i].Name)
	return appendSlots(append(b, ' '), p.Result, at, p.Outs[i].N)
}

func (p *Program) appendStmt(b []byte, s *Stmt) []byte {
	if !s.Op.Guard() {
		b = appendSlot(b, s.D)
		if s.N != 1 {
			b = strconv.AppendInt(append(b, ':'), int64(s.N), 10)
		}
		b = append(b, " = "...)
	}
	b = append(b, s.Op.String()...)
	switch s.Op {
	case Input:
		if s.K < 0 || int(s.K) >= len(p.Ins) {
			return append(b, " ?"...)
		}
		return appendName(append(b, ' '), p.Ins[s.K].Name)
	case Param:
		return strconv.AppendInt(append(b, ' '), int64(s.K), 10)
	case Const:
		if !within(s.K, s.N, len(p.Consts)) {
			return append(b, " ?"...)
		}
		for _, v := range p.Consts[s.K : s.K+s.N] {
			b = appendFloat(append(b, ' '), v)
		}
		return b
	case Sum:
		b = strconv.AppendInt(append(b, ' '), int64(s.K), 10)
	case Call:
		name := "?"
		if s.K >= 0 && int(s.K) < len(p.Customs) && p.Customs[s.K] != nil {
			name = p.Customs[s.K].Name()
		}
		b = append(strconv.AppendQuote(append(b, ' '), name), ' ')
		if s.A.Stride == Gather {
			return appendSlots(b, p.Index, int(s.A.Base), int(s.B.Base))
		}
		b = append(b, '[')
		for l := range s.B.Base {
			if l > 0 {
				b = append(b, ' ')
			}
			b = appendSlot(b, s.A.Base+l*s.A.Stride)
		}
		return append(b, ']')
	}
	for i, o := range [3]Operand{s.A, s.B, s.C} {
		if i < s.Op.Arity() {
			b = p.appendOperand(append(b, ' '), o, s.terms())
		}
	}
	if s.Op.Guard() {
		b = append(b, " = "...)
		if !within(s.C.Base, s.N, len(p.Outcomes)) {
			return append(b, '?')
		}
		for _, o := range p.Outcomes[s.C.Base : s.C.Base+s.N] {
			b = append(b, '0'+min(o, 1))
		}
	}
	return b
}

// appendOperand writes o, which has n addresses.
func (p *Program) appendOperand(b []byte, o Operand, n int32) []byte {
	switch {
	case o.Stride == Gather && n == 1 && within(o.Base, 1, len(p.Index)):
		return appendSlot(b, p.Index[o.Base])
	case o.Stride == Gather:
		return appendSlots(b, p.Index, int(o.Base), int(n))
	}
	b = appendSlot(b, o.Base)
	if o.Stride == 0 || n == 1 {
		return b
	}
	b = append(b, ':')
	if o.Stride > 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, int64(o.Stride), 10)
}

// appendSlots writes the n slots of list from at on.
func appendSlots(b []byte, list []int32, at, n int) []byte {
	if at < 0 || n < 0 || at > len(list)-n {
		return append(b, "[?]"...)
	}
	b = append(b, '[')
	for i, s := range list[at : at+n] {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendSlot(b, s)
	}
	return append(b, ']')
}

func appendSlot(b []byte, s int32) []byte {
	return strconv.AppendInt(append(b, '%'), int64(s), 10)
}

// appendName writes the name of a group, in quotes unless it is an identifier.
func appendName(b []byte, name string) []byte {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || !isDigit(name[i])) {
			return strconv.AppendQuote(b, name)
		}
	}
	if name == "" {
		return append(b, `""`...)
	}
	return append(b, name...)
}

// appendFloat writes v so that the same bits are read back.
func appendFloat(b []byte, v float64) []byte {
	if v != v && math.Float64bits(v) != math.Float64bits(math.NaN()) {
		b = strconv.AppendUint(append(b, "NaN(0x"...), math.Float64bits(v), 16)
		return append(b, ')')
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// within reports whether the n entries from index at on are inside a table of the given length.
func within(at, n int32, length int) bool {
	return at >= 0 && n >= 0 && int64(at)+int64(n) <= int64(length)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

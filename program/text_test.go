package program

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTextRoundTrip(t *testing.T) {
	each(t, 300, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		for _, pass := range passes {
			p := pass.do(x.p)
			text := p.String()
			q, err := Parse(text, testCustoms)
			if err != nil {
				t.Fatalf("%s: %v\n%s", pass, err, text)
			}
			mustCheck(t, pass.String(), q)
			if got := q.String(); got != text {
				t.Fatalf("%s: printed\n%safter parsing\n%s", pass, text, got)
			}
			if !Equal(p, q) || p.Hash() != q.Hash() {
				t.Errorf("%s: a parsed program is not Equal or has another Hash", pass)
			}
			want, _ := reference(p, x.ins, x.params)
			got, _ := reference(q, x.ins, x.params)
			compare(t, pass.String(), got, want, sameNumber)
		}
	})
}

func TestConstantsRoundTrip(t *testing.T) {
	values := []float64{
		0, math.Copysign(0, -1), 1, -2.5, 0.1, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 1.0 / 3,
		math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(),
		math.Float64frombits(0x7ff8000000000000), math.Float64frombits(0xfff8000000000123),
		math.Float64frombits(0x7ff0000000000001), // signalling
	}
	b := derive(&Program{})
	b.p.Consts = values
	d := b.add(Stmt{Op: Const, N: int32(len(values))})
	b.output("y", []int32{d})
	q := mustParse(t, b.p.String())
	for i, v := range values {
		if got, want := math.Float64bits(q.Consts[i]), math.Float64bits(v); got != want {
			t.Errorf("%v: got bits %#x, want %#x", v, got, want)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	p := mustParse(t, "# two inputs\r\n\n  %0:2 = input \"a name # \\n\"  # a comment\n%2=const 1e0# another\n"+
		"\t%3:1 = add [%0] %2:+4\nguardlt %0:+1 %2 = 01\nout \"\" [%3]")
	const want = `%0:2 = input "a name # \n"
%2 = const 1
%3 = add %0 %2
guardlt %0:+1 %2 = 01
out "" [%3]
`
	if got := p.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"%0 = input x\n%1 = sinn %0", `line 2, column 6: got "sinn", want an operation`},
		{"%0 = sin", `line 1, column 9: got the end of the line, want an operand`},
		{"%0 = sin 0", `line 1, column 10: got "0", want an operand`},
		{"%0 = mul %1 # x", `line 1, column 13: got the end of the line, want an operand`},
		{"%0 = sin %1 %2", `line 1, column 13: got "%2", want the end of the line`},
		{"%0 = sin %1:2", `line 1, column 13: got "2", want a stride, as in %0:+1`},
		{"%0 = sin %1:+", `line 1, column 14: got the end of the line, want a stride`},
		{"%0 = sin %x", `line 1, column 11: got "x", want the number of a slot`},
		{"%0:2 = sin [%1 %2 %3]", `line 1, column 12: got 3 slots, want 2`},
		{"%0:2 = sin [%1 %2", `line 1, column 18: got the end of the line, want a slot or ]`},
		{"%0:2 = sum 2 [%1 %2]", `line 1, column 14: got 2 slots, want 4`},
		{"%0:2 = sum [%1 %2]", `line 1, column 12: got "[%1", want the number of terms`},
		{"%99999999999 = sin %1", `line 1, column 2: got 99999999999, want a number up to 2147483647`},
		{"%0:2147483647 = input x\n%0:2 = input y", `line 2, column 1: got more than 2147483647 slots in all`},
		{"%0: = input x", `line 1, column 5: got "=", want the number of lanes`},
		{"%0 input x", `line 1, column 4: got "input", want =`},
		{"%0 = input", `line 1, column 11: got the end of the line, want a name`},
		{"%0 = input \"x", `line 1, column 12: got a string that does not end, want a name`},
		{"%0 = param x", `line 1, column 12: got "x", want the number of the first parameter`},
		{"%0:3 = const 1 2", `line 1, column 8: got 2 constants, want 3`},
		{"%0 = const 1e999", `line 1, column 12: got "1e999", want a constant`},
		{"%0 = const NaN(0x0)", `line 1, column 12: got "NaN(0x0)", want a constant`},
		{"%0 = call f []", `line 1, column 11: got "f", want the name of a custom rule in quotes`},
		{"%0 = call \"k\" []", `line 1, column 11: got the name "k", want that of a custom rule given to Parse`},
		{"%0 = call \"f\" %1", `line 1, column 15: got "%1", want a list of slots in brackets`},
		{"guardlt %0 %1", `line 1, column 14: got the end of the line, want = and the outcomes`},
		{"guardlt %0 %1 = 2", `line 1, column 17: got "2", want an outcome, 0 or 1, for each lane`},
		{"guardlt [%0 %1] %2 = 101", `line 1, column 9: got 2 slots, want 3`},
		{"guardgt %0 %1 = 1", `line 1, column 1: got "guardgt", want a statement: %slot = …, a guard or out`},
		{"out y %1", `line 1, column 7: got "%1", want a list of slots in brackets`},
		{"%0 = invalid %0", `line 1, column 6: got "invalid", want an operation`},
	} {
		_, err := Parse(c.text, testCustoms)
		if err == nil {
			t.Errorf("%q: no error", c.text)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), "program: "); got != c.want+" (program.SyntaxError)" {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
		if _, ok := errors.AsType[*SyntaxError](err); !ok {
			t.Errorf("%q: the error is a %T", c.text, err)
		}
	}
}

func TestEqualAndHash(t *testing.T) {
	base := `%0:3 = input x
%3:2 = const 1 NaN
%5:2 = mul %0:+1 %3
%7 = sum 2 %5:+1
%8:2 = call "f" [%7 %0]
guardlt %7 %8 = 1
out y [%7 %8]
`
	p := mustParse(t, base)
	for _, change := range [][2]string{
		{"input x", "input z"}, {"%3:2 = const 1 NaN", "%3:2 = const 1 NaN(0x7ff8000000000000)"},
		{"const 1", "const 1.5"},
		{"mul", "add"}, {"%0:+1", "%1:+1"}, {"%0:+1", "%0:+2"}, {"%0:+1", "[%0 %1]"}, {"%5:+1", "%5"},
		{"guardlt", "guardle"}, {"= 1\n", "= 0\n"}, {"out y", "out z"}, {"[%7 %8]", "[%7 %9]"}, {"[%7 %0]", "[%0 %7]"},
	} {
		q := mustParse(t, strings.Replace(base, change[0], change[1], 1))
		if Equal(p, q) || p.Hash() == q.Hash() {
			t.Errorf("%q for %q: Equal %v, Hash equal %v", change[1], change[0], Equal(p, q), p.Hash() == q.Hash())
		}
	}
	// Where the addresses stand in Index does not matter.
	q := mustParse(t, base)
	q.Index = append([]int32{7, 7, 7}, q.Index...)
	for i := range q.Stmts {
		if s := &q.Stmts[i]; s.A.Stride == Gather {
			s.A.Base += 3
		}
	}
	if !Equal(p, q) || p.Hash() != q.Hash() {
		t.Error("a program with another layout of Index is not Equal")
	}
}

package program

import (
	"math"
	"strings"
	"testing"
)

// checked has one statement of each kind, for Check to find them broken.
const checked = `%0:2 = input x
%2 = input captured
%3:2 = param 0
%5:2 = const 1 2
%7:2 = mul [%0 %3] %1:+1
%9 = sum 2 %7:+1
%10:2 = call "f" [%9 %0]
guardlt %10:+1 [%9 %2] = 10
%12 = select %9 %10 %11
out y [%12]
out z [%9 %10]
`

func TestCheck(t *testing.T) {
	mustParse(t, checked)
	const input, captured, param, constant, mul, sum, call, guard, sel = 0, 1, 2, 3, 4, 5, 6, 7, 8
	for _, c := range []struct {
		name  string
		spoil func(p *Program, s []Stmt)
		want  string
	}{
		{"operation", func(p *Program, s []Stmt) { s[mul].Op = 0 },
			"statement 4, %7:2 = invalid: 0 is not an operation"},
		{"unknown operation", func(p *Program, s []Stmt) { s[mul].Op = 255 }, "255 is not an operation"},
		{"gap", func(p *Program, s []Stmt) { s[sum].D = 10 }, "it writes slot %10, but the next one is %9"},
		{"no lanes", func(p *Program, s []Stmt) { s[sel].N = 0 }, "it has 0 lanes, want at least 1"},
		{"negative lanes", func(p *Program, s []Stmt) { s[input].N = -1 }, "it has -1 lanes, want at least 0"},
		{"many lanes", func(p *Program, s []Stmt) { s[sel].N = math.MaxInt32 }, "it writes slots beyond %2147483647"},
		{"own slot", func(p *Program, s []Stmt) { s[sel].C.Base = 12 },
			"statement 8, %12 = select %9 %10 %12: operand 3: it reads slot %12, want one from 0 to %11"},
		{"slot to come", func(p *Program, s []Stmt) { s[mul].B = Operand{2, 5} }, "operand 2: it reads slot %7"},
		{"stride below 0", func(p *Program, s []Stmt) { s[mul].B = Operand{2, -3} }, "operand 2: it reads slot %-1"},
		{"stride that overflows", func(p *Program, s []Stmt) { s[sum].K, s[sum].A = 4, Operand{1, math.MaxInt32} },
			"it reads slot %6442450942"},
		{"gathered slot", func(p *Program, s []Stmt) { p.Index[1] = 40 }, "operand 1: it reads slot %40"},
		{"gathered slot below 0", func(p *Program, s []Stmt) { p.Index[1] = -1 }, "operand 1: it reads slot %-1"},
		{"index", func(p *Program, s []Stmt) { s[mul].A.Base = int32(len(p.Index)) - 1 },
			"statement 4, %7:2 = mul [?] %1:+1: operand 1: its 2 addresses from 3 on are not among " +
				"the 4 of the program"},
		{"input order", func(p *Program, s []Stmt) { s[input].K, s[captured].K = 1, 0 },
			"it defines input group 1, but the next one is 0 of 2"},
		{"input twice", func(p *Program, s []Stmt) { s[captured].K = 0 },
			"it defines input group 0, but the next one is 1 of 2"},
		{"input too many", func(p *Program, s []Stmt) { p.Ins = p.Ins[:1] }, "there are only 1 input groups"},
		{"input missing", func(p *Program, s []Stmt) { p.Ins = append(p.Ins, Group{"w", 1}) },
			`no statement for input group 2, "w"`},
		{"input size", func(p *Program, s []Stmt) { p.Ins[0].N = 3 }, "it has 2 lanes, but its group has 3"},
		{"params", func(p *Program, s []Stmt) { p.Params = 3 }, "it holds parameters 0 to 1, want all from 0 to 2"},
		{"param twice", func(p *Program, s []Stmt) { s[constant].Op, s[constant].K = Param, 0 },
			"it is the second param statement"},
		{"param missing", func(p *Program, s []Stmt) { s[param].Op = Const },
			"no statement for the parameters, but Params is 2"},
		{"consts", func(p *Program, s []Stmt) { s[constant].K = 1 },
			"its constants 1 to 2 are not among the 2 of the program"},
		{"sum of nothing", func(p *Program, s []Stmt) { s[sum].K = 0 }, "it has 0 terms in each of 1 lanes"},
		{"sum of too much", func(p *Program, s []Stmt) { s[mul] = Stmt{Op: Sum, N: 2, D: 7, K: 1 << 30} },
			"it has 1073741824 terms in each of 2 lanes"},
		{"rule", func(p *Program, s []Stmt) { s[call].K = 1 }, "it calls custom rule 1 of 1"},
		{"nil rule", func(p *Program, s []Stmt) { p.Customs[0] = nil }, "it calls custom rule 0 of 1"},
		{"arguments", func(p *Program, s []Stmt) { s[call].B.Base = -1 }, "it has -1 arguments"},
		{"outputs of a rule", func(p *Program, s []Stmt) { p.Customs[0] = ruleG(0) },
			"it has 2 outputs, but the rule has -1 for 2 arguments"},
		{"outcomes", func(p *Program, s []Stmt) { s[guard].C.Base = 1 },
			"statement 7, guardlt %10:+1 [%9 %2] = ?: its outcomes from 1 on are not among the 2 of the program"},
		{"no arguments", func(p *Program, s []Stmt) { s[call].B.Base = 0; p.Customs[0] = testCustoms["two"] },
			"operand 1: it has no addresses, but is not the zero operand"},
		{"slots", func(p *Program, s []Stmt) { p.Slots++ }, "the statements write 13 slots, but Slots is 14"},
		{"result too short", func(p *Program, s []Stmt) { p.Result = p.Result[:2] },
			`output group 1, "z", has 2 slots, but Result has 1 left for it`},
		{"result too long", func(p *Program, s []Stmt) { p.Outs = p.Outs[:1] },
			"the output groups have 1 slots, but Result has 3"},
		{"result", func(p *Program, s []Stmt) { p.Result[1] = 13 }, "output 1 is slot %13, but there are 13 slots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustParse(t, checked)
			c.spoil(p, p.Stmts)
			err := Check(p)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "program: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			_ = p.String() // must not panic
		})
	}
}

// FuzzParse: no text makes Parse panic, and a program that Check accepts prints, is read
// back, goes through the passes and runs.
func FuzzParse(f *testing.F) {
	f.Add(checked)
	f.Add("%0:2 = input \"\"\n%2:3 = const NaN(0x7ff8000000000001) -0 1e-3\n%5:3 = max %0 [%0 %1 %2]\nguardint %5 " +
		"%1:-1 = 01\nout y [%0 %7]")
	f.Add("%0:0 = input x\n%0:0 = input y\n%0 = const 1\n%1:2 = sum 3 %0\nout y []")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, testCustoms)
		if err != nil {
			return
		}
		if err := Check(p); err != nil {
			_ = p.String()
			return
		}
		if q, err := Parse(p.String(), testCustoms); err != nil || !Equal(p, q) {
			t.Fatalf("not read back as it was: %v\n%s", err, p)
		}
		work := int64(p.Slots)
		for i := range p.Stmts {
			work += int64(p.Stmts[i].terms())
		}
		if work > 1e5 {
			return // well formed, but too large for a test
		}
		for _, pass := range passes {
			q := pass.do(p)
			if err := Check(q); err != nil {
				t.Fatalf("%s: %v", pass, err)
			}
			NewMachine(q).Run()
		}
	})
}

package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
)

// twice is a custom rule for tests.
type twice struct{ program.Custom }

func (twice) Name() string      { return `rule "twice"` }
func (twice) Outputs(n int) int { return n }

var customs = map[string]program.Custom{`rule "twice"`: twice{}}

// checkJSON compares what JSON and the text form of p read back with p.
func checkJSON(t *testing.T, p *program.Program) {
	t.Helper()
	data, err := export.JSON(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := export.Load(data, customs)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	text, err := program.Parse(p.String(), customs)
	if err != nil {
		t.Fatal(err)
	}
	if !program.Equal(p, q) || !program.Equal(text, q) {
		t.Errorf("JSON reads\n%s\ntext reads\n%s\nwant\n%s", q, text, p)
	}
	if again, err := export.JSON(q); err != nil || !bytes.Equal(again, data) {
		t.Errorf("written again: %v\n%s\nbefore\n%s", err, again, data)
	}
}

// TestJSONAgreesWithText: what JSON and the text form read back is the program that was written, in both.
func TestJSONAgreesWithText(t *testing.T) {
	for seed := range uint64(longtest.Cases(0, 20, 200, 5000)) {
		p, _ := randomProgram(t, seed, all, 30)
		checkJSON(t, p)
		checkJSON(t, program.Schedule(program.Simplify(p)))
	}
	p, err := program.Parse("%0:2 = input \"x y\"\n%2 = param 0\n%3:3 = const NaN NaN(0x7ff8000000000123) -Inf\n"+
		"%6:3 = call \"rule \\\"twice\\\"\" [%1 %0 %4]\n%9:0 = call \"rule \\\"twice\\\"\" []\n"+
		"guardint %0:+1 [%5 %5] = 10\n"+
		"out y []\nout \"\" [%8 %2]", customs)
	if err != nil {
		t.Fatal(err)
	}
	checkJSON(t, p)
}

const sample = `{"format": "nabla program", "version": 1,
"statements": [
  {"op":"input","lanes":2,"name":"x"},
  {"op":"mul","lanes":1,"operands":[0,1]},
  {"op":"guardlt","lanes":1,"operands":[0,1],"holds":[true]}
],
"outputs": [
  {"name":"y","slots":[2]}
]}
`

func TestLoadMistakes(t *testing.T) {
	if _, err := export.Load([]byte(sample), nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		old, new  string
		cause     error
		statement int
		says      string
	}{
		{"\"version\": 1", `"version": 2, "more": true`, export.ErrVersion, -1, "version 2"},
		{"\"version\": 1", `"version": 0`, export.ErrSyntax, -1, "version 0"},
		{"nabla program", "other", export.ErrSyntax, -1, `"other"`},
		{`"mul"`, `"mull"`, export.ErrOperation, 1, `"mull"`},
		{`"mul"`, `"invalid"`, export.ErrOperation, 1, `"invalid"`},
		{"[0,1]}", "[0,7]}", export.ErrMalformed, -1, "%7"},
		{"[0,1]}", "[0,-1]}", export.ErrMalformed, -1, "%-1"},
		{"[0,1]}", "[0]}", export.ErrMalformed, 1, "1 operands, want 2"},
		{"[0,1]}", "[0,[0,1]]}", export.ErrMalformed, 1, "2 slots, want 1"},
		{"[0,1]}", `[0,{"slot":0,"step":1}]}`, export.ErrSyntax, -1, "step"},
		{"[0,1]}", `[0,{"slot":0,"stride":-2147483648}]}`, export.ErrSyntax, -1, "stride"},
		{"[0,1]}", "[0,3000000000]}", export.ErrSyntax, -1, "3000000000"},
		{`"lanes":2`, `"lanes":-2`, export.ErrMalformed, 0, "-2 lanes"},
		{`"lanes":2,"name":"x"`, `"lanes":2`, export.ErrMalformed, 0, "no name"},
		{`[true]`, `[true,false]`, export.ErrMalformed, 2, "2 outcomes"},
		{`[true]`, `[true],"terms":1`, export.ErrMalformed, 2, "guardlt does not have"},
		{`"slots":[2]`, `"slots":[5]`, export.ErrMalformed, -1, "%5"},
		{`{"op":"mul","lanes":1,"operands":[0,1]}`, `{"op":"const","lanes":1,"values":["inf"]}`, export.ErrSyntax, -1,
			`"inf"`},
		{`{"op":"mul","lanes":1,"operands":[0,1]}`, `{"op":"const","lanes":1,"values":["NaN(0x12)"]}`, export.ErrSyntax,
			-1, "bits of a NaN"},
		{`{"op":"mul","lanes":1,"operands":[0,1]}`, `{"op":"const","lanes":2,"values":[1]}`, export.ErrMalformed, 1,
			"1 constants"},
		{`{"op":"mul","lanes":1,"operands":[0,1]}`, `{"op":"call","lanes":1,"name":"f","operands":[[0]]}`,
			export.ErrRule,
			1, `"f"`},
	} {
		text := strings.Replace(sample, tt.old, tt.new, 1)
		p, err := export.Load([]byte(text), nil)
		var e *export.LoadError
		if p != nil || !errors.As(err, &e) || !errors.Is(err, tt.cause) || e.Statement != tt.statement ||
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s for %s: got %v, want %q at %d that says %q", tt.new, tt.old, err, tt.cause, tt.statement,
				tt.says)
		}
	}
	for n := range len(sample) - 2 { // without the brace at the end
		if _, err := export.Load([]byte(sample[:n]), nil); !errors.Is(err, export.ErrCutShort) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzLoad: data give a program that passes Check and is written again, or a LoadError.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(sample))
	for seed := range uint64(5) {
		p, _ := randomProgram(f, seed, all, 10)
		data, err := export.JSON(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := export.Load(data, customs)
		if err != nil {
			if !errors.As(err, new(*export.LoadError)) {
				t.Errorf("got %T, want a *LoadError", err)
			}
			return
		}
		if err := program.Check(p); err != nil {
			t.Fatal(err)
		}
		again, err := export.JSON(p)
		if err != nil || !json.Valid(again) {
			t.Fatalf("%v in\n%s", err, again)
		}
		q, err := export.Load(again, customs)
		if err != nil || !program.Equal(p, q) {
			t.Errorf("%v: got\n%v, want\n%v", err, q, p)
		}
	})
}

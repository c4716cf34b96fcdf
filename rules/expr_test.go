package rules

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"cos(x)":                  "cos(x)",
		" - ( v / y ) ":           "neg(div(v, y))",
		"-v/y":                    "div(neg(v), y)",
		"-2*v":                    "mul(-2, v)",
		"--1":                     "1",
		"x-y-z":                   "sub(sub(x, y), z)",
		"x-y*z/2":                 "sub(x, div(mul(y, z), 2))",
		"x-(y-z)":                 "sub(x, sub(y, z))",
		"1.5e-3+2e2":              "add(0.0015, 200)",
		"fma(-x,x,1)":             "fma(neg(x), x, 1)",
		"hypotdx(y, x)/jn(2, -1)": "div(hypotdx(y, x), jn(2, -1))",
	} {
		e, err := parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if e.String() != want {
			t.Errorf("%q: got %s, want %s", text, e, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":         `"", column 1: unexpected end`,
		"x+":       `"x+", column 3: unexpected end`,
		"(x":       `"(x", column 3: missing )`,
		"x)":       `"x)", column 2: unexpected ')'`,
		"sin x":    `"sin x", column 5: missing ( after sin`,
		"sin(x, y": `"sin(x, y", column 9: missing )`,
		"sin(x,y)": `"sin(x,y)", column 9: sin has 1 arguments, not 2`,
		"w":        `"w", column 2: w is neither an argument nor an op`,
		"invalid(": `"invalid(", column 8: invalid is neither an argument nor an op`,
		"1e":       `"1e", column 3: bad number "1e"`,
		"1e999":    `"1e999", column 6: bad number "1e999"`,
		"x^2":      `"x^2", column 2: unexpected '^'`,
		"é":        `"é", column 1: unexpected 'Ã'`,
		"x\x00":    `"x\x00", column 2: unexpected '\x00'`,
	} {
		if e, err := parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, %v, want %s", text, e, err, want)
		}
	}
}

// FuzzParse checks that no text makes the parser panic and that a text it accepts
// prints as a text with the same meaning.
func FuzzParse(f *testing.F) {
	for o := range table {
		for _, text := range table[o].Partials {
			f.Add(text)
		}
	}
	f.Add("((((((x))))))---1e-7+")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			return
		}
		s := e.String()
		again, err := parse(s)
		if err != nil {
			// A chain of operators prints as nested calls and may be too deep.
			if len(s) > maxDepth {
				return
			}
			t.Fatalf("%q prints as %q: %v", text, s, err)
		}
		if again.String() != s {
			t.Fatalf("%q prints as %q, which is read as %q", text, s, again)
		}
	})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/tabular"
)

var backendsFormats = []string{"table", "json", "markdown"}

func (a *app) backends() *cli.Command {
	return &cli.Command{
		Name:  "backends",
		Usage: "show which operators each engine implements, and how the others are derived",
		Description: `Rows are operators, columns are engines. "native" is an operator that the engine
implements; a letter is a path that package engine takes instead, explained below
the table. The paths are computed by the code that takes them. A composed engine uses
only its inner one for operators of first order.

The last rows are kinds of functions: whether the derivative of a small example is
right. The first three are over nabla.Real.

  in place      a function that writes into its outputs (nabla.InPlace)
  bound data    numbers in a bound struct, changed between two calls (nabla.Bind)
  bound scratch a workspace in a bound struct (nabla.Scratch)
  float64       plain Go over float64, a black box
  generated     plain Go over float64 with generated code (nabla.Register)`,
		Flags: []cli.Flag{
			a.enginesFlag(),
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the output: " + strings.Join(backendsFormats, ", "),
				Value: "table"},
			outputFlag(),
		},
		Action: a.runBackends,
	}
}

// A capability is a row of the matrix: the operators and kinds of functions that an engine supports.
type capability struct {
	Engine    string       `json:"engine"`
	Operators []operatorOn `json:"operators"`
	Functions []functionOn `json:"functions"`
}

type operatorOn struct {
	Operator string   `json:"operator"`
	Native   bool     `json:"native"`
	Path     []string `json:"path"`
}

type functionOn struct {
	Kind  string `json:"kind"`
	Works bool   `json:"works"`
	Why   string `json:"why,omitempty"`
}

// parts returns the backends that second-order operators use for the outer and the inner derivative.
func parts(b nabla.Backend) (outer, inner nabla.Backend) {
	switch c := b.(type) {
	case nabla.SecondOrder:
		outer, _ = parts(c.Outer)
		_, inner = parts(c.Inner)
		return outer, inner
	case nabla.Policy:
		return parts(c.Backend)
	}
	return b, b
}

func capabilityOf(b nabla.Backend) capability {
	outer, inner := parts(b)
	c := capability{Engine: b.Name()}
	for _, op := range engine.Operators() {
		p := engine.Explain(op, outer, inner)
		c.Operators = append(c.Operators, operatorOn{op, p.Native(), p})
	}
	for _, k := range functionKinds {
		f := functionOn{Kind: k.name}
		err := k.try(b)
		if f.Works = err == nil; err != nil {
			f.Why = err.Error()
		}
		c.Functions = append(c.Functions, f)
	}
	return c
}

// functionKinds are kinds of functions. The try function of each computes a derivative with a known result.
var functionKinds = []struct {
	name string
	try  func(b nabla.Backend) error
}{
	{"in place", func(b nabla.Backend) error {
		f := nabla.InPlace(2, func(y, x []nabla.Real) {
			y[0] = x[0].Mul(x[1])
			y[1] = y[0].Add(x[1])
		})
		p, err := nabla.PrepareJacobian(f, b, []float64{0, 0})
		if err != nil {
			return err
		}
		j, err := p.Dense(nil, []float64{2, 3})
		if err != nil {
			return err
		}
		return near(j.RawMatrix().Data, 3, 2, 3, 3)
	}},
	{"bound data", func(b nabla.Backend) error {
		type data struct{ A nabla.Vec }
		a := []float64{5, 7}
		f := nabla.Bind(func(x []nabla.Real, d *data) nabla.Real { return d.A.Dot(x) }, &data{nabla.VecOf(a)})
		p, err := nabla.PrepareGradient(f, b, []float64{0, 0})
		if err != nil {
			return err
		}
		for range 3 {
			g, err := p.Gradient(nil, []float64{2, 3})
			if err != nil {
				return err
			}
			if err := near(g, a...); err != nil {
				return err
			}
			a[0], a[1] = a[0]+1, a[1]-2
		}
		return nil
	}},
	{"bound scratch", func(b nabla.Backend) error {
		type scratch struct{ S nabla.Scratch }
		f := nabla.Bind(func(x []nabla.Real, s *scratch) nabla.Real {
			t := s.S.Reals()
			for i := range t {
				t[i] = x[i].Sq()
			}
			return t[0].Add(t[1])
		}, &scratch{nabla.NewScratch(2)})
		g, err := nabla.Gradient(f, b, []float64{2, 3})
		if err != nil {
			return err
		}
		return near(g, 4, 6)
	}},
	{"float64", func(b nabla.Backend) error {
		g, err := nabla.Gradient(func(x []float64) float64 { return x[0] * math.Exp(x[1]) }, b, []float64{2, 0})
		if err != nil {
			return err
		}
		return near(g, 1, 2)
	}},
	{"generated", func(b nabla.Backend) error {
		g, err := nabla.Gradient(growth, b, []float64{2, 0})
		if err != nil {
			return err
		}
		return near(g, 1, 2)
	}},
}

// growth has handwritten code that is registered as generated code is.
func growth(x []float64) float64 { return x[0] * math.Exp(x[1]) }

func init() {
	code := nabla.Code{
		Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			e := math.Exp(x[1])
			y[0], ydot[0] = x[0]*e, e*xdot[0]+x[0]*e*xdot[1]
			return 1
		},
		Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			e := math.Exp(x[1])
			y[0], xbar[0], xbar[1] = x[0]*e, e*ybar[0], x[0]*e*ybar[0]
			return 1
		},
	}
	nabla.Register(growth, nabla.Generated{
		Version: nabla.CodeVersion,
		New:     func() nabla.Code { return code },
		Traced: func(y, x []nabla.Real, _ any) int {
			y[0] = x[0].Mul(nabla.Exp(x[1]))
			return 1
		},
	})
}

// near returns an error for numbers that differ by more than a coarse approximation may.
func near(got []float64, want ...float64) error {
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && math.Abs(got[i]-want[i]) <= 1e-4*(1+math.Abs(want[i]))
	}
	if !ok {
		return fmt.Errorf("the derivative is %v, want %v", got, want)
	}
	return nil
}

func (a *app) runBackends(_ context.Context, c *cli.Command) error {
	chosen, format, err := a.chosenSubjects(c, backendsFormats)
	if err != nil {
		return err
	}
	w, err := a.openSink(c)
	if err != nil {
		return err
	}
	caps := make([]capability, len(chosen))
	for i, s := range chosen {
		caps[i] = capabilityOf(s.backend)
	}
	if format == "json" {
		if err := writeJSONLines(w, caps); err != nil {
			w.abandon()
			return err
		}
		return w.deliver()
	}
	head, rows, notes := capabilityTable(caps)
	if format == "markdown" {
		columns := make([]tabular.Column, len(head))
		for j, h := range head {
			columns[j] = tabular.Column{Name: h, Word: true}
		}
		tabular.Markdown(w, columns, rows)
		fmt.Fprintln(w)
		for _, n := range notes {
			fmt.Fprintf(w, "- %s: %s\n", n[0], n[1])
		}
		return w.deliver()
	}
	writeGrid(w, head, rows)
	fmt.Fprintln(w)
	for _, n := range notes {
		fmt.Fprintf(w, "%-6s  %s\n", n[0], n[1])
	}
	return w.deliver()
}

// capabilityTable returns the matrix as a table. Cells hold a letter for each distinct path or reason; notes maps the
// letters to them, in order.
func capabilityTable(caps []capability) (head []string, rows [][]string, notes [][2]string) {
	letter := func(text string) string {
		i := slices.IndexFunc(notes, func(n [2]string) bool { return n[1] == text })
		if i < 0 {
			i = len(notes)
			notes = append(notes, [2]string{letters(i), text})
		}
		return notes[i][0]
	}
	head = []string{""}
	for _, c := range caps {
		head = append(head, c.Engine)
	}
	for i, op := range engine.Operators() {
		row := []string{op}
		for _, c := range caps {
			switch o := c.Operators[i]; {
			case o.Native:
				row = append(row, "native")
			case len(o.Path) == 0:
				row = append(row, "no")
			default:
				row = append(row, letter(strings.Join(o.Path, ": ")))
			}
		}
		rows = append(rows, row)
	}
	for i, k := range functionKinds {
		row := []string{k.name}
		for _, c := range caps {
			if f := c.Functions[i]; f.Works {
				row = append(row, "yes")
			} else {
				row = append(row, "no")
			}
		}
		rows = append(rows, row)
	}
	return head, rows, append([][2]string{{"native", "the engine's own"}}, notes...)
}

// letters returns the i-th of a, b, …, z, aa, ab, ….
func letters(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		return letters(i/26-1) + s
	}
	return s
}

// writeJSONLines writes an array with one object per line.
func writeJSONLines[T any](w *sink, rows []T) error {
	for i, r := range rows {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s", [2]string{"[\n  ", ",\n  "}[min(i, 1)], b)
	}
	if len(rows) == 0 {
		w.WriteString("[")
	}
	w.WriteString("\n]\n")
	return nil
}

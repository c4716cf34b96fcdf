// Command nablapng draws the results of nabla bench as one PNG picture.
//
//	nabla bench -format json | nablapng > bench.png
//	nablapng -o bench.png bench.json
//
// It is a module of its own, so that nabla does not need a plotting library. nabla bench -format svg draws the same
// charts without it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/problems"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "nablapng:", err)
		os.Exit(1)
	}
}

// run executes the command line. A picture is only written if it is complete.
func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("nablapng", flag.ContinueOnError)
	output := flags.String("o", "", "write to `file` instead of standard output")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(),
			"usage: nabla bench -format json | nablapng [-o FILE]\n       nablapng [-o FILE] FILE.json")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch flags.NArg() {
	case 0:
	case 1:
		f, err := os.Open(flags.Arg(0))
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	default:
		return fmt.Errorf("unexpected argument %q; one file is read", flags.Arg(1))
	}
	rows, err := read(in)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := write(&picture, rows); err != nil {
		return err
	}
	if *output != "" {
		return os.WriteFile(*output, picture.Bytes(), 0o666)
	}
	_, err = out.Write(picture.Bytes())
	return err
}

// read reads the rows of a report in JSON, as far as charts show them.
func read(r io.Reader) ([]bench.Row, error) {
	var records []struct {
		Task         string   `json:"task"`
		N            int      `json:"n"`
		Engine       string   `json:"engine"`
		OK           bool     `json:"ok"`
		PlainNS      *float64 `json:"plain_ns"` // null is a number that was not measured
		DerivativeNS *float64 `json:"derivative_ns"`
		Ratio        *float64 `json:"ratio"`
		PrepareNS    *float64 `json:"prepare_ns"`
		UnpreparedNS *float64 `json:"unprepared_ns"`
		BreakEven    *float64 `json:"break_even_calls"` // null is never
	}
	if err := json.NewDecoder(r).Decode(&records); err != nil {
		return nil, fmt.Errorf("reading the output of nabla bench -format json: %w", err)
	}
	or := func(v *float64, missing float64) float64 {
		if v == nil {
			return missing
		}
		return *v
	}
	nan := math.NaN()
	titles := map[string]string{}
	var rows []bench.Row
	for _, rec := range records {
		title, ok := titles[rec.Task]
		if !ok {
			e, err := problems.Lookup(rec.Task)
			if err != nil {
				return nil, err
			}
			p, err := e.New(rec.N)
			if err != nil {
				return nil, err
			}
			title = p.Title
			titles[rec.Task] = title
		}
		rows = append(rows, bench.Row{
			Task: rec.Task, Title: title, N: rec.N, Engine: rec.Engine, OK: rec.OK,
			PlainNS: or(rec.PlainNS, nan), DerivativeNS: or(rec.DerivativeNS, nan), Ratio: or(rec.Ratio, nan),
			PrepareNS: or(rec.PrepareNS, nan), UnpreparedNS: or(rec.UnpreparedNS, nan),
			BreakEven: or(rec.BreakEven, math.Inf(1)),
		})
	}
	return rows, nil
}

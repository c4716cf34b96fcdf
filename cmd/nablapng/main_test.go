package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/bench"
)

// titled gives the tasks their titles, which a report does not have.
func titled(rows []bench.Row) []bench.Row {
	for i, r := range rows {
		rows[i].Title = map[string]string{"T1": "sum of squares", "T8": "Lorenz system"}[r.Task]
	}
	return rows
}

// TestRead reads the output of nabla bench.
func TestRead(t *testing.T) {
	wrong := bench.Row{Task: "T1", N: 10, Engine: "liar", PlainNS: 4, Ratio: 2, DerivativeNS: 8, PrepareNS: 3,
		UnpreparedNS: 5, BreakEven: 7}
	want := titled(append(sample(), wrong))
	var b bytes.Buffer
	if err := bench.Write(&b, "json", bench.Report{Rows: want}); err != nil {
		t.Fatal(err)
	}
	got, err := read(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	if got, err := read(strings.NewReader(`[{"task":"T1","n":5,"engine":"broken","ratio":null}]`)); err != nil ||
		!math.IsNaN(got[0].Ratio) {
		t.Errorf("%v: %+v", err, got)
	}
	for text, want := range map[string]string{"": "nabla bench -format json", "engine task": "nabla bench -format json",
		`[{"task":"T0"}]`: "T0"} {
		if _, err := read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRun(t *testing.T) {
	var report bytes.Buffer
	if err := bench.Write(&report, "json", bench.Report{Rows: sample()}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "bench.json"), filepath.Join(dir, "bench.png")
	if err := os.WriteFile(in, report.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-o", out, in}, strings.NewReader(""), closed{}); err != nil {
		t.Fatal(err)
	}
	var piped bytes.Buffer
	if err := run(nil, bytes.NewReader(report.Bytes()), &piped); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(file, piped.Bytes()) || !bytes.Equal(file, drawn(t, titled(sample()))) {
		t.Errorf("%v: %d bytes in the file, %d in the pipe", err, len(file), piped.Len())
	}
	if err := run(nil, bytes.NewReader(report.Bytes()), closed{}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	for _, args := range [][]string{{in, in}, {filepath.Join(dir, "none.json")}, {"-x"}} {
		if err := run(args, strings.NewReader("[]"), io.Discard); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

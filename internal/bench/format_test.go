package bench

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/tabular"
	"github.com/nabla-ad/nabla/internal/timing"
	"github.com/nabla-ad/nabla/sparsity"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// timedRow returns a row with these times; samples deviate from the median by a fraction.
func timedRow(task, title string, n int, engine string, plain, derivative, unprepared, prepare float64) Row {
	around := func(ns float64, calls int) timing.Samples {
		return timing.Samples{Calls: calls, NS: []float64{ns, ns * 0.875, ns * 1.125}}
	}
	return Row{
		Task: task, Title: title, N: n, Engine: engine, OK: true,
		PlainNS: plain, DerivativeNS: derivative, Ratio: derivative / plain, PrepareNS: prepare,
		UnpreparedNS: unprepared,
		PlainSpread:  0.125, Spread: 0.125, Bytes: 0, Calls: 1, PrepareCalls: 2,
		Plain: around(plain, 1<<20), Derivative: around(derivative, 1000), Unprepared: around(unprepared, 8),
		Prepare: around(prepare, 1),
	}
}

// sample returns a report with every special case: an engine that is wrong, one that fails, names that need escaping.
func sample() Report {
	nan := math.NaN()
	missing := Row{
		PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: nan,
		PlainSpread: nan, Spread: nan, UnpreparedNS: nan, BreakEven: nan, Bytes: nan, Calls: nan, PrepareCalls: nan,
	}
	rows := []Row{
		timedRow("T1", "sum of squares", 10, "forwarddiff", 4.25, 17, 1800, 837),
		timedRow("T1", "sum of squares", 10, "reversediff(compile)", 4.25, 12.5, 2100, 26.4e3),
		timedRow("T1", "sum of squares", 10000, "forwarddiff", 8123.456789, 61.25e6, 70e6, 43e3),
		timedRow("T1", "sum of squares", 10000, "reversediff(compile)", 8123.456789, 45312.2, 600e3, 26.4e6),
	}
	rows[1].Error, rows[3].Error = 1.2345e-16, 1.7e-15
	rows[3].Allocs, rows[3].Bytes, rows[3].Calls = 12, 34567, 0
	breakEven(rows[:2])
	breakEven(rows[2:])
	liar, broken := missing, missing
	liar.Task, liar.Title, liar.N, liar.Engine, liar.Error = "gmm", "Gaussian mixture", 30, "liar", 0.25
	broken.Task, broken.Title, broken.N = "T8", "Lorenz system", 6
	broken.Engine, broken.Err = "broken, <it> seems | so", errBroken
	slow := timedRow("T5", "Gaussian mixture", 330, "slow", 999.6, 3.02e9, 2.9e9, 999.4e3)
	slow.Error, slow.Allocs, slow.Bytes, slow.Approximate = 3.7e-5, 140, 5.2e9, true
	rest := []Row{slow}
	breakEven(rest)
	return Report{
		Info: Info{Go: "go1.26.0", OS: "plan9", Arch: "amd64", CPU: "Slide Rule(TM) <2>", CPUs: 2, Date: "2026-11-21",
			Budget: 100 * time.Millisecond},
		Rows: append(append(rows, liar, broken), rest...), Want: 7,
	}
}

// sparseSample returns a report with sparse rows.
func sparseSample() Report {
	rows := []Row{
		timedRow(
			"listing2",
			"Hessian of the sum of squared differences",
			1000,
			"forwarddiff",
			800,
			24.6e6,
			43e6,
			13.9e6,
		),
		timedRow("listing2", "Hessian of the sum of squared differences", 1000, "sparse(forwarddiff)", 800, 71.25e3,
			11.5e6, 10e6),
		timedRow(
			"listing2",
			"Hessian of the sum of squared differences",
			1000,
			"sparse(reversediff(compile))",
			800,
			9e3,
			13e6,
			5.5e6,
		),
	}
	rows[1].Sparse = &Sparse{NNZ: 2998, Colors: 3, DetectionNS: 430e3, ColoringNS: 961e3}
	rows[2].Sparse = &Sparse{NNZ: 2998, DetectionNS: 403e3, ColoringNS: math.NaN()}
	breakEven(rows)
	nan := math.NaN()
	wrong := Row{
		Task: "T4", Title: "Brusselator", N: 72, Engine: "sparse(forwarddiff)", Error: 0.5,
		PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan,
		PlainSpread: nan, Spread: nan, UnpreparedNS: nan, BreakEven: nan, Bytes: nan, Calls: nan, PrepareCalls: nan,
	}
	return Report{Info: sample().Info, Rows: append(rows, wrong), Want: 4}
}

// TestWriteSparse checks the columns of sparse rows.
func TestWriteSparse(t *testing.T) {
	for _, format := range []string{"table", "csv", "json", "markdown"} {
		var b strings.Builder
		if err := Write(&b, format, sparseSample()); err != nil {
			t.Fatal(err)
		}
		golden(t, "sparse."+format, b.String())
	}
	for _, r := range []Report{sample(), sparseSample()} {
		var b, j, c strings.Builder
		if err := errors.Join(Write(&b, "html", r), Write(&j, "json", r), Write(&c, "csv", r)); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(c.String(), "\n")
		for _, has := range []bool{
			strings.Contains(b.String(), "<dt>detection, colouring</dt>"),
			strings.Contains(b.String(), ">nnz</button>"),
			strings.Contains(j.String(),
				`"prepare_calls":2,"nnz":null,"colors":null,"detection_ns":null,"coloring_ns":null}`),
			strings.HasSuffix(head, ",prepare_calls,nnz,colors,detection_ns,coloring_ns"),
		} {
			if has != anySparse(r.Rows) {
				t.Errorf("the columns of sparse matrices are there: %v", has)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	for _, format := range Formats {
		var b strings.Builder
		if err := Write(&b, format, sample()); err != nil {
			t.Fatal(err)
		}
		golden(t, "rows."+format, b.String())
	}
}

// TestWriteInterrupted writes a report that lacks rows, and one without any.
func TestWriteInterrupted(t *testing.T) {
	r := sample()
	r.Want = 12
	var b strings.Builder
	if err := Write(&b, "html", r); err != nil || !strings.Contains(b.String(), "Interrupted: 5 of the rows") {
		t.Errorf("error %v; the page does not say that rows are missing", err)
	}
	b.Reset()
	if err := Write(&b, "html", Report{Want: 12}); err != nil ||
		!strings.Contains(b.String(), "Nothing was measured.") {
		t.Errorf("error %v: %s", err, b.String())
	}
	if strings.Contains(b.String(), "<dt>date") {
		t.Error("a date that was not given is shown")
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	w := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(w) || line != w[i] {
			t.Fatalf("%s (rewrite with -update) differs in line %d:\n%s", file, i+1, line)
		}
	}
	t.Errorf("%s (rewrite with -update): lines are missing", file)
}

// TestKeys requires that the keys of JSON and the columns of CSV stay the same.
func TestKeys(t *testing.T) {
	var j, c strings.Builder
	if err := errors.Join(Write(&j, "json", sample()), Write(&c, "csv", sample())); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(c.String(), "\n")
	if !strings.HasPrefix(head, "task,n,engine,plain_ns,derivative_ns,ratio,prepare_ns,allocs,error,ok,") {
		t.Errorf("columns %s", head)
	}
	first := regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(strings.Split(j.String(), "\n")[1], -1)
	var keys []string
	for _, m := range first {
		keys = append(keys, m[1])
	}
	if strings.Join(keys, ",") != head {
		t.Errorf("keys %v, columns %s", keys, head)
	}
	if !json.Valid([]byte(j.String())) {
		t.Error("not JSON")
	}
	if _, err := csv.NewReader(strings.NewReader(c.String())).ReadAll(); err != nil {
		t.Error(err)
	}
}

// TestBenchstat parses the lines according to golang.org/design/14313-benchmark-format.
func TestBenchstat(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "benchstat", sample()); err != nil {
		t.Fatal(err)
	}
	config := regexp.MustCompile(`^[a-z][^ A-Z]*: .+$`)
	samples := map[string]int{}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") {
			if !config.MatchString(line) {
				t.Errorf("line %q", line)
			}
			continue
		}
		if len(fields) < 4 || len(fields)%2 != 0 || fields[3] != "ns/op" {
			t.Errorf("line %q", line)
			continue
		}
		if n, err := strconv.Atoi(fields[1]); err != nil || n <= 0 {
			t.Errorf("%q: iterations", line)
		}
		for i := 2; i < len(fields); i += 2 {
			if _, err := strconv.ParseFloat(fields[i], 64); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
		samples[fields[0]]++
	}
	for _, name := range []string{
		"BenchmarkT1/n=10/plain", "BenchmarkT1/n=10/forwarddiff", "BenchmarkT1/n=10/reversediff(compile)/unprepared",
		"BenchmarkT5/n=330/slow/prepare",
	} {
		if samples[name] != 3 {
			t.Errorf("%s has %d samples, want 3", name, samples[name])
		}
	}
	if len(samples) != 5*3+3 {
		t.Errorf("%d benchmarks: %v", len(samples), samples)
	}
}

func TestWriteNothing(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "json", Report{}); err != nil || b.String() != "[]\n" {
		t.Errorf("no rows are %q, error %v", b.String(), err)
	}
	if err := Write(&b, "xml", Report{}); err == nil || !strings.Contains(err.Error(), "table, csv, json") {
		t.Errorf("xml: %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteFails(t *testing.T) {
	for _, format := range Formats {
		if err := Write(closed{}, format, sample()); !errors.Is(err, errBroken) {
			t.Errorf("%s to a closed writer: %v", format, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct{ got, want string }{
		{tabular.Duration(4.25), "4.25 ns"}, {tabular.Duration(999.6), "1.00 µs"},
		{tabular.Duration(26.4e6), "26.4 ms"}, {tabular.Duration(3.02e9), "3.02 s"}, {tabular.Duration(nan), "-"},
		{tabular.Size(0), "0 B"}, {tabular.Size(999), "999 B"}, {tabular.Size(34567), "34.6 kB"},
		{tabular.Size(5.2e9), "5.20 GB"}, {tabular.Size(3.7e6), "3.70 MB"}, {tabular.Size(nan), "-"},
		{tabular.Percent(0.125), "12.5%"}, {tabular.Percent(nan), "-"},
		{breakEvenText(1), "1"}, {breakEvenText(inf), "never"}, {breakEvenText(nan), "-"},
		{sortValue(0.5), "0.5"}, {sortValue(inf), "Infinity"}, {sortValue(nan), ""},
		{powerOfTime(0.1), "0.1 ns"}, {powerOfTime(1), "1 ns"}, {powerOfTime(1e5), "100 µs"},
		{powerOfTime(1e8), "100 ms"}, {powerOfTime(1e10), "10 s"},
		{power(0.1), "0.1"}, {power(1e4), "10000"}, {power(1e5), "10⁵"}, {power(1e12), "10¹²"},
		{plural(1, "call"), "1 call"}, {plural(7, "call"), "7 calls"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestCPUName(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel name\t: Slide Rule: 2\nprocessor\t: 1\nmodel name\t: other\n": "Slide Rule: 2",
		"processor\t: 0\nBogoMIPS\t: 50.00\n":                                                "", "": "",
	} {
		if got := cpuNameIn(text); got != want {
			t.Errorf("%q is a %q, want %q", text, got, want)
		}
	}
}

// TestRefused: a function with branches that an engine refuses is no failure.
func TestRefused(t *testing.T) {
	r := Row{Err: fmt.Errorf("prepare: %w", &sparsity.BranchError{Call: "Real.Less", File: "f.go", Line: 3})}
	if !r.Refused() || verdict(r) != "refused" {
		t.Errorf("%v, %q", r.Refused(), verdict(r))
	}
	if r.Err = errors.New("no"); r.Refused() || verdict(r) != "FAILED" {
		t.Errorf("%v, %q", r.Refused(), verdict(r))
	}
}

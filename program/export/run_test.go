package export_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
	"github.com/nabla-ad/nabla/rules"
)

// A job is a program with points to evaluate it at.
type job struct {
	p      *program.Program
	o      export.Options
	points [][]float64
	params []float64
}

// memory is the number of float64 in the memory that exported functions get, with the results of others in it.
const memory = 1 << 16

// work returns the length of the memory that the function of j takes.
func (j job) work(t *testing.T) int {
	n, err := export.Work(j.p, j.o)
	if err != nil || n > memory {
		t.Fatalf("%d numbers of memory, %v", n, err)
	}
	return n
}

// A reply is the result of an exported function: its outputs, or the failure of a guard.
type reply struct {
	y  []float64
	ok bool
}

// A target builds a program that answers lines of a job's number and its inputs and parameters as hexadecimal bits.
type target struct {
	name  string
	build func(t *testing.T, dir string, jobs []job) *exec.Cmd
}

var targets = []target{{"go", buildGo}, {"c", buildC}}

// run exports all jobs, and returns the replies to all points in order.
func (g target) run(t *testing.T, jobs []job) [][]reply {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	cmd := g.build(t, t.TempDir(), jobs)
	var in bytes.Buffer
	for k, j := range jobs {
		for _, x := range j.points {
			fmt.Fprint(&in, k)
			for _, v := range append(append([]float64{}, x...), j.params...) {
				fmt.Fprintf(&in, " %x", math.Float64bits(v))
			}
			fmt.Fprintln(&in)
		}
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var all [][]reply
	for _, j := range jobs {
		var replies []reply
		for range j.points {
			words := strings.Fields(lines[0])
			lines = lines[1:]
			r := reply{ok: words[0] == "1"}
			for _, w := range words[1:] {
				bits, err := strconv.ParseUint(w, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				r.y = append(r.y, math.Float64frombits(bits))
			}
			replies = append(replies, r)
		}
		all = append(all, replies)
	}
	return all
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func buildGo(t *testing.T, dir string, jobs []job) *exec.Cmd {
	var table strings.Builder
	for k, j := range jobs {
		name := fmt.Sprintf("F%d", k)
		j.o.Name = name
		text, err := export.Go(j.p, j.o)
		if err != nil {
			t.Fatalf("%v in\n%s", err, j.p)
		}
		write(t, dir, name+".go", string(text))
		var args []string
		for i := range j.p.Outs {
			args = append(args, fmt.Sprintf("out[%d]", i))
		}
		for i := range j.p.Ins {
			args = append(args, fmt.Sprintf("in[%d]", i))
		}
		if j.p.Params > 0 {
			args = append(args, fmt.Sprintf("in[%d]", len(j.p.Ins)))
		}
		if j.work(t) > 0 {
			args = append(args, "memory[:"+name+"Work]")
		}
		call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
		if j.p.Guards() == 0 {
			call += "; return true"
		} else {
			call = "return " + call
		}
		fmt.Fprintf(&table, "\t{[]int{%s}, []int{%s}, func(out, in [][]float64) bool { %s }},\n", counts(j.p.Outs, 0),
			counts(j.p.Ins, j.p.Params), call)
	}
	write(t, dir, "go.mod", "module exported\n\ngo 1.24\n")
	write(t, dir, "main.go", strings.NewReplacer("TABLE", table.String(), "MEMORY", strconv.Itoa(memory)).
		Replace(mainGo))
	program := filepath.Join(dir, "exported")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.Command(program)
}

// counts returns the lengths of groups, and that of the parameters if there are any.
func counts(groups []program.Group, params int) string {
	var list []string
	for _, g := range groups {
		list = append(list, strconv.Itoa(g.N))
	}
	if params > 0 {
		list = append(list, strconv.Itoa(params))
	}
	return strings.Join(list, ", ")
}

const mainGo = `package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
)

var table = []struct {
	outs, ins []int
	f         func(out, in [][]float64) bool
}{
TABLE}

var memory [MEMORY]float64

func slices(n []int) (list [][]float64) {
	for _, n := range n {
		list = append(list, make([]float64, n))
	}
	return list
}

func main() {
	r, w := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer w.Flush()
	for {
		k := 0
		if _, err := fmt.Fscan(r, &k); err != nil {
			return
		}
		out, in := slices(table[k].outs), slices(table[k].ins)
		for _, x := range in {
			for i := range x {
				bits := uint64(0)
				fmt.Fscanf(r, " %x", &bits)
				x[i] = math.Float64frombits(bits)
			}
		}
		if !table[k].f(out, in) {
			fmt.Fprintln(w, 0)
			continue
		}
		fmt.Fprint(w, 1)
		for _, y := range out {
			for _, v := range y {
				fmt.Fprintf(w, " %x", math.Float64bits(v))
			}
		}
		fmt.Fprintln(w)
	}
}
`

// optimisation is the level of optimisation of C. Long searches compile most programs without.
var optimisation = "-O1"

func buildC(t *testing.T, dir string, jobs []job) *exec.Cmd {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	var declarations, cases strings.Builder
	args := []string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", optimisation}
	for k, j := range jobs {
		name := fmt.Sprintf("f%d", k)
		j.o.Name = name
		text, err := export.C(j.p, j.o)
		if err != nil {
			t.Fatalf("%v in\n%s", err, j.p)
		}
		write(t, dir, name+".c", string(text))
		if k < 3 { // a file compiles alone; the others are compiled together, which takes less time
			alone := append(args, "-c", "-o", filepath.Join(dir, "alone.o"), filepath.Join(dir, name+".c"))
			if out, err := exec.Command(gcc, alone...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		fmt.Fprintf(&declarations, "#include \"%s.c\"\n", name)
		if j.work(t) > 0 {
			fmt.Fprintf(&declarations, "static int with_%s(const double **arg, double **res)\n"+
				"{\n\treturn %s(arg, res, memory + %d - %s_work);\n}\n", name, name, memory, name)
			name = "with_" + name
		}
		fmt.Fprintf(&cases,
			"\t\tcase %d: { const int ins[] = {%s}, outs[] = {%s}; run(%s, %d, ins, %d, outs); break; }\n", k,
			counts(j.p.Ins, j.p.Params), counts(j.p.Outs, 0), name, len(j.p.Ins)+min(j.p.Params, 1), len(j.p.Outs))
	}
	write(t, dir, "main.c", strings.NewReplacer("DECLARATIONS", declarations.String(), "CASES", cases.String(),
		"MEMORY", strconv.Itoa(memory)).Replace(mainC))
	program := filepath.Join(dir, "exported")
	args = append(args, "-D_XOPEN_SOURCE=600", "-o", program, filepath.Join(dir, "main.c"), "-lm")
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.Command(program)
}

const mainC = `#include <stdint.h>
#include <stdio.h>
#include <string.h>

double memory[MEMORY];

DECLARATIONS
static void run(int (*f)(const double **, double **), int nin, const int *ins, int nout, const int *outs)
{
	static double x[1000], y[1000];
	const double *arg[10];
	double *res[10], *next = x;
	int i, j;
	for (i = 0; i < nin; i++) {
		arg[i] = next;
		for (j = 0; j < ins[i]; j++) {
			unsigned long long bits;
			uint64_t b;
			if (scanf("%llx", &bits) != 1) {
				return;
			}
			b = bits;
			memcpy(next++, &b, sizeof b);
		}
	}
	next = y;
	for (i = 0; i < nout; i++) {
		res[i] = next;
		next += outs[i];
	}
	if (f(arg, res) != 0) {
		printf("0\n");
		return;
	}
	printf("1");
	for (next = y, i = 0; i < nout; i++) {
		for (j = 0; j < outs[i]; j++) {
			uint64_t b;
			memcpy(&b, next++, sizeof b);
			printf(" %llx", (unsigned long long)b);
		}
	}
	printf("\n");
}

int main(void)
{
	int k;
	while (scanf("%d", &k) == 1) {
		switch (k) {
CASES		}
	}
	return 0;
}
`

func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// compareAll compares the replies of exported functions with machines. It returns the number of replies, and how many
// of them report a guard.
func compareAll(t *testing.T, g target, jobs []job, same func(a, b float64) bool) (n, failed int) {
	t.Helper()
	for k, replies := range g.run(t, jobs) {
		j := jobs[k]
		for i, r := range replies {
			want, ok := evaluated(j.p, j.points[i], j.params)
			good := ok == r.ok && len(want) == len(r.y)
			for l := range want {
				good = good && same(r.y[l], want[l])
			}
			if !good {
				t.Fatalf("job %d at %v: got %v, %v, want %v, %v of\n%s", k, j.points[i], r.y, r.ok, want, ok, j.p)
			}
			n++
			if !ok {
				failed++
			}
		}
	}
	return n, failed
}

// randomJobs returns a random program as it is and scheduled, with loops of several lengths.
func randomJobs(t *testing.T, seed uint64, ops []rules.Op) []job {
	p, at := randomProgram(t, seed, ops, 25)
	points := pointsOf(seed, at)
	least := unrolled[seed/2%uint64(len(unrolled))]
	return []job{{p: p, points: points, o: export.Options{Unroll: least}},
		{p: program.Schedule(program.Simplify(p)), points: points, o: export.Options{Unroll: min(least, 2)}}}
}

// TestRandom: exported functions compute bit for bit what a machine does, and fail where its guards fail. In C the
// programs have only operations that do not depend on its library.
func TestRandom(t *testing.T) {
	for _, g := range targets {
		t.Run(g.name, func(t *testing.T) {
			ops := all
			if g.name == "c" {
				// The sign of a NaN, which copysign reads, is that which the processor or the compiler gives it.
				ops = slices.DeleteFunc(slices.Clone(exact), func(op rules.Op) bool { return op == rules.Copysign })
			}
			var jobs []job
			for seed := range uint64(longtest.Cases(0, 10, 12, 400)) {
				jobs = append(jobs, randomJobs(t, seed, ops)...)
			}
			n, failed := compareAll(t, g, jobs, sameBits)
			if n < len(jobs) || failed == 0 || failed > n*9/10 {
				t.Errorf("guards fail in %d of %d evaluations", failed, n)
			}
		})
	}
}

// arguments of operations: special ones, and moderate ones of both signs.
func arguments() (x []float64) {
	x = append(x, special...)
	for i := range 40 {
		x = append(x, (float64(i)-14.3)/7)
	}
	return append(x, 0.9999, -0.9999, 12.5, -12.5, 40, 1e5, -1e5, 1e-9)
}

// ulps returns the distance of a and b in units in the last place of b.
func ulps(a, b float64) float64 {
	if sameBits(a, b) || a == b {
		return 0
	}
	return math.Abs(a-b) / (math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b))
}

// loose are the operations in which C and Go differ by more than 2 units in the last place at moderate arguments, with
// bounds on the difference relative to max(1, |value|) in units of 2⁻⁵²; they do not say which of the two is closer.
var loose = map[rules.Op]float64{rules.Asin: 5, rules.Acos: 8, rules.Erfcinv: 3, rules.Gamma: 2, rules.Digamma: 2,
	rules.J0: 2, rules.Y0: 2, rules.Y1: 2, rules.LogAddExp: 2, rules.Jn: 6, rules.Yn: 2, rules.Polygamma: 2,
	rules.Pow:   12,
	rules.PowDx: 11, rules.PowDp: 8}

// moderate reports whether x is 0, not finite, or of a magnitude at which package math is accurate.
func moderate(x float64) bool {
	a := math.Abs(x)
	return x-x != 0 || a == 0 || a >= 1e-9 && a <= 40
}

// TestOperations compares each operation alone at special and other arguments.
func TestOperations(t *testing.T) {
	x := arguments()
	for _, g := range targets {
		t.Run(g.name, func(t *testing.T) {
			var jobs []job
			for _, op := range all {
				text, args, lines := "", "", 0
				for i := range op.Arity() {
					text += fmt.Sprintf("%%%d = input %c\n", i, 'a'+i)
					args += fmt.Sprintf(" %%%d", i)
					lines++
				}
				j := job{p: parsed(t, fmt.Sprintf("%s%%%d = %s%s\nout y [%%%d]", text, lines, op, args, lines))}
				rng := rand.New(rand.NewPCG(uint64(op), 9))
				for i := range 1000 {
					point := make([]float64, lines)
					for k := range point {
						point[k] = x[rng.IntN(len(x))]
					}
					if lines == 1 {
						if i == len(x) {
							break
						}
						point[0] = x[i]
					}
					switch op {
					case rules.Jn, rules.Yn, rules.Polygamma:
						point[0] = float64(rng.IntN(5))
					}
					j.points = append(j.points, point)
				}
				jobs = append(jobs, j)
			}
			worst := map[rules.Op]float64{}
			for k, replies := range g.run(t, jobs) {
				op := all[k]
				limit := 2.0
				if g.name == "go" || slices.Contains(exact, op) {
					limit = 0
				}
				for i, r := range replies {
					if limit > 0 && slices.ContainsFunc(jobs[k].points[i], func(x float64) bool {
						return !moderate(x)
					}) {
						continue
					}
					want, _ := evaluated(jobs[k].p, jobs[k].points[i], nil)
					d := ulps(r.y[0], want[0])
					if l, ok := loose[op]; ok && limit > 0 {
						limit = l
						if d > 0 {
							d = math.Abs(r.y[0]-want[0]) / max(1, math.Abs(want[0])) / 0x1p-52
						}
					}
					if !(d <= limit) {
						t.Errorf("%s at %v: got %v, want %v: %.3g units", op, jobs[k].points[i], r.y[0], want[0], d)
					}
					worst[op] = max(worst[op], d)
				}
			}
			t.Log(worst) // with the distances that loose bounds
		})
	}
}

// TestMemory: functions with much memory take it as their last parameter. Several arrays share it one after another,
// and its contents before a call, here the results of other functions, do not matter.
func TestMemory(t *testing.T) {
	const n = 300
	var text strings.Builder
	fmt.Fprintf(&text, "%%0:%d = input x\n", n)
	for k := range 9 { // each vector is the product of the one before and that shifted by one
		first := k * n
		fmt.Fprintf(&text, "%%%d:%d = mul %%%d:+1 [%%%d", first+n, n, first, first+n-1)
		for i := range n - 1 {
			fmt.Fprintf(&text, " %%%d", first+i)
		}
		text.WriteString("]\n")
	}
	fmt.Fprintf(&text, "%%%d = sum %d %%%d:+1\nout y [%%%d]\nout z [", 10*n, n, 9*n, 10*n)
	for i := range n {
		fmt.Fprintf(&text, " %%%d", 9*n+i)
	}
	text.WriteString("]")
	p := parsed(t, text.String())
	var jobs []job
	for _, least := range []int{2, 0, math.MaxInt} {
		j := job{p: p, o: export.Options{Unroll: least}}
		for k := range 3 {
			x := make([]float64, n)
			for i := range x {
				x[i] = 1 + float64((i*7+k)%11-5)/1000
			}
			j.points = append(j.points, x)
		}
		jobs = append(jobs, j)
		work, err := export.Work(p, j.o)
		if want := 2 * n; err != nil || least < n && work != want || least > n && work != 0 {
			t.Errorf("loops of %d lanes: %d numbers of memory, %v, want %d", least, work, err, want)
		}
	}
	checkPlans(t, p, jobs[0].points)
	longtest.Skip(t, "compiles large functions")
	for _, g := range targets {
		t.Run(g.name, func(t *testing.T) { compareAll(t, g, jobs, sameBits) })
	}
}

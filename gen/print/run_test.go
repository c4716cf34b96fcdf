package print_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// call is a compiled function with its arguments, and the arguments and results after the call.
type call struct {
	Package, Func string
	Args          []json.RawMessage
	want          string
}

// calls are evaluations of all functions on random arguments.
func (s *source) calls(t *testing.T, r *rand.Rand) (list []call) {
	for _, fn := range s.funcs {
		for range longtest.Cases(0, 4, 4, 20) {
			c := call{Package: s.pkg.Name(), Func: fn.Name}
			var args []any
			for _, v := range fn.Func.Params {
				a := random(r, goType(t, v.Type))
				text, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				args, c.Args = append(args, a), append(c.Args, text)
			}
			values := ir.ValuesOf(args...)
			results, err := (&ir.Machine{Steps: 500_000}).Eval(fn.Func, values)
			if err != nil {
				var p *ir.PanicError
				var limit *ir.LimitError
				if errors.As(err, &limit) {
					continue
				}
				if !errors.As(err, &p) {
					t.Fatal(err)
				}
				c.want = "panic"
			} else {
				for i, v := range fn.Func.Results {
					c.want += show(t, results[i], v.Type)
				}
				for i, v := range fn.Func.Params {
					c.want += show(t, values[i], v.Type)
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// goType returns the Go type of the arguments and results of compiled functions.
func goType(t *testing.T, of types.Type) reflect.Type {
	t.Helper()
	switch u := of.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Float64:
			return reflect.TypeFor[float64]()
		case types.Float32:
			return reflect.TypeFor[float32]()
		case types.Int:
			return reflect.TypeFor[int]()
		}
	case *types.Slice:
		return reflect.SliceOf(goType(t, u.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), goType(t, u.Elem()))
	}
	t.Fatalf("parameter or result of type %v", of)
	return nil
}

// random is a value of a type; slices have six elements.
func random(r *rand.Rand, of reflect.Type) any {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Float64:
		v.SetFloat(r.NormFloat64() * 2)
	case reflect.Float32:
		v.SetFloat(r.NormFloat64())
	case reflect.Int:
		v.SetInt(int64(r.IntN(7) - 1))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(of, 6, 6))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if of.Elem().Kind() == reflect.Float64 {
				v.Index(i).SetFloat(r.NormFloat64() + 1)
			} else {
				v.Index(i).Set(reflect.ValueOf(random(r, of.Elem())))
			}
		}
	}
	return v.Interface()
}

// show is the floats of a value in the form that the compiled program prints.
func show(t *testing.T, v ir.Value, of types.Type) string {
	t.Helper()
	p := reflect.New(goType(t, of))
	v.Into(p.Interface())
	return showValue(p.Elem())
}

func showValue(v reflect.Value) (s string) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		return bits(v.Float())
	case reflect.Int:
		return fmt.Sprint(" ", v.Int())
	}
	for i := range v.Len() {
		s += showValue(v.Index(i))
	}
	return s + ";"
}

func bits(x float64) string {
	if math.IsNaN(x) {
		return " nan"
	}
	return fmt.Sprintf(" %x", math.Float64bits(x))
}

// TestRun compiles printed functions and compares them with the evaluator. The results are
// identical where the compiler fuses nothing, as on amd64.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler may fuse multiplications and additions")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// A module of the same name with the packages that generated code imports.
	mod, sum := dependent.Mod(t)
	write("go.mod", []byte("module "+module+"\n\ngo 1.26\n"+mod))
	write("go.sum", []byte(sum))
	for _, sub := range []string{"rules", "internal/core", "internal/page",
		"internal/linetable", "internal/series", "internal/vector", "internal/processor",
		"gen/rt"} {
		copyPackage(t, "../../"+sub, sub, write)
	}
	var calls []call
	var imports, table string
	r := rand.New(rand.NewPCG(5, 6))
	for i, s := range sources(t) {
		if (i == 3 || i == 5) && !longtest.Long() { // several lanes, as those of number 4, of which there is less
			continue
		}
		at := fmt.Sprintf("p%d", i)
		copyPackage(t, s.dir, at, write)
		write(at+"/"+lower.Output, s.file(t))
		imports += fmt.Sprintf("%s %q\n", at, module+"/"+at)
		list := s.calls(t, r)
		for k := range list {
			list[k].Package = at
		}
		calls = append(calls, list...)
		for _, fn := range s.funcs {
			table += fmt.Sprintf("%q: %s.%s,\n", at+fn.Name, at, fn.Name)
		}
	}
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/main.txt")
	if err != nil {
		t.Fatal(err)
	}
	write("main.go", []byte(strings.NewReplacer("IMPORTS", imports, "TABLE", table).Replace(string(text))))
	out := command(t, dir, input, "run", "-ldflags=-w", "-trimpath", ".")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d results of %d calls", len(lines), len(calls))
	}
	panics := 0
	for i, c := range calls {
		if c.want == "panic" {
			panics++
		}
		if lines[i] != c.want {
			t.Errorf("%s.%s(%s) gives %s, want %s", c.Package, c.Func, c.Args, lines[i], c.want)
		}
	}
	t.Logf("%d calls, %d panics", len(calls), panics)
	if longtest.Long() {
		command(t, dir, nil, "vet", "./...")
	}
}

func copyPackage(t *testing.T, from, to string, write func(string, []byte)) {
	t.Helper()
	names, err := filepath.Glob(from + "/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", from, err)
	}
	for _, name := range names {
		if ext := filepath.Ext(name); ext != ".go" && ext != ".s" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(to+"/"+filepath.Base(name), text)
	}
}

func command(t *testing.T, dir string, input []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	cmd.Env = dependent.Environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

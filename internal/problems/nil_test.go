package problems

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

// derivatives are the generated functions by name.
var derivatives = map[string]any{
	"AdjustmentPlainTangent": AdjustmentPlainTangent, "AdjustmentPlainTangent4": AdjustmentPlainTangent4,
	"AdjustmentPlainAdjoint": AdjustmentPlainAdjoint, "AdjustmentPlainAdjoint4": AdjustmentPlainAdjoint4,
	"AdjustmentPlainAdjointTangent": AdjustmentPlainAdjointTangent,

	"BrusselatorModuloOnTangent":        BrusselatorModuloOnTangent,
	"BrusselatorModuloOnTangent4":       BrusselatorModuloOnTangent4,
	"BrusselatorModuloOnAdjoint":        BrusselatorModuloOnAdjoint,
	"BrusselatorModuloOnAdjoint4":       BrusselatorModuloOnAdjoint4,
	"BrusselatorModuloOnAdjointTangent": BrusselatorModuloOnAdjointTangent,
	"BrusselatorOnTangent":              BrusselatorOnTangent, "BrusselatorOnTangent4": BrusselatorOnTangent4,
	"BrusselatorOnAdjoint": BrusselatorOnAdjoint, "BrusselatorOnAdjoint4": BrusselatorOnAdjoint4,
	"BrusselatorOnAdjointTangent": BrusselatorOnAdjointTangent,

	"ReprojectionPlainTangent": ReprojectionPlainTangent, "ReprojectionPlainTangent4": ReprojectionPlainTangent4,
	"ReprojectionPlainAdjoint": ReprojectionPlainAdjoint, "ReprojectionPlainAdjoint4": ReprojectionPlainAdjoint4,
	"ReprojectionPlainAdjointTangent": ReprojectionPlainAdjointTangent,

	"HandPlainTangent": HandPlainTangent, "HandPlainTangent4": HandPlainTangent4,
	"HandPlainAdjoint": HandPlainAdjoint, "HandPlainAdjoint4": HandPlainAdjoint4,
	"HandPlainAdjointTangent": HandPlainAdjointTangent,

	"LogisticLossPlainTangent": LogisticLossPlainTangent, "LogisticLossPlainTangent4": LogisticLossPlainTangent4,
	"LogisticLossPlainAdjoint": LogisticLossPlainAdjoint, "LogisticLossPlainAdjointOnly": LogisticLossPlainAdjointOnly,
	"LogisticLossPlainAdjointTangent": LogisticLossPlainAdjointTangent, "LogisticLossPlainHVP": LogisticLossPlainHVP,

	"LorenzArraysPlainTangent": LorenzArraysPlainTangent, "LorenzArraysPlainTangent4": LorenzArraysPlainTangent4,
	"LorenzArraysPlainAdjoint":        LorenzArraysPlainAdjoint,
	"LorenzArraysPlainAdjointTangent": LorenzArraysPlainAdjointTangent,
	"LorenzPlainTangent":              LorenzPlainTangent, "LorenzPlainTangent4": LorenzPlainTangent4,
	"LorenzPlainAdjoint": LorenzPlainAdjoint, "LorenzPlainAdjointTangent": LorenzPlainAdjointTangent,

	"RecurrentLossPlainTangent": RecurrentLossPlainTangent, "RecurrentLossPlainTangent4": RecurrentLossPlainTangent4,
	"RecurrentLossPlainAdjoint":        RecurrentLossPlainAdjoint,
	"RecurrentLossPlainAdjointTangent": RecurrentLossPlainAdjointTangent,

	"LogPosteriorPlainTangent": LogPosteriorPlainTangent, "LogPosteriorPlainTangent4": LogPosteriorPlainTangent4,
	"LogPosteriorPlainAdjoint":        LogPosteriorPlainAdjoint,
	"LogPosteriorPlainAdjointTangent": LogPosteriorPlainAdjointTangent,

	"RosenbrockPlainTangent": RosenbrockPlainTangent, "RosenbrockPlainTangent4": RosenbrockPlainTangent4,
	"RosenbrockPlainAdjoint": RosenbrockPlainAdjoint, "RosenbrockPlainAdjointOnly": RosenbrockPlainAdjointOnly,
	"RosenbrockPlainAdjointTangent": RosenbrockPlainAdjointTangent, "RosenbrockPlainHVP": RosenbrockPlainHVP,

	"SumSquaresPlainTangent": SumSquaresPlainTangent, "SumSquaresPlainTangent4": SumSquaresPlainTangent4,
	"SumSquaresPlainAdjoint": SumSquaresPlainAdjoint, "SumSquaresPlainAdjointOnly": SumSquaresPlainAdjointOnly,
	"SumSquaresPlainAdjointTangent": SumSquaresPlainAdjointTangent, "SumSquaresPlainHVP": SumSquaresPlainHVP,

	"DiffSquaresPlainTangent": DiffSquaresPlainTangent, "DiffSquaresPlainTangent4": DiffSquaresPlainTangent4,
	"DiffSquaresPlainAdjoint": DiffSquaresPlainAdjoint, "DiffSquaresPlainAdjointOnly": DiffSquaresPlainAdjointOnly,
	"DiffSquaresPlainAdjointTangent": DiffSquaresPlainAdjointTangent, "DiffSquaresPlainHVP": DiffSquaresPlainHVP,
}

// inputs returns small inputs x, the number of outputs, 0 if they are returned, and the bound struct of the function
// that a derivative belongs to, nil without one.
func inputs(name string) (x []float64, outputs int, bound any) {
	s := seed
	switch {
	case strings.HasPrefix(name, "Adjustment"):
		a := &Adjustment{Cameras: 2, Points: 2, Features: s.draw(8)}
		n, m := a.Dims()
		return s.draw(n), m, a
	case strings.HasPrefix(name, "Brusselator"):
		return s.draw(32), 32, &Grid{N: 4}
	case strings.HasPrefix(name, "Reprojection"):
		return s.draw(15), 2, &Feature{Z: s.draw(2)}
	case strings.HasPrefix(name, "Hand"):
		h := randomHand(&s)
		return s.draw(handPose), len(h.Points), h
	case strings.HasPrefix(name, "Logistic"):
		return s.draw(3), 0, &Regression{X: s.draw(15), Y: []float64{0, 1, 1, 0, 1}, Cols: 3}
	case strings.HasPrefix(name, "Recurrent"):
		d := &Recurrent{Layers: 1, Bits: 2, State: s.draw(4), Text: []float64{0, 1, 1, 0, 1, 1}}
		return s.draw(22), 0, d
	case strings.HasPrefix(name, "LogPosterior"):
		return s.draw(2 + 4 + 6), 0, &Mixture{D: 2, K: 2, Gamma: 1, M: 0, Points: s.draw(6)}
	case strings.HasPrefix(name, "Lorenz"):
		return []float64{10, 28, 8.0 / 3, 1, 1, 1}, 0, nil
	}
	return s.draw(6), 0, nil
}

// TestNilShadows calls every generated derivative with each subset of its shadows nil, and compares the results and the
// other shadows with those of a call with zeros in place of nil. Workspaces are nil, new or used.
func TestNilShadows(t *testing.T) {
	params := generated(t)
	if got, want := slices.Sorted(maps.Keys(derivatives)), slices.Sorted(maps.Keys(params)); !slices.Equal(got, want) {
		t.Fatalf("the test has derivatives\n%q, and there are\n%q", got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(derivatives)) {
		t.Run(name, func(t *testing.T) {
			f := reflect.ValueOf(derivatives[name])
			c := &nilCall{t: t, name: name, f: f, names: params[name]}
			var shadows []int
			for i, p := range c.names {
				if isShadow(p) && f.Type().In(i).Kind() != reflect.Float64 {
					shadows = append(shadows, i)
				}
			}
			if len(shadows) == 0 {
				t.Fatalf("no shadows among the parameters %q", c.names)
			}
			for set := range 1 << len(shadows) {
				missing := map[int]bool{}
				for k, i := range shadows {
					missing[i] = set>>k&1 == 1
				}
				want, _ := c.run(missing, false, nil)
				work := new(AdjointWork)
				for _, ws := range []*AdjointWork{nil, work, work} {
					got, args := c.run(missing, true, ws)
					for k := range want {
						if !reflect.DeepEqual(got[k], want[k]) {
							t.Fatalf("without %q: %.80s…, want %.80s…", c.those(missing), fmt.Sprint(got[k]),
								fmt.Sprint(want[k]))
						}
					}
					for i := range missing {
						if missing[i] && !args[i].IsNil() {
							t.Fatalf("without %q: %s is set", c.those(missing), c.names[i])
						}
					}
				}
			}
		})
	}
}

// A nilCall calls a derivative.
type nilCall struct {
	t     *testing.T
	name  string
	f     reflect.Value
	names []string // of its parameters
}

// run calls the derivative with the workspace ws, and returns its results, the outputs and the shadows that are not in
// missing. Those in missing are nil if absent is set, otherwise zero. It also returns the arguments.
func (c *nilCall) run(missing map[int]bool, absent bool, ws *AdjointWork) (out []any, args []reflect.Value) {
	x, outputs, bound := inputs(c.name)
	for i, p := range c.names {
		typ := c.f.Type().In(i)
		s := seed
		s.draw(7 * i) // other numbers for each parameter
		var v any
		switch {
		case typ == reflect.TypeFor[*AdjointWork]():
			v = ws
		case typ.Kind() == reflect.Float64:
			v = 0.75
		case absent && missing[i]:
			v = reflect.Zero(typ).Interface()
		case typ == reflect.TypeFor[*Adjustment]() && isShadow(p):
			v = new(rt.Shadow[Adjustment]).Of(bound.(*Adjustment))
		case typ.Kind() == reflect.Pointer:
			v = bound
		case isShadow(p) || i == 0 && outputs > 0: // a shadow, or the outputs
			n := len(x)
			if outputs > 0 && (i == 0 || strings.HasPrefix(p, "y") || strings.HasPrefix(p, "dx")) {
				n = outputs
			}
			v = c.numbers(typ, s.draw(4*n), n, missing[i])
		default:
			v = slices.Clone(x)
		}
		args = append(args, reflect.ValueOf(v))
	}
	for _, r := range c.f.Call(args) {
		out = append(out, r.Interface())
	}
	for i, p := range c.names {
		if args[i].Kind() == reflect.Slice && !missing[i] {
			out = append(out, p, args[i].Interface())
		}
	}
	return out, args
}

// numbers returns n numbers, or arrays of numbers, from v, or zeros.
func (c *nilCall) numbers(typ reflect.Type, v []float64, n int, zero bool) any {
	if zero {
		clear(v)
	}
	if typ == reflect.TypeFor[[]float64]() {
		return v[:n:n]
	}
	out := make([][4]float64, n)
	for i := range out {
		copy(out[i][:], v[4*i:])
	}
	return out
}

// those returns the names of parameters.
func (c *nilCall) those(set map[int]bool) (list []string) {
	for i, p := range c.names {
		if set[i] {
			list = append(list, p)
		}
	}
	return list
}

var shadowName = regexp.MustCompile(`^\w+(Dot|Bar\d?|Bar\d?Dot)$`)

func isShadow(name string) bool { return shadowName.MatchString(name) }

// generated returns the names of the parameters of the derivatives in the generated files, by their names.
func generated(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*nabla*.go")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	derivative := regexp.MustCompile(`^[A-Z]\w*(Tangent4?|Adjoint4?|AdjointOnly|AdjointTangent|HVP)$`)
	out := map[string][]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !derivative.MatchString(fn.Name.Name) {
				continue
			}
			for _, p := range fn.Type.Params.List {
				for _, id := range p.Names {
					out[fn.Name.Name] = append(out[fn.Name.Name], id.Name)
				}
			}
		}
	}
	return out
}

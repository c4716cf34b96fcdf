package finitediff_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/rules"
)

// An elementaryCase is an op of package rules along a line: t ↦ op(args + t·direction). The axes are the arguments one
// by one, without integer orders; an op with two arguments is also differentiated along their diagonal.
type elementaryCase struct {
	op        rules.Op
	direction [3]float64
}

func (c elementaryCase) String() string {
	return fmt.Sprintf("%v along %v", c.op, c.direction[:c.op.Arity()])
}

// elementaryCases returns the cases of all ops in the table of package rules.
func elementaryCases() (list []elementaryCase) {
	for o := rules.Invalid + 1; o < rules.NumOps; o++ {
		if o == rules.Finite || o == rules.Stop { // not the derivative of its value
			continue
		}
		order := o == rules.Jn || o == rules.Yn || o == rules.Polygamma
		for i := range o.Arity() {
			if i > 0 || !order {
				c := elementaryCase{op: o}
				c.direction[i] = 1
				list = append(list, c)
			}
		}
		if o.Arity() == 2 && !order {
			list = append(list, elementaryCase{o, [3]float64{1, 0.5}})
		}
	}
	return list
}

// An elementaryPoint is a point of an op; first holds its partial derivatives in decimal, if they are known.
type elementaryPoint struct {
	args  [3]float64
	first [3]string
}

const pointsOfCase = 5

// smooth holds where the ops are smooth, argument by argument: (-2, 2) for those not listed.
var smooth = map[rules.Op][][2]float64{
	rules.Inv: {{0.2, 3}}, rules.Sqrt: {{0.1, 3}}, rules.Cbrt: {{0.1, 3}}, rules.Log: {{0.1, 3}},
	rules.Log2: {{0.1, 3}}, rules.Log10: {{0.1, 3}}, rules.Log1p: {{-0.8, 3}}, rules.Tan: {{-1, 1}},
	rules.Asin: {{-0.8, 0.8}}, rules.Acos: {{-0.8, 0.8}}, rules.Atanh: {{-0.8, 0.8}}, rules.Acosh: {{1.2, 3}},
	rules.Erfinv: {{-0.8, 0.8}}, rules.Erfcinv: {{0.3, 1.7}}, rules.Gamma: {{0.3, 3}}, rules.Lgamma: {{0.3, 3}},
	rules.Digamma: {{0.3, 3}}, rules.Y0: {{0.5, 3}}, rules.Y1: {{0.5, 3}}, rules.Abs: {{0.2, 2}},
	rules.Sign: {{0.2, 2}}, rules.Floor: {{0.1, 0.9}}, rules.Ceil: {{0.1, 0.9}}, rules.Trunc: {{0.1, 0.9}},
	rules.Round: {{0.1, 0.4}}, rules.RoundToEven: {{0.1, 0.4}}, rules.Logb: {{1.1, 1.9}},
	rules.GammaSign: {{-0.9, -0.1}}, rules.Nextafter: {{1.1, 1.9}, {3, 4}}, rules.Div: {{-2, 2}, {0.3, 2}},
	rules.Pow: {{0.3, 2}, {-2, 2}}, rules.PowDx: {{0.3, 2}, {-2, 2}}, rules.PowDp: {{0.3, 2}, {-2, 2}},
	rules.PowScale: {{0.3, 2}, {-2, 2}}, rules.Hypot: {{0.3, 2}, {-2, 2}}, rules.HypotDx: {{0.3, 2}, {-2, 2}},
	rules.Atan2: {{0.3, 2}, {-2, 2}}, rules.Max: {{0, 1}, {2, 3}}, rules.Min: {{0, 1}, {2, 3}},
	rules.Lt: {{0, 1}, {2, 3}}, rules.Le: {{0, 1}, {2, 3}}, rules.Eq: {{0, 1}, {2, 3}},
	rules.Mod: {{5.2, 5.8}, {1.4, 1.6}}, rules.Remainder: {{5.2, 5.5}, {1.4, 1.6}},
	rules.Copysign: {{-2, -0.2}, {0.2, 2}}, rules.XLogY: {{-2, 2}, {0.3, 2}}, rules.Jn: {{2, 2}, {0.5, 4}},
	rules.DivZ: {{-2, 2}, {0.3, 2}}, rules.Yn: {{2, 2}, {0.5, 4}}, rules.Polygamma: {{2, 2}, {0.3, 3}},
	rules.Select: {{0.5, 1}, {-2, 2}, {-2, 2}},
}

// referencePoints reads the points with multi-precision derivatives.
func referencePoints(t *testing.T) map[rules.Op][]elementaryPoint {
	t.Helper()
	read := func(name string, to any) {
		text, err := os.ReadFile("../../rules/testdata/" + name)
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lookup := func(name string) rules.Op {
		if a, ok := map[string]string{"square": "sq", "besselj0": "j0"}[name]; ok {
			name = a
		}
		o, ok := rules.Lookup(name)
		if !ok {
			t.Fatalf("no op %q", name)
		}
		return o
	}
	points := map[rules.Op][]elementaryPoint{}
	type table map[string]struct{ Points []map[string]string }
	var file struct{ Univariate, Bivariate table }
	read("scalar_rules_40.json", &file)
	for _, rows := range []table{file.Univariate, file.Bivariate} {
		for name, row := range rows {
			for _, p := range row.Points {
				e := elementaryPoint{first: [3]string{p["d1"] + p["dx"], p["dy"]}}
				for i, arg := range []string{p["x"], p["y"]} {
					if arg != "" {
						e.args[i] = decimal(t, arg)
					}
				}
				points[lookup(name)] = append(points[lookup(name)], e)
			}
		}
	}
	var rows []struct {
		Op    string
		Args  []float64
		First map[string]string
	}
	read("special.json", &rows)
	for _, r := range rows {
		e := elementaryPoint{first: [3]string{r.First["0"], r.First["1"]}}
		copy(e.args[:], r.Args)
		points[lookup(r.Op)] = append(points[lookup(r.Op)], e)
	}
	return points
}

func decimal(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func elementaryValue(o rules.Op, a [3]float64) float64 {
	switch o.Arity() {
	case 1:
		return rules.Value1(o, a[0])
	case 2:
		return rules.Value2(o, a[0], a[1])
	}
	return rules.Value3(o, a[0], a[1], a[2])
}

// partials returns the partial derivatives by the table of package rules.
func partials(o rules.Op, a [3]float64) (d [3]float64) {
	v := elementaryValue(o, a)
	switch o.Arity() {
	case 1:
		d[0] = rules.Partial1(o, a[0], v)
	case 2:
		d[0], d[1] = rules.Partials2(o, a[0], a[1], v)
	default:
		if o == rules.FMA {
			return [3]float64{a[1], a[0], 1}
		}
		if d[2] = 1; a[0] != 0 { // Select
			d[1], d[2] = 1, 0
		}
	}
	return d
}

// pointsFor returns the points of an op: those with a reference, and random ones up to the number of points of a case.
func pointsFor(o rules.Op, known []elementaryPoint, rng *rand.Rand) []elementaryPoint {
	list := known[:min(len(known), pointsOfCase)]
	for len(list) < pointsOfCase {
		var p elementaryPoint
		for i := range o.Arity() {
			iv := [2]float64{-2, 2}
			if v := smooth[o]; v != nil {
				iv = v[i]
			}
			p.args[i] = iv[0] + (iv[1]-iv[0])*rng.Float64()
		}
		list = append(list, p)
	}
	return list
}

// A coverage counts how well derivatives and their error estimates do.
type coverage struct {
	points, refused int
	bounded         int // the estimate is not below the error
	unknown         int // NaN, with an infinite error
	sharp           int // the estimate is at most 1e-10 of the derivative
	sharpWrong      int // the error is larger than that
}

// TestElementary differentiates every rule of package rules in every argument, at points with multi-precision
// derivatives as far as there are any. Estimates must bound the error, and derivatives that claim a relative error of
// 1e-10 must have it, with few exceptions: mod and remainder at 1e10 repeat with a period of which the steps happen to
// be multiples, and hypot at 1e-150 is |x| seen from one side.
func TestElementary(t *testing.T) {
	for _, a := range []struct {
		a       finitediff.Adaptive
		bounded float64 // of 100
		sharp   float64
	}{
		{finitediff.Adaptive{}, 99, 90},
		{finitediff.Adaptive{Points: 5, Levels: 2}, 98, 90},
		{finitediff.Adaptive{Points: 7}, 98, 90},
		{finitediff.Adaptive{Extrapolate: 4}, 98, 90},
		{finitediff.Adaptive{MeasureNoise: true}, 98, 90},
		{finitediff.Adaptive{Method: finitediff.Forward}, 98, 90},
		{finitediff.Adaptive{Method: finitediff.Backward, Points: 7}, 98, 90},
		{finitediff.Adaptive{Levels: finitediff.NoLevels}, 98, 90},
	} {
		t.Run(a.a.Name(), func(t *testing.T) {
			known, rng := referencePoints(t), rand.New(rand.NewPCG(3, 4))
			var c coverage
			cases := elementaryCases()
			for _, e := range cases {
				for _, p := range pointsFor(e.op, known[e.op], rng) {
					c.add(t, a.a, e, p)
				}
			}
			part := func(n int) float64 { return 100 * float64(n) / float64(c.points) }
			t.Logf("%d cases, %d points: %.1f %% of estimates bound the error, %.1f %% claim 1e-10, %d of them "+
				"wrongly; %d unknown, %d refused", len(cases), c.points, part(c.bounded), part(c.sharp), c.sharpWrong,
				c.unknown, c.refused)
			if len(cases) < 126 || c.points < 126*pointsOfCase-c.refused {
				t.Errorf("%d cases with %d points, want 126 with 5 each", len(cases), c.points)
			}
			if part(c.bounded) < a.bounded {
				t.Errorf("%.1f %% of the estimates bound the error, want %v", part(c.bounded), a.bounded)
			}
			if part(c.sharp) < a.sharp {
				t.Errorf("%.1f %% of the estimates claim a relative error of 1e-10, want %v", part(c.sharp), a.sharp)
			}
			if 50*c.unknown > c.points {
				t.Errorf("%d derivatives are unknown", c.unknown)
			}
			if 100*c.sharpWrong > c.sharp { // the estimate may fail, but rarely where it claims many digits
				t.Errorf("%d of %d derivatives claim an error of 1e-10 and do not have it", c.sharpWrong, c.sharp)
			}
		})
	}
}

// add differentiates a case at a point.
func (c *coverage) add(t *testing.T, a finitediff.Adaptive, e elementaryCase, p elementaryPoint) {
	want := 0.0
	for i, d := range partials(e.op, p.args) {
		if e.direction[i] == 0 {
			continue
		}
		if s := p.first[i]; s != "" {
			if ref := decimal(t, s); math.Abs(d-ref) > 1e-13*math.Abs(ref) {
				t.Errorf("rule of %v at %v: %v, want %v", e, p.args, d, ref)
			} else {
				d = ref
			}
		}
		want += e.direction[i] * d
	}
	f := func(s float64) float64 {
		at := p.args
		for i, d := range e.direction {
			at[i] += d * s
		}
		return elementaryValue(e.op, at)
	}
	x := 0.0
	if axis := e.axis(); axis >= 0 {
		x = p.args[axis]
		f = func(s float64) float64 {
			at := p.args
			at[axis] = s
			return elementaryValue(e.op, at)
		}
	}
	got, err := a.Derivative(f, x, 1)
	if err != nil || math.IsInf(want, 0) || math.IsNaN(want) {
		c.refused++
		return
	}
	c.points++
	wrong := math.Abs(got.Value - want)
	if math.IsNaN(got.Value) && math.IsInf(got.Error, 1) {
		wrong = 0
		c.unknown++
	}
	bound := got.Error + 4*0x1p-52*math.Abs(want) // the reference is rounded
	if wrong <= bound {
		c.bounded++
	} else if testing.Verbose() {
		t.Logf("%v at %v: error %.2g, estimate %.2g of %.3g", e, p.args[:e.op.Arity()], wrong, got.Error, want)
	}
	if got.Error <= 1e-10*math.Abs(want) || want == 0 && got.Error <= 1e-10 {
		if c.sharp++; wrong > 1e-10*math.Abs(want) && wrong > 1e-300 && want != 0 {
			c.sharpWrong++
			t.Logf("%v at %v: got %v, want %v, claims %.2g", e, p.args[:e.op.Arity()], got.Value, want, got.Error)
		}
	}
}

// axis returns the argument that the case moves, or -1 if it moves several.
func (c elementaryCase) axis() int {
	axis := -1
	for i, d := range c.direction {
		if d != 0 && axis >= 0 {
			return -1
		} else if d != 0 {
			axis = i
		}
	}
	return axis
}

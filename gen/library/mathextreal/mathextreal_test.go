package mathextreal_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/gen/library/mathextreal"
	"github.com/nabla-ad/nabla/internal/engines"
)

// forms holds the functions of one active number and those of package mathext, with third derivatives computed with
// mpmath at 60 digits.
var forms = []struct {
	name  string
	plain func(x float64) float64
	over  func(x nabla.Real) nabla.Real
	at    float64
	third float64
	also  []float64 // where values and domains are compared
}{
	{"Beta", func(x float64) float64 { return mathext.Beta(x, 2.5) },
		func(x nabla.Real) nabla.Real { return mathextreal.Beta(x, nabla.Const(2.5)) },
		1.5, -0.97090919918001670658, []float64{0, 1e-300, 40, -1}},
	{"Lbeta", func(x float64) float64 { return mathext.Lbeta(x, 2.5) },
		func(x nabla.Real) nabla.Real { return mathextreal.Lbeta(x, nabla.Const(2.5)) },
		1.5, -0.74875691198920549887, []float64{0, 1e300, 1e9, -1}},
	{"Digamma", mathext.Digamma, mathextreal.Digamma,
		5.25, 0.018263141355942223699, []float64{0, -1, -7.5, 1e300, math.Inf(1)}},
	{"Digamma", mathext.Digamma, mathextreal.Digamma, -0.625, 344.67569506135429647, nil},
	{"MvLgamma", func(x float64) float64 { return mathext.MvLgamma(x, 3) },
		func(x nabla.Real) nabla.Real { return mathextreal.MvLgamma(x, 3) },
		2.5, -1.4691145021952359694, []float64{1, 0.5, 1e6}},
	{"NormalQuantile", mathext.NormalQuantile, mathextreal.NormalQuantile,
		0.25, 59.516697384050498398, []float64{0, 1, 1e-300, 0.5}},
	{"CompleteK", mathext.CompleteK, mathextreal.CompleteK,
		0.25, 2.2178548405253345397, []float64{0, 1, -0.5, 1.5, 1 - 0x1p-53}},
	{"CompleteK", mathext.CompleteK, mathextreal.CompleteK, 0.96875, 32643.853367730591762, nil},
	{"CompleteE", mathext.CompleteE, mathextreal.CompleteE,
		0.25, -0.34423106155945037937, []float64{0, 1, -0.5, 1.5, 1 - 0x1p-53}},
	{"CompleteE", mathext.CompleteE, mathextreal.CompleteE, 0.96875, -250.79590794731085867, nil},
	{"EllipticF", func(m float64) float64 { return mathext.EllipticF(0.75, m) },
		func(m nabla.Real) nabla.Real { return mathextreal.EllipticF(nabla.Const(0.75), m) },
		0.5, 0.047618587639765744545, []float64{0, 1, -1e6, 2}},
	{"EllipticE", func(m float64) float64 { return mathext.EllipticE(0.75, m) },
		func(m nabla.Real) nabla.Real { return mathextreal.EllipticE(nabla.Const(0.75), m) },
		0.5, -0.0077203437379934263442, []float64{0, 1, -1e6, 2}},
	{"EllipticE", func(phi float64) float64 { return mathext.EllipticE(phi, 0.5) },
		func(phi nabla.Real) nabla.Real { return mathextreal.EllipticE(phi, nabla.Const(0.5)) },
		0.75, -0.13282138303217792976, []float64{0, 2, -1, 30}},
	{"GammaIncReg", func(x float64) float64 { return mathext.GammaIncReg(2.5, x) },
		func(x nabla.Real) nabla.Real { return mathextreal.GammaIncReg(2.5, x) },
		1.5, -0.20557377307169236908, []float64{0, 1e-300, 800}},
	{"GammaIncRegComp", func(x float64) float64 { return mathext.GammaIncRegComp(2.5, x) },
		func(x nabla.Real) nabla.Real { return mathextreal.GammaIncRegComp(2.5, x) },
		1.5, 0.20557377307169236908, []float64{0, 1e-300, 800}},
	{"GammaIncRegInv", func(y float64) float64 { return mathext.GammaIncRegInv(2.5, y) },
		func(y nabla.Real) nabla.Real { return mathextreal.GammaIncRegInv(2.5, y) },
		0.625, 50.934422042149376846, []float64{0, 1, 1e-10}},
	{"GammaIncRegCompInv", func(y float64) float64 { return mathext.GammaIncRegCompInv(2.5, y) },
		func(y nabla.Real) nabla.Real { return mathextreal.GammaIncRegCompInv(2.5, y) },
		0.625, -19.156466835513168266, []float64{0, 1, 1e-10}},
	{"RegIncBeta", func(x float64) float64 { return mathext.RegIncBeta(1.5, 2.5, x) },
		func(x nabla.Real) nabla.Real { return mathextreal.RegIncBeta(1.5, 2.5, x) },
		0.375, -9.6433050804287969582, []float64{0, 1, 1e-10}},
	{"InvRegIncBeta", func(y float64) float64 { return mathext.InvRegIncBeta(1.5, 2.5, y) },
		func(y nabla.Real) nabla.Real { return mathextreal.InvRegIncBeta(1.5, 2.5, y) },
		0.625, 4.1068733398697390507, []float64{0, 1, 1e-10}},
	{"GammaIncRegShape", func(a float64) float64 { return mathext.GammaIncReg(a, 1.5) },
		func(a nabla.Real) nabla.Real { return mathextreal.GammaIncRegShape(a, nabla.Const(1.5)) },
		2.5, 0.02581217938604693827, []float64{1e-300, 1, 800}},
	{"GammaIncRegShape", func(u float64) float64 { return mathext.GammaIncReg(1+u, u) },
		func(u nabla.Real) nabla.Real { return mathextreal.GammaIncRegShape(u.AddConst(1), u) },
		1.5, 0.065319597072298488847, []float64{0, 1e-300, 800}},
	{"GammaIncRegCompShape", func(a float64) float64 { return mathext.GammaIncRegComp(a, 1.5) },
		func(a nabla.Real) nabla.Real { return mathextreal.GammaIncRegCompShape(a, nabla.Const(1.5)) },
		2.5, -0.02581217938604693827, []float64{1e-300, 1, 800}},
	{"GammaIncRegInvShape", func(a float64) float64 { return mathext.GammaIncRegInv(a, 0.625) },
		func(a nabla.Real) nabla.Real { return mathextreal.GammaIncRegInvShape(a, nabla.Const(0.625)) },
		2.5, 0.012724965832982231854, []float64{1, 30}},
	{"GammaIncRegCompInvShape", func(a float64) float64 { return mathext.GammaIncRegCompInv(a, 0.625) },
		func(a nabla.Real) nabla.Real { return mathextreal.GammaIncRegCompInvShape(a, nabla.Const(0.625)) },
		2.5, -0.021556041857330089237, []float64{1, 30}},
	{"RegIncBetaShape", func(a float64) float64 { return mathext.RegIncBeta(a, 2.5, 0.375) },
		func(a nabla.Real) nabla.Real {
			return mathextreal.RegIncBetaShape(a, nabla.Const(2.5), nabla.Const(0.375))
		},
		1.5, 0.057114201966610483206, []float64{1e-3, 1, 800}},
	{"RegIncBetaShape", func(b float64) float64 { return mathext.RegIncBeta(1.5, b, 0.375) },
		func(b nabla.Real) nabla.Real {
			return mathextreal.RegIncBetaShape(nabla.Const(1.5), b, nabla.Const(0.375))
		},
		2.5, 0.0040150747239909558272, []float64{1e-3, 1, 800}},
	{"RegIncBetaShape", func(u float64) float64 { return mathext.RegIncBeta(1+u, 2+u, u/4) },
		func(u nabla.Real) nabla.Real {
			return mathextreal.RegIncBetaShape(u.AddConst(1), u.AddConst(2), u.Scale(0.25))
		},
		0.5, 0.60025619371657422246, []float64{0, 1, 4}},
	{"InvRegIncBetaShape", func(a float64) float64 { return mathext.InvRegIncBeta(a, 2.5, 0.625) },
		func(a nabla.Real) nabla.Real {
			return mathextreal.InvRegIncBetaShape(a, nabla.Const(2.5), nabla.Const(0.625))
		},
		1.5, 0.12369914144615624403, []float64{1, 30}},
	{"InvRegIncBetaShape", func(b float64) float64 { return mathext.InvRegIncBeta(1.5, b, 0.625) },
		func(b nabla.Real) nabla.Real {
			return mathextreal.InvRegIncBetaShape(nabla.Const(1.5), b, nabla.Const(0.625))
		},
		2.5, -0.050504243755574671942, []float64{1, 30}},
	{"InvRegIncBetaShape", func(u float64) float64 { return mathext.InvRegIncBeta(1+u, 2+u, u) },
		func(u nabla.Real) nabla.Real { return mathextreal.InvRegIncBetaShape(u.AddConst(1), u.AddConst(2), u) },
		0.625, 3.47847867904982151, []float64{0, 1}},
	{"Zeta", func(q float64) float64 { return mathext.Zeta(2.5, q) },
		func(q nabla.Real) nabla.Real { return mathextreal.Zeta(2.5, q) },
		0.75, -193.59893790496637366, []float64{1, 1e6, 1e-3}},
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

// TestForms requires that values are those of package mathext bit for bit, and that third derivatives have nearly all
// digits.
func TestForms(t *testing.T) {
	done := map[string]bool{}
	for _, f := range forms {
		done["gonum.org/v1/gonum/mathext."+f.name] = true
		for _, x := range append(f.also, f.at) {
			if got, want := f.over(nabla.Const(x)).Value(), f.plain(x); !same(got, want) {
				t.Errorf("%s(%v) is %v, want %v", f.name, x, got, want)
			}
		}
		for _, b := range engines.Exact() {
			got, err := nabla.SecondDerivative(nabla.DerivativeFunc(f.over, b), b, f.at)
			if err != nil || !(math.Abs(got-f.third) <= 1e-11*math.Abs(f.third)) {
				t.Errorf("%s at %v by %s: third derivative %v, %v; want %v", f.name, f.at, b.Name(), got, err, f.third)
			}
			// If mathext returns NaN, the derivatives must be NaN.
			for _, x := range f.also {
				if d, err := nabla.SecondDerivative(f.over, b, x); err == nil && math.IsNaN(f.plain(x)) && d-d == 0 {
					t.Errorf("%s at %v by %s: second derivative %v where the value is NaN", f.name, x, b.Name(), d)
				}
			}
		}
		got, err := nabla.Derivative(f.over, finitediff.Backend{}, f.at)
		want, err2 := nabla.Derivative(f.over, forwarddiff.Backend{}, f.at)
		if err != nil || err2 != nil || !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("%s at %v: derivative %v by differences, want %v; %v, %v", f.name, f.at, got, want, err, err2)
		}
	}
	for _, name := range library.Names() {
		if rule, _ := library.Lookup(name); rule.Real != "" && !done[name] || rule.Shapes && !done[name+"Shape"] {
			t.Errorf("%s is not compared", name)
		}
	}
}

// TestSignatures requires that the functions in the table exist, with the parameters of package mathext.
func TestSignatures(t *testing.T) {
	var pkgs [2]*types.Package
	// Package x/tools/go/packages would be a requirement of all modules that import this package.
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil, err
		}
		return os.Open(strings.TrimSpace(string(file)))
	})
	for i, path := range []string{"gonum.org/v1/gonum/mathext", library.Path + "/mathextreal"} {
		var err error
		if pkgs[i], err = imports.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	text := func(v *types.Func, passive map[string]bool, float string) string {
		var s []string
		for p := range v.Signature().Params().Variables() {
			name := types.TypeString(p.Type(), (*types.Package).Name)
			if name == "float64" && !passive[p.Name()] {
				name = float
			}
			s = append(s, p.Name()+" "+name)
		}
		return strings.Join(s, ", ")
	}
	for _, name := range library.Names() {
		rule, _ := library.Lookup(name)
		if rule.Real == "" {
			continue
		}
		passive := map[string]bool{}
		for _, p := range rule.Passive {
			passive[p] = true
		}
		short := name[strings.LastIndexByte(name, '.')+1:]
		f, _ := pkgs[0].Scope().Lookup(short).(*types.Func)
		compare := func(short string, passive map[string]bool) {
			g, _ := pkgs[1].Scope().Lookup(short).(*types.Func)
			if f == nil || g == nil {
				t.Errorf("%s: %v, %v", short, f, g)
				return
			}
			if got, want := text(g, passive, "float64 that moves"), text(f, passive, "nabla.Real"); got != want {
				t.Errorf("%s(%s), want (%s)", short, got, want)
			}
		}
		compare(short, passive)
		if rule.Shapes {
			compare(short+"Shape", nil)
		}
	}
}

// TestElliptic compares a mixed third derivative, second derivatives for arguments of R_D with a large ratio, and
// derivatives on both sides of φ = π/2, about which the functions are even.
func TestElliptic(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return mathextreal.EllipticF(x[0], x[1]) }
	b := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}
	byPhi := func(x []nabla.Real) nabla.Real { return nabla.GradientFunc(f, reversediff.Backend{})(x)[0] }
	h, err := nabla.Hessian(byPhi, b, []float64{0.75, 0.5})
	if want := 1.0780767897121755771; err != nil || !(math.Abs(h.At(0, 1)-want) <= 1e-12) {
		t.Errorf("∂³F/∂φ²∂m is %v, %v; want %v", h.At(0, 1), err, want)
	}
	for _, c := range secondK {
		got, err := nabla.SecondDerivative(mathextreal.CompleteK, forwarddiff.Backend{}, c[0])
		if err != nil || !(math.Abs(got-c[1]) <= 1e-12*c[1]) {
			t.Errorf("K″(%v) is %v, %v; want %v", c[0], got, err, c[1])
		}
		got, err = nabla.SecondDerivative(mathextreal.CompleteE, forwarddiff.Backend{}, c[0])
		if err != nil || !(math.Abs(got-c[2]) <= 1e-12*math.Abs(c[2])) {
			t.Errorf("E″(%v) is %v, %v; want %v", c[0], got, err, c[2])
		}
	}
	for _, x := range [][]float64{{2, 0.4}, {-2.5, 0.9}} {
		mirror := []float64{math.Copysign(math.Pi, x[0]) - x[0], x[1]}
		_, g1, h1, err1 := nabla.ValueGradientAndHessian(f, b, x)
		_, g2, h2, err2 := nabla.ValueGradientAndHessian(f, b, mirror)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for _, pair := range [][2]float64{
			{g1[0], -g2[0]}, {g1[1], g2[1]}, {h1.At(0, 0), h2.At(0, 0)}, {h1.At(0, 1), -h2.At(0, 1)},
			{h1.At(1, 1), h2.At(1, 1)},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-12*(1+math.Abs(pair[1]))) {
				t.Errorf("at %v: %v, and %v on the other side of π/2", x, pair[0], pair[1])
			}
		}
	}
}

// TestRecording requires that each function is one operation without guards, that the pattern of second derivatives is
// global, and that prepared calls do not allocate.
func TestRecording(t *testing.T) {
	sum := func(x []nabla.Real) nabla.Real {
		s := mathextreal.Digamma(x[0])
		for i := 1; i < len(x); i++ {
			s = s.Add(mathextreal.Beta(x[i-1], x[i])).Add(mathextreal.EllipticF(x[i], nabla.Const(0.25))).
				Add(mathextreal.GammaIncRegInv(2, x[i].Scale(0.1)))
		}
		return s
	}
	x := []float64{0.75, 1.25, 0.5, 2, 1, 3}
	prep, err := nabla.PrepareHessian(sum, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, x)
	if err != nil {
		t.Fatal(err)
	}
	if plan := prep.Plan(); plan.Fallback != "" || plan.Pattern.NNZ() != 3*len(x)-2 {
		t.Errorf("%d entries, fallback %q", plan.Pattern.NNZ(), plan.Fallback)
	}
	g, err := nabla.PrepareGradient(whole, reversediff.Backend{Compile: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, len(x))
	for i := range 9 {
		x[0] = 0.75 + float64(i)/64
		if _, err := g.Gradient(dst, x); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.Recordings(); n != 1 {
		t.Errorf("%d recordings", n)
	}
	// None of these calls compares the function with its recording.
	if n := testing.AllocsPerRun(5, func() {
		if _, err := g.Gradient(dst, x); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a call allocates %v times", n)
	}
}

func whole(x []nabla.Real) nabla.Real {
	return mathextreal.Digamma(x[0]).Mul(mathextreal.CompleteK(x[2])).
		Add(mathextreal.Zeta(2.5, x[1])).Add(mathextreal.MvLgamma(x[3], 2)).
		Add(mathextreal.RegIncBeta(1.5, 2, x[2])).Add(mathextreal.NormalQuantile(x[2])).Add(mathextreal.Lbeta(x[4],
		x[5])).
		Add(mathextreal.EllipticE(x[0], x[2])).Add(mathextreal.GammaIncRegComp(2, x[5]))
}

// Example shows that derivatives are those of the function, of which mathext has 9 digits.
func Example() {
	v, d, err := nabla.ValueAndDerivative(mathextreal.Digamma, forwarddiff.Backend{}, 5.25)
	fmt.Println(v == mathext.Digamma(5.25), math.Abs(d-0.20976041229725411651) < 1e-15, err)
	// Output: true true <nil>
}

// secondK holds m, K″(m) and E″(m), computed with mpmath at 120 digits.
var secondK = [][3]float64{
	{1 - 0x1p-52, 1.0141204801825834649e+31, -1125899906842617.4095},
	{1 - 0x1p-30, 576460752169205762.78, -268435452.26868671727},
	{1 - 0x1p-10, 524160.82740604813195, -254.86576386294686682},
	{0.5, 1.8540746773013719184, -0.34378228854028267069},
	{0x1p-30, 0.44178646776824323745, -0.14726215580845727064},
	{0, 0.44178646691106467416, -0.14726215563702155805},
}

package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// named is a backend that can do nothing; can is its abilities, as stubs.
type named string

func (n named) Name() string { return string(n) }

// stub prepares itself for everything.
type stub struct{}

func (stub) RunsCode() bool { return true }

func (stub) PreparePushforward(*Function, []float64, int) (Pushforward, error) { return stub{}, nil }
func (stub) PreparePullback(*Function, []float64, int) (Pullback, error)       { return stub{}, nil }
func (stub) PrepareGradient(*Function, []float64) (Gradient, error)            { return stub{}, nil }
func (stub) PrepareJacobian(*Function, []float64) (Jacobian, error)            { return stub{}, nil }
func (stub) PrepareHVP(*Function, []float64, int) (HVP, error)                 { return stub{}, nil }
func (stub) PrepareHessian(*Function, []float64) (Hessian, error)              { return stub{}, nil }
func (stub) PrepareSecond(*Function, float64) (Second, error)                  { return stub{}, nil }
func (stub) PrepareLinear(*Function, []float64) (Linear, error)                { return stub{}, nil }
func (stub) GradientFunction(f *Function) (*Function, error)                   { return f, nil }
func (stub) PushforwardFunction(f *Function) (*Function, error)                { return f, nil }

func (stub) Pushforward([]float64, Block, []float64, Block) error { return nil }
func (stub) Pullback([]float64, Block, []float64, Block) error    { return nil }
func (stub) ValueAndGradient(_, _ []float64) (float64, error)     { return 0, nil }
func (stub) ValueAndJacobian([]float64, Block, []float64) error   { return nil }
func (stub) At(_, _ []float64) error                              { return nil }
func (stub) Apply(_, _ []float64) error                           { return nil }
func (stub) Transpose(_, _ []float64) error                       { return nil }
func (stub) ValueGradientAndHVP([]float64, Block, []float64, Block) (float64, error) {
	return 0, nil
}
func (stub) ValueGradientAndHessian([]float64, Block, []float64) (float64, error) { return 0, nil }
func (stub) ValueDerivativeAndSecond(_, _, _ []float64, _ float64) error          { return nil }

// backends are sets of abilities.
var backends = []Backend{
	named("nothing"),
	struct {
		named
		Pusher
	}{"pushes", stub{}},
	struct {
		named
		Puller
	}{"pulls", stub{}},
	struct {
		named
		Pusher
		Puller
	}{"pushes and pulls", stub{}, stub{}},
	struct {
		named
		Puller
		Transformer
	}{"pulls and transforms", stub{}, stub{}},
	struct {
		named
		Puller
		Lineariser
	}{"pulls and linearises", stub{}, stub{}},
	struct {
		named
		Puller
		Gradienter
	}{"gradient", stub{}, stub{}},
	struct {
		named
		Gradienter
	}{"gradient alone", stub{}},
	struct {
		named
		Pusher
		Jacobianer
		Lineariser
	}{"Jacobian", stub{}, stub{}, stub{}},
	struct {
		named
		Pusher
		HVPer
	}{"HVP", stub{}, stub{}},
	struct {
		named
		Puller
		Hessianer
	}{"Hessian", stub{}, stub{}},
	struct {
		named
		Pusher
		Hessianer
		Seconder
	}{"second", stub{}, stub{}, stub{}},
	struct {
		named
		Puller
		CodeRunner
	}{"code", stub{}, stub{}},
}

// prepare prepares op for a function from n numbers to m.
func prepare(op string, outer, inner Backend, n, m int) (any, error) {
	f := NewFunction(Def{
		Name: "f", N: n, M: m,
		Plain:  func(_, _ []float64, _ Context) error { return nil },
		Traced: func(_, _ []Real, _ Context) error { return nil },
	})
	x := make([]float64, n)
	switch op {
	case "Pushforward":
		return PreparePushforward(inner, f, x, 1)
	case "Pullback":
		return PreparePullback(inner, f, x, 1)
	case "Gradient":
		return PrepareGradient(inner, f, x)
	case "Derivative": // as package nabla does
		if DerivativeByGradient(inner, m) {
			return PrepareGradient(inner, f, x)
		}
		return PreparePushforward(inner, f, x, 1)
	case "Jacobian":
		return PrepareJacobian(inner, f, x)
	case "LinearOp":
		return PrepareLinear(inner, f, x)
	case "HVP":
		return PrepareHVP(outer, inner, f, x, 1)
	case "Hessian":
		return PrepareHessian(outer, inner, f, x)
	case "SecondDerivative":
		return PrepareSecond(outer, inner, f, 0)
	}
	panic("no operator " + op)
}

// routesOf are the steps of a prepared object by its dynamic types, from the
// operator down. native stands for the backend's own.
func routesOf(op string, p any) []route {
	switch p := p.(type) {
	case stub:
		return []route{native}
	case *pushByPull:
		return []route{perOutput}
	case *pullByPush:
		return []route{perInput}
	case *gradientByPull:
		return append([]route{pullOne}, routesOf("", p.pull)...)
	case *jacobianByPush:
		return []route{unitPushforwards}
	case *jacobianByPull:
		return []route{unitPullbacks}
	case *linearByBoth:
		return append(append([]route{bothProducts}, routesOf("", p.push)...), routesOf("", p.pull)...)
	case *hvpByPush:
		return []route{pushGradient}
	case *hvpByPull:
		return []route{pullGradient}
	case *hvpOfPush:
		return []route{gradientOfPushforward}
	case *hessianByHVP:
		return append([]route{unitHVPs}, routesOf("", p.hvp)...)
	case *secondByHessian:
		return []route{hessianAtOne}
	case *secondByPush:
		return append([]route{pushPushforward}, routesOf("", p.push)...)
	}
	panic(fmt.Sprintf("%s: unknown %T", op, p))
}

// TestExplain prepares every operator on every pair of backends and compares the dynamic types of the prepared objects
// with the path.
func TestExplain(t *testing.T) {
	seen := map[string]bool{}
	for _, outer := range backends {
		for _, inner := range backends {
			for _, op := range Operators() {
				path := Explain(op, outer, inner)
				seen[path.String()] = true
				n := 1
				if strings.HasPrefix(op, "Pu") || op == "Jacobian" || op == "LinearOp" {
					n = 3
				}
				p, err := prepare(op, outer, inner, n, 1)
				if err != nil {
					if len(path) > 0 {
						t.Errorf("%s on %s over %s: Explain says %q, Prepare %v", op, outer.Name(), inner.Name(), path,
							err)
					}
					continue
				}
				routes := routesOf(op, p)
				if op == "Derivative" {
					first := pushOne
					if _, ok := p.(Gradient); ok && !pushes(inner) {
						first = gradientAtOne
					}
					routes = append([]route{first}, routes...)
				}
				var want Path
				for i, r := range routes {
					if i == 0 || r != native {
						want = append(want, routeWords[r])
					}
				}
				got := plainPath(path, outer, inner)
				if len(got) > 0 && got[0] == routeWords[unitEither] { // one output, more inputs
					got[0] = routeWords[unitPullbacks]
				}
				for i, step := range got { // few outputs
					if step == routeWords[perOutputOrLinear] {
						got[i] = routeWords[perOutput]
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s on %s over %s: Explain says %q, prepared was %q", op, outer.Name(), inner.Name(), got,
						want)
				}
				if path.Native() != reflect.DeepEqual(routes, []route{native}) {
					t.Errorf("%s on %s over %s: Native is %v for %q", op, outer.Name(), inner.Name(), path.Native(),
						path)
				}
			}
		}
	}
	for _, r := range routeWords[native:] {
		found := false
		for s := range seen {
			found = found || strings.Contains(s, strings.Split(r, " of ")[0])
		}
		if r == "" || !found {
			t.Errorf("no backend takes route %q", r)
		}
	}
	linearises := backends[5]
	if p, err := prepare("Pushforward", linearises, linearises, 3, 100); err != nil ||
		reflect.TypeOf(p) != reflect.TypeOf(&pushByLinear{}) {
		t.Errorf("pushforward of many outputs on %s: %T, %v", linearises.Name(), p, err)
	}
	if _, err := prepare("Jacobian", backends[3], backends[3], 1, 3); err != nil {
		t.Error(err)
	}
}

// plainPath is path without the names of the backends and the steps that leave no
// trace in types.
func plainPath(path Path, outer, inner Backend) Path {
	var plain Path
	for _, s := range path {
		s = strings.Replace(s, " by "+outer.Name(), "", 1)
		s = strings.TrimSuffix(s, " by "+inner.Name())
		if s != fromProgram && s != fromCode {
			plain = append(plain, s)
		}
	}
	return plain
}

func TestPathString(t *testing.T) {
	pull, push := backends[2], backends[1]
	for _, tt := range []struct {
		op           string
		outer, inner Backend
		want         string
	}{
		{"Pullback", pull, pull, "native"},
		{"Gradient", push, push, "pullback of 1: one pushforward per input"},
		{"Derivative", pull, pull, "gradient: pullback of 1"},
		{"Hessian", push, pull,
			"HVPs of unit vectors: pushforward by pushes of the gradient function by pulls: made from the recorded " +
				"program"},
		{"HVP", backends[len(backends)-1], pull,
			"pullback by code of the gradient function by pulls: by the generated tangent of the adjoint"},
		{"HVP", pull, push, "gradient by pulls of the pushforward function by pushes: made from the recorded program"},
		{"HVP", pull, backends[4], "pullback by pulls of the gradient function by pulls and transforms"},
		{"Gradient", backends[0], backends[0], "unsupported"},
		{"Laplacian", pull, pull, "unsupported"},
	} {
		if got := Explain(tt.op, tt.outer, tt.inner).String(); got != tt.want {
			t.Errorf("%s on %s over %s: %q, want %q", tt.op, tt.outer.Name(), tt.inner.Name(), got, tt.want)
		}
	}
}

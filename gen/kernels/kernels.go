// Package kernels lists the derivatives that come with nabla of functions whose source is
// not differentiated: those of gonum's floats, blas64 and mathext that end in assembly or
// are computed by iterations, and those that sort.
//
// The derivatives of path.F are the functions FTangent and FPullback of a package below
// this one, which generated code imports; of a generic function they are those for slices
// of float64. Their source is here too: it is differentiated
// where second derivatives are wanted.
//
// What computes with nabla.Real follows the function FPlain of the same package where there is
// one: it does what path.F does, in loops and functions of package math alone, and panics where
// that does. Where the derivatives of such code would not be those of the function, as it
// approximates or iterates, the package that [Rule] names in Real has F over Reals.
//
// A shadow may be nil, which says of a tangent that nothing moves, and of a pullback that
// nobody wants to know. A shadow overlaps others just as what it is the shadow of does.
package kernels

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// Path is that of this package, below which the derivatives are.
const Path = "github.com/nabla-ad/nabla/gen/kernels"

//go:embed */*.go
var sources embed.FS

// Source is the source of a package of derivatives, by file.
func Source(pkg string) map[string][]byte {
	out := map[string][]byte{}
	list, err := fs.ReadDir(sources, pkg)
	if err != nil {
		return nil
	}
	for _, f := range list {
		if text, err := sources.ReadFile(pkg + "/" + f.Name()); err == nil && !strings.HasSuffix(f.Name(), "_test.go") {
			out[f.Name()] = text
		}
	}
	return out
}

// Rule is what a function does to its parameters, by their names.
type Rule struct {
	Package string   // of the derivatives
	Real    string   // the package of the function over Reals, empty where there is a plain form instead
	Writes  []string // the parameters behind which it writes
	Passive []string // those by which there is no derivative
	Returns string   // the one that it returns, if it returns memory
}

// Lookup is the rule for a function by its full name, path.F.
func Lookup(name string) (Rule, bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return Rule{}, false
	}
	from, ok := table[name[:i]]
	if !ok {
		return Rule{}, false
	}
	text, ok := from.funcs[name[i+1:]]
	if !ok {
		return Rule{}, false
	}
	r := Rule{Package: from.pkg, Real: from.real}
	for _, f := range strings.Fields(text) {
		key, value, _ := strings.Cut(f, "=")
		switch list := strings.Split(value, ","); key {
		case "writes":
			r.Writes = list
		case "passive":
			r.Passive = list
		case "returns":
			r.Returns = value
		default:
			panic("kernels: what is " + f + " of " + name + "?")
		}
	}
	return r, true
}

// Packages are the paths of the packages of derivatives, and of those of functions over
// Reals, in the order of the alphabet.
func Packages() (out []string) {
	for _, p := range table {
		out = append(out, Path+"/"+p.pkg)
		if p.real != "" {
			out = append(out, Path+"/"+p.real)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsReal reports whether a package below this one is of functions over Reals.
func IsReal(pkg string) bool {
	for _, p := range table {
		if p.real == pkg && pkg != "" {
			return true
		}
	}
	return false
}

// Names are the functions that have a rule, in the order of the alphabet.
func Names() (out []string) {
	for path, p := range table {
		for name := range p.funcs {
			out = append(out, path+"."+name)
		}
	}
	slices.Sort(out)
	return out
}

type funcs struct {
	pkg   string
	real  string
	funcs map[string]string
}

var table = map[string]funcs{
	"gonum.org/v1/gonum/floats": {"floatsad", "", map[string]string{
		"Add": "writes=dst", "AddConst": "writes=dst", "AddScaled": "writes=dst",
		"AddScaledTo": "writes=dst returns=dst", "AddTo": "writes=dst returns=dst",
		"CumProd": "writes=dst returns=dst", "CumSum": "writes=dst returns=dst",
		"Distance": "passive=L", "Div": "writes=dst", "DivTo": "writes=dst returns=dst", "Dot": "",
		"LogSumExp": "", "Max": "", "Min": "", "Mul": "writes=dst", "MulTo": "writes=dst returns=dst",
		"Norm": "passive=L", "Prod": "", "Scale": "writes=dst",
		"ScaleTo": "writes=dst returns=dst", "Span": "writes=dst returns=dst", "Sub": "writes=dst",
		"SubTo": "writes=dst returns=dst", "Sum": "", "SumCompensated": "",
	}},
	"gonum.org/v1/gonum/blas/blas64": {"blas64ad", "", map[string]string{
		"Asum": "", "Axpy": "writes=y", "Copy": "writes=y", "Dot": "", "Gemm": "writes=c", "Gemv": "writes=y",
		"Ger": "writes=a", "Nrm2": "", "Scal": "writes=x", "Swap": "writes=x,y", "Symv": "writes=y",
		"Trmv": "writes=x", "Trsv": "writes=x",
	}},
	"sort":   {"sortad", "", map[string]string{"Float64s": "writes=x"}},
	"slices": {"sortad", "", map[string]string{"Sort": "writes=x"}}, // of float64s
	"gonum.org/v1/gonum/mathext": {"mathextad", "mathextreal", map[string]string{
		"Beta": "", "CompleteE": "", "CompleteK": "", "Digamma": "", "EllipticE": "", "EllipticF": "",
		"GammaIncReg": "passive=a", "GammaIncRegComp": "passive=a", "GammaIncRegCompInv": "passive=a",
		"GammaIncRegInv": "passive=a", "InvRegIncBeta": "passive=a,b", "Lbeta": "", "MvLgamma": "",
		"NormalQuantile": "", "RegIncBeta": "passive=a,b", "Zeta": "passive=x",
	}},
}

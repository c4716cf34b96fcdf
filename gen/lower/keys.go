package lower

import (
	"go/types"
	"strconv"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Keys of specialisations. Their text is that of types and functions as far as it identifies them: two types declared
// in functions may share a name, and two packages a path.

// identities gives types and packages their keys.
type identities struct {
	types    typeutil.Map // type → key
	packages map[*types.Package]string
	used     map[string]int // text of types or packages → how many have it
}

// unique returns a key with text that has not been returned before.
func (id *identities) unique(text string) string {
	if id.used == nil {
		id.used = map[string]int{}
	}
	n := id.used[text]
	if id.used[text]++; n > 0 {
		text += "#" + strconv.Itoa(n)
	}
	return text
}

// typeKey returns a string that identical types have, and no others.
func (p *Program) typeKey(t types.Type) string {
	id := &p.identities
	key, ok := id.types.At(t).(string)
	if !ok {
		key = id.unique(types.TypeString(t, nil))
		id.types.Set(t, key)
	}
	return key
}

// packageKey returns a string that identifies a package, or nil.
func (p *Program) packageKey(pkg *types.Package) string {
	if pkg == nil {
		return "no package"
	}
	id := &p.identities
	if id.packages == nil {
		id.packages = map[*types.Package]string{}
	}
	if id.packages[pkg] == "" {
		id.packages[pkg] = id.unique("package " + pkg.Path())
	}
	return id.packages[pkg]
}

// loweredKey returns a string that identifies a function of the program.
func (p *Program) loweredKey(f *ir.Func) string { return p.packageKey(f.Package) + " " + f.Name }

// funcKey returns a string that identifies a declared function.
func (p *Program) funcKey(fn *types.Func) string {
	var key string
	if recv := fn.Signature().Recv(); recv != nil {
		key = "(" + p.typeKey(recv.Type()) + ")." + fn.Name()
	} else {
		key = p.packageKey(fn.Pkg()) + "." + fn.Name()
	}
	if fn.Name() == "init" || fn.Name() == "_" {
		key += "@" + strconv.Itoa(int(fn.Pos()))
	}
	return key
}

// instanceKey returns a string that identifies a declared function with type arguments.
func (p *Program) instanceKey(fn *types.Func, targs []types.Type) string {
	key := p.funcKey(fn)
	for _, t := range targs {
		key += "[" + p.typeKey(t) + "]"
	}
	return key
}

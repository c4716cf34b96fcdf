package print

import (
	"go/types"
	"maps"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Division of the printed text into parts. Requested functions name their part. A callee and a
// declared type belong to the part of the functions that use them if that is one part, and to part
// "" if several parts use them: every declaration is in exactly one part, and which one depends on
// the functions alone.

// PrintParts prints the functions as several files of the package, one for each value of [Func].Part
// and [Source].Rests. Callees and types that several parts use are in part "", which is missing if
// there is no such thing and nothing was requested for it. Names and statements are those of
// [Source.Print], which puts all of it into one file.
func (s Source) PrintParts() (files Files, err error) {
	f := s.file()
	if files.Parts, err = s.print(f); err == nil && len(f.variants) > 0 {
		files.SIMD, err = s.simd(f)
	}
	if err == nil && len(f.vectorForms) > 0 {
		files.Vectors, files.Kernels, err = s.vectors(f)
	}
	return files, err
}

// Files are the files of a package that a Source is printed to: the parts, and one file for all parts with the SIMD
// variants of their functions, one with the forms that have kernels, and one with the kernels in assembly. Those that
// would be empty are nil.
type Files struct {
	Parts                  map[string][]byte
	SIMD, Vectors, Kernels []byte
}

// divide assigns the functions and types of the file to parts, given the requested functions, and
// lists the parts with contents; those in more have contents without functions too.
func (f *file) divide(funcs []Func, more []string) {
	f.partOf = map[any]string{}
	requested, printed := map[*ir.Func]bool{}, map[*ir.Func]bool{}
	whole := !slices.ContainsFunc(more, func(part string) bool { return part != "" })
	for _, fn := range funcs {
		requested[fn.Func] = true
		whole = whole && fn.Part == ""
	}
	if whole {
		f.parts = []string{""}
		return
	}
	for _, fn := range f.list {
		printed[fn.Func] = true
	}
	users := map[any]map[string]bool{} // function or type → parts that use it
	use := func(x any, part string) bool {
		if users[x] == nil {
			users[x] = map[string]bool{}
		}
		seen := users[x][part]
		users[x][part] = true
		return !seen
	}
	// reach adds part to the users of the callees of fn. Requested functions have parts of their
	// own.
	var reach func(fn *ir.Func, part string)
	reach = func(fn *ir.Func, part string) {
		ir.Walk(fn.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok {
				for _, g := range c.Callee.Funcs() {
					if printed[g] && !requested[g] && use(g, part) {
						reach(g, part)
					}
				}
			}
			return true
		})
	}
	for _, fn := range f.list {
		if requested[fn.Func] {
			use(fn.Func, fn.Part)
			reach(fn.Func, fn.Part)
		}
	}
	only := func(x any) string {
		if len(users[x]) != 1 {
			return ""
		}
		return slices.Collect(maps.Keys(users[x]))[0]
	}
	found := map[string]bool{}
	for _, part := range more {
		found[part] = true
	}
	for _, fn := range f.list {
		part := only(fn.Func)
		f.partOf[fn.Func] = part
		found[part] = true
		for t := range f.mentioned(fn.Func) {
			use(t, part)
		}
	}
	for _, d := range f.types {
		part := only(d.t)
		f.partOf[d.t] = part
		found[part] = true
	}
	f.parts = slices.Sorted(maps.Keys(found))
}

// mentioned returns the declared types in the types of the variables and expressions of fn, without
// those that occur only in the declarations of others.
func (f *file) mentioned(fn *ir.Func) map[*types.Named]bool {
	declared := map[*types.Named]bool{}
	for _, d := range f.types {
		declared[d.t] = true
	}
	out, seen := map[*types.Named]bool{}, map[types.Type]bool{}
	var find func(t types.Type)
	find = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			if declared[t] {
				out[t] = true
			}
		case *types.Pointer:
			find(t.Elem())
		case *types.Slice:
			find(t.Elem())
		case *types.Array:
			find(t.Elem())
		case *types.Struct:
			for v := range t.Fields() {
				find(v.Type())
			}
		}
	}
	for _, v := range ir.Vars(fn) {
		find(v.Type)
	}
	ir.Walk(fn.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				find(e.Type())
				return true
			})
		}
		return true
	})
	return out
}

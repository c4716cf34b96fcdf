package ir

import (
	"go/token"
	"go/types"
	"strconv"
)

// reservedWords are the words of the text form that no variable or label may have as its name.
var reservedWords = map[string]bool{
	"let": true, "call": true, "rule": true, "scope": true, "leave": true, "zero": true, "text": true,
	"opaque": true, "typeis": true, "boxto": true, "unboxto": true,
}

// validName reports whether a variable or label may have the name: an identifier that is not
// reserved, neither by Go nor by the text form.
func validName(name string) bool {
	return token.IsIdentifier(name) && name != "_" && name != "init" && !reservedWords[name] &&
		types.Universe.Lookup(name) == nil
}

// A Namer generates names that are unique in a function. It is not a set of scopes: a name is never
// reused.
type Namer struct {
	used  map[string]bool
	avoid func(name string) bool // see Avoid; may be nil
}

// NewNamer returns a namer that generates none of the names used, and no keyword, predeclared
// identifier or word of the text form.
func NewNamer(used ...string) *Namer {
	n := &Namer{used: make(map[string]bool)}
	n.Reserve(used...)
	return n
}

// NamerOf returns a namer that generates no name of a variable or label of f.
func NamerOf(f *Func) *Namer {
	n := NewNamer()
	for _, v := range Vars(f) {
		n.Reserve(v.Name)
	}
	for _, l := range Labels(f) {
		n.Reserve(l.Name)
	}
	return n
}

// Reserve excludes names from those that n generates.
func (n *Namer) Reserve(names ...string) {
	for _, s := range names {
		n.used[s] = true
	}
}

// Avoid excludes the names for which used, called when names are generated, reports true. It replaces the function of
// an
// earlier call.
func (n *Namer) Avoid(used func(name string) bool) { n.avoid = used }

// Name returns a name that n has not returned before: base, if that is free, otherwise base
// followed by the smallest positive number that makes it unique. Characters that cannot occur in
// identifiers become underscores.
func (n *Namer) Name(base string) string {
	base = identifier(base)
	name := base
	for i := 1; n.used[name] || n.avoid != nil && n.avoid(name) || !validName(name); i++ {
		name = base + strconv.Itoa(i)
	}
	n.used[name] = true
	return name
}

// identifier returns s with every rune that cannot be in an identifier replaced by _, and with a v
// before it if it would still be none.
func identifier(s string) string {
	r := []rune(s)
	for i, c := range r {
		if !token.IsIdentifier("a" + string(c)) {
			r[i] = '_'
		}
	}
	s = string(r)
	if s == "" || s == "_" {
		return "v"
	}
	if !token.IsIdentifier("a"+s) || s[0] >= '0' && s[0] <= '9' || !token.IsIdentifier(s) && !token.IsKeyword(s) {
		return "v" + s
	}
	return s
}

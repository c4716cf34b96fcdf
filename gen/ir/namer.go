package ir

import (
	"go/token"
	"go/types"
	"strconv"
)

// words are the names that mean something in the text form.
var words = map[string]bool{
	"let": true, "call": true, "rule": true, "scope": true, "leave": true, "keep": true,
	"restore": true, "zero": true, "text": true, "opaque": true,
}

// usable reports whether a variable or a label may have the name: an identifier that
// means nothing else, neither in Go nor in the text form.
func usable(name string) bool {
	return token.IsIdentifier(name) && name != "_" && name != "init" && !words[name] &&
		types.Universe.Lookup(name) == nil
}

// Namer gives out names that are in no use yet.
type Namer struct{ used map[string]bool }

// NewNamer makes a namer that keeps away from the names in use, besides Go's keywords,
// predeclared names and the words of the text form.
func NewNamer(used ...string) *Namer {
	n := &Namer{used: make(map[string]bool)}
	n.Reserve(used...)
	return n
}

// NamerOf makes a namer that keeps away from all names of f.
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

// Reserve keeps the namer away from names.
func (n *Namer) Reserve(names ...string) {
	for _, s := range names {
		n.used[s] = true
	}
}

// Name gives a name that was never given before: base if it is free, else base with the
// smallest number behind it that makes it so. What cannot stand in a name becomes _.
func (n *Namer) Name(base string) string {
	base = identifier(base)
	name := base
	for i := 1; n.used[name] || !usable(name); i++ {
		name = base + strconv.Itoa(i)
	}
	n.used[name] = true
	return name
}

// identifier makes a string of letters, digits and _ out of any string.
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

package core

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A blind recording is made once for all points. What would read a value panics with
// an Abort that carries a BranchError. The numbers have values all the same, those at
// some point: a goroutine that the function starts cannot be stopped by an error, and
// goes on as it does at that point. The outputs of rules are NaN.

// BranchError says where a function reads the value of a number that depends on
// its inputs, while what is wanted holds for all inputs.
type BranchError struct {
	Call string // the function that reads the value, as in "Real.Less"
	File string // where it is called
	Line int
}

func (e *BranchError) Error() string {
	return fmt.Sprintf("%s at %s:%d reads a value that depends on the inputs, so that no pattern holds for all of "+
		"them; "+
		"keep both branches with nabla.Where, or take the pattern at a point with sparsity.Local{}", e.Call,
		filepath.Base(e.File), e.Line)
}

// Blind reports whether x has a number of a blind recording: a trace that is
// opened inside for x is blind too.
func Blind(x []Rep) bool {
	for _, r := range x {
		if r.ID != 0 && r.T != nil && r.T.mode(r) == modeBlind {
			return true
		}
	}
	return false
}

// A mode is what a derivative inside a function asks of the trace around it.
type mode uint8

const (
	modePlain mode = iota
	modeBlind
	modeStrong // see Strong
)

// mode is that of t, of which r may be a number.
func (t *Tracer) mode(r Rep) mode {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.Gen != t.gen.Load():
		return modePlain
	case t.kind == kindRecord && t.blind:
		return modeBlind
	case t.kind == kindTape, t.kind == kindDual && t.strong, t.kind == kindRecord && t.keep:
		return modeStrong
	}
	return modePlain
}

// refuse ends a blind recording.
func (t *Tracer) refuse() { panic(Abort{branchError()}) }

// branchError finds the user's line on the stack: the first one outside the
// packages between a user's function and its trace. Files tell packages apart;
// names would not, as an inlined closure has that of the function around it.
func branchError() *BranchError {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	e := &BranchError{Call: "a comparison"}
	root := ""
	for {
		f, more := frames.Next()
		if root == "" {
			root = strings.TrimSuffix(f.File, "internal/core/blind.go")
		}
		file, inside := strings.CutPrefix(f.File, root)
		if !inside || strings.HasSuffix(file, "_test.go") || !between(file) {
			e.File, e.Line = f.File, f.Line
			return e
		}
		e.Call = shortName(f.Function)
		if !more {
			return e
		}
	}
}

// between reports whether a file of this module is of a package that stands between.
func between(file string) bool {
	for _, dir := range []string{"engine/", "internal/core/", "program/", "sparsity/", "backend/"} {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return !strings.Contains(file, "/")
}

// shortName is a function as one writes it: without package, type arguments and
// the numbers of closures. An inlined function stands last in the name of the one
// around it.
func shortName(name string) string {
	name = strings.ReplaceAll(name, "[...]", "")
	_, name, _ = strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
	parts := strings.Split(name, ".")
	for len(parts) > 1 && strings.Trim(strings.TrimPrefix(parts[len(parts)-1], "func"), "0123456789") == "" {
		parts = parts[:len(parts)-1]
	}
	if n := len(parts); n > 2 {
		parts = parts[n-1:]
	}
	return strings.Join(parts, ".")
}

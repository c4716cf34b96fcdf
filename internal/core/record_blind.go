package core

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nabla-ad/nabla/internal/page"
)

// A blind recording is made once for all points. Reading a value panics with an Abort that holds a BranchError. The
// numbers have the values at some point nevertheless, because a goroutine that the function starts cannot be stopped by
// an error and continues with them. The outputs of custom rules are NaN.

// BranchError reports the place where a function reads the value of a number that depends on its inputs, although the
// result must hold for all inputs.
type BranchError struct {
	Call string // the function that reads the value, as in "Real.Less"
	File string // where it is called
	Line int
}

func (e *BranchError) Error() string {
	return page.Namef("sparsity.BranchError",
		"%s at %s:%d reads a value that depends on the inputs, so that no pattern holds for all of "+
			"them; "+
			"keep both branches with nabla.Where, or take the pattern at a point with sparsity.Local{}", e.Call,
		filepath.Base(e.File), e.Line)
}

// Blind reports whether x has a number of a blind recording. A trace opened inside for x must be blind too.
func Blind(x []Rep) bool {
	for _, r := range x {
		if r.ID != 0 && r.T != nil && r.T.mode(r) == modeBlind {
			return true
		}
	}
	return false
}

// A mode says how a derivative must be computed inside a trace, that is, by a function that is being recorded or
// differentiated.
type mode uint8

const (
	modePlain  mode = iota // with ordinary arithmetic
	modeBlind              // by a blind recording, and with structural zeros
	modeStrong             // with structural zeros, see Strong
)

// mode returns the mode of t, or modePlain if r is not a number of the current trace of t.
func (t *Tracer) mode(r Rep) mode {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.Gen != t.gen.Load():
		return modePlain
	case t.kind == kindRecord && t.blind:
		return modeBlind
	case t.kind == kindTape, t.strong && (t.kind == kindDual || t.kind == kindHyper || t.kind == kindSeries),
		t.kind == kindRecord && t.keep:
		return modeStrong
	}
	return modePlain
}

// refuse panics with an Abort that holds a BranchError.
func (t *Tracer) refuse() { panic(Abort{branchError()}) }

// branchError returns a BranchError with the user's line: the first stack frame outside the packages that are called
// between a user's function and its trace. Packages are identified by file, because an inlined closure has the name of
// the function around it.
func branchError() *BranchError {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	e := &BranchError{Call: "a comparison"}
	root := ""
	for {
		f, more := frames.Next()
		if root == "" {
			root = strings.TrimSuffix(f.File, "internal/core/record_blind.go")
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

// between reports whether file, relative to the module, belongs to a package that is called between a user's function
// and its trace.
func between(file string) bool {
	for _, dir := range []string{"engine/", "internal/core/", "program/", "sparsity/", "backend/"} {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return !strings.Contains(file, "/")
}

// shortName returns a function name as in source code: without package, type arguments and closure numbers. The name of
// an inlined function is the last part of that of the function around it.
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

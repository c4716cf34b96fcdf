package core

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A blind recording has no values: it is made once for all points. What would read
// a value panics with an Abort that carries a BranchError.

// BranchError says where a function reads the value of a number that depends on
// its inputs, while what is wanted holds for all inputs.
type BranchError struct {
	Call string // the function that reads the value, as in "Real.Less"
	File string // where it is called
	Line int
}

func (e *BranchError) Error() string {
	return fmt.Sprintf("%s at %s:%d reads a value that depends on the inputs, so that no pattern holds for all of them; "+
		"keep both branches with nabla.Where, or take the pattern at a point with sparsity.Local{}", e.Call, filepath.Base(e.File), e.Line)
}

// Blind reports whether x has a number of a blind recording: a trace that is
// opened inside for x has no values either.
func Blind(x []Rep) bool {
	for _, r := range x {
		if r.ID != 0 && r.T != nil && r.T.kind == kindRecord && r.T.blind {
			return true
		}
	}
	return false
}

// refuse ends a blind recording.
func (t *Tracer) refuse() { panic(Abort{branchError()}) }

const module = "github.com/nabla-ad/nabla"

// rooms are the packages of this module between a user's function and its trace.
var rooms = []string{".", "/engine.", "/internal/core.", "/program.", "/sparsity.", "/backend/"}

// branchError finds the user's line on the stack: the first one outside rooms.
func branchError() *BranchError {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	e := &BranchError{Call: "a comparison"}
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, module)
		if ours = ours && !strings.HasSuffix(f.File, "_test.go") && hasRoom(name); !ours {
			e.File, e.Line = f.File, f.Line
			return e
		}
		e.Call = shortName(name)
		if !more {
			return e
		}
	}
}

func hasRoom(name string) bool {
	for _, r := range rooms {
		if strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}

// shortName is a function as one writes it: without package, type arguments and
// the numbers of closures.
func shortName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	_, name, _ = strings.Cut(name, ".")
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, ".func")
	return name
}

package gen

import (
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
)

// A panic or an ill-formed result of nabla gen is contained: it costs one derivative of one function. A panic may leave
// data that derivatives share in an inconsistent state, so the package is then generated again from the start, without
// that derivative. Each restart adds one task to Program.faults, so the number of restarts is bounded.

// A task is a step of the generation of a package: one derivative of a function, or its lowering.
type task struct {
	pos       token.Position // position of the function
	of, build string
}

// A fault is an internal error of nabla gen in one task, or text that cannot be written in the package. It is reported
// as a refusal of the function.
type fault struct {
	task
	what       string
	unwritable bool
}

func (f *fault) reason() string {
	if f.unwritable {
		return unwritable + f.what
	}
	return "internal error of nabla gen (" + f.build + "): " + f.what
}

func (f *fault) Error() string            { return f.of + ": " + f.reason() }
func (f *fault) Position() token.Position { return f.pos }
func (f *fault) Refused() (function, reason, remedy string) {
	remedy = "report it with the function; code written in another way may avoid it"
	if f.unwritable {
		remedy = renameRemedy
	}
	return f.of, f.reason(), remedy
}

// A restart is the value that blame panics with. withRestarts recovers it and starts over.
type restart struct{}

// contain calls do for a task of t. If do panics, the task is recorded as faulty and the package is generated again,
// which then gets the fault as the error of this task without calling do.
func (p *Program) contain(t *target, build string, do func() error) error {
	w := task{t.pos, t.of, build}
	if f := p.faults[w]; f != nil {
		return f
	}
	err := runRecovered(do)
	var f *panicked
	if errors.As(err, &f) {
		p.blame(&fault{task: w, what: f.Error()})
	}
	return err
}

// blame records the fault of a task and panics with restart.
func (p *Program) blame(f *fault) {
	if p.faults == nil {
		p.faults = map[task]*fault{}
	}
	p.faults[f.task] = f
	panic(restart{})
}

// A panicked is a recovered panic as an error.
type panicked struct{ text string }

func (p *panicked) Error() string { return p.text }

// runRecovered calls do and returns its error. A panic of do is returned as a *panicked, except for restart, which is
// passed on.
func runRecovered(do func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case restart:
			panic(r)
		default:
			err = &panicked{fmt.Sprintf("%v (%s)", r, origin())}
		}
	}()
	return do()
}

// origin returns the package, file and line that the panic being recovered comes from, without the directory of the
// module, so that the text is the same on all machines.
func origin() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	found := false
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if f.Function == "runtime.gopanic" {
			found = true
		} else if found && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File), f.Line)
		}
	}
	return "at an unknown place"
}

// generateContained generates a package with containment. An internal error that is not due to one function is a
// problem of the package, whose files stay unchanged.
func (p *Program) generateContained(pkg *packages.Package, targets []lower.Target) (out *Package, err error) {
	err = p.withRestarts(func() (err error) {
		out, err = p.generate(pkg, targets)
		return err
	})
	var f *panicked
	if !errors.As(err, &f) {
		return out, err
	}
	mistake := &Problem{
		Pos: token.Position{Filename: directory(pkg)}, Reason: "internal error of nabla gen: " + f.text,
		Remedy: "report it with the package", Severity: Error,
	}
	return &Package{Path: pkg.PkgPath, kept: true, Problems: []*Problem{mistake}}, nil
}

// withRestarts calls do until it returns without a new fault. It discards the lowered functions before each repetition.
func (p *Program) withRestarts(do func() error) (err error) {
	for fresh := true; fresh; {
		fresh = false
		func() {
			defer func() {
				r := recover()
				if _, fresh = r.(restart); r != nil && !fresh {
					panic(r)
				}
			}()
			err = runRecovered(do)
		}()
		if fresh {
			p.lower = lower.New(p.pkgs, p.lowering)
		}
	}
	return err
}

// checkWellFormed returns a *fault if f or a callee is not well-formed (see [ir.Check]).
func (t *target) checkWellFormed(build string, f *ir.Func) error {
	for _, g := range reached(f) {
		if err := ir.Check(g); err != nil {
			return &fault{task: task{t.pos, t.of, build}, what: err.Error()}
		}
	}
	return nil
}

// blameWrite finds a derivative with which the file cannot be written, given the error err of writing it with all of
// them. It adds the derivatives one by one and blames the first one whose addition fails. If none does, it returns err.
func (u *unit) blameWrite(err error) error {
	type one struct {
		t *target
		b *built
	}
	var all []one
	for _, t := range u.targets {
		for _, b := range t.built {
			all = append(all, one{t, b})
		}
		t.built = nil
	}
	for _, x := range all {
		x.t.built = append(x.t.built, x.b)
		if e := runRecovered(u.write); e != nil {
			f := &fault{task: task{x.t.pos, x.t.of, x.b.build.name}, what: e.Error()}
			var of *print.Error
			if errors.As(e, &of) && of.Predeclared {
				f.what, f.unwritable = of.Reason, true
			}
			u.program.blame(f)
		}
	}
	return err
}

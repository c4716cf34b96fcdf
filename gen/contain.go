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
)

// A mistake of nabla gen costs what it was about, one derivative of one function, and no
// other. What derivatives share may be left half done by a panic, so that the package is
// then begun from the start, without that derivative.

// task is a piece of the work on a package: a derivative of a function, or its lowering.
type task struct {
	pos       token.Position // of the function
	of, build string
}

// fault is a mistake of nabla gen.
type fault struct {
	task
	what string
}

func (f *fault) reason() string           { return "nabla gen made a mistake (" + f.build + "): " + f.what }
func (f *fault) Error() string            { return f.of + ": " + f.reason() }
func (f *fault) Position() token.Position { return f.pos }
func (f *fault) Refused() (function, reason, remedy string) {
	return f.of, f.reason(), "write the function in another way, and report the mistake with it"
}

// again is the panic after a fault, for the package to be begun from the start.
type again struct{}

// contained does a piece of the work on a function. Where that panics once, the error is
// that, from then on.
func (p *Program) contained(t *target, build string, do func() error) error {
	w := task{t.pos, t.of, build}
	if f := p.faults[w]; f != nil {
		return f
	}
	err := caught(do)
	var f *panicked
	if errors.As(err, &f) {
		p.blame(w, f.Error())
	}
	return err
}

// blame notes the fault of a piece of work, and has the package begun again.
func (p *Program) blame(w task, what string) {
	if p.faults == nil {
		p.faults = map[task]*fault{}
	}
	p.faults[w] = &fault{w, what}
	panic(again{})
}

// panicked is a panic of nabla gen as an error.
type panicked struct{ text string }

func (p *panicked) Error() string { return p.text }

// caught calls do, whose panics are errors.
func caught(do func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case again:
			panic(r)
		default:
			err = &panicked{fmt.Sprintf("%v (%s)", r, origin())}
		}
	}()
	return do()
}

// origin is where the panic comes from that is being recovered, without the directory that
// this module is in.
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

// whole generates a package. A mistake that is about no function leaves its file as it is.
func (p *Program) whole(pkg *packages.Package, targets []lower.Target) (out *Package, err error) {
	err = p.again(func() (err error) {
		out, err = p.generate(pkg, targets)
		return err
	})
	var f *panicked
	if !errors.As(err, &f) {
		return out, err
	}
	mistake := &Problem{
		Pos: token.Position{Filename: directory(pkg)}, Reason: "nabla gen made a mistake: " + f.text,
		Remedy: "report it with the package", Severity: Error,
	}
	return &Package{Path: pkg.PkgPath, kept: true, Problems: []*Problem{mistake}}, nil
}

// again calls do, and again after each fault.
func (p *Program) again(do func() error) (err error) {
	for fresh := true; fresh; {
		fresh = false
		func() {
			defer func() {
				r := recover()
				if _, fresh = r.(again); r != nil && !fresh {
					panic(r)
				}
			}()
			err = caught(do)
		}()
		if fresh {
			p.lower = lower.New(p.pkgs, p.lowering)
		}
	}
	return err
}

// sound checks what was built of t, all that it calls included.
func (t *target) sound(build string, f *ir.Func) error {
	for _, g := range reached(f) {
		if err := ir.Check(g); err != nil {
			return &fault{task{t.pos, t.of, build}, err.Error()}
		}
	}
	return nil
}

// culprits blames the derivatives without which the file can be written, if there are some:
// err is why it cannot be written with all of them.
func (u *unit) culprits(err error) error {
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
		if e := caught(u.write); e != nil {
			u.program.blame(task{x.t.pos, x.t.of, x.b.build.name}, e.Error())
		}
	}
	return err
}

// Package symbolic is the engine of symbolic derivatives: a function is recorded once, its derivatives are derived as
// expressions, simplified, and run as a program. It suits functions of few inputs and outputs that are evaluated many
// times, and sparse derivatives.
//
//	p, err := nabla.PrepareJacobian(f, symbolic.Backend{}, x) // slow: derives the expressions
//	j, err := p.Dense(nil, x)                                 // fast
//
// # Derivatives
//
//	operator                 the program
//	Jacobian                 entries by the factorised derivative graph (the algorithm D*), or by sweeps in forward
//	                         or reverse mode, whichever take the fewest operations
//	Hessian                  the same, of the gradient
//	Gradient, Pullback       a reverse sweep, simplified
//	Pushforward              a tangent sweep, simplified
//	HVP                      the tangent of the gradient, simplified
//	sparse derivatives       the entries that are not zero everywhere; under nabla.AutoSparse there is neither a
//	                         detector nor a colouring
//
// Values keep every bit. Derivatives are rewritten by the rules of package expression, whose bounds are stated and
// tested; see Backend.Exact. A factorised derivative may overflow where a sweep does not, since partial derivatives are
// multiplied in another order. If a result has a NaN, the sweeps with structural zeros that all engines share compute
// it again.
//
// # Limits
//
// An expression has no branches. A function that compares numbers, or reads their values, is refused with a
// [*BranchError] that names the line; nabla.Where keeps both sides. Data that a function captures are constants of the
// expressions; that they have changed is detected as with a compiled recording, see nabla.StaleError. Custom rules are
// no expressions: a function that calls them is differentiated by sweeps. So are functions that are too long for the
// factorisation.
//
// Package expression has the expressions themselves, to print, to differentiate further and to compare.
package symbolic

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/expression"
)

// Backend is the engine.
type Backend struct {
	// Exact turns off all simplifications that may change a result: those that remain keep every bit.
	Exact bool

	// Limit is the largest number of operations in a recording; zero means engine.DefaultLimit. A preparation or call
	// that exceeds it returns an *engine.LimitError.
	Limit int
}

var _ interface {
	engine.Pusher
	engine.Puller
	engine.Gradienter
	engine.Jacobianer
	engine.HVPer
	engine.Hessianer
	engine.Transformer
	engine.Limiter
	engine.SparseJacobianer
	engine.SparseHessianer
	engine.Structurer
} = Backend{}

// Name returns "symbolic", with settings that differ from the default in parentheses.
func (b Backend) Name() string {
	var s []string
	if b.Exact {
		s = append(s, "exact")
	}
	if b.Limit != 0 {
		s = append(s, fmt.Sprintf("limit=%d", b.Limit))
	}
	if len(s) == 0 {
		return "symbolic"
	}
	return "symbolic(" + strings.Join(s, ", ") + ")"
}

// RecordLimit implements engine.Limiter.
func (b Backend) RecordLimit() int { return b.Limit }

// A BranchError reports a function that reads the value of a number, as a comparison does, so that it is no expression.
// It matches engine.ErrUnsupported and is a *sparsity.BranchError too.
type BranchError struct {
	Function string
	Call     string // what reads the value, as "Real.Less"
	File     string // where it is called
	Line     int
	err      error
}

func (e *BranchError) Error() string {
	return page.Namef("symbolic.BranchError",
		"nabla: symbolic: function %s: %s at %s:%d reads a value, and an expression has no branches; "+
			"write both sides with nabla.Where, or use another engine, such as reversediff.Backend{Compile: true}",
		e.Function, e.Call, filepath.Base(e.File), e.Line)
}

// Is reports whether target is engine.ErrUnsupported.
func (e *BranchError) Is(target error) bool { return target == engine.ErrUnsupported }

// Unwrap returns the *sparsity.BranchError.
func (e *BranchError) Unwrap() error { return e.err }

// branches returns a *BranchError if f reads values of numbers that depend on its n inputs or on bound data.
func branches(f *engine.Function, n int) error {
	if !f.Traceable() { // what differentiates it reports that
		return nil
	}
	if b := new(core.BranchError); errors.As(f.Branches(make([]float64, n), true), &b) {
		return &BranchError{Function: f.Name(), Call: b.Call, File: b.File, Line: b.Line, err: b}
	}
	return nil
}

// record returns the recording of f at x. The error is a *BranchError if it compares values.
func (b Backend) record(f *engine.Function, x []float64) (*program.Program, error) {
	p, err := f.ProgramLimit(x, b.Limit)
	if err != nil {
		return nil, err
	}
	return p, straight(f, p)
}

// straight returns a *BranchError if the recording p of f has comparisons that f makes. Those of quotients of
// finitediff, which hold at their point only, are guards as in other recordings; such programs are differentiated by
// sweeps.
func straight(f *engine.Function, p *program.Program) error {
	if p.Guards() == 0 {
		return nil
	}
	n, _ := f.Dims()
	return branches(f, n)
}

// compile returns the compiled form of a recording p of f. A later recording that compares values ends the call with a
// *BranchError.
func (b Backend) compile(f *engine.Function, p *program.Program, nan int, derive engine.Derive) *engine.Compiled {
	return engine.CompileRecorded(f, p, nan, b.Limit, func(p *program.Program, strong bool) *program.Program {
		b.refuse(f, p)
		return derive(p, strong)
	})
}

// refuse ends the call with a *BranchError if the recording p of f compares values.
func (b Backend) refuse(f *engine.Function, p *program.Program) {
	if err := straight(f, p); err != nil {
		panic(core.Abort{Err: err})
	}
}

// simplifyLimit is the number of operations of the longest program that is simplified as an expression.
const simplifyLimit = 1 << 15

// simplified returns p after simplification. The rules do not apply to structural zeros, which strong programs have,
// nor to custom rules.
func (b Backend) simplified(p *program.Program, strong bool) *program.Program {
	p = program.Simplify(p)
	if strong || p.Operations() > simplifyLimit {
		return p
	}
	q, err := expression.Simplify(p, b.Exact)
	if err != nil { // a custom rule
		return p
	}
	return q
}

// PreparePushforward implements engine.Pusher.
func (b Backend) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	return engine.PushforwardOf(b.compile(f, p, 1, func(p *program.Program, strong bool) *program.Program {
		return b.simplified(program.JVP(p, program.JVPOptions{Lanes: lanes, Strong: strong}), strong)
	}), lanes), nil
}

// PreparePullback implements engine.Puller.
func (b Backend) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	return engine.PullbackOf(b.compile(f, p, 1, func(p *program.Program, strong bool) *program.Program {
		return b.simplified(program.VJP(p, program.VJPOptions{Lanes: lanes, Strong: strong}), strong)
	}), lanes), nil
}

// PrepareGradient implements engine.Gradienter.
func (b Backend) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	if _, m := f.Dims(); m != 1 {
		return nil, &engine.ShapeError{Op: "PrepareGradient", Arg: "number of outputs of " + f.Name(), Got: m, Want: 1}
	}
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	return engine.GradientOf(b.compile(f, p, 1, b.gradientProgram)), nil
}

// gradientProgram returns the program of value and gradient, with the outputs "y" and "xbar".
func (b Backend) gradientProgram(p *program.Program, strong bool) *program.Program {
	return b.simplified(program.VJP(p, program.VJPOptions{Unit: true, Strong: strong}), strong)
}

// GradientFunction implements engine.Transformer. The error is a *BranchError if f reads values.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	n, _ := f.Dims()
	if err := branches(f, n); err != nil {
		return nil, err
	}
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer. The error is a *BranchError if f reads values.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	n, _ := f.Dims()
	if err := branches(f, n); err != nil {
		return nil, err
	}
	return engine.PushforwardFunction(f, b, true)
}

// PrepareHVP implements engine.HVPer.
func (b Backend) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	c := b.compile(f, p, 2, func(p *program.Program, strong bool) *program.Program {
		g := b.gradientProgram(p, strong)
		return b.simplified(program.JVP(g, program.JVPOptions{Lanes: lanes, Strong: strong}), strong)
	})
	return engine.HVPOf(c, lanes), nil
}

// wholeLimit is the largest number of operations that the sweeps of a whole Jacobian or Hessian may visit while its
// program is built, and of the entries that it may have. Beyond it, products with unit vectors are taken.
const wholeLimit = 1 << 20

// PrepareJacobian implements engine.Jacobianer. A small Jacobian is one program; a large one takes products with unit
// vectors.
func (b Backend) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	n, m := f.Dims()
	if n == 0 || m == 0 || max(p.Operations()*min(n, m), n*m) > wholeLimit {
		return engine.DeriveJacobian(b, f, x)
	}
	c := b.compile(f, p, 1, func(p *program.Program, strong bool) *program.Program {
		return b.whole(p, 0, false, strong)
	})
	return engine.JacobianOf(c), nil
}

// whole returns p with all entries of the Jacobian of an output group.
func (b Backend) whole(p *program.Program, group int, symmetric, strong bool) *program.Program {
	if !strong {
		m, err := expression.Differentiate(p, expression.Options{Group: group, Symmetric: symmetric, Exact: b.Exact})
		if err == nil && m != nil {
			return m.Dense()
		}
	}
	forward := symmetric || p.NumIn() < p.Outs[group].N
	o := program.JacobianOptions{Group: group, Forward: forward, Strong: strong}
	return b.simplified(program.Jacobian(p, o), strong)
}

// PrepareHessian implements engine.Hessianer. A small Hessian is one program, the Jacobian of the gradient; a large one
// takes products with unit vectors.
func (b Backend) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	if n == 0 || max(4*p.Operations()*n, n*n) > wholeLimit { // the gradient is about four times as long
		k := engine.LanesOf(b, n)
		products, err := b.PrepareHVP(f, x, k)
		if err != nil {
			return nil, err
		}
		return engine.HessianByHVP(products, f, k), nil
	}
	c := b.compile(f, p, 2, func(p *program.Program, strong bool) *program.Program {
		return b.whole(b.gradientProgram(p, strong), 1, true, strong)
	})
	return engine.HessianOf(c), nil
}

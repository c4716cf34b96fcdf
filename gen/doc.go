// Package gen writes the derivatives of plain Go functions as Go functions. The command
// nabla gen is a thin layer over it.
//
//	p, err := gen.Load(".", []string{"./..."}, nil)
//	…
//	report, err := p.Generate()
//	…
//	changed, err := report.Write()
//
// # What is generated
//
// In each package a file nabla_gen.go, or several where there are build constraints, with
// derivatives of the functions of the package that have a comment
//
//	//nabla:differentiate
//
// and of those over float64 that the package passes to an operator of package nabla. The
// functions are named after what they are made of: LossTangent of Loss, ModelLossTangent
// of (*Model).Loss, NormFloat64Tangent of Norm[float64]. A function that one of them calls
// has its own in the same file, under a name that is not exported.
//
// A function of one of the shapes that operators take is registered too, in an init
// function, so that the engines of package backend/source find its derivatives:
//
//	func(float64) float64      func([]float64) float64      func(y, x []float64)
//	func(float64) []float64    func([]float64) []float64
//
// each also with a pointer to a struct behind, and methods of a pointer to a struct that
// take a slice and return a number or a slice. Of these x carries the derivative, and the
// struct does only where the function keeps in it what depends on x. Of functions of any
// other shape all parameters with floats carry derivatives.
//
// Of each function there are
//
//	LossTangent          the derivative in a direction, and LossTangent4 in four at once
//	LossAdjoint          the derivative by everything, weighted: the reverse sweep
//	MapAdjoint4          that for four sets of weights, where several numbers come out
//	LossAdjointOnly      that without the value, where this saves work
//	LossAdjointTangent   the derivative of the adjoint in a direction: second order
//	LossHVP              that without value and gradient, where this saves work
//	LossTraced           the function over nabla.Real, for all other engines
//
// and for other numbers of directions and sets of weights on request, see [Options]. Their comments say
// what their parameters are.
//
// Called by hand, they take nil for every derivative that is not given or not wanted: as a direction
// it is zero, and what would be added to it is dropped. So it is for slices and pointers in
// structs, of which those that are nil stay so. Nil for a struct, or in one, costs memory in
// each call. Nil for a workspace is a new one.
//
// Where a cotangent or tangent is 0 and the derivative that it is to be multiplied by is infinite or
// NaN, that product is left out: a square root at 0 that is computed and not used has no part in a
// gradient. A zero that was computed is left out too, where NaN would be right by the convention in
// package rules. Engines find that out; code that is called by hand gives 0 and counts in rt.Skipped.
//
// A function with the comment
//
//	//nabla:passive
//
// is called as it is, and what it returns has no derivative. It may not write to memory
// that carries derivatives.
//
// A function with the comment
//
//	//nabla:rule tangent=SolveTangent pullback=SolvePullback
//
// is not looked into: derivatives call the two functions that it names, which are written
// by hand. Package lower says what they are passed and have to do; where one is declared
// otherwise the refusal has the declaration. Engines that need a form over nabla.Real do
// without functions that call it. Functions of gonum's floats, blas64 and mathext have
// such rules already, and so have sort.Float64s and slices.Sort.
//
// # Build constraints
//
// A function may depend on files with build constraints: with //go:build, or with a name
// such as dot_amd64.go. They are the file that declares it and those of all functions that
// are copied, and of the constants, variables and types that these name, in any module but
// the standard library. Its derivatives then hold in the builds that satisfy all these
// constraints, and are in a file of its own that has them: nabla_gen-amd64.go,
// nabla_gen-not-race.go. Where only a file with a constraint passes the function to an
// operator, that constraint counts too. Tags such as go1.21, which every build with this
// module has, are left out.
//
// A run writes and removes files of one build, that of the environment and of
// [lower.LoadOptions].Flags. Run the command for each build in which functions are to be
// differentiated; in others they have no code, which is an error at run time.
//
// # Vectors
//
// With [Options].SIMD there is a second file, nabla_gen_simd.go, for packages that are built
// with GOEXPERIMENT=simd for amd64. It has some of the functions in four directions, or for
// four sets of weights, once more, in vectors of package simd/archsimd. They put themselves
// into variables that the functions in nabla_gen.go ask first, if the processor has AVX2
// when the program starts; names and numbers are the same, those bit for bit, and so is the
// program where the experiment is off. It is not compiled with GOAMD64=v3 and above, where
// Go fuses products and sums of plain numbers.
//
// A function is there in vectors if it is loops, and branches on integers, around + - * /,
// math.Sqrt and math.Abs of float64s in variables and slices; one that calls math.Exp, or
// branches on a number, is not. A function that calls it gains too.
//
// Where there is a second file it is kept up to date without the option; to be rid of it,
// remove it and generate again.
//
// # Long loops
//
// The reverse sweep of a loop keeps something of each iteration. The comment
//
//	//nabla:checkpoint
//
// in the line above the loop makes it keep snapshots instead, of what iterations hand on, and
// run iterations again from there. Of n iterations about the square root of n have a snapshot,
// and as many at a time keep what their reversal needs. That costs less than one more run of
// the loop. Other forms need less memory and more time:
//
//	//nabla:checkpoint levels=3                the cube root of 2n, and less than two more runs
//	//nabla:checkpoint snapshots=20            at most 20 snapshots and one iteration at a time
//	//nabla:checkpoint snapshots=20 steps=10   at most 20 snapshots and ten iterations at a time
//
// Where the number of iterations is not known before, as in a loop that is left early, there
// are up to twice as many snapshots in levels. A snapshot holds variables, and memory that the
// loop writes and reads; nabla gen -explain says which. A directive has no effect, which is a
// warning, where iterations leave new memory to the next, as x = append(x, …) does, or
// exchange slices that stand in other slices, and where the function calls itself from the
// loop.
//
// # What is refused
//
// What cannot be differentiated is a [Problem] with a position, a reason and a way round:
// an error where the function has the comment, a warning where it is only passed to an
// operator, which may be one of an engine that needs no generated code. If operators take
// functions of its type it is registered with the reason, so that the error of an engine
// that would need the code says the same at run time.
//
// Functions without a name of their own get no code either: literals, method values, and
// variables of function type. A warning says so where one over float64 is passed to an
// operator, unless that has the engine finitediff, which needs none. It is the same for what
// a test declares, as generated code is no part of a test, and for a function that only a
// test passes to an operator: programs without the test would carry its derivatives. The
// comment makes it a target.
//
// What is written has been type-checked, as a part of the package it belongs to. A derivative
// that does not compile is a mistake of this package, and is refused like others.
//
// # Before the first run
//
// A package may name functions that are not generated yet: errors of the compiler count
// only in the functions that are differentiated. A file that was generated earlier is not
// read.
package gen

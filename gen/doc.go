// Package gen differentiates Go functions by source transformation: it writes derivatives of
// Go functions as Go functions. The command nabla gen is a thin layer over it.
//
//	p, err := gen.Load(".", []string{"./..."}, nil)
//	…
//	report, err := p.Generate()
//	…
//	changed, err := report.Write()
//
// # What is generated
//
// In each package a file nabla_gen.go, or several if there are build constraints or if they are
// asked for, with derivatives of the functions of the package that have a comment
//
//	//nabla:differentiate
//
// and of those over float64 that the package passes to an operator of package nabla. A
// derivative is named after its primal: LossTangent for Loss, ModelLossTangent for
// (*Model).Loss, NormFloat64Tangent for Norm[float64]. Derivatives of callees are in the
// same file, under names that are not exported.
//
// The phases are: package lower translates the functions and their callees to the form of
// package ir; packages activity, tangent, adjoint, lanes and traced analyse and transform
// them; package simplify optimises the results; package print writes them as source.
//
// A function of one of the shapes that operators take is registered too, in an init
// function, so that the engines of package backend/source find its derivatives:
//
//	func(float64) float64      func([]float64) float64      func(y, x []float64)
//	func(float64) []float64    func([]float64) []float64
//
// each also with a pointer to a struct as last parameter, and methods of a pointer to a
// struct that take a slice and return a number or a slice. All of them may return an error
// as last result, which their derivatives return too. In these x carries the
// derivative; the struct has a shadow only if the function stores values in it that depend
// on x. In functions of any other shape all parameters with floats carry derivatives.
//
// Functions and methods of a struct of parameters, as nabla.StructPlain, nabla.StructInPlace and
// the forms of these with data take them, are registered too:
//
//	func(*Params) float64      func(*Params, *Data) float64
//	func(*Params) []float64    func(*Params, *Data) []float64
//	func(y []float64, *Params) func(y []float64, *Params, *Data)
//
// If one with Data is passed to an operator in its package, Params alone carries derivatives;
// otherwise both structs do, unless the directive lists one of them.
//
// The directive may also be above a package variable that is declared with a function literal
// and assigned nowhere else. It may list the parameters that carry derivatives, the receiver included:
//
//	//nabla:differentiate wrt=m
//	func Loss(m *Model, d *Data) float64
//
// The others are data: they have no shadows and no cotangents, as in LossAdjoint(m, d, mBar, rBar, ws), and no code
// handles derivatives with respect to them. A parameter in whose memory the function stores values that depend on the
// listed ones has a shadow nevertheless: the weights of these values in an adjoint, and their derivatives in a tangent.
// A struct carries derivatives as a whole. Functions of the shapes above are registered if x is listed; their bound
// struct may be listed too, for direct calls.
//
// For each function there are
//
//	LossTangent          the derivative along a direction (LossTangent4: along four)
//	LossAdjoint          the derivatives of the seeded outputs with respect to all inputs
//	MapAdjoint4          the same for four seeds, if there are several outputs
//	LossAdjointOnly      LossAdjoint without the value, if this saves work
//	LossAdjointTangent   the tangent of the adjoint: second derivatives along a direction
//	LossHVP              the same without value and gradient, if this saves work
//	LossTraced           the function over nabla.Real, for all other engines
//	LossShadow           zeros in the shape of the arguments, if a struct or a slice of slices carries derivatives
//
// and on request derivatives of other widths, see [Options]. Their comments describe their
// parameters. An error that the function returns is the last result of each.
//
// A function without a directive gets those of them that the operators compute with which are
// called with it in its package, directly or through a wrapper such as nabla.Bind in the same
// expression or in a variable, and those that the package calls by name. What an operator needs
// depends on the engines too: also the tangents if the backend has source.Forward, the form over
// nabla.Real alone for engines that need no generated code, and whatever the operator may need if
// the backend is not known. A directive asks for all of them; one with operators, in lower case,
// for what these need, and what the operators in the package need:
//
//	//nabla:differentiate gradient
//	func Loss(x []float64) float64
//
//	//nabla:differentiate wrt=m gradient hvp
//	func Fit(m *Model, d *Data) float64
//
// What nothing asks for is missing; engines that need it report how to ask for it.
//
// Derivatives of functions of other modules are adaptations of their source. The generated file names these
// modules with version and licence, and nabla_gen_licenses.txt beside it has the texts; both are written, checked
// and removed together. There is a warning for a licence that is missing, not known, or asks for more than a notice.
//
// Callers may pass nil for any shadow: as a direction nil is zero, and cotangents that would
// be added to it are dropped. The same holds for slices and pointers in structs; those that
// are nil stay nil. A nil struct shadow, or a nil in one, costs an allocation in each call.
// For a nil workspace a new one is allocated; one workspace serves all functions of a package, one call at a time.
//
// A tangent or cotangent that is 0 is a strong zero: its product with an infinite or NaN
// partial derivative is 0, so that a square root at 0 whose value is not used has no
// influence on a gradient. This includes zeros that were computed, for which the convention
// of package rules demands NaN. Engines detect that case; other callers get 0, and
// rt.Skipped counts it.
//
// A number that a loop finds by comparisons alone, as a bisection does, has the derivative 0 with respect to the
// arguments of the comparisons. There is a warning if a result depends on such a number; a rule for the search, with
// the derivative of the equation that it solves, is the remedy.
//
// A function with the comment
//
//	//nabla:passive
//
// is called unchanged, and its results have no derivatives. It must not write to memory
// that carries derivatives.
//
// A function with the comment
//
//	//nabla:rule tangent=SolveTangent pullback=SolvePullback
//
// is not analysed: derivatives call the two handwritten functions that the directive names.
// Package lower documents their parameters and contracts; if one has another signature, the
// refusal contains the required declaration. Over nabla.Real the function is one operation with
// these derivatives, so that the rule serves all engines; second derivatives are those of the source
// of the two functions, or differences of their results if these have no form over nabla.Real. A
// function over nabla.Real written by hand calls SolveTraced, which there is if Solve has the
// directive //nabla:differentiate too. Functions of gonum's floats, blas64 and mathext have such
// rules already, and so have sort.Float64s and slices.Sort.
//
//	//nabla:rule rule=SolveRule
//
// names a variable of type nabla.Rule instead, which functions over nabla.Real call too: one
// declaration for both worlds. difftest.CheckPlainRule checks it in both.
//
// Rules for functions of packages that one does not own are in tables, exported variables of type nabla.Rules:
//
//	var Rules = nabla.Rules{"example.com/special.Erfcx": {Name: "Erfcx", Value: …, VJP: …}}
//
// They apply to the calls in the packages that import the package of the table, as _ if they need nothing else of it,
// and in that package itself. A note tells which are used; nabla gen -v prints them. Two rules for one function are an
// error, which gives the positions of both, and so are a key that names no function of a loaded package, and a function
// whose type does not fit. A table has precedence over the derivatives that come with nabla. Above a function,
//
//	//nabla:norule example.com/special.Erfcx example.com/specialrules.Rules
//
// lists functions and tables whose rules calls in it do not obey: the source of the functions is differentiated.
//
// # Build constraints
//
// A function may depend on files with build constraints: with //go:build, or with a name
// such as dot_amd64.go. These are the files that declare the function, its callees, and the
// constants, variables and types that they refer to, except for the standard library. Its
// derivatives are then valid in the builds that satisfy all these constraints, and are
// written to a separate file with them: nabla_gen-amd64.go, nabla_gen-not-race.go. If only
// files with constraints pass the function to an operator, their constraints count too. Tags
// that every build with this module satisfies, such as go1.21, are omitted.
//
// A run writes and removes the files of one build, determined by the environment and
// [lower.LoadOptions].Flags. Run the command for each build in which functions are to be
// differentiated; in others they have no code, which is an error at run time.
//
// # One file per source file
//
// The code of a large package is easier to read, and its changes to review, in several files.
// With [Options].Layout OnePerSource the derivatives of the functions that loss.go declares are
// in loss_nabla.go, and under a build constraint in a file such as loss_nabla-linux.go.
// Functions and types that several of these files use are in nabla_gen.go, each of the others in
// the only file that uses it; so a change of one source file changes its own generated file, and
// nabla_gen.go if it is about something shared, such as the workspace of adjoints. The
// declarations are the same as in one file.
//
// A run keeps the layout that a package has. Files that have no contents any more are out of date
// and removed: of a source file that is deleted or has no targets left, and of another layout.
// Only files that begin with [lower.Header] are.
//
// # SIMD variants
//
// With [Options].SIMD there is one more file, nabla_gen_simd.go, for packages that are built
// with GOEXPERIMENT=simd for amd64, in either layout. It holds SIMD variants, written with package
// simd/archsimd, of some of the functions of width 4. If the processor has AVX2, they are
// assigned at start-up to dispatch variables that the functions of width 4 test. Names
// are the same, results are equal bit for bit, and without the experiment the program is
// unchanged. The file is excluded with GOAMD64=v3 and above, where Go fuses multiplications
// and additions of scalars.
//
// A function has a SIMD variant if it consists of loops, and branches on integers, around
// + - * /, math.Sqrt and math.Abs of float64s in variables and slices; it has none if it
// calls math.Exp or branches on a float. Its callers benefit too.
//
// # Loops in assembly
//
// The option also gives two files, nabla_gen_vector.go and nabla_gen_vector.s, with forms of
// other functions, adjoints above all, in which kernels in assembly do most iterations of some
// loops, four at a time. They need no experiment: amd64 with AVX, which is tested at start-up,
// without GOAMD64=v3 and the build tag purego. Results are those of the loops bit for bit, sums
// included, which are added in order. A panic may come after writes of later iterations, and
// where an adjoint writes slices that are elements of a slice and overlap another argument,
// which it cannot check, its results are others.
//
// A loop has a kernel if it has no loops and calls in it, counts up from a constant, and has
// enough arithmetic as above on elements whose indices are the index of the loop plus a
// constant, and on numbers that are the same in all iterations. The rest of it, such as
// branches, stays a loop in Go. Quotients, roots and absolute
// values have branches in adjoints, and values on the tape are in structs, so that kernels are
// mostly those of sums and products: of linear and quadratic terms, polynomials, stencils.
// A package with cgo has no kernels.
//
// Existing files are kept up to date without the option; to get rid of them, remove them and
// generate again.
//
// # Checkpointing
//
// The reverse sweep of a loop needs values that each iteration records. The comment
//
//	//nabla:checkpoint
//
// in the line above a loop selects checkpointing: snapshots of the loop-carried state are
// taken, and iterations are repeated from them. Of n iterations about the square root of n
// have a snapshot, and as many at a time record values. That costs less than one more run of
// the loop. Other forms need less memory and more time:
//
//	//nabla:checkpoint levels=3                the cube root of 2n, and less than two more runs
//	//nabla:checkpoint memory=64MB             as many snapshots as 64 MB hold, one iteration at a time
//	//nabla:checkpoint snapshots=20            at most 20 snapshots and one iteration at a time
//	//nabla:checkpoint snapshots=20 steps=10   at most 20 snapshots and ten iterations at a time
//
// With memory= the number of snapshots follows, at run time, from the size of the first one, memory
// that it copies included; if all iterations can have one, none is repeated but for its reversal.
// At least one snapshot is taken. The units are KB, MB, GB, KiB, MiB and GiB. The tangent of an
// adjoint, for second derivatives, takes as many snapshots of directions besides.
//
// If the trip count is not known in advance, as in a loop with an early exit, levels take up
// to twice as many snapshots. A snapshot holds variables, and memory that the loop writes and
// reads; nabla gen -explain lists them. A directive has no effect, and causes a warning, if
// an iteration passes newly allocated memory on to the next, as x = append(x, …) does, if it
// exchanges slices that are elements of slices, or if the function calls itself from the
// loop.
//
// # What is refused
//
// A function that cannot be differentiated is reported as a [Problem] with position, reason
// and remedy: as an error if the function has the comment, as a warning if it is only passed
// to an operator, which may be one of an engine that needs no generated code. If operators
// accept its type, it is registered with the reason, so that an engine that needs the code
// reports the same at run time.
//
// A variable that is assigned once, in its declaration, stands for its function, which is a
// declared one, or a function literal if it is a variable of the package. Other functions
// without a name get no code: literals and method values. There is a warning if one over
// float64 is passed to an operator, unless the operator uses the engine finitediff, which
// needs none. The same holds for functions that a test declares, as generated code is no
// part of a test, and for functions that only a test passes to an operator, as programs
// without the test would contain the derivatives. The comment makes such a function a
// target.
//
// The warning has the source of a declared function that does the same, and of a struct with
// the captured variables, which nabla.Bind binds at the call. [Program.Fix], or nabla gen
// -fix, changes the source to that. A variable that may change after the literal is made is
// a pointer in the struct. There is no such form if the literal assigns a variable that it
// captures, or if it captures a function, a channel, or a value of a type that a declaration
// cannot name; the warning has the reason then. The receiver of a method value is bound by
// nabla.BindMethod.
//
// Generated files have been type-checked as a part of their package. A derivative that does
// not compile is an error in this package, and is refused like others.
//
// # Hashes
//
// The program that [Survey.Load] returns, as in nabla gen, writes two lines below the header of
// one generated file of each package, with hashes of
//
//   - the sources: the Go files, of all builds but without tests, of the package and of all
//     packages that it imports from modules on this machine, licences of such modules, versions of
//     other modules, and language versions;
//   - the generated files of this build;
//   - the build: the version of Go, the platform, and the names of the files that are part of it;
//
// and with the version of nabla gen and the options. If it was built from sources without a
// version, a hash of the program and of the packages of nabla takes the place of the version.
// A [Survey] compares all of them without parsing a file, and leaves out the packages where they
// agree, unless there were errors; nabla gen also generates packages again that have warnings,
// to print them. Warnings about tests appear again when the code is generated again. A package
// that imports nabla and has no generated code has no hashes, so that it is always loaded.
//
// Where a hash differs, code is generated and compared. [Report.Stale] does not count hashes,
// so that -check accepts code that would be generated again. [Report.Write] writes new hashes,
// unless only the build differs, or only a version of nabla gen that has no number: files
// would alternate between platforms, and change with each revision. A merge of two branches that
// both generated code conflicts in these lines, and is resolved by generating again.
//
// With [Options.Test] there is a test in nabla_gen_test.go, which fails if a source file has
// another hash, was added or removed, or if generated code was edited; it names the file.
// go.mod counts with the lines about the modules of imported packages. The test needs package
// current only, and some milliseconds. Files of a module whose replacement is an absolute path
// are not compared, nor those of nabla. A program without the test does not compare hashes at run
// time; the comparison of values with those of the function does not depend on them.
//
// # Before the first run
//
// A package may refer to functions that are not generated yet: compile errors count only in
// the functions that are differentiated. Earlier generated files are not read.
package gen

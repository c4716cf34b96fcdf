// Package difftest is the conformance kit for engines of nabla. The author of an engine writes one test:
//
//	func TestConformance(t *testing.T) {
//		difftest.Run(t, mine.Backend{}, nil)
//	}
//
// It checks every operator, whether the engine implements it or package nabla derives it, against reference values that
// no engine computed: the scenario catalogue in testdata/scenarios.json, which follows that of
// DifferentiationInterfaceTest.jl and was computed with 40 digits.
//
// # Scenarios
//
// A [Scenario] is an operator, a function, a point, tangents and the expected results. [Scenarios] returns those of the
// catalogue. The name is that of the subtest:
//
//	vec_to_mat/pullback/in/out/constant
//	family     operator function result modifier
//
// The function is out of place (out, it returns a new slice) or in place (in, [nabla.InPlace]). The catalogue has each
// scenario for an allocated and for a given result; the kit tries both in either case. Besides the 106 default
// scenarios there are groups whose names begin with
//
//	sparse/…     derivatives with many zeros, prepared at another point (38)
//	empty/…      no inputs or no outputs (5)
//	allocfree/…  calls must not allocate, with Options.AllocFree (9)
//	behaviour/…  branches, loops that depend on data, scratch slices, nested
//	             derivatives, custom rules, structs, matrices row by row, complex
//	             numbers, NaN, panics, sizes that are no multiple of a chunk, 10,000
//	             inputs
//
// The Julia package's scenarios of complex numbers are among the last, with the two parts of each number as inputs.
//
// Modifiers change the way the function obtains its data, or the point at which it is called, and can be composed.
// [Run] applies these, one at a time, to one scenario of each operator and form of a function:
//
//	Closurify          closure            captures two numbers and buffers that it writes
//	Constantify        constant           a bound Real, another when prepared
//	Structurify        structure          a bound int that a recording freezes, another when prepared
//	Cachify            cache              a bound Scratch
//	CachifyStruct      cache_struct       two Scratches in a struct of their own
//	ConstantOrCachify  constant_or_cache  a bound Real, Vec and Scratch
//	Smaller            smaller            prepared at fewer inputs
//	Zero               zero               zero inputs and tangents; not applied by Run
//	Batchify           batch              tangents t and -t; not applied by Run
//
// Matrices of the catalogue are column-major: a matrix argument or result is one slice, column after column, and the
// rows and columns of its Jacobian have that order. This is vec() of the literature.
//
// # Checks
//
// The message of a failed check begins with the text in brackets.
//
//	[prepare]       preparation returns no error, or refuses branches with Options.NoBranches
//	[unprepared]    op and value-and-op without preparation
//	[prepared]      every variant, prepared at zeros or at the scenario's PrepX
//	[second call]   the same call again
//	[third point]   a call at another point returns the values of the closed form there
//	[back again]    the first point is right afterwards
//	[shared]        one prepared object makes all variants of calls in turn
//	[destination]   a given destination, full of NaN, is filled and returned,
//	                and no memory around it is written
//	[inputs]        the arguments are unchanged
//	[earlier]       a result does not change when a later one is computed
//	[wrong length]  every argument one too long or too short is a *nabla.ShapeError
//	[after error]   and the object is usable afterwards
//	[clone]         a clone is right, beside its original and in parallel with it
//	[rebind]        another bound struct is read, and the first again
//	[resize]        another size is right, and the old one again
//	[batch]         the tangents of the scenario, all in one call
//	[sparsity]      a matrix that reports how many elements it stores has those of
//	                the scenario
//	[pattern]       a destination of another pattern or type is an error and is not
//	                written to, and all matrices have the pattern of the plan
//	[same point]    the operator at a point, of a pushforward, pullback or HVP
//	[smaller]       a point of another size than prepared for is refused
//	[allocation]    calls with given destinations do not allocate
//	[calls]         f is evaluated as often as Options.Calls says
//	[misuse]        invalid calls return errors, and the object stays usable
//	[behaviour]     described by the name of the scenario
//
// Batches of two and of five directions are among the variants, and with a [nabla.AutoSparse] its sparse destinations:
// both triangles or one, over the pattern of the plan or an equal one. In a scenario with branches an AutoSparse may
// answer in the other branch that its pattern misses entries.
//
// # Generated code
//
// An engine for generated code accepts only functions that code was generated from. Options.Function supplies them in
// place of the kit's; package difftest/coded has them.
//
// # Rules
//
// [CheckRule] checks a custom rule as Run checks an engine: its derivatives against differences of its value, and the
// promises of [nabla.Rule]. [CheckPlainRule] checks one that plain functions use as well, by //nabla:rule rule=, with
// generated code and in recordings.
//
// difftest is tested with engines that are broken on purpose; see TestBroken. Two complete engines to start from are in
// example_test.go.
package difftest

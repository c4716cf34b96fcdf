// Package difftest is the conformance kit for engines of nabla. The author of an
// engine writes one test:
//
//	func TestConformance(t *testing.T) {
//		difftest.Run(t, mine.Backend{}, nil)
//	}
//
// and has every operator checked, whether the engine implements it or package
// nabla derives it, against numbers that no engine computed: the scenario
// catalogue in testdata/scenarios.json, written after that of
// DifferentiationInterfaceTest.jl and computed with 40 digits.
//
// # Scenarios
//
// A [Scenario] is an operator, a function, a point, tangents and the expected
// results. [Scenarios] gives out those of the catalogue. The name is that of the
// subtest:
//
//	vec_to_mat/pullback/in/out/constant
//	family     operator function result modifier
//
// The function is out of place (out, a new slice) or in place (in, [nabla.InPlace]).
// The catalogue has each scenario for an allocated and for a given result; here
// both are tried in either. Besides the 106 default scenarios there are groups
// whose names begin with
//
//	sparse/…     derivatives with many zeros, prepared at another point (38)
//	empty/…      no inputs or no outputs (5)
//	allocfree/…  nothing may be allocated, with Options.AllocFree (9)
//	behaviour/…  branches, loops that depend on data, scratch slices, derivatives
//	             inside, custom rules, structs, matrices row by row, NaN, panics,
//	             sizes that no batch divides, 10,000 inputs
//
// Complex numbers, of which the Julia package has scenarios, are outside of what
// nabla differentiates.
//
// Modifiers change how the function comes by its numbers, or where it is called,
// and can be applied one after another. [Run] applies these, one at a time, to one
// scenario of each operator and form of a function:
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
// Matrices of the catalogue are column-major: a matrix argument or result is one
// slice, column after column, as is the order of the rows and columns of its
// Jacobian. This is vec() of the literature and what the catalogue means.
//
// # Checks
//
// The text in brackets begins the message of a check that failed.
//
//	[prepare]       preparing gives no error
//	[unprepared]    op and value-and-op without preparation
//	[prepared]      every variant, prepared at zeros or where the scenario says
//	[second call]   the same call again
//	[third point]   a call elsewhere gives the numbers of the closed form there
//	[back again]    and the first point is right afterwards
//	[shared]        one prepared object takes all variants in turn
//	[destination]   a given destination, full of NaN, is filled and returned,
//	                and nothing around it is written to
//	[inputs]        the arguments are left as they were
//	[earlier]       a result does not change when a later one is computed
//	[wrong length]  every argument one too long or too short is a *nabla.ShapeError
//	[after error]   and the object is usable afterwards
//	[clone]         a clone is right, next to its original and in parallel with it
//	[rebind]        another bound struct is read, and the first again
//	[resize]        another size is right, and the old one again
//	[batch]         the tangents of the scenario, all at once
//	[sparsity]      a matrix that knows how many elements it stores has those of
//	                the scenario
//	[pattern]       a destination of another pattern or type is an error and is not
//	                written to, and all matrices have the pattern of the plan
//	[same point]    the operator at a point, of a pushforward, pullback or HVP
//	[smaller]       a point of another size than prepared for is refused
//	[allocation]    calls with given destinations do not allocate
//	[calls]         f is evaluated as often as Options.Calls says
//	[misuse]        what cannot be right is an error, and the object stays usable
//	[behaviour]     what the name of the scenario says
//
// Batches of two and of five directions are among the variants, and with a
// [nabla.AutoSparse] its sparse destinations: both triangles or one, over the pattern
// of the plan or an equal one. Where a scenario is about branches, an AutoSparse may
// say of another branch that its pattern misses entries.
//
// # Generated code
//
// An engine for generated code takes functions that it was generated from.
// Options.Function gives it those in place of the kit's, and package difftest/coded has
// them.
//
// # Rules
//
// [CheckRule] does for a rule of one's own what Run does for an engine: one line in a
// test says whether its derivatives are those of its value, and whether it keeps the
// promises of [nabla.Rule].
//
// difftest checks itself against engines that are broken on purpose; see
// TestBroken. Two complete engines to start from are in example_test.go.
package difftest

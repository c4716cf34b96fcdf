// Package randprog makes random Go programs, and checks their derivatives by oracles that do not depend on package
// rules or another engine.
//
// A program is tame: every expression has a bounded value and derivative, loops and recursion end after a few rounds,
// slices are never empty and indices are in range, so that differences are meaningful. Within these limits it uses all
// of the language that package lower accepts.
//
// [New] makes the program of a seed, as a tree; [Program.Source] prints it; [Load] type-checks and lowers many programs
// at once, without files. A [Case] is a lowered program with its inputs, to which oracles are applied. [Case.Shrink]
// reduces a program that fails, and [Case.Save] writes it to a file that [LoadFile] reads.
//
// [Adjoints] checks the adjoints of one program, and second derivatives. Its oracle is the tangent, which [Case.Check]
// checks.
//
// Tests run a few hundred programs. More are run by
//
//	go test ./gen/tangent -run TestRandom -timeout 2h -args -programs 20000 -seed 1
//	go test ./gen -run TestRandomEngines -timeout 9h -args -programs 10000 -seed 1
//	go test ./gen/adjoint -run 'TestRandom$' -timeout 9h -args -programs 100000 -seed 1 -variants 1
//	go test ./gen/traced -run 'TestRandom$' -timeout 9h -args -programs 100000 -seed 1
//
// of which the second compiles the generated code and compares all engines. In the third each program is tried without
// options and with one variant of the options in turn, which takes a third of the time of all variants. In the last the
// engines differentiate the forms over Reals of the same programs, which the evaluator runs. With -v, a line now and
// then says how far a long run is. Programs that have failed once are kept under testdata/failures and run each time.
package randprog

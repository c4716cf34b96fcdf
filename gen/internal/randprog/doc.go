// Package randprog makes random Go programs, and says by oracles that need nobody's word
// whether the derivative of one is right.
//
// A program is tame: every expression has a bounded value and derivative, loops and
// recursion end after a few rounds, slices are never empty and indices fall into them, so
// that differences can be taken of what it computes. Within that it uses the whole
// language that package lower takes.
//
// [New] makes the program of a seed, as a tree; [Program.Source] prints it; [Load]
// type-checks and lowers many of them at once, without files. A [Case] is a lowered
// program with its inputs, about which oracles can be asked.
// [Case.Shrink] makes a program that fails small, and [Save] writes it to a file that
// [LoadFile] reads again.
//
// [Adjoints] asks about the reverse sweeps of one program, of first derivatives and of
// second ones. Its oracle is the tangent, which that of [Case.Check] has been asked about.
//
// Tests run a few hundred programs. More are run by
//
//	go test ./gen/tangent -run TestRandom -timeout 2h -args -programs 20000 -seed 1
//	go test ./gen/adjoint -run 'TestRandom$' -timeout 9h -args -programs 100000 -seed 1 -variants 1
//
// where each program is tried without options and under one that comes next, which takes a
// third of the time that all of them do; and the programs that have failed, under
// testdata/failures, each time.
package randprog

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
// program with its inputs, on which the oracles of [Tangent] and [Adjoint] can be asked.
// [Case.Shrink] makes a program that fails small, and [Save] writes it to a file that
// [LoadFile] reads again.
//
// Tests run a few hundred programs. More are run by
//
//	go test ./gen/tangent -run TestRandom -timeout 2h -args -programs 20000 -seed 1
//
// and the programs that have failed, under testdata/failures, each time.
package randprog

// Package program is the intermediate representation that the engines share: a
// function, recorded once, as a list of statements that can be printed, parsed,
// checked, transformed and run.
//
// A [Program] is a list of statements over a file of float64 slots. A statement is
// one operation over N lanes; lane l of its result is slot D+l. Each operand has an
// addressing mode: one slot for all lanes, contiguous, strided, or gathered.
// Recorded operations become statements of one lane, and those of a loop in a long
// recording statements with a lane for each iteration; [Schedule] merges equal
// operations that do not depend on each other into statements of many lanes.
//
//	statement                   meaning
//	%0:3 = input x              the inputs, in named groups
//	%3:2 = param 0              the parameters: bound before a run, not differentiated
//	%5 = const 2.5              one constant for each lane; also NaN, +Inf, -0
//	%6 = mul %0 %5              any elementary function of package rules
//	%7:2 = mul %0:+1 %5         two lanes: %7 = %0·%5, %8 = %1·%5
//	%9:2 = add [%7 %1] %6       a gathered operand
//	%11 = sum 3 [%7 %8 %9]      an ordered reduction of 3 terms in each lane
//	%12:2 = call "f" [%0 %1]    a custom rule with two outputs
//	guardlt %6 %5 = 1           the comparison came out true when f was recorded
//	out y [%11]                 the outputs, in named groups
//
// This is the text form that [Program.String] writes and [Parse] reads, line by
// line:
//
//	line      = [ statement | guard | "out" name slots ] [ "#" comment ]
//	statement = slot [ ":" lanes ] "=" operation
//	operation = "input" name | "param" number | "const" float { float }
//	          | elementary operand { operand } | "sum" terms operand
//	          | "call" quoted slots
//	guard     = ( "guardlt" | "guardle" | "guardeq" | "guardbits" | "guardint" )
//	            operand operand "=" { "0" | "1" }
//	operand   = slot [ ":" ( "+" | "-" ) stride ] | slots
//	slots     = "[" { slot } "]"
//	slot      = "%" number
//	name      = identifier | quoted
//	float     = text that strconv.ParseFloat accepts | "NaN(0x" bits ")"
//
// An operand has an address for each lane, or for each term of each lane of a sum:
// %5 reads one slot in all of them, %0:+3 reads %0, %3, %6 and so on, and [%1 %2]
// lists them. A guard has a digit for each lane. Slots are written out so that a
// line can be read alone; Check verifies that they are in order.
//
// Nothing is simplified while recording. The passes, in the order in which an
// engine uses them: [FromRecording], [VJP] or [JVP], [Simplify], [Schedule], and
// then a [Machine] runs the result. [Check] verifies the form after any of them.
//
// A transformation returns a new program and does not modify its argument. The
// value keeps the order of operations of the recorded function, sums included, so
// that it is bit for bit the function's; sums of cotangents have no order that the
// user wrote, and none is promised.
//
// # Structural zeros
//
// A derivative that is zero because nothing depends on it must stay zero where it
// meets an infinite partial derivative: Where(x > 0, sqrt(x), 0) has derivative 0
// at x = 0. VJP and JVP in strong mode write such a zero as -0, multiply with
// rules.MulZ and divide with rules.DivZ, which return -0 for it, and keep every other zero +0. Programs in
// plain mode are faster and give NaN in such places, never a wrong number, so an
// engine runs the plain program and then the strong one only if a result is NaN.
package program

package simplify

// AlwaysVectors calls do while every loop that can have a kernel has one, also for few iterations, and calls it for
// few.
func AlwaysVectors(do func()) {
	was := vectorCosts
	vectorCosts.few, vectorCosts.many, vectorCosts.record, vectorCosts.call, vectorCosts.always = 4, 4, 8, 24, true
	defer func() { vectorCosts = was }()
	do()
}

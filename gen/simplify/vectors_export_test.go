package simplify

// AlwaysVectors calls do while every loop that can have a kernel has one, also for few iterations.
func AlwaysVectors(do func()) {
	was := vectorCosts
	vectorCosts.few, vectorCosts.many, vectorCosts.always = 4, 4, true
	defer func() { vectorCosts = was }()
	do()
}

package engine

// An Expander computes Taylor series of any order, in one or several directions and in several variables. Orders are at
// least 0; one above the limit of the engine is an *[OrderError].
type Expander interface {
	// PrepareExpansion prepares series up to the given order along curves through points of the length of x, several
	// curves at a time.
	PrepareExpansion(f *Function, x []float64, order, curves int) (Expansion, error)
	// PreparePartials prepares all partial derivatives up to the given order in all, and up to orders[i] by input i.
	PreparePartials(f *Function, x []float64, order int, orders []int) (Partials, error)
}

// An Expansion computes f along curves.
type Expansion interface {
	// Expand writes y = f(x), of length m, and the coefficients of f(x + Σ c[k]·t^k) up to the given order, at most
	// that of the preparation. Row i of xc holds the coefficients of input i: column (k-1)·L+l those of degree k of
	// curve l, for L curves. Columns that xc lacks are zero. Row i of yc, with the same columns, gets those of output
	// i.
	Expand(y []float64, yc Block, x []float64, xc Block, order int) error
}

// A Partials computes partial derivatives of all orders.
type Partials interface {
	// Partials writes y = f(x), of length m, and to row i of c the coefficients of the Taylor polynomial of output i:
	// those of [series.Powers], which are the partial derivatives divided by the factorials of their orders.
	Partials(y []float64, c Block, x []float64) error
}

// expander returns b as an Expander.
func expander(b Backend, op string) (Expander, error) {
	if e, ok := b.(Expander); ok {
		return e, nil
	}
	return nil, &UnsupportedError{What: op + ": backend " + b.Name() + " has no Taylor series",
		Remedy: "use taylor.Backend{}, or nil, which selects it"}
}

// PrepareExpansion prepares series by b. The error is an *[UnsupportedError] if b is no [Expander]; op names the
// operator in it.
func PrepareExpansion(b Backend, op string, f *Function, x []float64, order, curves int) (Expansion, error) {
	e, err := expander(b, op)
	if err == nil && order < 0 {
		err = &OrderError{Op: op, Order: order}
	}
	if err != nil {
		return nil, err
	}
	return e.PrepareExpansion(f, x, order, curves)
}

// PreparePartials prepares partial derivatives by b; see PrepareExpansion.
func PreparePartials(b Backend, op string, f *Function, x []float64, order int, orders []int) (Partials, error) {
	e, err := expander(b, op)
	for _, o := range append([]int{order}, orders...) {
		if err == nil && o < 0 {
			err = &OrderError{Op: op, Order: o}
		}
	}
	if err != nil {
		return nil, err
	}
	return e.PreparePartials(f, x, order, orders)
}

package core

// Parts returns the real and the imaginary part of z. Package nabla has another function real.
func Parts(z complex128) (re, im float64) { return real(z), imag(z) }

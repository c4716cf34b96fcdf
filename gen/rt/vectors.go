package rt

import "github.com/nabla-ad/nabla/internal/processor"

// Vectors reports whether the processor has the instructions of generated kernels, AVX.
func Vectors() bool { return processor.AVX }

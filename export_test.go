package nabla

import (
	"time"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/race"
)

// FunctionForTest is the engine's view of f.
func FunctionForTest(f any, x []float64) (*engine.Function, error) {
	return functionOf("test", f, x, wantAny)
}

// ChooseForTest is Choose with another clock.
func ChooseForTest(now func() time.Time, f any, x []float64, candidates ...Backend) (*Choice, error) {
	rules := race.Standard
	rules.Now = now
	return choose(rules, f, x, candidates)
}

// ComparedForTest reports whether the last call of p was compared because of the branch
// that the function took.
func ComparedForTest(p *HessianPrep) bool { return p.matrix.products.Elsewhere() }

// StreamForTest has products streamed that take more bytes than that, until the returned
// function is called.
func StreamForTest(bytes int64) (restore func()) {
	compressionForTest.streamBytes = bytes
	return func() { compressionForTest.streamBytes = 0 }
}

// TrustCapturesForTest takes no function for one that may capture data, until the returned
// function is called.
func TrustCapturesForTest() (restore func()) {
	old := mayCapture
	mayCapture = func(any) bool { return false }
	return func() { mayCapture = old }
}

// TrustReplaysForTest has sparse derivatives trust recordings that were not made at
// preparation, until the returned function is called.
func TrustReplaysForTest() (restore func()) {
	compressionForTest.trustReplays = true
	return func() { compressionForTest.trustReplays = false }
}

// NameOfForTest is the name of a backend in tables, which may be a pointer that is nil.
var NameOfForTest = nameOf

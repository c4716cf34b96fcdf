package tracker_test

import (
	"testing"

	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
)

func TestConformance(t *testing.T) {
	difftest.Run(t, tracker.Backend{}, nil)
}

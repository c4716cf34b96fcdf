package selection_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
)

// TestConformance runs the kit with the engines that are selected, on both forms of functions.
func TestConformance(t *testing.T) {
	t.Run("reals", func(t *testing.T) { difftest.Run(t, nabla.Auto{}, &difftest.Options{AllocFree: true}) })
	t.Run("code", func(t *testing.T) {
		difftest.Run(t, nabla.Auto{}, &difftest.Options{Function: coded.Function, AllocFree: true})
	})
}

package selection_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestConformance runs the kit with the engines that are selected, on both forms of functions.
func TestConformance(t *testing.T) {
	usual := !longtest.Long()
	t.Run("reals", func(t *testing.T) {
		difftest.Run(t, nabla.Auto{}, &difftest.Options{AllocFree: true, NoModifiers: usual})
	})
	t.Run("code", func(t *testing.T) {
		difftest.Run(t, nabla.Auto{}, &difftest.Options{Function: coded.Function, AllocFree: true, NoModifiers: usual})
	})
}

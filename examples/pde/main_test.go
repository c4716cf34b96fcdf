package main

import (
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

//go:build !unix

package main

import (
	"context"
	"os/exec"
)

// bounded is a command; its memory is not bounded here.
func bounded(ctx context.Context, _ int, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}

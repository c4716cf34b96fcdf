//go:build !unix

package main

import (
	"context"
	"os/exec"
)

// limitedCommand returns a command; its memory is not limited on this system.
func limitedCommand(ctx context.Context, _ int, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}

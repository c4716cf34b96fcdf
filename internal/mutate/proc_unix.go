//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// bounded is a command with that much address space, 0 for any, that ends with all that it
// has started.
func bounded(ctx context.Context, mib int, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	if mib > 0 {
		script := fmt.Sprintf("ulimit -v %d; exec \"$0\" \"$@\"", mib*1024)
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, name}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

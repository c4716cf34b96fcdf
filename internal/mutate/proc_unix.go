//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// limitedCommand returns a command with an address space of mib MiB, unlimited if that is 0. When it ends, so do all
// processes that it has started.
func limitedCommand(ctx context.Context, mib int, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	if mib > 0 {
		script := fmt.Sprintf("ulimit -v %d; exec \"$0\" \"$@\"", mib*1024)
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, name}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

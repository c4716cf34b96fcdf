//go:build (386 || amd64 || arm || arm64 || loong64 || mips || mipsle || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x || wasm) && !purego

package core

// goroutine tells the running goroutine from all others that there are. It is the
// address of the runtime's descriptor, which does not move.
func goroutine() uintptr

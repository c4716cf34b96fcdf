//go:build linux || darwin

package native

import "syscall"

// executable returns a copy of code that the processor may run, in pages of its own.
func executable(code []byte) ([]byte, error) {
	memory, err := syscall.Mmap(-1, 0, len(code), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, err
	}
	copy(memory, code)
	if err := syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		release(memory)
		return nil, err
	}
	written(memory)
	return memory, nil
}

// release frees the result of executable.
func release(memory []byte) {
	if err := syscall.Munmap(memory); err != nil {
		panic("native: " + err.Error()) // it is not a mapping
	}
}

//go:build !amd64

package vector

func supported() bool { return false }
func wide() bool      { return false }

func entry(function, lanes int) uintptr { panic("vector: not supported") }

func run(entry uintptr, dst, src *float64, blocks int) int { panic("vector: not supported") }

func nanBlocks(src *float64, blocks int) bool { panic("vector: not supported") }

func copyBlocks(dst, src *float64, blocks int) bool { panic("vector: not supported") }

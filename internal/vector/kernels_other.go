//go:build !amd64

package vector

func supported() bool { return false }

func expBlocks(dst, src *float64, blocks int) int { return 0 }

func logBlocks(dst, src *float64, blocks int) int { return 0 }

func log1pBlocks(dst, src *float64, blocks int) int { return 0 }

func expm1Blocks(dst, src *float64, blocks int) int { return 0 }

func sinBlocks(dst, src *float64, blocks int) int { return 0 }

func cosBlocks(dst, src *float64, blocks int) int { return 0 }

func tanhBlocks(dst, src *float64, blocks int) int { return 0 }

func nanBlocks(src *float64, blocks int) bool { panic("vector: not supported") }

func copyBlocks(dst, src *float64, blocks int) bool { panic("vector: not supported") }

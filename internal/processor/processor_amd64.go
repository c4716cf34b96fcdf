package processor

func init() {
	const fma, saves, avx, avx2 = 1 << 12, 1 << 27, 1 << 28, 1 << 5
	most, _, _, _ := cpuid(0, 0)
	_, _, features, _ := cpuid(1, 0)
	if features&(saves|avx) != saves|avx || xgetbv()&6 != 6 { // the system keeps the registers
		return
	}
	AVX, FMA = true, features&fma != 0
	if most >= 7 {
		_, more, _, _ := cpuid(7, 0)
		AVX2 = more&avx2 != 0
	}
}

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)

func xgetbv() (ax uint32)

package processor

func init() {
	const fma, saves, avx, avx2 = 1 << 12, 1 << 27, 1 << 28, 1 << 5
	const foundation, numbers, lengths, vbmi2 = 1 << 16, 1 << 17, 1 << 31, 1 << 6
	const upper, masks = 6, 0xe6 // the registers that the system keeps
	most, _, _, _ := cpuid(0, 0)
	_, _, features, _ := cpuid(1, 0)
	if features&(saves|avx) != saves|avx || xgetbv()&upper != upper {
		return
	}
	AVX, FMA = true, features&fma != 0
	if most >= 7 {
		_, more, others, _ := cpuid(7, 0)
		AVX2 = more&avx2 != 0
		const all = foundation | numbers | lengths
		AVX512 = more&all == all && others&vbmi2 != 0 && xgetbv()&masks == masks
	}
}

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)

func xgetbv() (ax uint32)

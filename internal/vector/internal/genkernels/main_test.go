package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestCurrent compares the file of package vector with the one that go generate would write.
func TestCurrent(t *testing.T) {
	longtest.Serial(t)
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("kernels_amd64.s is not up to date; run go generate in internal/vector")
	}
}

// sum returns the sum of n vectors, of which n - 1 are in registers while the last one is loaded.
func sum(lanes, n int) *code {
	c := newCode("sum", lanes)
	var all []value
	for range n {
		all = append(all, c.load())
	}
	s := all[0]
	for _, v := range all[1:] {
		s = c.add(s, v)
	}
	c.store(s)
	return c
}

// TestRegisters: a kernel has pairs of vectors if there are registers for two, and is refused if there are too few for
// one.
func TestRegisters(t *testing.T) {
	longtest.Serial(t)
	for _, lanes := range []int{4, 8} {
		registers := 4 * lanes
		for _, n := range []int{registers / 2, registers/2 + 1, registers, registers + 1} {
			lines, err := sum(lanes, n).assemble()
			text := strings.Join(lines, "\n")
			if refused := n > registers; refused != (err != nil) {
				t.Errorf("%d vectors of %d: %v", n, lanes, err)
			} else if pairs := n <= registers/2; pairs != strings.Contains(text, "pair:") {
				t.Errorf("%d vectors of %d: a loop over pairs is %v", n, lanes, !pairs)
			}
		}
	}
}

// TestOverwritten: an instruction that overwrites an operand gets a copy of one that is used later.
func TestOverwritten(t *testing.T) {
	longtest.Serial(t)
	for name, c := range map[string]struct {
		build func(c *code)
		want  string
	}{
		"the term": {func(c *code) {
			x, y := c.load(), c.load()
			c.store(c.add(c.subProduct(x, y, c.one()), y))
		}, "VFNMADD231PD.BCST c3ff0000000000000<>(SB), Z1, Z0\n\tVADDPD Z1, Z0, Z0"},
		"a factor": {func(c *code) {
			x, y := c.load(), c.load()
			c.store(c.add(c.addProduct(c.one(), x, y), y))
		}, "VFMADD213PD.BCST c3ff0000000000000<>(SB), Z1, Z0\n\tVADDPD Z1, Z0, Z0"},
		"a constant": {func(c *code) {
			x := c.load()
			c.store(c.addProduct(c.one(), c.two(), x))
		}, "VBROADCASTSD c4000000000000000<>(SB), Z1\n\tVFMADD213PD.BCST c3ff0000000000000<>(SB), Z0, Z1"},
		"a copy": {func(c *code) {
			x, y := c.load(), c.load()
			c.store(c.mul(c.addProduct(y, x, x), c.mul(x, y)))
		}, "VMOVAPD Z0, Z2\n\tVFMADD213PD Z1, Z0, Z2"},
		"in a mask": {func(c *code) {
			x := c.load()
			y := c.addWhere(c.compare(x, less, c.one()), x, c.two())
			c.store(c.mul(x, y))
		}, "VMOVAPD Z0, Z1\n\tVADDPD.BCST c4000000000000000<>(SB), Z0, K1, Z1"},
	} {
		k := newCode("f", 8)
		c.build(k)
		lines, err := k.assemble()
		if err != nil {
			t.Fatal(err)
		}
		_, single, _ := strings.Cut(strings.Join(lines, "\n"), "single:")
		if !strings.Contains(single, c.want) {
			t.Errorf("%s: %s\nis not in%s", name, c.want, single)
		}
	}
}

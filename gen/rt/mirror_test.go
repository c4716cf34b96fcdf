package rt

import (
	"strings"
	"testing"
	"unsafe"
)

type layoutOriginal struct {
	A    float64
	Next *layoutOriginal
	List []layoutPart
	M    map[string]int
	I    interface{ M() }
	F    func()
}

type layoutPart struct {
	U uint8
	N int32
}

type (
	layoutSame struct {
		A    float64
		Next *layoutSame
		List []layoutPartSame
		M    unsafe.Pointer
		I    [2]unsafe.Pointer
		F    unsafe.Pointer
	}
	layoutPartSame struct {
		U uint8
		N int32
	}
	layoutSwapped struct {
		N int32
		U uint8
	}
	layoutRenamed struct {
		U uint8
		K int32
	}
	layoutKind struct {
		U uint8
		N float32
	}
	layoutShort struct {
		U uint8
	}
	layoutBehind struct {
		A    float64
		Next *layoutBehind
		List []layoutRenamed
		M    unsafe.Pointer
		I    [2]unsafe.Pointer
		F    unsafe.Pointer
	}
)

// Every difference of layouts is found, also behind pointers and slices.
func TestMirror(t *testing.T) {
	if err := Mirror((*layoutOriginal)(nil), (*layoutSame)(nil)); err != nil {
		t.Error(err)
	}
	var hidden *layoutPart
	if err := Mirror(&hidden, (**layoutPartSame)(nil)); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]*LayoutError{
		"field 0 of rt.layoutPart is U at offset 0, not N at 0": Mirror((*layoutPart)(nil), (*layoutSwapped)(nil)),
		"is N at offset 4, not K at 4":                          Mirror((*layoutPart)(nil), (*layoutRenamed)(nil)),
		"rt.layoutPart.N is of kind int32, not float32":         Mirror((*layoutPart)(nil), (*layoutKind)(nil)),
		"has 8 bytes, not 1":                                    Mirror((*layoutPart)(nil), (*layoutShort)(nil)),
		"List[] is N at offset 4, not K":                        Mirror((*layoutOriginal)(nil), (*layoutBehind)(nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	defer func() {
		if _, ok := recover().(*LayoutError); !ok {
			t.Error("no panic with a LayoutError")
		}
	}()
	SameLayouts(nil, &LayoutError{})
}

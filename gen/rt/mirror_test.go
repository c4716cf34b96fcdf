package rt

import (
	"strings"
	"testing"
	"unsafe"
)

type layoutOriginal struct {
	a    float64
	next *layoutOriginal
	list []layoutPart
	m    map[string]int
	i    interface{ M() }
	f    func()
}

type layoutPart struct {
	u uint8
	n int32
}

type (
	layoutSame struct {
		a    float64
		next *layoutSame
		list []layoutPartSame
		m    unsafe.Pointer
		i    [2]unsafe.Pointer
		f    unsafe.Pointer
	}
	layoutPartSame struct {
		u uint8
		n int32
	}
	layoutSwapped struct {
		n int32
		u uint8
	}
	layoutRenamed struct {
		u uint8
		k int32
	}
	layoutKind struct {
		u uint8
		n float32
	}
	layoutShort struct {
		u uint8
	}
	layoutBehind struct {
		a    float64
		next *layoutBehind
		list []layoutRenamed
		m    unsafe.Pointer
		i    [2]unsafe.Pointer
		f    unsafe.Pointer
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
		"field 0 of rt.layoutPart is u at offset 0, not n at 0": Mirror((*layoutPart)(nil), (*layoutSwapped)(nil)),
		"is n at offset 4, not k at 4":                          Mirror((*layoutPart)(nil), (*layoutRenamed)(nil)),
		"rt.layoutPart.n is of kind int32, not float32":         Mirror((*layoutPart)(nil), (*layoutKind)(nil)),
		"has 8 bytes, not 1":                                    Mirror((*layoutPart)(nil), (*layoutShort)(nil)),
		"list[] is n at offset 4, not k":                        Mirror((*layoutOriginal)(nil), (*layoutBehind)(nil)),
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

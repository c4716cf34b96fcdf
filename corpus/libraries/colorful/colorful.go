// Package colorful has functions that use github.com/lucasb-eyer/go-colorful: distances, contrasts and blends of
// colours.
package colorful

import (
	"math"

	"github.com/lucasb-eyer/go-colorful"
)

// LabDistance is the CIE76 distance of a colour from a reference.
//
//corpus:at 0.3 0.6 0.2
//corpus:at 0.9 0.05 0.4
func LabDistance(x []float64) float64 {
	c := colorful.Color{R: x[0], G: x[1], B: x[2]}
	return c.DistanceLab(colorful.Color{R: 0.5, G: 0.5, B: 0.9})
}

// Lightness returns L, a and b of a colour.
//
//corpus:at 0.3 0.6 0.2
func Lightness(r, g, b float64) (l, a, bb float64) {
	return colorful.Color{R: r, G: g, B: b}.Lab()
}

// CIEDE2000 is the distance of two colours.
//
//corpus:at 0.3 0.6 0.2 0.8 0.4 0.3
func CIEDE2000(x []float64) float64 {
	a := colorful.Color{R: x[0], G: x[1], B: x[2]}
	b := colorful.Color{R: x[3], G: x[4], B: x[5]}
	return a.DistanceCIEDE2000(b)
}

// CIE94 is the distance of two colours.
//
//corpus:at 0.3 0.6 0.2 0.8 0.4 0.3
func CIE94(x []float64) float64 {
	a := colorful.Color{R: x[0], G: x[1], B: x[2]}
	b := colorful.Color{R: x[3], G: x[4], B: x[5]}
	return a.DistanceCIE94(b)
}

// HSVBrightness is the luminance of a colour given by hue, saturation and value.
//
//corpus:at 35 0.6 0.7
//corpus:at 190 0.3 0.9
func HSVBrightness(h, s, v float64) float64 {
	_, y, _ := colorful.Hsv(h, s, v).Xyz()
	return y
}

// ToHSL returns hue, saturation and lightness.
//
//corpus:at 0.3 0.6 0.2
func ToHSL(r, g, b float64) (h, s, l float64) {
	return colorful.Color{R: r, G: g, B: b}.Hsl()
}

// BlendLuv is the blue part of a blend in Luv space.
//
//corpus:at 0.1 0.7 0.3 0.4
func BlendLuv(x []float64) float64 {
	warm := colorful.Color{R: 0.9, G: 0.4, B: 0.1}
	c := warm.BlendLuv(colorful.Color{R: x[0], G: x[1], B: x[2]}, x[3])
	return c.B
}

// BlendHcl returns a colour between two others by hue.
//
//corpus:at 0.25 0.7
func BlendHcl(t, g float64) (r, gg, b float64) {
	c := colorful.Color{R: 0.2, G: g, B: 0.3}.BlendHcl(colorful.Color{R: 0.7, G: 0.3, B: 0.2}, t)
	return c.R, c.G, c.B
}

// HSLuv returns the colour with hue, saturation and lightness of HSLuv.
//
//corpus:at 120 0.5 0.6
func HSLuv(h, s, l float64) (r, g, b float64) {
	c := colorful.HSLuv(h, s, l)
	return c.R, c.G, c.B
}

// OkLabChroma is the chroma in the space Oklab.
//
//corpus:at 0.3 0.6 0.2
func OkLabChroma(x []float64) float64 {
	_, a, b := colorful.Color{R: x[0], G: x[1], B: x[2]}.OkLab()
	return math.Hypot(a, b)
}

// Contrast is the contrast ratio of a text colour on a background, after WCAG.
//
//corpus:at 0.1 0.2 0.3 0.9 0.8 0.95
func Contrast(x []float64) float64 {
	luminance := func(c colorful.Color) float64 {
		r, g, b := c.LinearRgb()
		return 0.2126*r + 0.7152*g + 0.0722*b
	}
	l1 := luminance(colorful.Color{R: x[0], G: x[1], B: x[2]})
	l2 := luminance(colorful.Color{R: x[3], G: x[4], B: x[5]})
	if l1 < l2 {
		l1, l2 = l2, l1
	}
	return (l1 + 0.05) / (l2 + 0.05)
}

// PaletteSpread is the sum of the distances between neighbours of a palette.
//
//corpus:at 0.1 0.2 0.3 0.9 0.8 0.95 0.4 0.7 0.2 0.6 0.3 0.35
func PaletteSpread(x []float64) float64 {
	var palette []colorful.Color
	for i := 0; i+2 < len(x); i += 3 {
		palette = append(palette, colorful.Color{R: x[i], G: x[i+1], B: x[i+2]}.Clamped())
	}
	sum := 0.0
	for i := 1; i < len(palette); i++ {
		sum += palette[i-1].DistanceLuv(palette[i])
	}
	return sum
}

// Temperature is a saturation of a hex colour that is moved in xyY.
//
//corpus:at 0.4 0.35 0.5
func Temperature(x, y, bigY float64) (float64, error) {
	c := colorful.Xyy(x, y, bigY)
	ref, err := colorful.Hex("#ffcc88")
	if err != nil {
		return 0, err
	}
	return c.DistanceRgb(ref), nil
}

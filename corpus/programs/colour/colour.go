// Package colour has programs about colours: conversions, differences and corrections of images.
package colour

import (
	"fmt"
	"math"
)

// RGB is a colour with components from 0 to 1.
type RGB struct{ R, G, B float64 }

// Lab is a colour in CIELAB.
type Lab struct{ L, A, B float64 }

func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

var toXYZ = [3][3]float64{
	{0.4124564, 0.3575761, 0.1804375},
	{0.2126729, 0.7151522, 0.0721750},
	{0.0193339, 0.1191920, 0.9503041},
}

// Lab converts a colour.
func (c RGB) Lab() Lab {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	white := [3]float64{0.95047, 1, 1.08883}
	var t [3]float64
	for i, row := range toXYZ {
		v := 0.0
		for j, m := range row {
			v += m * in[j]
		}
		v /= white[i]
		if v > 216./24389 {
			t[i] = math.Cbrt(v)
		} else {
			t[i] = (24389./27*v + 16) / 116
		}
	}
	return Lab{116*t[1] - 16, 500 * (t[0] - t[1]), 200 * (t[1] - t[2])}
}

// Distance is the distance of two colours in CIELAB.
//
//corpus:at 0.3 0.6 0.2 0.35 0.5 0.3
func Distance(c, d RGB) float64 {
	p, q := c.Lab(), d.Lab()
	return math.Sqrt((p.L-q.L)*(p.L-q.L) + (p.A-q.A)*(p.A-q.A) + (p.B-q.B)*(p.B-q.B))
}

// ToLab returns the coordinates of a colour.
//
//corpus:at 0.3 0.6 0.2
//corpus:at 0.02 0.01 0.9
func ToLab(c RGB) Lab { return c.Lab() }

// HSV converts a colour.
//
//corpus:at 0.3 0.6 0.2
func HSV(r, g, b float64) (h, s, v float64) {
	v = math.Max(r, math.Max(g, b))
	c := v - math.Min(r, math.Min(g, b))
	switch {
	case c == 0:
	case v == r:
		h = math.Mod((g-b)/c+6, 6)
	case v == g:
		h = (b-r)/c + 2
	case v == b:
		h = (r-g)/c + 4
	}
	if v != 0 {
		s = c / v
	}
	return 60 * h, s, v
}

// Blackbody is the colour ratio of a temperature by an approximation.
//
//corpus:at 5200
//corpus:at 9100
func Blackbody(kelvin float64) (red, blue float64) {
	t := kelvin / 100
	if t <= 66 {
		red = 255
		blue = 138.5177312231*math.Log(t-10) - 305.0447927307
	} else {
		red = 329.698727446 * math.Pow(t-60, -0.1332047592)
		blue = 255
	}
	return red / 255, blue / 255
}

// A Curve corrects tones.
type Curve func(float64) float64

// Gamma makes a curve.
func Gamma(g float64) Curve { return func(v float64) float64 { return math.Pow(v, g) } }

// Contrast makes a curve.
func Contrast(k float64) Curve {
	return func(v float64) float64 { return 1 / (1 + math.Exp(-k*(v-0.5))) }
}

// Chain applies curves one after the other.
func Chain(curves ...Curve) Curve {
	return func(v float64) float64 {
		for _, c := range curves {
			v = c(v)
		}
		return v
	}
}

// Toned is the mean of corrected tones.
//
//corpus:at 2.2 5
func Toned(gamma, contrast float64) float64 {
	c := Chain(Gamma(gamma), Contrast(contrast))
	pixels := []float64{0.1, 0.35, 0.62, 0.9}
	sum := 0.0
	for _, p := range pixels {
		sum += c(p)
	}
	return sum / float64(len(pixels))
}

// An Image is a grid of tones.
type Image struct {
	Width, Height int
	Pix           []float64
}

// At returns a tone, with the border repeated.
func (m *Image) At(x, y int) float64 {
	x = min(max(x, 0), m.Width-1)
	y = min(max(y, 0), m.Height-1)
	return m.Pix[y*m.Width+x]
}

// Convolve applies a kernel.
func (m *Image) Convolve(kernel [3][3]float64) *Image {
	out := &Image{m.Width, m.Height, make([]float64, len(m.Pix))}
	for y := 0; y < m.Height; y++ {
		for x := 0; x < m.Width; x++ {
			for dy, row := range kernel {
				for dx, k := range row {
					out.Pix[y*m.Width+x] += k * m.At(x+dx-1, y+dy-1)
				}
			}
		}
	}
	return out
}

// Sharpness is the energy of the Laplacian of an image.
//
//corpus:at 0.1 0.4 0.3 0.9 0.5 0.2 0.7 0.6 0.8
func Sharpness(x []float64) float64 {
	m := &Image{Width: 3, Height: 3, Pix: x}
	edges := m.Convolve([3][3]float64{{0, 1, 0}, {1, -4, 1}, {0, 1, 0}})
	s := 0.0
	for _, v := range edges.Pix {
		s += v * v
	}
	return s
}

// Variation is the smoothed total variation.
//
//corpus:at 0.1 0.4 0.3 0.9 0.5 0.2 0.7 0.6 0.8
func Variation(x []float64) float64 {
	m := Image{3, 3, append([]float64{}, x...)}
	tv := 0.0
	for y := range m.Height {
		for x := range m.Width {
			dx, dy := m.At(x+1, y)-m.At(x, y), m.At(x, y+1)-m.At(x, y)
			tv += math.Sqrt(dx*dx + dy*dy + 1e-4)
		}
	}
	return tv
}

// Named is the distance from the nearest colour with a name.
//
//corpus:at 0.3 0.6 0.2
func Named(c RGB) float64 {
	palette := map[string]RGB{"red": {1, 0, 0}, "green": {0, 0.5, 0}, "navy": {0, 0, 0.5}}
	best, found := math.MaxFloat64, ""
	for name, p := range palette {
		d := math.Pow(c.R-p.R, 2) + math.Pow(c.G-p.G, 2) + math.Pow(c.B-p.B, 2)
		if d < best {
			best, found = d, name
		}
	}
	_ = fmt.Sprintf("nearest: %s", found)
	return best
}

// Over composes layers with opacities.
//
//corpus:at 0.3 0.6 0.2 0.9
func Over(alpha []float64) float64 {
	layers := []RGB{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}}
	out := RGB{0.5, 0.5, 0.5}
	for i, l := range layers {
		w := alpha[i]
		out = RGB{l.R*w + out.R*(1-w), l.G*w + out.G*(1-w), l.B*w + out.B*(1-w)}
	}
	return 0.3*out.R + 0.59*out.G + 0.11*out.B
}

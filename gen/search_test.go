package gen_test

import (
	"strings"
	"testing"
)

// TestSearches: functions that find a number by comparisons have a warning at the assignment that they decide, and no
// others that compare numbers.
func TestSearches(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module search\n\ngo 1.26\n", "search/a.go": searches})
	lines := strings.Split(searches, "\n")
	warned := map[string]string{}
	for _, p := range generate(t, dir, "./...").Problems() {
		if strings.Contains(p.Reason, "no traced form") {
			continue
		}
		warned[p.Func] = p.Error()
		if !strings.Contains(lines[p.Pos.Line-1], "// moved") {
			t.Errorf("%v, at %q", p, lines[p.Pos.Line-1])
		}
	}
	for name, want := range map[string]string{
		"Margin":     "depends on gain by comparisons alone where lo is",
		"Golden":     "depends on p by comparisons alone where b is",
		"Root":       "depends on x by comparisons alone where a is",
		"BinaryStep": "depends on x by comparisons alone where t is",
		"Sign":       "depends on x by comparisons alone where t is",
	} {
		if s := warned[name]; !strings.Contains(s, want) || !strings.Contains(s, "//nabla:rule") {
			t.Errorf("%s: warning %q, want %q", name, s, want)
		}
		delete(warned, name)
	}
	for _, s := range warned {
		t.Error(s)
	}
}

const searches = `package se

import "math"

//nabla:differentiate
func Margin(gain, delay float64) float64 {
	amplitude := func(w float64) float64 { return gain / (w * math.Sqrt(1+w*w)) }
	lo, hi := 1e-3, 1e3
	for hi-lo > 1e-12 {
		mid := (lo + hi) / 2
		if amplitude(mid) > 1 {
			lo = mid // moved
		} else {
			hi = mid
		}
	}
	w := (lo + hi) / 2
	return math.Pi/2 - math.Atan(w) - w*delay
}

//nabla:differentiate
func Golden(p float64) float64 {
	f := func(x float64) float64 { return (x-p)*(x-p) + math.Exp(0.3*x) }
	const phi = 0.6180339887498949
	a, b := -3.0, 3.0
	for b-a > 1e-9 {
		c, d := b-phi*(b-a), a+phi*(b-a)
		if f(c) < f(d) {
			b = d // moved
		} else {
			a = c
		}
	}
	return f((a + b) / 2)
}

//nabla:differentiate
func Descent(x0, y0 float64) float64 {
	f := func(x, y float64) float64 { return x*x + 3*y*y + x*y }
	x, y := x0, y0
	for k := 0; k < 4; k++ {
		gx, gy := 2*x+y, 6*y+x
		step := 1.0
		for f(x-step*gx, y-step*gy) > f(x, y)-0.3*step*(gx*gx+gy*gy) {
			step /= 2
		}
		x -= step * gx
		y -= step * gy
	}
	return f(x, y)
}

func bisect(f func(float64) float64, a, b float64) (float64, bool) {
	fa, fb := f(a), f(b)
	if fa*fb > 0 {
		return 0, false
	}
	for i := 0; i < 100; i++ {
		m := a + (b-a)/2
		fm := f(m)
		if fm == 0 {
			return m, true
		}
		if math.Signbit(fm) == math.Signbit(fa) {
			a, fa = m, fm // moved
		} else {
			b, fb = m, fm
		}
	}
	return (a + b) / 2, true
}

//nabla:differentiate
func Root(x []float64) float64 {
	r, _ := bisect(func(t float64) float64 { return t*t - x[0] }, 0, 10)
	return r * x[1]
}

//nabla:differentiate
func BinaryStep(x float64) float64 {
	t, step := 0.0, 5.0
	for range 50 {
		if (t+step)*(t+step) < x {
			t += step // moved
		}
		step /= 2
	}
	return t
}

//nabla:differentiate
func Sign(x float64) float64 {
	t, step := 0.0, 5.0
	for range 50 {
		s := 1.0
		if t*t > x {
			s = -1
		}
		t += s * step // moved
		step *= 0.5
	}
	return t
}

// Others.

//nabla:differentiate
func Max(x []float64) float64 {
	m, at := x[0], 0.0
	count := 0.0
	for i, v := range x {
		if v > m {
			m = v
			at = float64(i)
		}
		if v > 0 {
			count++
		}
	}
	return m * at * count
}

//nabla:differentiate
func Relu(x []float64) (s float64) {
	for _, v := range x {
		if v > 0 {
			s += v
		} else {
			s += 0.1 * v
		}
	}
	return s
}

//nabla:differentiate
func Adaptive(x float64) float64 {
	t, h, y := 0.0, 0.1, x
	for t < 1 {
		if t+h > 1 {
			h = 1 - t
		}
		k1 := -y
		k2 := -(y + h*k1)
		e := math.Abs(h * (k2 - k1) / 2)
		if e < 1e-3 {
			t += h
			y += h * (k1 + k2) / 2
			h *= 1.5
		} else {
			h /= 2
		}
	}
	return y
}

//nabla:differentiate
func Count(x []float64) float64 {
	n := 0.0
	for _, v := range x {
		if v > 1 {
			n += 1
		}
	}
	return n * x[0]
}
`

package tabular

import (
	"math"
	"strconv"
)

// A Number is a float64 that is null in JSON and empty in CSV if it is not finite.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	if s := n.String(); s != "" {
		return []byte(s), nil
	}
	return []byte("null"), nil
}

func (n Number) String() string {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	// Times and ratios are not known to more digits.
	if a := math.Abs(v); a >= 1e-3 && a < 1e15 {
		return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Significant returns v with three significant digits, and without decimals from 100 on.
func Significant(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Duration returns a time in nanoseconds with a suitable unit.
func Duration(ns float64) string {
	return scaledUnit(ns, Significant, [4]string{" ns", " µs", " ms", " s"})
}

// scaledUnit returns v in the largest of four units, each a thousand times the one before, in which it is at least 1;
// small formats a value in the first unit.
func scaledUnit(v float64, small func(float64) string, units [4]string) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 999.5:
		return small(v) + units[0]
	case v < 999.5e3:
		return Significant(v/1e3) + units[1]
	case v < 999.5e6:
		return Significant(v/1e6) + units[2]
	}
	return Significant(v/1e9) + units[3]
}

// Percent returns a fraction in percent.
func Percent(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
}

// Size returns a number of bytes with a suitable unit.
func Size(v float64) string { return scaledUnit(v, Count, [4]string{" B", " kB", " MB", " GB"}) }

// Count returns a whole number.
func Count(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Scientific returns v with two digits.
func Scientific(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}

// Package technical has functions that use github.com/markcheno/go-talib, github.com/cinar/indicator and
// github.com/VividCortex/ewma: indicators of prices.
package technical

import (
	"github.com/VividCortex/ewma"
	"github.com/cinar/indicator"
	"github.com/markcheno/go-talib"
)

var volume = []float64{3, 5, 2, 6, 4, 3, 7, 5, 4, 6, 5, 3}

func last(x []float64) float64 { return x[len(x)-1] }

// SMA is the last simple moving average.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func SMA(x []float64) float64 { return last(talib.Sma(x, 5)) }

// EMA is the last exponential moving average, and that of it.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func EMA(x []float64) (float64, float64) { return last(talib.Ema(x, 4)), last(talib.Dema(x, 4)) }

// Bands is the distance between Bollinger bands.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Bands(x []float64) float64 {
	upper, _, lower := talib.BBands(x, 6, 2, 2, talib.SMA)
	return last(upper) - last(lower)
}

// Momentum is the relative strength index.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Momentum(x []float64) float64 { return last(talib.Rsi(x, 6)) }

// Regression is the slope and the end of a regression line.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Regression(x []float64) (slope, end float64) {
	return last(talib.LinearRegSlope(x, 8)), last(talib.LinearReg(x, 8))
}

// MACD is the moving average convergence of another library.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func MACD(x []float64) (macd, signal float64) {
	m, s := indicator.Macd(x)
	return last(m), last(s)
}

// Strength is the relative strength index of another library.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Strength(x []float64) float64 {
	_, rsi := indicator.RsiPeriod(5, x)
	return last(rsi)
}

// Weighted is the average price by volume.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Weighted(x []float64) float64 { return last(indicator.Vwma(4, x, volume)) }

// Channel is the position of the last price in its channel.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 13.4
func Channel(x []float64) float64 {
	upper, middle, lower := indicator.DonchianChannel(6, x)
	return (last(x) - last(lower)) / (last(upper) - last(lower)) * last(middle)
}

// Deviation is the last moving deviation.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Deviation(x []float64) float64 { return last(indicator.Std(5, x)) }

// Smoothed is an average that decays.
//
//corpus:at 10 11 10.5 12 11.7 12.3 13 12.6 12.9 13.8 13.1 14
func Smoothed(x []float64) float64 {
	avg := ewma.NewMovingAverage(3)
	for _, v := range x {
		avg.Add(v)
	}
	return avg.Value()
}

// Simple is an average that decays, of the concrete type.
//
//corpus:at 10 11 10.5 12 11.7 12.3
func Simple(x []float64) float64 {
	var avg ewma.SimpleEWMA
	for _, v := range x {
		avg.Add(v)
	}
	return avg.Value() * avg.Value()
}

package ode

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A Method is a method of solution.
type Method int

// The methods.
const (
	DormandPrince Method = iota // explicit, order 5
	Rodas                       // Rosenbrock, order 4, for stiff problems
)

func (m Method) String() string {
	switch m {
	case DormandPrince:
		return "DormandPrince"
	case Rodas:
		return "Rodas"
	}
	return "an unknown method"
}

// Settings of a problem. The zero value, like nil, selects the defaults.
type Settings struct {
	Method Method
	// Relative and Absolute are tolerances for the error of a step: in each element Absolute + Relative·|y|, and the
	// root of the mean of the squares over all elements. 0 means 1e-8 and 1e-10.
	Relative, Absolute float64
	// FirstStep is the size of the first step, positive; 0 lets the problem choose it.
	FirstStep float64
	// LargestStep bounds all steps; 0 means the interval.
	LargestStep float64
	// MaxSteps bounds the number of steps, rejected ones included; 0 means 100000.
	MaxSteps int
	// Times are in the order of the solution, within the interval: steps end there, and Solution.States has the states.
	// Without them there is the end alone.
	Times []float64
	// Bytes bounds the memory for the states at steps, which Pullback goes back through; 0 means 64 MiB, and at least
	// two states are kept. Where it does not suffice, Pullback and Solution.At compute states again from those before.
	// The times and sizes of the steps are kept beside them, 16 bytes each.
	Bytes int
	// Context ends the solution when it is done.
	Context context.Context
	// Progress, if set, is told the time after each step; an error of it ends the solution.
	Progress func(t float64) error
	// Events end the solution, or are noted, where functions of the state cross zero. Two zeros in one step are not
	// seen.
	Events []*Event
}

// check fills in the defaults.
func (s *Settings) check() (Settings, error) {
	var c Settings
	if s != nil {
		c = *s
		c.Times, c.Events = slices.Clone(c.Times), slices.Clone(c.Events)
	}
	for i, e := range c.Events {
		if e == nil || e.prep == nil {
			return c, &SettingError{"Settings.Events", fmt.Sprintf("an event (%d) without a function", i),
				"those of ode.NewEvent"}
		}
	}
	for _, v := range []struct {
		name  string
		value *float64
		start float64
	}{{"Relative", &c.Relative, 1e-8}, {"Absolute", &c.Absolute, 1e-10}, {"FirstStep", &c.FirstStep, 0},
		{"LargestStep", &c.LargestStep, math.Inf(1)}} {
		if *v.value < 0 || *v.value-*v.value != 0 {
			return c, &SettingError{"Settings." + v.name, *v.value, "a finite number that is not negative"}
		}
		if *v.value == 0 {
			*v.value = v.start
		}
	}
	if c.MaxSteps < 0 {
		return c, &SettingError{"Settings.MaxSteps", c.MaxSteps, "0 or more"}
	}
	if c.Bytes < 0 {
		return c, &SettingError{"Settings.Bytes", c.Bytes, "0 or more"}
	}
	if c.MaxSteps == 0 {
		c.MaxSteps = 100000
	}
	if c.Bytes == 0 {
		c.Bytes = 64 << 20
	}
	if c.Method != DormandPrince && c.Method != Rodas {
		return c, &SettingError{"Settings.Method", int(c.Method), "DormandPrince or Rodas"}
	}
	return c, nil
}

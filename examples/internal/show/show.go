// Package show is what the examples have in common: their flags, their pictures, and the comparison of exact
// derivatives with differences.
package show

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
)

// A Solution is what an example has computed with one engine.
type Solution struct {
	X     []float64 // the answer
	Calls int       // the number of gradients, Jacobians or Hessians that it took
	Note  string    // what else is to be compared, if anything
}

// Example is what an example consists of: Run prints its results to w and draws its picture to the file of the given
// name. Solve computes the answer alone, with derivatives by the engine b.
type Example struct {
	Run   func(w io.Writer, picture string) error
	Solve func(b nabla.Backend) (Solution, error)
}

// Main runs the example, or prints a line of figures if the flag -figures is set.
func (e Example) Main() {
	log.SetFlags(0)
	picture := flag.String("picture", "picture.svg", "`file` of the picture, also .png or .pdf")
	figures := flag.Bool("figures", false, "print a line of figures, with exact derivatives and with differences")
	flag.Parse()
	var err error
	if *figures {
		err = e.figures(os.Stdout)
	} else {
		err = e.Run(os.Stdout, *picture)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// figures prints the number of unknowns, and for exact derivatives and for differences the calls and the time, then the
// largest difference of the two answers relative to their largest element.
func (e Example) figures(w io.Writer) error {
	exact, exactTime, err := e.measure(nil)
	if err != nil {
		return err
	}
	differences, differencesTime, err := e.measure(finitediff.Backend{})
	if err != nil {
		_, err = fmt.Fprintf(w, "%d\t%d\t%v\t-\t-\t\t%v\n", len(exact.X), exact.Calls, round(exactTime), err)
		return err
	}
	apart, scale := 0.0, 0.0
	for i, v := range exact.X {
		apart, scale = max(apart, math.Abs(v-differences.X[i])), max(scale, math.Abs(v))
	}
	note := ""
	if exact.Note != "" {
		note = exact.Note + ", " + differences.Note + " with differences"
	}
	_, err = fmt.Fprintf(w, "%d\t%d\t%v\t%d\t%v\t%.0e\t%s\n", len(exact.X), exact.Calls, round(exactTime),
		differences.Calls, round(differencesTime), apart/scale, note)
	return err
}

// measure returns the solution with b and the median of the times that it takes.
func (e Example) measure(b nabla.Backend) (s Solution, _ time.Duration, err error) {
	var times []time.Duration
	for begin := time.Now(); len(times) < 3 || len(times) < 100 && time.Since(begin) < time.Second; {
		start := time.Now()
		if s, err = e.Solve(b); err != nil {
			return s, 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return s, times[len(times)/2], nil
}

// round leaves two digits of a duration.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d >= 100*unit {
		unit *= 10
	}
	return d.Round(unit)
}

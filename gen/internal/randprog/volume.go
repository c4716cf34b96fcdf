package randprog

import (
	"errors"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

// A Volume is a range of random programs.
type Volume struct {
	Programs int
	Seed     uint64 // of the first program
	Inputs   int    // of each program
	Limit    int    // failures after which Run ends
	Batch    int    // programs that are loaded as one package
	Options  Options
	Progress func(done int, tally Tally) // unless nil, called after every batch, one call at a time
}

// Run makes, loads and checks the programs on all processors, until there are Limit failures. visit is called with each
// failure, one at a time.
func (v Volume) Run(check func(*Case, *Tally) error, visit func(*Case, error)) (Tally, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		total    Tally
		broken   error
		failures int
		done     int
	)
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return failures >= v.Limit || broken != nil
	}
	part := func(from int) (tally Tally, err error) {
		var list []*Program
		for i := from; i < min(from+v.Batch, v.Programs); i++ {
			list = append(list, New(v.Seed+uint64(i), v.Options))
		}
		cases, err := Load(list, v.Inputs)
		for _, c := range cases {
			if enough() {
				break
			}
			if e := check(c, &tally); e != nil {
				mu.Lock()
				if failures++; failures <= v.Limit {
					visit(c, e)
				}
				mu.Unlock()
			}
		}
		return tally, err
	}
	work := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for from := range work {
				tally, err := part(from)
				mu.Lock()
				if broken == nil {
					broken = err
				}
				total.Add(tally)
				done += min(v.Batch, v.Programs-from)
				if v.Progress != nil {
					v.Progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	for from := 0; from < v.Programs && !enough(); from += v.Batch {
		work <- from
	}
	close(work)
	wg.Wait()
	return total, broken
}

// Test checks random programs with a number of inputs each. Failures are shrunk and saved in dir.
func Test(t *testing.T, programs int, seed uint64, inputs int, dir string, check func(*Case, *Tally) error) {
	t.Helper()
	TestWith(t, Options{}, programs, seed, inputs, dir, check)
}

// TestWith is Test with options.
func TestWith(t *testing.T, o Options, programs int, seed uint64, inputs int, dir string,
	check func(*Case, *Tally) error) {
	t.Helper()
	v := Volume{Programs: programs, Seed: seed, Inputs: inputs, Limit: 10, Batch: 100, Options: o}
	v.Progress = func(done int, tally Tally) { // long searches show that they go on, in the output of -v
		if done%5000 < v.Batch && done < programs {
			t.Logf("%d of %d programs, %v", done, programs, tally)
		}
	}
	tally, err := v.Run(check, func(c *Case, err error) {
		check := check
		if f := (*Failure)(nil); errors.As(err, &f) && f.Again != nil {
			check = f.Again
		}
		c = c.Shrink(func(c *Case) error { return check(c, new(Tally)) }, 2000)
		if e := check(c, new(Tally)); e != nil {
			err = e
		}
		name, saveErr := c.Save(dir, c.Program.Seed, err)
		if saveErr != nil {
			t.Error(saveErr)
		}
		t.Errorf("seed %d: %v\nwritten to %s:\n%s", c.Program.Seed, err, name, c.Source())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs, %v", programs, tally)
	if tally.Skipped*10 > tally.Samples {
		t.Error("too many programs are not tame")
	}
	if tally.Panics*20 > tally.Samples {
		t.Error("too many programs panic")
	}
}

// Catches returns the seed and the failure of the first program found that fails. It tries the given number of programs
// at most; if likely is not 0, five programs from that seed on come first.
func Catches(programs int, likely uint64, check func(*Case, *Tally) error) (seed uint64, failure, err error) {
	return CatchesWith(Options{}, programs, likely, check)
}

// CatchesWith is Catches with options.
func CatchesWith(o Options, programs int, likely uint64,
	check func(*Case, *Tally) error) (seed uint64, failure, err error) {
	v := Volume{Programs: programs, Seed: 1, Inputs: 4, Limit: 1, Batch: 5, Options: o}
	found := func(c *Case, e error) { seed, failure = c.Program.Seed, e }
	if likely != 0 {
		near := v
		near.Seed, near.Programs = likely, 5
		if _, err = near.Run(check, found); err != nil || failure != nil {
			return seed, failure, err
		}
	}
	_, err = v.Run(check, found)
	return seed, failure, err
}

// Files checks the saved programs in dir.
func Files(t *testing.T, dir string, check func(*Case, *Tally) error) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		c, err := LoadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := check(c, new(Tally)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

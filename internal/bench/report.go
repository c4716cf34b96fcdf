package bench

import (
	"os"
	"runtime"
	"strings"
	"time"
)

// A Report holds the results of a run and its circumstances.
type Report struct {
	Info Info
	Rows []Row
	// Want is the number of rows requested, which exceeds len(Rows) after an interruption.
	Want int
}

// Info holds the circumstances of a measurement. Empty fields are unknown, and not shown.
type Info struct {
	Version  string // of nabla
	Go       string // version
	OS, Arch string
	CPU      string // name of the processor
	CPUs     int    // number that the program may use
	Load     string // of the machine, before and after the measurement
	Date     string
	Budget   time.Duration // see [Config]
}

// Here returns the circumstances on this machine, without date and version.
func Here() Info {
	return Info{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName(),
		CPUs: runtime.GOMAXPROCS(0)}
}

// Load returns the number of running processes, averaged over the last minute, on Linux; on other systems "".
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

// cpuName returns the name of the processor on Linux; on other systems, where it takes more than a file, it returns "".
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return cpuNameIn(string(text))
}

// cpuNameIn returns the name in the text of /proc/cpuinfo, "" if there is none.
func cpuNameIn(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

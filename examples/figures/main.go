// Figures runs all examples with exact derivatives and with finite differences, and prints how many derivatives each
// takes and how long, as a table. Run it in the directory examples: go run ./figures.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
)

func main() {
	log.SetFlags(0)
	mains, err := filepath.Glob("*/main.go")
	if err != nil {
		log.Fatal(err)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "example\tunknowns\tderivatives\ttime\twith differences\ttime\tanswers apart\t\t")
	for _, m := range mains {
		name := filepath.Dir(m)
		if name == "figures" {
			continue
		}
		line, err := exec.Command("go", "run", "./"+name, "-figures").Output()
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(w, "%s\t%s\t\n", name, line[:len(line)-1])
	}
	w.Flush()
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"
)

func outputFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: "o", Usage: "write to `FILE` instead of standard output", TakesFile: true}
}

// A sink collects the output of a command and delivers it at the end. The file named by -o therefore keeps its contents
// until new ones are complete, and a file that cannot be written is an error before the work begins.
type sink struct {
	bytes.Buffer
	command string
	file    *os.File // nil: out
	created bool
	out     io.Writer
}

func (a *app) openSink(c *cli.Command) (*sink, error) {
	s := &sink{command: c.Name, out: a.out}
	name := c.String("o")
	switch {
	case !c.IsSet("o"):
		return s, nil
	case name == "":
		return nil, usagef("%s: -o: want the name of a file", c.Name)
	}
	_, err := os.Lstat(name)
	s.created = err != nil
	if s.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
		return nil, usagef("%s: -o: %v", c.Name, err)
	}
	return s, nil
}

// deliver writes the collected output.
func (s *sink) deliver() error {
	var err error
	if s.file == nil {
		_, err = s.out.Write(s.Bytes())
	} else {
		if info, e := s.file.Stat(); e == nil && info.Mode().IsRegular() {
			err = s.file.Truncate(0)
		}
		if err == nil {
			_, err = s.file.Write(s.Bytes())
		}
		if e := s.file.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("%s: writing the result: %w", s.command, err)
	}
	return nil
}

// abandon discards the output and removes a file that the sink created.
func (s *sink) abandon() {
	if s.file != nil {
		s.file.Close()
		if s.created {
			os.Remove(s.file.Name())
		}
	}
}

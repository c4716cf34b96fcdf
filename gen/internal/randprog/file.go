package randprog

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

// Files of failures begin with comments of these forms.
const (
	failedMark = "// failed: "
	seedMark   = "// seed: "
	sigMark    = "// signature: "
	inputMark  = "// input: "
)

// Save writes a failed case to a file in dir and returns its name.
func (c *Case) Save(dir string, seed uint64, why error) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	var b strings.Builder
	text, _, _ := strings.Cut(why.Error(), "\n")
	fmt.Fprintf(&b, "%s%s\n%s%d\n%s%d\n", failedMark, text, seedMark, seed, sigMark, c.Sig)
	for _, in := range c.Inputs {
		line, err := json.Marshal(in)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s%s\n", inputMark, line)
	}
	b.WriteString("\n" + blankLines.ReplaceAllString(c.Source(), "\n\n"))
	src, err := format.Source([]byte(b.String()))
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, fmt.Sprintf("seed%d.go", seed))
	return name, os.WriteFile(name, src, 0o666)
}

// LoadFile loads a case that [Case.Save] wrote.
func LoadFile(name string) (*Case, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &Case{source: string(src)}
	for line := range strings.Lines(c.source) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, sigMark); ok {
			if _, err := fmt.Sscan(rest, &c.Sig); err != nil || c.Sig < 0 || c.Sig >= numSignatures {
				return nil, fmt.Errorf("%s: no signature %q", name, rest)
			}
		}
		if rest, ok := strings.CutPrefix(line, inputMark); ok {
			in := new(Input)
			if err := json.Unmarshal([]byte(rest), in); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			c.Inputs = append(c.Inputs, in)
		}
	}
	if len(c.Inputs) == 0 {
		return nil, fmt.Errorf("%s: no line %q", name, inputMark)
	}
	names := []string{"F"}
	if strings.Contains(c.source, "\nfunc G(") {
		names = append(names, "G")
	}
	for i, s := range []string{c.source, withFloat64(c.source)} {
		fs, err := Lower(names, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			c.F, c.Wide = fs[0], fs[0]
			if len(fs) > 1 {
				c.Also = fs[1]
			}
		} else if s != c.source {
			c.Wide = fs[0]
		}
	}
	return c, nil
}

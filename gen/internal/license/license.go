// Package license finds the licence of the module that a function is followed into. Generated derivatives of library
// functions are adaptations of their source, and most licences ask that copies carry a notice.
package license

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// A License is the licence of a module.
type License struct {
	Name string // SPDX identifiers joined by " and ", or "unknown licence"
	Text string // contents of the licence files, empty if there is none
	// Warning is the reason why generated code may not be distributed without care, empty for licences that ask for a
	// notice at most.
	Warning string
}

//go:embed go.txt
var goText string

// Go returns the licence of Go and its standard library, which is the same on each machine.
func Go() License { return License{Name: "BSD-3-Clause", Text: strings.TrimSpace(goText)} }

// fileName matches the names of files that pkg.go.dev looks at.
var fileName = regexp.MustCompile(`(?i)^(copying|license|licence|unlicense|unlicence|notice)([-._].*)?$`)

// minCoverage is the share of a text, in percent, that has to be known licence text for the text to count as a licence.
const minCoverage = 75

// noticeOnly lists identifiers of licences that ask for a notice at most. Others, copyleft ones among them, are warned
// of.
var noticeOnly = []string{
	"0BSD", "AFL-3.0", "Apache-1.1", "Apache-2.0", "BSD-1-Clause", "BSD-2-Clause", "BSD-2-Clause-FreeBSD",
	"BSD-2-Clause-NetBSD", "BSD-2-Clause-Patent", "BSD-2-Clause-Views", "BSD-3-Clause", "BSD-3-Clause-Attribution",
	"BSD-3-Clause-Clear", "BSD-3-Clause-LBNL", "BSD-3-Clause-Modification", "BSD-4-Clause", "BSL-1.0", "CC0-1.0",
	"GooglePatentClause", "GooglePatentsFile", "ISC", "MIT", "MIT-0", "MIT-advertising", "MIT-enna", "MIT-feh",
	"MIT-Modern",
	"MIT-Wu", "NCSA", "NIST-PD", "Python-2.0", "Unlicense", "Unlicense-DoNot", "W3C", "X11", "Zlib",
	"zlib-acknowledgement",
}

// Files returns the paths of the files with licences and notices at the top of dir, none if it does not exist.
func Files(dir string) (names []string, err error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range list {
		if f.Type().IsRegular() && fileName.MatchString(f.Name()) && !strings.HasSuffix(f.Name(), ".go") {
			names = append(names, filepath.Join(dir, f.Name()))
		}
	}
	return names, nil
}

// Find returns the licence of the module in directory dir, of the files at its top. A file of notices counts only as
// text.
func Find(dir string) (License, error) {
	list, err := Files(dir)
	if err != nil {
		return License{}, err
	}
	var names, texts []string
	known, permissive := true, true
	for _, f := range list {
		text, err := os.ReadFile(f)
		if err != nil {
			return License{}, err
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		if strings.HasPrefix(strings.ToLower(filepath.Base(f)), "notice") {
			continue
		}
		found := licensecheck.Scan(text)
		known = known && found.Percent >= minCoverage
		for _, m := range found.Match {
			if !m.IsURL && !slices.Contains(names, m.ID) {
				names = append(names, m.ID)
				permissive = permissive && slices.Contains(noticeOnly, m.ID)
			}
		}
	}
	l := License{Name: strings.Join(names, " and "), Text: strings.Join(texts, "\n\n")}
	switch {
	case len(texts) == 0:
		l.Name, l.Warning = "no licence", "has no licence file, so its code may not be copied"
	case len(names) == 0 || !known:
		l.Name, l.Warning = "unknown licence", "has a licence that is not known"
	case !permissive:
		l.Warning = "is licensed under " + l.Name + ", which asks for more than a notice"
	}
	return l, nil
}

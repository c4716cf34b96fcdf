package license

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const mit = `MIT License

Copyright (c) 2020 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later
version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied
warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
<https://www.gnu.org/licenses/>.
`

func TestFind(t *testing.T) {
	for name, tt := range map[string]struct {
		files         map[string]string
		want, warning string
	}{
		"permissive":   {map[string]string{"LICENSE": mit, "README": gpl}, "MIT", ""},
		"other name":   {map[string]string{"License.md": mit}, "MIT", ""},
		"with notices": {map[string]string{"LICENSE.txt": mit, "NOTICE": "Made by somebody."}, "MIT", ""},
		"copyleft":     {map[string]string{"COPYING": gpl}, "GPL-3.0", "asks for more than a notice"},
		"two": {map[string]string{"COPYING": gpl, "LICENSE-MIT": mit}, "GPL-3.0-or-later and MIT",
			"asks for more"},
		"unknown": {map[string]string{"LICENSE": "Do as I say."}, "unknown licence", "not known"},
		"added terms": {map[string]string{"LICENSE": mit + strings.Repeat("You shall pay. ", 100)}, "unknown licence",
			"not known"},
		"none": {map[string]string{"license.go": "package license"}, "no licence", "no licence file"},
	} {
		dir := t.TempDir()
		for f, text := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		l, err := Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(l.Name, tt.want) || !strings.Contains(l.Warning, tt.warning) ||
			(tt.warning == "") != (l.Warning == "") {
			t.Errorf("%s: got %+v", name, l)
		}
		if name == "with notices" && !strings.Contains(l.Text, "Made by somebody.") {
			t.Errorf("the notice is missing: %q", l.Text)
		}
	}
}

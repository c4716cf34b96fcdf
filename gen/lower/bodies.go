package lower

import (
	"bytes"
	"go/scanner"
	"go/token"
)

// withoutBodies returns a file in which the bodies of functions at its top level are blank: spaces and line ends
// between their braces, so that everything else keeps its position. A file whose braces do not match is returned as it
// is. Scanning takes a fraction of the time in which bodies are parsed.
func withoutBodies(src []byte) []byte {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	failed := false
	s.Init(file, src, func(token.Position, string) { failed = true }, 0)
	out := bytes.Clone(src)
	depth := 0 // of brackets of all kinds
	body := -1 // offset of the first byte of a body
	function := false
	previous := token.ILLEGAL
	for {
		pos, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			if failed || depth != 0 {
				return src
			}
			return out
		case token.FUNC:
			if depth == 0 && (previous == token.SEMICOLON || previous == token.ILLEGAL) {
				function = true
			}
		case token.SEMICOLON:
			if depth == 0 {
				function = false
			}
		case token.LPAREN, token.LBRACK, token.LBRACE:
			// The brace after a type such as struct or interface is not that of a body.
			ofType := previous == token.STRUCT || previous == token.INTERFACE
			if tok == token.LBRACE && depth == 0 && function && !ofType {
				body = file.Offset(pos) + 1
			}
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
			if depth < 0 {
				return src
			}
			if depth == 0 && body >= 0 {
				blank(out[body:file.Offset(pos)])
				body, function = -1, false
			}
		}
		previous = tok
	}
}

// blank replaces all bytes of text but ends of lines by spaces.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

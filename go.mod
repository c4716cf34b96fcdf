module github.com/nabla-ad/nabla

go 1.26.0

require (
	github.com/urfave/cli/v3 v3.14.0
	golang.org/x/term v0.47.0
	gonum.org/v1/gonum v0.16.0
)

require golang.org/x/sys v0.49.0 // indirect

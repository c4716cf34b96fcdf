module github.com/nabla-ad/nabla

go 1.26

require gonum.org/v1/gonum v0.16.0 // indirect

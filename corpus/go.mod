module github.com/nabla-ad/nabla/corpus

go 1.26.0

require (
	github.com/go-gl/mathgl v1.1.0
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890
	github.com/lucasb-eyer/go-colorful v1.4.1
	github.com/montanaflynn/stats v0.14.0
	github.com/nabla-ad/nabla v0.0.0
	github.com/paulmach/orb v0.14.0
	gonum.org/v1/gonum v0.17.0
)

require (
	golang.org/x/image v0.25.0 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

replace github.com/nabla-ad/nabla => ../

module github.com/nabla-ad/nabla/corpus

go 1.26.0

require (
	github.com/MaxHalford/eaopt v0.4.2
	github.com/StefanSchroeder/Golang-Ellipsoid v0.0.0-20221004092235-f00a9ab04789
	github.com/VividCortex/ewma v1.2.0
	github.com/aquilax/go-perlin v1.1.0
	github.com/argusdusty/gofft v1.2.1
	github.com/chewxy/math32 v1.11.1
	github.com/cinar/indicator v1.3.0
	github.com/cnkei/gospline v0.0.0-20191204072713-842a72f86331
	github.com/dhconnelly/rtreego v1.2.0
	github.com/fogleman/ease v0.0.0-20170301025033-8da417bf1776
	github.com/go-gl/mathgl v1.1.0
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890
	github.com/itsubaki/q v0.0.5
	github.com/jakecoffman/cp v1.2.1
	github.com/joshuaferrara/go-satellite v0.0.0-20220611180459-512638c64e5b
	github.com/lucasb-eyer/go-colorful v1.4.1
	github.com/markcheno/go-talib v0.0.0-20190307022042-cd53a9264d70
	github.com/mjibson/go-dsp v0.0.0-20180508042940-11479a337f12
	github.com/montanaflynn/stats v0.14.0
	github.com/nabla-ad/nabla v0.0.0
	github.com/ojrac/opensimplex-go v1.0.2
	github.com/paulmach/orb v0.14.0
	github.com/sajari/regression v1.0.1
	github.com/sgreben/piecewiselinear v1.1.1
	github.com/soniakeys/meeus/v3 v3.0.1
	github.com/soniakeys/unit v1.0.0
	github.com/tidwall/geodesic v1.52.4
	github.com/umahmood/haversine v0.0.0-20151105152445-808ab04add26
	github.com/ungerik/go3d v0.0.0-20240502073936-1137f6adf7e9
	github.com/wroge/wgs84 v1.1.7
	go-hep.org/x/hep v0.37.1
	gonum.org/v1/gonum v0.17.0
)

require (
	codeberg.org/gonuts/binary v0.3.2 // indirect
	github.com/google/licensecheck v0.3.1 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/image v0.27.0 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/nabla-ad/nabla => ../

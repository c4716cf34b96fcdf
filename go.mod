module github.com/nabla-ad/nabla

go 1.26

module github.com/topocast/topocast

go 1.26.0

require gonum.org/v1/gonum v0.17.0

require github.com/google/renameio/v2 v2.0.2

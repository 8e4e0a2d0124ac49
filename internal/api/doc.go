// Package api lists what each package exports, as the text of its declarations.
// Its test compares the listings with those in testdata, one file per package
// outside internal/ and examples/. So no exported name comes, goes or
// changes without a line in a diff:
//
//	go test ./internal/api -update
//
// A listing is made of syntax alone, so it needs neither a type checker nor a
// build: constants and variables, functions, then the types with what belongs to
// them, in alphabetical order, as a program sees them that is built for
// linux/amd64 without cgo and without tags. Comments, function bodies and
// the order of the source do not count.
package api

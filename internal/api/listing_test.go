package api

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Listing returns the declarations of all that the package in a folder exports.
// Fields and methods that are not exported are left out; where a struct has such
// fields, a comment says so. It is "" for a folder without Go files of the
// default build.
func Listing(folder string) (string, error) {
	fset := token.NewFileSet()
	files, err := parse(fset, folder)
	if err != nil || len(files) == 0 {
		return "", err
	}
	p, err := doc.NewFromFiles(fset, files, folder, doc.PreserveAST)
	if err != nil {
		return "", fmt.Errorf("api: list %s: %w", folder, err)
	}
	l := lister{fset: fset}
	l.text.WriteString("package " + p.Name + "\n")
	l.values(p.Consts)
	l.values(p.Vars)
	l.funcs(p.Funcs)
	for _, t := range p.Types {
		l.text.WriteString("\n")
		l.node(t.Decl)
		l.values(t.Consts)
		l.values(t.Vars)
		l.funcs(t.Funcs)
		l.funcs(t.Methods)
	}
	if l.err != nil {
		return "", fmt.Errorf("api: list %s: %w", folder, l.err)
	}
	return l.text.String(), nil
}

// parse reads the files of a package that belong to its default build. Comments
// are left behind, so go/doc has none to print.
func parse(fset *token.FileSet, folder string) ([]*ast.File, error) {
	target := build.Default
	target.GOOS, target.GOARCH = "linux", "amd64"
	target.CgoEnabled = false // it depends on whether there is a C compiler
	target.BuildTags, target.ToolTags = nil, nil

	in, err := target.ImportDir(folder, 0)
	if none := new(build.NoGoError); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("api: list %s: %w", folder, err)
	}
	var files []*ast.File
	for _, name := range in.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("api: list %s: %w", folder, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// A lister writes declarations one after the other, up to the first error.
type lister struct {
	fset *token.FileSet
	text strings.Builder
	err  error
}

// values lists constants or variables by the first name of each declaration:
// go/doc has them in the order of the files.
func (l *lister) values(values []*doc.Value) {
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b *doc.Value) int { return strings.Compare(a.Names[0], b.Names[0]) })
	for _, v := range values {
		l.text.WriteString("\n")
		l.node(v.Decl)
	}
}

// funcs lists functions, or the methods of one type, a line each.
func (l *lister) funcs(funcs []*doc.Func) {
	for i, f := range funcs {
		if i == 0 {
			l.text.WriteString("\n")
		}
		head := *f.Decl
		head.Body = nil
		l.node(&head)
	}
}

// node lists one declaration. Comments leave blank lines behind, which would
// change the columns of what is around them: they go, and the rest is aligned
// afresh.
func (l *lister) node(node ast.Node) {
	if l.err != nil {
		return
	}
	var printed bytes.Buffer
	if l.err = printer.Fprint(&printed, l.fset, node); l.err != nil {
		return
	}
	var full []byte
	for line := range bytes.Lines(printed.Bytes()) {
		if len(bytes.TrimSpace(line)) > 0 {
			full = append(full, line...)
		}
	}
	full, l.err = format.Source(full)
	l.text.Write(bytes.TrimSpace(full))
	l.text.WriteString("\n")
}

package mpi

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// declared returns the exported methods of Comm, World and Comm itself as some
// files declare them: the signature and the documentation.
func declared(t *testing.T, files ...string) map[string][2]string {
	t.Helper()
	all := make(map[string][2]string)
	fset := token.NewFileSet()
	text := func(node any) string {
		var b strings.Builder
		if err := format.Node(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				isMethod := d.Recv != nil && strings.TrimPrefix(text(d.Recv.List[0].Type), "*") == "Comm"
				if d.Name.IsExported() && (isMethod || d.Recv == nil) {
					all[d.Name.Name] = [2]string{text(d.Type), d.Doc.Text()}
				}
			case *ast.GenDecl:
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok && s.Name.IsExported() {
					all[s.Name.Name] = [2]string{"", d.Doc.Text()}
				}
			}
		}
	}
	return all
}

// Documentation sites show the build without MPI. What it declares is what the
// real one does, in the same words.
func TestStubReadsAsTheRealThing(t *testing.T) {
	real := declared(t, "comm_mpi.go", "requests_mpi.go", "steps_mpi.go", "timed_mpi.go", "world_mpi.go")
	stub := declared(t, "comm_stub.go")
	if len(real) < 18 {
		t.Fatalf("only %d declarations found: are there more files with methods of Comm?", len(real))
	}
	for name, want := range real {
		got, ok := stub[name]
		switch {
		case !ok:
			t.Errorf("the stub has no %s", name)
		case got[0] != want[0]:
			t.Errorf("%s of the stub is a %s, want %s", name, got[0], want[0])
		case !strings.HasPrefix(got[1], want[1]):
			t.Errorf("documentation of %s in the stub:\n%swant:\n%s", name, got[1], want[1])
		}
	}
	for name := range stub {
		if _, ok := real[name]; !ok {
			t.Errorf("only the stub has %s", name)
		}
	}
}

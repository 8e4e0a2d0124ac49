package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMessages collects the texts of all errors, to be read with -v in one go, and refuses what
// does not read well where errors are joined by colons into one line: sentences with a stop, line
// ends, and words that say that something went wrong but not what.
func TestMessages(t *testing.T) {
	vague := regexp.MustCompile(`(?i)\b(failed to|unable to|could not|went wrong|illegal|bad)\b|^invalid (?:argument|value|input)|[.!]$|\n[^%]|\n$`)
	n := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if name := entry.Name(); name == "testdata" || len(name) > 2 && name[0] == '.' {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		messages, err := errorsOf(path)
		for _, m := range messages {
			n++
			t.Log(m)
			if vague.MatchString(m.text) {
				t.Errorf("%v: does not read well", m)
			}
		}
		return err
	})
	if err != nil || n < 1000 {
		t.Errorf("%d messages, %v", n, err)
	}
}

type message struct {
	at   token.Position
	text string
}

func (m message) String() string {
	return fmt.Sprintf("%s:%d: %q", strings.TrimPrefix(m.at.Filename, "../../"), m.at.Line, m.text)
}

// errorsOf returns the texts that a file gives to fmt.Errorf, errors.New and functions of its own
// whose names end like them.
func errorsOf(path string) ([]message, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return nil, err
	}
	var found []message
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := ""
		switch f := call.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
			if x, ok := f.X.(*ast.Ident); name == "New" && (!ok || x.Name != "errors") {
				return true
			}
		}
		if name != "New" && !strings.HasSuffix(strings.ToLower(name), "errorf") && name != "refuse" && name != "fail" {
			return true
		}
		for _, argument := range call.Args {
			if text, ok := constant(argument); ok {
				found = append(found, message{files.Position(call.Pos()), text})
				break
			}
		}
		return true
	})
	return found, nil
}

// constant is the text of a string, also of one that is added up from several.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, also := constant(e.Y)
		return left + right, ok || also
	}
	return "", false
}

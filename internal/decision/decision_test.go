package decision

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/tooltest"
)

// cell is the choice for a class of sizes and one of roots.
func cell(bytes int64, rootClass int, c table.Choice) table.Cell {
	return table.Cell{Bytes: bytes, RootClass: rootClass, Choice: c}
}

// figure612 is the decision function of Reinfjell 2023, figure 6.12, in the names of our
// algorithms, as benchmarks at powers of two found it.
func figure612() table.Tuning {
	t := table.Tuning{Job: table.Job{Ranks: 8}, Date: "2023-06-11T00:00:00Z"}
	for bytes := int64(1); bytes <= 4<<20; bytes *= 2 {
		c := table.Choice{Algorithm: "magpie with BCastDefault"}
		switch {
		case bytes <= 1:
			c.Algorithm = "BCastPipeline"
		case bytes <= 8:
			c.Algorithm = "BCastDefault"
		case bytes > 256 && bytes <= 512, bytes > 2048 && bytes <= 4096, bytes > 262144:
			c.Algorithm = "magpie with BCastBtreeWSwap"
		}
		t.Cells = append(t.Cells, cell(bytes, 0, c))
	}
	return t
}

// Reference: Reinfjell 2023, figure 6.12, whose last three branches are one.
func TestDecisionOfReinfjell(t *testing.T) {
	var out bytes.Buffer
	Write(&out, Text, []table.Tuning{figure612()})
	_, branches, _ := strings.Cut(out.String(), "\n")
	const want = `  up to 1 B      BCastPipeline
  up to 8 B      BCastDefault
  up to 256 B    magpie with BCastDefault
  up to 512 B    magpie with BCastBtreeWSwap
  up to 2 KiB    magpie with BCastDefault
  up to 4 KiB    magpie with BCastBtreeWSwap
  up to 256 KiB  magpie with BCastDefault
  longer         magpie with BCastBtreeWSwap
`
	if branches != want {
		t.Errorf("branches\n%s\nwant\n%s", branches, want)
	}
}

// TestHeading: the first line says for which sizes the choices were made.
func TestHeading(t *testing.T) {
	for want, sizes := range map[string][]int64{
		"4 ranks, places p, for 8 B":          {8},
		"4 ranks, places p, for 8 B to 1 KiB": {8, 64, 1024},
	} {
		tuning := table.Tuning{Job: table.Job{Ranks: 4, Places: "p"}}
		for _, bytes := range sizes {
			tuning.Cells = append(tuning.Cells, cell(bytes, 0, table.Choice{Algorithm: "flat"}))
		}
		var out bytes.Buffer
		Write(&out, Text, []table.Tuning{tuning})
		if got, _, _ := strings.Cut(out.String(), "\n"); got != want {
			t.Errorf("heading %q, want %q", got, want)
		}
	}
}

func TestDecisionOfRoots(t *testing.T) {
	uneven := table.Tuning{
		Job:  table.Job{Ranks: 8, Library: "Open MPI v4.1.4", Places: "1"},
		Date: "2026-11-22T04:00:00Z", RootClass: []int{0, 0, 1, 1, 0, 0, 1, 1},
		Cells: []table.Cell{
			cell(8, 0, table.Choice{Algorithm: table.Native}),
			cell(1<<16, 0, table.Choice{Algorithm: "multilevel[flat chain]", Segment: 8192, Blocking: true}),
			cell(1<<20, 0, table.Choice{Algorithm: "chain", Segment: 4096}),
			cell(8, 1, table.Choice{Algorithm: "flat", Blocking: true}),
		},
	}
	later := table.Tuning{Job: table.Job{Ranks: 8, Library: "Open MPI v5.0.5", Places: "2"}, Cells: []table.Cell{cell(8, 0, table.Choice{Algorithm: "chain", Blocking: true})}}
	var out bytes.Buffer
	Write(&out, Text, []table.Tuning{uneven, {Job: table.Job{Ranks: 4}}})
	want := `Open MPI v4.1.4, 8 ranks, places 1, for 8 B to 1 MiB, tuned 2026-11-22T04:00:00Z
  root 0-1,4-5
    up to 8 B     native
    up to 64 KiB  multilevel[flat chain], segments of 8 KiB, blocking
    longer        chain, segments of 4 KiB
  root 2-3,6-7
    all sizes  flat, blocking
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	out.Reset()
	Write(&out, Go, []table.Tuning{uneven, later})
	if got := out.String(); strings.Contains(got, "multilevel") || !strings.Contains(got, `return "chain", 0, true`) {
		t.Errorf("two tunings of 8 ranks:\n%s\nwant the last one", got)
	}
}

// A topology that a choice follows is named behind its algorithm.
func TestDecisionNamesTopologies(t *testing.T) {
	tuning := table.Tuning{
		Job:        table.Job{Ranks: 8},
		Topologies: []table.Topology{{Name: "pods", Levels: [][][]int{{{0, 1}, {4, 5}}}}, {Name: "flat"}},
		Cells: []table.Cell{
			cell(8, 0, table.Choice{Algorithm: "multilevel[flat chain]", Topology: "pods", Segment: 8192, Blocking: true}),
			cell(16, 0, table.Choice{Algorithm: "chain", Topology: "flat", Segment: 4096}),
		},
	}
	for l, want := range map[Language]string{
		Text: "multilevel[flat chain] (pods), segments of 8 KiB, blocking",
		Go:   `return "chain (flat)", 4096, false`,
		C:    `return (struct bcast_choice){"chain (flat)", 4096, 0};`,
	} {
		var out strings.Builder
		if Write(&out, l, []table.Tuning{tuning}); !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s, want %q in it", l, &out, want)
		}
	}
}

// Roots that are not alike and have the same choices are one branch; where all have, roots are not asked for.
func TestRootsWithTheSameChoicesAreOneBranch(t *testing.T) {
	for _, c := range []struct {
		of   [3]string // algorithm of each class
		want string
	}{
		{[3]string{"flat", "chain", "flat"}, "  root 0,2-3\n    all sizes  flat\n  root 1\n    all sizes  chain\n"},
		{[3]string{"flat", "chain", "chain"}, "  root 0,3\n    all sizes  flat\n  root 1-2\n    all sizes  chain\n"},
		{[3]string{"flat", "flat", "flat"}, "  all sizes  flat\n"},
	} {
		var out bytes.Buffer
		tuning := table.Tuning{Job: table.Job{Ranks: 4}, RootClass: []int{0, 1, 2, 0}}
		for class, algorithm := range c.of {
			tuning.Cells = append(tuning.Cells, cell(8, class, table.Choice{Algorithm: algorithm}))
		}
		Write(&out, Text, []table.Tuning{tuning})
		if _, got, _ := strings.Cut(out.String(), "\n"); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.of, got, c.want)
		}
	}
}

// Whatever job was tuned last, the numbers of ranks ascend.
func TestDecisionsAscendByRanks(t *testing.T) {
	var tunings []table.Tuning
	for _, ranks := range []int{8, 2, 64, 4} {
		tunings = append(tunings, table.Tuning{Job: table.Job{Ranks: ranks}, Cells: []table.Cell{cell(8, 0, table.Choice{Algorithm: "flat"})}})
	}
	var out bytes.Buffer
	Write(&out, Text, tunings)
	var got []string
	for line := range strings.Lines(out.String()) {
		if ranks, _, is := strings.Cut(line, " ranks"); is {
			got = append(got, ranks)
		}
	}
	if want := []string{"2", "4", "8", "64"}; !slices.Equal(got, want) {
		t.Errorf("ranks %q, want %q in\n%s", got, want, &out)
	}
}

// many are tunings with what makes literals and comments end early.
func many(rng *rand.Rand) []table.Tuning {
	algorithms := []table.Choice{
		{Algorithm: table.Native},
		{Algorithm: `flat "*/ \`, Segment: 0, Blocking: true},
		{Algorithm: "chain", Segment: 4096},
		{Algorithm: "chain", Segment: 8192},
		{Algorithm: "chain", Segment: 8192, Blocking: true},
	}
	var all []table.Tuning
	for _, ranks := range []int{1, 2, 7, 64} {
		t := table.Tuning{Job: table.Job{Ranks: ranks, Library: `lib */ "x" \`, Places: `\`}}
		classes := 1 + rng.IntN(min(3, ranks))
		for rank := range ranks {
			class := rng.IntN(classes)
			if rank < classes {
				class = rank
			}
			t.RootClass = append(t.RootClass, class)
		}
		for class := range classes {
			for bytes := int64(1); bytes <= 1<<20; bytes *= 2 {
				if rng.IntN(3) > 0 {
					t.Cells = append(t.Cells, cell(bytes, class, algorithms[rng.IntN(len(algorithms))]))
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// expected looks through the cells: that of the size's class, or else of the next larger
// one, or else of the largest.
func expected(tunings []table.Tuning, bytes int64, ranks, root int) table.Choice {
	found := table.Choice{Algorithm: table.Native}
	for _, t := range tunings {
		if t.Ranks != ranks {
			continue
		}
		for _, c := range t.Cells {
			if c.RootClass == t.RootClass[root] {
				found = c.Choice
				if bytes <= c.Bytes {
					return found
				}
			}
		}
	}
	return found
}

// TestDecisionInGo: the file is formatted and correct Go, and it decides as the
// cells do: its statements are followed, so no compiler is needed.
func TestDecisionInGo(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		tunings := many(rng)
		var out bytes.Buffer
		Write(&out, Go, tunings)
		if formatted, err := format.Source(out.Bytes()); err != nil || !bytes.Equal(formatted, out.Bytes()) {
			t.Fatalf("%v, formatted:\n%s\nwant\n%s", err, &out, formatted)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "tuned.go", out.Bytes(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := new(types.Config).Check("tuned", files, []*ast.File{file}, nil); err != nil {
			t.Fatalf("%v in\n%s", err, &out)
		}
		body := file.Decls[0].(*ast.FuncDecl).Body
		for range 300 {
			ranks := []int{1, 2, 7, 64, 65}[rng.IntN(5)]
			root, size := rng.IntN(ranks), 1+rng.Int64N(1<<rng.IntN(23))
			got, _ := follow(t, body.List, map[string]int64{"bytes": size, "ranks": int64(ranks), "root": int64(root)})
			want := expected(tunings, size, ranks, root)
			if wanted := fmt.Sprintf("%q, %d, %v", want.Algorithm, want.Segment, want.Blocking); got != wanted {
				t.Fatalf("seed %d: %d bytes from %d of %d: %s, want %s in\n%s", seed, size, root, ranks, got, wanted, &out)
			}
		}
	}
}

// follow runs statements of if and return.
func follow(t *testing.T, list []ast.Stmt, values map[string]int64) (returned string, done bool) {
	t.Helper()
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			var parts []string
			for _, r := range s.Results {
				parts = append(parts, types.ExprString(r))
			}
			return strings.Join(parts, ", "), true
		case *ast.IfStmt:
			if holds(t, s.Cond, values) {
				if returned, done = follow(t, s.Body.List, values); done {
					return returned, true
				}
			}
		default:
			t.Fatalf("statement %T", s)
		}
	}
	return "", false
}

func holds(t *testing.T, e ast.Expr, values map[string]int64) bool {
	t.Helper()
	switch e := e.(type) {
	case *ast.ParenExpr:
		return holds(t, e.X, values)
	case *ast.BinaryExpr:
		if e.Op == token.LAND {
			return holds(t, e.X, values) && holds(t, e.Y, values)
		}
		if e.Op == token.LOR {
			return holds(t, e.X, values) || holds(t, e.Y, values)
		}
		var bound int64
		fmt.Sscan(e.Y.(*ast.BasicLit).Value, &bound)
		x := values[e.X.(*ast.Ident).Name]
		switch e.Op {
		case token.EQL:
			return x == bound
		case token.LEQ:
			return x <= bound
		case token.GEQ:
			return x >= bound
		}
	}
	t.Fatalf("condition %s", types.ExprString(e))
	return false
}

// TestDecisionInC: compiled without a warning, it decides as the cells do.
func TestDecisionInC(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	rng := rand.New(rand.NewPCG(1, 4))
	tunings := many(rng)
	var source, want bytes.Buffer
	Write(&source, C, tunings)
	source.WriteString("#include <stdio.h>\nint main(void)\n{\n    struct bcast_choice c;\n")
	for range 300 {
		ranks := []int{1, 2, 7, 64, 65}[rng.IntN(5)]
		root, size := rng.IntN(ranks), 1+rng.Int64N(1<<rng.IntN(23))
		fmt.Fprintf(&source, "    c = choose_bcast(%d, %d, %d);\n    printf(\"%%s, %%lld, %%d\\n\", c.algorithm, c.segment, c.blocking);\n", size, ranks, root)
		x := expected(tunings, size, ranks, root)
		blocking := 0
		if x.Blocking {
			blocking = 1
		}
		fmt.Fprintf(&want, "%s, %d, %d\n", x.Algorithm, x.Segment, blocking)
	}
	source.WriteString("    return 0;\n}\n")
	dir := t.TempDir()
	file, program := filepath.Join(dir, "tuned.c"), filepath.Join(dir, "tuned")
	if err := os.WriteFile(file, source.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := exec.Command(program).Output()
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%v: the program decides\n%s\nwant\n%s\nin\n%s", err, got, &want, &source)
	}
}

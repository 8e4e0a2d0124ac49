package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// programVar makes the test binary the program itself.
const programVar = "TOPOCAST_TEST_EMBED"

// launcherVar is the launcher of an MPI library, with its options.
const launcherVar = "TOPOCAST_TEST_MPIRUN"

func TestMain(m *testing.M) {
	if os.Getenv(programVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs the program by a launcher, if there is one.
func program(t *testing.T, launcher string, arguments ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := append(append(strings.Fields(launcher), self), arguments...)
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), programVar+"=1")
	out, err := command.CombinedOutput()
	return string(out), err
}

// expectRanks wants each of so many ranks to have told the last value.
func expectRanks(t *testing.T, out string, ranks int) {
	t.Helper()
	if got := strings.Count(out, "has the last value: 42\n"); got != ranks {
		t.Errorf("%d ranks have the last value, want %d:\n%s", got, ranks, out)
	}
}

func TestProgramWithoutMPI(t *testing.T) {
	out, err := program(t, "", file(t, "another", 4))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	expectRanks(t, out, 2)
	if out, err := program(t, "", "there-is-none.json"); err == nil || !strings.Contains(out, "there-is-none.json") {
		t.Errorf("a file that is not there: %v\n%s", err, out)
	}
}

// TestJobProgram: the program as a job of an MPI library, which .ci/test-mpi names.
func TestJobProgram(t *testing.T) {
	launcher := os.Getenv(launcherVar)
	if launcher == "" {
		t.Skip("wants a launcher in " + launcherVar)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{nil, {file(t, host, 2)}} {
		out, err := program(t, launcher+" -n 3", arguments...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		expectRanks(t, out, 3)
	}
}

// TestReadmeProgram compiles what README says of embedding, to the letter, and runs its work on two ranks of one process.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Embedding\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) == 0 {
		t.Fatal("README has no Go under Embedding")
	}
	folder := t.TempDir()
	for i, block := range blocks {
		code := block[1]
		if !strings.Contains(code, "func main() {") {
			t.Fatalf("a part of README that is no program cannot be run:\n%s", code)
		}
		run(t, folder, i, code)
	}
}

// whole is a program with the imports that it needs, and what README takes for granted.
func whole(code string) string {
	const module = "github.com/topocast/topocast/"
	text := "package main\n\nimport (\n"
	for name, path := range map[string]string{
		"log": "log", "fmt": "fmt", "bcast": module + "bcast", "model": module + "model", "mpi": module + "mpi",
		"collective": module + "mpi/collective", "local": module + "mpi/local", "measure": module + "measure",
	} {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
			text += "\t\"" + path + "\"\n"
		}
	}
	return text + ")\n\nvar values = make([]float64, 1000)\n\n" + code
}

// run checks a program, and runs its work on ranks of one process, where cluster.json is a network of this host.
func run(t *testing.T, folder string, number int, code string) {
	t.Helper()
	source, binary := filepath.Join(folder, "readme.go"), filepath.Join(folder, "readme")
	for _, x := range []struct{ command, code string }{
		{"vet", code},
		{"build -o " + binary, strings.Replace(code, "mpi.Run(work)", "local.Run(2, nil, work)", 1)},
	} {
		text := whole(x.code)
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", append(strings.Fields(x.command), source)...).CombinedOutput(); err != nil {
			t.Fatalf("part %d of README: go %s: %v\n%s\nas\n%s", number, x.command, err, out, text)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file(t, host, 2), filepath.Join(folder, "cluster.json")); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("part %d of README: %v\n%s", number, err, out)
	}
}

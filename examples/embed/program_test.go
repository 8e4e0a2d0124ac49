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

// TestPublishedPrograms compiles the Go of README and of the page on embedding, to the letter, and runs it on two ranks of one
// process.
func TestPublishedPrograms(t *testing.T) {
	const module = "github.com/topocast/topocast/"
	for page, program := range map[string]func(code string) string{
		"../../README.md": func(code string) string { // the inside of a function
			return "package main\n\nimport (\n\t\"log\"\n\n\t\"" + module + "bcast\"\n\t\"" + module + "model\"\n\t\"" + module + "mpi\"\n)\n\n" +
				"var values = make([]float64, 1000)\n\nfunc work(comm mpi.Communicator) error {\n" + code + "}\n\n" +
				"func main() {\n\tif err := mpi.Run(work); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n"
		},
		"../../docs/howto/embed.md": func(code string) string { return code },
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
			if len(blocks) != 1 {
				t.Fatalf("%s has %d blocks of Go, want 1", page, len(blocks))
			}
			run(t, t.TempDir(), page, program(blocks[0][1]))
		})
	}
}

// run checks a program, and runs its work on ranks of one process, where cluster.json is a network of this host.
func run(t *testing.T, folder, page, code string) {
	t.Helper()
	inProcess := strings.Replace(code, "mpi.Run(work)", "local.Run(2, nil, work)", 1)
	inProcess = strings.Replace(inProcess, "topocast/mpi\"\n", "topocast/mpi\"\n\t\"github.com/topocast/topocast/mpi/local\"\n", 1)
	source, binary := filepath.Join(folder, "program.go"), filepath.Join(folder, "program")
	for _, x := range []struct{ command, code string }{
		{"vet", code},
		{"build -o " + binary, inProcess},
	} {
		text := x.code
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", append(strings.Fields(x.command), source)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: go %s: %v\n%s\nas\n%s", page, x.command, err, out, text)
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
		t.Fatalf("%s: %v\n%s", page, err, out)
	}
}

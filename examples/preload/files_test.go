package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// library is the file to preload.
func library(t *testing.T) string {
	t.Helper()
	file := os.Getenv(libraryVar)
	if file == "" {
		t.Skip(libraryVar + " is not set: make test-preload sets it")
	}
	return file
}

// TestPreloadInShells: a process without MPI gets nothing but the preloaded file, neither Go nor MPI.
func TestPreloadInShells(t *testing.T) {
	file := library(t)
	c := exec.Command("/bin/sh", "-c", "cat /proc/self/maps; ls /proc/self/task | wc -l")
	c.Env = append(os.Environ(), "LD_PRELOAD="+file)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), file) || !strings.HasSuffix(string(out), "\n1\n") {
		t.Fatalf("%v, want the library and one thread:\n%s", err, out)
	}
	if other := regexp.MustCompile(`\S*(libmpi|\.go\.so)\S*`).Find(out); other != nil {
		t.Errorf("a shell has loaded %s", other)
	}
}

// TestPreloadCallsPMPI: profilers, which take the place of MPI_Send and its like, do not count our messages.
func TestPreloadCallsPMPI(t *testing.T) {
	for _, file := range []string{library(t), strings.TrimSuffix(library(t), ".so") + ".go.so"} {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.ImportedSymbols()
		if err != nil || len(symbols) == 0 {
			t.Fatal(symbols, err)
		}
		for _, s := range symbols {
			if strings.HasPrefix(s.Name, "MPI_") {
				t.Errorf("%s calls %s", file, s.Name)
			}
		}
	}
}

// TestPreloadOfTheOtherMPI: whoever takes the wrong file is told so.
func TestPreloadOfTheOtherMPI(t *testing.T) {
	other := map[string]string{"openmpi": "mpich", "mpich": "openmpi"}[os.Getenv(mpiVar)]
	file := strings.Replace(library(t), os.Getenv(mpiVar), other, 1)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := job{ranks: 1, program: []string{compile(t, "sizes.c")}, env: []string{"LD_PRELOAD=" + file}}.run(t)
	if want := "was built for another MPI library"; status == 0 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q, want a failure and %q", status, stderr, want)
	}
}

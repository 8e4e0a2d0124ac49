package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// TestPreloadFiles: both files load beside any MPI library, as they ask for no symbol of any, and on any system from
// glibc 2.31 on, as they ask for no newer version of a symbol.
func TestPreloadFiles(t *testing.T) {
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
			var minor int
			if n, _ := fmt.Sscanf(s.Version, "GLIBC_2.%d", &minor); n == 1 && minor > 31 || strings.Contains(s.Name, "MPI_") {
				t.Errorf("%s asks for %s of version %q", file, s.Name, s.Version)
			}
		}
	}
}

// TestPreloadUnknownMPI: a library whose ABI is not known makes its collectives itself, and the user is told in a line.
func TestPreloadUnknownMPI(t *testing.T) {
	file, program := library(t), filepath.Join(t.TempDir(), "program")
	// Position-independent code without immediate binding lets the preloaded MPI_Bcast be found at run time.
	if out, err := exec.Command("cc", "-O1", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all", "-o", program, "testdata/unknown.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), "LD_PRELOAD="+file)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if want := strings.Repeat("text, 5 of type -3 from 1 on communicator 7\n", 2) +
		"own, 2 of type -4 by 9 on communicator 7\nown, 2 of type -4 by 9 to 1 on communicator 7\n"; err != nil || string(out) != want {
		t.Errorf("%v, it writes %q, want %q", err, out, want)
	}
	if want := "topocast: all is left to MPI: the ABI of the library \"Nobody's MPI 1.0\" is not known\n"; stderr.String() != want {
		t.Errorf("it is told %q, want %q", &stderr, want)
	}
}

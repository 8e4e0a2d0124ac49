package mpi

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// libraryVar is the environment variable that names the library that World opens: a file, or a name that the
// loader finds. If it is set, a program that no launcher has started is a job of one rank.
const libraryVar = "TOPOCAST_MPI"

// A family of libraries has an ABI, and launchers (see starters).
type family struct {
	name  string
	files []string // by which the loader finds a library
}

// families are those that are known, the last resort last. Open MPI 3 to 6 are libmpi.so.40. Debian's MPICH
// is libmpich.so.12, since its libmpi is Open MPI. The file of the standard ABI does not tell its family.
func families() []family {
	return []family{
		{"Open MPI", []string{"libmpi.so.40", "libmpi.40.dylib"}},
		{"MPICH", []string{"libmpi.so.12", "libmpich.so.12", "libmpi.12.dylib"}},
		{"the standard ABI", []string{"libmpi_abi.so.1", "libmpi_abi.1.dylib"}},
	}
}

// findLibrary loads the MPI library for this process, unless it has one: linked, or preloaded.
func findLibrary(getenv func(string) string, opens bool, loaded resolver, load func(file string) error) error {
	if opens && loaded("MPI_Init_thread") != 0 {
		return nil
	}
	file := getenv(libraryVar)
	ours, why := launchedBy(getenv)
	switch {
	case file == "" && why == "":
		if _, several := startedSeveral(getenv); several != nil {
			return fmt.Errorf("mpi: World: %w", unconnected(several))
		}
		return ErrNoLauncher
	case !opens:
		return fmt.Errorf("mpi: World: no MPI library can be opened on %s/%s: use Linux or macOS on amd64 or arm64", runtime.GOOS, runtime.GOARCH)
	case file != "":
		if err := load(file); err != nil {
			return fmt.Errorf("mpi: World: %w%s", err, named(getenv))
		}
		return nil
	}
	files := candidates(ours)
	var others []string // than that the file is not there
	for _, file := range files {
		err := load(file)
		if err == nil {
			return nil
		}
		// Else it is there, and another library that it needs is not, say.
		if text := err.Error(); !strings.HasPrefix(text, file+": cannot open shared object file: No such file") {
			others = append(others, "; "+text)
		}
	}
	return fmt.Errorf("mpi: World: the launcher (%s) is that of %s, but the loader finds none of %s%s: put its folder into LD_LIBRARY_PATH, or the file into %s",
		why, ours, strings.Join(files, ", "), strings.Join(others, ""), libraryVar)
}

// named tells where the user has named the library.
func named(getenv func(string) string) string {
	if file := getenv(libraryVar); file != "" {
		return fmt.Sprintf(" (%s=%s)", libraryVar, file)
	}
	return ""
}

// launchedBy tells the family of the launcher, and the variable that says so; "" for none.
func launchedBy(getenv func(string) string) (name, variable string) {
	by, _, _ := started(getenv)
	if by.family == "" {
		return "", ""
	}
	if variable = by.size; getenv(variable) == "" {
		variable = by.rank
	}
	return by.family, variable + "=" + getenv(variable)
}

// candidates are the files of this system in the order in which they are tried: a family's own, then
// whatever the loader knows as MPI.
func candidates(name string) []string {
	var own, others []string
	for _, f := range families() {
		if f.name == name {
			own = append(own, f.files...)
		} else {
			others = append(others, f.files...)
		}
	}
	suffix := ".so"
	if runtime.GOOS == "darwin" {
		suffix = ".dylib"
	}
	return slices.DeleteFunc(slices.Concat(own, []string{"libmpi" + suffix}, others), func(file string) bool {
		return !strings.Contains(file, suffix)
	})
}

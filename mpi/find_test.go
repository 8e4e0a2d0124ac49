//go:build !(mpi && cgo)

package mpi

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// Which library is opened, by the environment, by what the process has and by what the loader finds.
func TestFindLibrary(t *testing.T) {
	hydra := map[string]string{"PMI_RANK": "0", "PMI_SIZE": "4", "PMI_FD": "8"}
	openMPI := map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"}
	slurm := map[string]string{"PMIX_RANK": "3"}
	named := map[string]string{"TOPOCAST_MPI": "/opt/libmpi.so.12"}
	both := map[string]string{"TOPOCAST_MPI": "/opt/libmpi.so.12", "OMPI_COMM_WORLD_SIZE": "4"}
	everything := []string{"libmpi.so.40", "libmpich.so.12", "libmpi.so", "/opt/libmpi.so.12", "libmpi.dylib"}
	for _, tt := range []struct {
		name  string
		env   map[string]string
		there []string
		has   bool // the process has an MPI
		want  string
		err   []string // in a line
	}{
		{"Open MPI's launcher", openMPI, everything, false, "libmpi.so.40", nil},
		{"Hydra on Debian", hydra, everything, false, "libmpich.so.12", nil},
		{"Hydra elsewhere", hydra, []string{"libmpi.so.12", "libmpi.so"}, false, "libmpi.so.12", nil},
		{"PMIx of a batch system", slurm, everything, false, "libmpi.so.40", nil},
		{"a library that only has the name for compilers", openMPI, []string{"libmpi.so", "libmpich.so.12"}, false, "libmpi.so", nil},
		{"a launcher whose library is not there, but another one", slurm, []string{"libmpich.so.12"}, false, "libmpich.so.12", nil},
		{"a library that is named", both, everything, false, "/opt/libmpi.so.12", nil},
		{"a library that is named, and no launcher", named, everything, false, "/opt/libmpi.so.12", nil},
		{"a named library that is not there", both, []string{"libmpi.so.40"}, false, "", []string{"/opt/libmpi.so.12: cannot", "TOPOCAST_MPI=/opt/libmpi.so.12"}},
		{"a program that is linked with MPI", nil, everything, true, "", nil},
		{"a launcher, and no library", hydra, nil, false, "", []string{"PMI_SIZE=4", "MPICH", "libmpich.so.12", "LD_LIBRARY_PATH", "TOPOCAST_MPI"}},
		{"a library that does not load", hydra, []string{"broken"}, false, "", []string{"libmpi.so.12: undefined symbol: x"}},
		{"no launcher", nil, everything, false, "", []string{ErrNoLauncher.Error()}},
		{"the script of a batch job", map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, everything, false, "", []string{ErrNoLauncher.Error()}},
		{"srun --mpi=none", map[string]string{"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, everything, false, "", []string{"SLURM_STEP_NUM_TASKS=4", "--mpi=pmix"}},
		{"mpirun_rsh", map[string]string{"MV2_COMM_WORLD_SIZE": "4"}, []string{"libmpi.so.12"}, false, "libmpi.so.12", nil},
	} {
		opened := ""
		err := findLibrary(func(name string) string { return tt.env[name] }, true,
			func(string) uintptr {
				if tt.has {
					return 1
				}
				return 0
			},
			func(file string) error {
				switch {
				case slices.Contains(tt.there, "broken"):
					return errors.New(file + ": undefined symbol: x")
				case !slices.Contains(tt.there, file):
					return errors.New(file + ": cannot open shared object file: No such file or directory")
				}
				opened = file
				return nil
			})
		if opened != tt.want || (err != nil) != (tt.err != nil) {
			t.Errorf("%s: opened %q, %v, want %q", tt.name, opened, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q is more than a line", tt.name, err)
		}
		for _, text := range tt.err {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want it to tell %q", tt.name, err, text)
			}
		}
	}
}

// Where no library can be opened, a launcher is an error, and none is as everywhere.
func TestFindLibraryWhereNoneOpens(t *testing.T) {
	find := func(env string) error {
		return findLibrary(func(name string) string {
			if name == env {
				return "2"
			}
			return ""
		}, false, nil, nil)
	}
	if err := find(""); !errors.Is(err, ErrNoLauncher) {
		t.Errorf("without a launcher: %v, want %v", err, ErrNoLauncher)
	}
	if err := find("PMI_SIZE"); err == nil || errors.Is(err, ErrNoLauncher) || !strings.Contains(err.Error(), "-tags mpi") {
		t.Errorf("under a launcher: %v, want it to tell the tag", err)
	}
}

// An ABI takes both: the symbols, and the library's own word.
func TestTellABI(t *testing.T) {
	ompi := func(string) uintptr { return 4096 }
	none := func(string) uintptr { return 0 }
	lacking := func(name string) uintptr {
		if name == "ompi_request_null" {
			return 0
		}
		return 4096
	}
	for _, tt := range []struct {
		name, version string
		find          resolver
		want          string // the ABI's name; "": none
		standard      string
	}{
		{"Open MPI", "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", ompi, "Open MPI", ""},
		{"MPICH", "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7", none, "MPICH", ""},
		{"Intel MPI", "Intel(R) MPI Library 2021.9 for Linux* OS", none, "MPICH", ""},
		{"MVAPICH2", "MVAPICH2 Version      :\t2.3.7", none, "MPICH", ""},
		{"a library that nobody knows", "FUJITSU MPI Library 4.0.0", none, "", ""},
		{"Open MPI by its word only", "Open MPI v4.1.4", none, "", ""},
		{"Open MPI without one of its symbols", "Open MPI v4.1.4", lacking, "", ""},
		{"MPICH with symbols of Open MPI", "MPICH Version:\t4.0.2", ompi, "", ""},
		{"MPICH's libmpi_abi", "MPICH Version:\t5.0.0", none, "", "1.0"},
		{"Open MPI's libmpi_abi", "Open MPI v6.0.0", none, "", "1.0"},
	} {
		a, err := tellABI(tt.version, tt.standard, tt.find)
		if (err == nil) != (tt.want != "") || err == nil && a.name != tt.want {
			t.Errorf("%s: ABI %+v, %v, want that of %q", tt.name, a, err, tt.want)
		}
	}
}

// Lengths of messages, as the comments in the headers lay them out.
func TestCountOfStatus(t *testing.T) {
	ompi, err := openMPI(func(string) uintptr { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		abi    *abi
		status []byte
		want   int64
	}{
		{ompi, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, 1<<32 + 1<<8},
		{mpich(), []byte{0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1<<32 + 1<<8}, // the 1 of 3 says: cancelled
	} {
		if got := tt.abi.count(tt.status); got != tt.want {
			t.Errorf("%s: count = %d, want %d", tt.abi.name, got, tt.want)
		}
	}
}

func TestWithoutLauncher(t *testing.T) {
	if _, why := launchedBy(os.Getenv); why != "" {
		t.Skipf("there is one: %s", why)
	}
	if world, err := World(); world != nil || !errors.Is(err, ErrNoLauncher) {
		t.Errorf("World() = %v, %v, want nil, %v", world, err, ErrNoLauncher)
	}
	err := Run(func(Communicator) error {
		t.Error("Run has called its argument")
		return nil
	})
	if !errors.Is(err, ErrNoLauncher) {
		t.Errorf("Run() = %v, want %v", err, ErrNoLauncher)
	}
}

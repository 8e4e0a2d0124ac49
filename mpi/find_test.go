package mpi

import (
	"encoding/binary"
	"errors"
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
		{"the standard ABI where nothing else is there", hydra, []string{"libmpi_abi.so.1"}, false, "libmpi_abi.so.1", nil},
		{"the standard ABI beside another library", openMPI, []string{"libmpi_abi.so.1", "libmpich.so.12"}, false, "libmpich.so.12", nil},
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
	if err := find("PMI_SIZE"); err == nil || errors.Is(err, ErrNoLauncher) || !strings.Contains(err.Error(), "no MPI library can be opened") {
		t.Errorf("under a launcher: %v, want it to say so", err)
	}
}

// An ABI takes both: the symbols, and the library's own word.
func TestChooseABI(t *testing.T) {
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
		{"MPICH's libmpi_abi", "MPICH Version:\t5.0.0", none, "the standard ABI of MPI 5", "1.0"},
		{"Open MPI's libmpi_abi", "Open MPI v6.0.0", none, "the standard ABI of MPI 5", "1.0"},
		{"Open MPI's libmpi_abi beside its own ABI", "Open MPI v6.0.0", ompi, "the standard ABI of MPI 5", "1.0"},
		{"a standard ABI that is not known", "MPICH Version:\t7.0.0", none, "", "2.0"},
	} {
		a, err := chooseABI(tt.version, tt.standard, tt.find)
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
		want   int32
	}{
		{ompi, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 0}, 3<<24 + 1<<8},
		{mpich(), []byte{0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 3<<24 + 1<<8},
		{ompi, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, 1<<31 - 1}, // a message that is too long
	} {
		if got := tt.abi.count(tt.status); got != tt.want {
			t.Errorf("%s: count = %d, want %d", tt.abi.name, got, tt.want)
		}
	}
}

// The count of a library of the standard ABI is found where Open MPI and MPICH have it, and nowhere else.
func TestFindCount(t *testing.T) {
	lengths := []int{0, 5, 0x1234}
	for _, tt := range []struct {
		name string
		put  func(status []byte, n int)
		want int
	}{
		{"MPICH: after the three fields", func(s []byte, n int) { binary.NativeEndian.PutUint32(s[12:], uint32(n)) }, 12},
		{"Open MPI: aligned to 8 bytes", func(s []byte, n int) { binary.NativeEndian.PutUint64(s[16:], uint64(n)) }, 16},
		{"in words of 8 bits", func(s []byte, n int) { s[12], s[16] = byte(n), byte(n>>8) }, notKnown},
		{"another number", func(s []byte, n int) { binary.NativeEndian.PutUint64(s[16:], uint64(n+1)) }, notKnown},
	} {
		var statuses [][]byte
		for _, n := range lengths {
			status := make([]byte, statusRoom)
			status[4], status[5] = 0x2a, 0x2a // the tag
			tt.put(status, n)
			statuses = append(statuses, status)
		}
		l := &library{abi: standard()}
		if got := l.findCount(statuses, lengths); got != tt.want {
			t.Errorf("%s: findCount = %d, want %d", tt.name, got, tt.want)
		}
	}
}

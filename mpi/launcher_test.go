package mpi

import (
	"strings"
	"testing"
)

func TestCheckLauncher(t *testing.T) {
	const openMPI = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"
	for _, tt := range []struct {
		name string
		env  map[string]string
		want string // "": no error
	}{
		{"no launcher", nil, ""},
		{"one rank under Hydra", map[string]string{"PMI_SIZE": "1", "PMI_RANK": "0", "PMI_FD": "8"}, ""},
		{"one rank under Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"}, ""},
		{"four ranks under Hydra", map[string]string{"PMI_SIZE": "4", "PMI_RANK": "0"}, "PMI_SIZE=4"},
		{"four ranks under Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}, "OMPI_COMM_WORLD_SIZE=4"},
		{"a rank above 0 under PMIx", map[string]string{"PMIX_RANK": "3"}, "PMIX_RANK=3"},
		{"a rank above 0 under PMI", map[string]string{"PMI_RANK": "1"}, "PMI_RANK=1"},
		{"a rank above 0 under Open MPI", map[string]string{"OMPI_COMM_WORLD_RANK": "2"}, "OMPI_COMM_WORLD_RANK=2"},
		{"rank 0 under PMIx, which may be alone", map[string]string{"PMIX_RANK": "0"}, ""},
		{"a value that is no number", map[string]string{"PMI_SIZE": "many"}, ""},
		{"ranks of a batch system that starts jobs of one rank", map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "2"}, ""},
	} {
		err := checkLauncher(openMPI, func(name string) string { return tt.env[name] })
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v, want no error", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "uses Open MPI v4.1.4, which")):
			t.Errorf("%s: %v, want it to tell %s, and the library", tt.name, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %q is more than a line", tt.name, err)
		}
	}
}

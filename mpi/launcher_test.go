package mpi

import (
	"errors"
	"maps"
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
		{"mpirun_rsh", map[string]string{"MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_RANK": "0"}, "MV2_COMM_WORLD_SIZE=2"},
		{"rank 0 of several under srun's PMIx", map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.7.0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, "SLURM_STEP_NUM_TASKS=4"},
		{"one rank under prterun, whose daemons srun has started", map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-host-7@1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "2"}, ""},
		{"one rank under mpirun, whose daemons srun has started", map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "2"}, ""},
		{"the script of a batch job, which is alone", map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, ""},
	} {
		getenv := func(name string) string { return tt.env[name] }
		err := checkLauncher(openMPI, getenv)
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

// A library is refused before MPI_Init where its launcher is known to belong to another one.
func TestCheckFamily(t *testing.T) {
	const openMPI, mpich = "Open MPI v6.0.0rc2, package: Debian OpenMPI", "MPICH Version: 5.0.2"
	hydra := map[string]string{"PMI_SIZE": "2", "PMI_RANK": "0", "PMI_FD": "8", "HYDI_CONTROL_FD": "9"}
	mpirun := map[string]string{"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-host-7@1"}
	prterun := map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-host-7@1"}
	slurm := map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.7.0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
	pmi2 := map[string]string{"PMI_SIZE": "4", "PMI_RANK": "0", "PMI_FD": "8"}
	for _, tt := range []struct {
		name, version string
		env           map[string]string
		hasPMIx       bool
		want          string // "": no error
	}{
		{"MPICH under Hydra", mpich, hydra, false, ""},
		{"Open MPI under Hydra", openMPI, hydra, true, "PMI_SIZE=2"},
		{"Open MPI under Slurm's PMI 2", openMPI, pmi2, true, ""},
		{"Open MPI under its mpirun within a job of Hydra", openMPI, joined(hydra, mpirun), true, ""},
		{"one rank of Open MPI under Hydra", openMPI, joined(hydra, map[string]string{"PMI_SIZE": "1"}), true, ""},
		{"MPICH under Open MPI's mpirun", mpich, mpirun, false, "OMPI_COMM_WORLD_SIZE=2"},
		{"MPICH under prterun, which tells no number", mpich, prterun, false, "PMIX_NAMESPACE=prterun-host-7@1"},
		{"MPICH under its mpirun within a job of Open MPI", mpich, joined(mpirun, hydra), false, ""},
		{"MPICH with PMIx under prterun", mpich, prterun, true, ""},
		{"MPICH under Slurm's PMIx", mpich, slurm, false, ""},
		{"Open MPI under prterun", openMPI, prterun, true, ""},
		{"MPICH without a launcher", mpich, nil, false, ""},
		{"a library of neither family", "FUJITSU MPI Library 4.0.0", hydra, false, ""},
	} {
		err := checkFamily(tt.version, isKinOfMPICH(tt.version), tt.hasPMIx, func(name string) string { return tt.env[name] })
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrLauncher) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want one line with %q", tt.name, err, tt.want)
		}
	}
}

// joined is the union of both, in which b counts.
func joined(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// What starts several processes without telling them of each other: an error of all of them where
// their number is known, of those that can know it elsewhere.
func TestUnconnectedProcesses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		env      map[string]string
		launched int
		want     string // "": no error
		all      bool
	}{
		{"srun --mpi=none, rank 0", map[string]string{"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, 0, "SLURM_STEP_NUM_TASKS=4", true},
		{"srun --mpi=none, rank 3", map[string]string{"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3"}, 3, "SLURM_STEP_NUM_TASKS=4", true},
		{"srun of one process", map[string]string{"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, -1, "", false},
		{"a batch system older than that variable", map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "2"}, 2, "SLURM_PROCID=2", false},
		{"Flux", map[string]string{"FLUX_JOB_SIZE": "2", "FLUX_TASK_RANK": "1"}, 1, "FLUX_JOB_SIZE=2", true},
		{"aprun", map[string]string{"ALPS_APP_PE": "1"}, 1, "ALPS_APP_PE=1", false},
		{"aprun, rank 0", map[string]string{"ALPS_APP_PE": "0"}, -1, "", false},
		{"a rank of mpirun", map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, 0, "", false},
		{"nothing", nil, -1, "", false},
	} {
		getenv := func(name string) string { return tt.env[name] }
		if got := launched(getenv); got != tt.launched {
			t.Errorf("%s: launched() = %d, want %d", tt.name, got, tt.launched)
		}
		err := checkLauncher("MPICH Version: 4.0.2", getenv)
		if (err == nil) != (tt.want == "") || errors.Is(err, ErrLauncher) != tt.all {
			t.Errorf("%s: %v, of all ranks %t, want %q, %t", tt.name, err, errors.Is(err, ErrLauncher), tt.want, tt.all)
		}
		if err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "srun --mpi=pmix") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want one line with %q, and what helps", tt.name, err, tt.want)
		}
	}
}

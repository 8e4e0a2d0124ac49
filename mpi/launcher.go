package mpi

import (
	"fmt"
	"strconv"
	"strings"
)

// checkLauncher refuses a job of one rank, as the library sees it, of which the
// environment says that a launcher has started several: the launcher is that of
// another library. A program under no launcher has none of the variables.
func checkLauncher(library string, getenv func(string) string) error {
	library, _, _ = strings.Cut(library, ",") // Open MPI says more
	complain := func(name, value string) error {
		return fmt.Errorf("the program uses %s, which sees a job of one rank, but the launcher has started more (%s=%s): it belongs to another library; start the program with the mpirun of this one", library, name, value)
	}
	// The number of ranks: as mpirun of Open MPI tells it, and all that speak PMI
	// (Hydra of MPICH, MVAPICH and Intel MPI; srun).
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 1 {
			return complain(name, getenv(name))
		}
	}
	// The number of the rank, where nothing tells how many there are (PMIx).
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			return complain(name, getenv(name))
		}
	}
	return nil
}

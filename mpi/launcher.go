package mpi

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A starter is what starts the processes of jobs, by what it tells each of them in its environment.
type starter struct {
	size, rank string // variables of the number of processes and of that of this one; "": none
	family     string // of the libraries that find the other processes by it (see families); "": none does
}

// starters are those that are known, in the order in which they count: a batch system also starts the
// daemons of launchers, whose processes then have the variables of both.
func starters() []starter {
	return []starter{
		{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI"}, // mpirun of Open MPI
		{"PMI_SIZE", "PMI_RANK", "MPICH"},                            // all that speak PMI: Hydra (MPICH, MVAPICH, Intel MPI), srun
		{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MPICH"},      // mpirun_rsh of MVAPICH
		{"", "PMIX_RANK", "Open MPI"},                                // all that speak PMIx: srun, prterun
		{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ""},                 // srun --mpi=none
		{"FLUX_JOB_SIZE", "FLUX_TASK_RANK", ""},                      // flux run -o pmi=off
		{"", "PALS_RANKID", ""},                                      // of HPE Cray machines
		{"", "ALPS_APP_PE", ""},                                      // aprun
	}
}

// started tells by whom this process was started, and its rank; -1: by none of the starters. A number
// of processes is 0 where nothing tells it.
func started(getenv func(string) string) (by starter, ranks, rank int) {
	for _, s := range starters() {
		n, sized := number(getenv, s.size)
		rank, ranked := number(getenv, s.rank)
		if !sized && !ranked {
			continue
		}
		if s.rank == "PMIX_RANK" && strings.HasPrefix(getenv("PMIX_NAMESPACE"), "slurm.") {
			// PMIx has no variable for it, and without one rank 0 would take itself for alone.
			n, _ = number(getenv, "SLURM_STEP_NUM_TASKS")
			s.size = "SLURM_STEP_NUM_TASKS"
		}
		return s, n, rank
	}
	return starter{}, 0, -1
}

// number reads a variable that is a number from 0 on.
func number(getenv func(string) string, name string) (n int, ok bool) {
	if name == "" {
		return 0, false
	}
	u, err := strconv.ParseUint(getenv(name), 10, 31)
	return int(u), err == nil
}

// Launched is the rank that a launcher has given to this process, known before MPI is started; -1: there
// is no launcher. A process that a batch system has started as one of several that do not know of each
// other (srun --mpi=none) counts as launched, too: World refuses it.
func Launched() int { return launched(os.Getenv) }

func launched(getenv func(string) string) int {
	by, ranks, rank := started(getenv)
	if by.family == "" && ranks < 2 && rank < 1 {
		return -1
	}
	return rank
}

// checkFamily refuses a library before MPI_Init if its launcher is known to belong to another one. MPI_Init of
// MPICH 5 would abort under Open MPI's launcher. Open MPI would make each process that Hydra starts a job of
// one rank, with lines of its own. hasPMIx tells whether the process has loaded a PMIx library: an MPICH that
// is built with it runs under any launcher that speaks PMIx.
func checkFamily(version string, isMPICH, hasPMIx bool, getenv func(string) string) error {
	by, ranks, _ := started(getenv)
	var variable string
	switch {
	case !isMPICH && strings.HasPrefix(version, "Open MPI"):
		if by.size != "PMI_SIZE" || ranks < 2 || getenv("HYDI_CONTROL_FD") == "" {
			return nil
		}
		variable = by.size
	case !isMPICH || hasPMIx || getenv("PMI_FD") != "" || getenv("PMI_RANK") != "": // a launcher within a job of another
		return nil
	case by.size == "OMPI_COMM_WORLD_SIZE" && ranks > 1:
		variable = by.size
	case by.rank == "PMIX_RANK" && strings.HasPrefix(getenv("PMIX_NAMESPACE"), "pr"): // prterun-..., prte-...
		variable = "PMIX_NAMESPACE"
	default:
		return nil
	}
	return foreign(version, "", fmt.Errorf("%w (%s=%s)", ErrLauncher, variable, getenv(variable)))
}

// checkLauncher refuses a job of one rank, as the library sees it, of which the environment says that several
// processes were started: by the launcher of another library, or by a batch system that tells none of the
// others.
func checkLauncher(version string, getenv func(string) string) error {
	by, several := startedSeveral(getenv)
	switch {
	case several == nil:
		return nil
	case by.family == "":
		return unconnected(several)
	}
	return foreign(version, " which sees a job of one rank,", several)
}

// foreign refuses the launcher of another library.
func foreign(version, sees string, several error) error {
	library, _, _ := strings.Cut(version, ",") // Open MPI says more
	return fmt.Errorf("the program uses %s,%s but %w: it belongs to another library; start the program with the mpirun of this one", library, sees, several)
}

// unconnected refuses to be one of several processes that no MPI can join.
func unconnected(several error) error {
	return fmt.Errorf("%w, but tells none of the others: each would be a job of one rank; start the program with mpirun, or with srun --mpi=pmix or --mpi=pmi2", several)
}

// startedSeveral is an error that says who has started several processes, and by which variable it is
// known; nil if nobody has. It is ErrLauncher where all of them know it alike: where nothing tells
// their number, rank 0 does not.
func startedSeveral(getenv func(string) string) (starter, error) {
	by, ranks, rank := started(getenv)
	switch {
	case ranks > 1:
		return by, fmt.Errorf("%w (%s=%s)", ErrLauncher, by.size, getenv(by.size))
	case rank > 0:
		return by, fmt.Errorf("%v (%s=%s)", ErrLauncher, by.rank, getenv(by.rank))
	}
	return by, nil
}

package netlab

import (
	"fmt"
	"strconv"
	"strings"
)

// The MPI libraries that a job can be of.
const (
	OpenMPI = "openmpi"
	MPICH   = "mpich"
)

// A Job is an MPI program to run on a lab.
type Job struct {
	MPI      string   // OpenMPI or MPICH
	Launcher string   // its mpirun; "" is mpirun.openmpi or mpirun.mpich
	Options  []string // further options of the launcher
	Place    []int    // the host of each rank, by scenario.Placement or otherwise
	Mapping  []string // options of the launcher that say where ranks run, in place of Place, such as a rankfile; Place still counts them
	Program  []string // with its arguments

	// Yield makes ranks that wait look for messages over and over and give way in between. Otherwise they sleep
	// until a message comes: the package comment says why.
	Yield bool
}

// hostList is the file that names the host of each rank. Both launchers, told
// so, take it line by line.
func (j *Job) hostList(hosts []Machine) (string, error) {
	var b strings.Builder
	for rank, h := range j.Place {
		if h < 0 || h >= len(hosts) {
			return "", fmt.Errorf("netlab: job: rank %d on host %d: want in [0, %d)", rank, h, len(hosts))
		}
		fmt.Fprintln(&b, hosts[h].Name)
	}
	return b.String(), nil
}

// sleepVariable tells preload/wait.c that ranks sleep while they wait.
const sleepVariable = "NETLAB_SLEEP"

// command is the launcher's command line and the variables it needs, with the
// file of hosts, the remote shell, and the library to load into the ranks.
func (j *Job) command(hosts, agent, preload string) (args, env []string, err error) {
	if len(j.Program) == 0 {
		return nil, nil, fmt.Errorf("netlab: job: no program")
	}
	launcher := j.Launcher
	switch j.MPI {
	case OpenMPI:
		if launcher == "" {
			launcher = "mpirun.openmpi"
		}
		mapping := j.Mapping
		if mapping == nil {
			mapping = []string{"--mca", "rmaps", "seq", "--bind-to", "none"}
		}
		args = append([]string{launcher, "--hostfile", hosts}, mapping...)
		args = append(args,
			"--mca", "plm", "rsh",
			"--mca", "plm_rsh_agent", agent,
			"--mca", "plm_rsh_no_tree_spawn", "1",
			"--mca", "oob_tcp_if_include", controlDevice,
			// Ranks that share a host, too, talk through sockets: those wake a rank that sleeps.
			"--mca", "btl", "self,tcp",
			"--mca", "btl_tcp_if_include", fabricDevice,
			// Many ranks share a core: let them give way.
			"--mca", "mpi_yield_when_idle", "1",
		)
		if !j.Yield {
			args = append(args, "-x", "LD_PRELOAD="+preload, "-x", sleepVariable+"=1")
		}
		env = []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	case MPICH:
		if launcher == "" {
			launcher = "mpirun.mpich"
		}
		mapping := j.Mapping
		if mapping == nil {
			mapping = []string{"-f", hosts}
		}
		args = append([]string{launcher}, mapping...)
		args = append(args,
			"-launcher", "ssh", "-launcher-exec", agent,
			"-iface", controlDevice,
			"-genv", "LD_PRELOAD", preload,
			// UCX would take the hosts for one machine and use shared memory.
			"-genv", "UCX_TLS", "tcp,self",
			"-genv", "UCX_NET_DEVICES", fabricDevice,
			// As with Open MPI: no shared memory between ranks that share a host.
			"-genv", "MPIR_CVAR_NOLOCAL", "1",
		)
		if !j.Yield {
			args = append(args, "-genv", sleepVariable, "1")
		}
	default:
		return nil, nil, fmt.Errorf("netlab: job: MPI %q: want %s or %s", j.MPI, OpenMPI, MPICH)
	}
	// MPICH takes what follows -n for options of the program's alone.
	args = append(args, j.Options...)
	args = append(args, "-n", strconv.Itoa(len(j.Place)))
	return append(args, j.Program...), env, nil
}

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// gathered checks the header of one rank's conditions, which rank 0 alone gets.
func gathered(comm mpi.Communicator, numa func(rank int) int) error {
	h, err := Gather(comm, &pingpong.Probe{Timed: true, Step: float64(comm.Rank()), Cost: 5})
	switch {
	case err != nil:
		return err
	case comm.Rank() > 0:
		if h != nil {
			return fmt.Errorf("rank %d got a header", comm.Rank())
		}
		return nil
	}
	if err := h.check(); err != nil {
		return err
	}
	for rank, node := range h.NUMA {
		if want := numa(rank); want != -2 && node != want {
			return fmt.Errorf("rank %d is on NUMA node %d, want %d", rank, node, want)
		}
	}
	if h.Ranks != comm.Size() || h.ClockStep != float64(comm.Size()-1) || h.ClockCost != 5 || !h.Timed || h.GoVersion == "" || h.Platform == "" ||
		h.Hosts[h.Ranks-1] == "" || h.CPUs[0] < 1 || h.GOMAXPROCS[0] < 1 || h.Environment == nil || h.OtherEnvironment != nil {
		return fmt.Errorf("header %+v", h)
	}
	return nil
}

func TestGatherFromThreads(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		// Which node a thread is on is the machine's business.
		err := local.Run(ranks, nil, func(comm mpi.Communicator) error { return gathered(comm, func(int) int { return -2 }) })
		if err != nil {
			t.Error(err)
		}
	}
}

// TestGatherFromASimulation: this machine's kernel is not asked about simulated hosts.
func TestGatherFromASimulation(t *testing.T) {
	c, err := gen.Parse("star:6")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error { return gathered(comm, func(int) int { return -1 }) })
	if err != nil {
		t.Error(err)
	}
}

func TestNUMANode(t *testing.T) {
	dir := t.TempDir()
	for cpu, nodes := range [][]string{{"node0", "cache"}, {"node0"}, {"node1"}, {}, {"node0", "node1"}} {
		for _, node := range nodes {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("cpu%d", cpu), node), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		cpus []int
		want int
	}{
		{"one CPU", []int{2}, 1},
		{"two CPUs of a node", []int{0, 1}, 0},
		{"two nodes", []int{1, 2}, -1},
		{"a machine without nodes", []int{3}, -1},
		{"a CPU in two nodes", []int{4}, -1},
		{"no such CPU", []int{9}, -1},
		{"not bound", nil, -1},
	} {
		if got := numaNode(c.cpus, dir); got != c.want {
			t.Errorf("%s: node %d, want %d", c.name, got, c.want)
		}
	}
}

// TestEnvironment: what Open MPI 4.1 and MPICH 4 put into the environment of
// their ranks, and what a user does.
func TestEnvironment(t *testing.T) {
	got := environment([]string{
		"PATH=/bin", "HOME=/root", "NOVALUE",
		"OMPI_MCA_btl_vader_single_copy_mechanism=none", "OMPI_MCA_ess=^singleton", "OMPI_MCA_ess_base_vpid=3",
		"OMPI_MCA_orte_hnp_uri=9306112.0;tcp://192.0.2.2:37675", "OMPI_MCA_orte_precondition_transports=742277d4199a16f1-7ebcb9053fff32a9",
		"OMPI_MCA_initial_wdir=/work", "OMPI_MCA_pmix=^s1", "OMPI_COMM_WORLD_RANK=3", "PMIX_RANK=3", "PMI_FD=6",
		"MPIR_CVAR_CH3_INTERFACE_HOSTNAME=node7", "MPIR_CVAR_CH4_NETMOD=ofi", "I_MPI_FABRICS=shm:ofi", "UCX_TLS=rc", "UCX_TLS=rc",
		"FI_OPX_SECRET=x", "UCX_AUTH_TOKEN=y", "UCX_LONG=" + string(make([]byte, 2000)), "SLURM_JOB_ID=7", "SLURM_DISTRIBUTION=block:cyclic",
		"AWS_SECRET_ACCESS_KEY=z",
	})
	want := []string{
		"I_MPI_FABRICS=shm:ofi", "MPIR_CVAR_CH4_NETMOD=ofi", "OMPI_MCA_btl_vader_single_copy_mechanism=none",
		"SLURM_DISTRIBUTION=block:cyclic", "UCX_TLS=rc",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Environment = %q, want %q", got, want)
	}
	if none := environment(nil); none == nil || len(none) > 0 {
		t.Errorf("an empty environment gives %#v, want an empty list: it is known", none)
	}
	if fingerprint([]string{"ab", "c"}) == fingerprint([]string{"a", "bc"}) || !reflect.DeepEqual(fingerprint(want), fingerprint(got)) {
		t.Error("fingerprints do not tell environments apart")
	}
}

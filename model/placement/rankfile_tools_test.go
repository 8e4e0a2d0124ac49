package placement

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
)

// boundRanks runs a job that tells on which CPUs each rank may run, and returns "rank:CPUs".
func boundRanks(t *testing.T, command, variable string, args ...string) []string {
	t.Helper()
	script := fmt.Sprintf(`echo "bound $%s:$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"`, variable)
	out := tooltest.Run(t, 2*time.Minute, "", command, append(args, "sh", "-c", script)...)
	var ranks []string
	for line := range strings.Lines(out) {
		if rank, ok := strings.CutPrefix(strings.TrimSpace(line), "bound "); ok {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// Two ranks on this machine's first two CPUs in reverse order: each library binds them so by what
// we write.
func TestToolsMPIBindsRanks(t *testing.T) {
	tooltest.Need(t, "mpirun.openmpi", "mpiexec.mpich")
	if runtime.NumCPU() < 2 {
		tooltest.Lacks(t, "binding to one of one CPU shows nothing")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	place, want := []int{1, 0}, []string{"0:1", "1:0"}
	ranks := fmt.Sprintf("%s:0 %s:1", host, host)
	for _, c := range []struct {
		name string
		n    *model.Network
		args []string
	}{
		{"socket:core", onHosts(t, ranks, [][]int{{0, 1}}, [][]int{}), nil},
		{"CPU", onHosts(t, ranks, nil, nil), []string{"--mca", "rmaps_rank_file_physical", "1"}},
	} {
		file := filepath.Join(t.TempDir(), "ranks")
		var b strings.Builder
		if err := Write(&b, "rankfile", c.n, place); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := boundRanks(t, "mpirun.openmpi", "OMPI_COMM_WORLD_RANK", append(c.args, "--rankfile", file, "-n", "2")...); !slices.Equal(got, want) {
			t.Errorf("Open MPI, %s: %v, want %v by\n%s", c.name, got, want, b.String())
		}
	}
	var b strings.Builder
	if err := Write(&b, "mpich", onHosts(t, ranks, nil, nil), place); err != nil {
		t.Fatal(err)
	}
	if got := boundRanks(t, "mpiexec.mpich", "PMI_RANK", append(strings.Fields(b.String()), "-n", "2")...); !slices.Equal(got, want) {
		t.Errorf("MPICH: %v, want %v by %s", got, want, b.String())
	}
}

// Hydra deals out the ranks over hosts as we say it does; two names of this machine stand for hosts.
func TestToolsHydraTakesTurns(t *testing.T) {
	tooltest.Need(t, "mpiexec.mpich")
	var b strings.Builder
	n := onHosts(t, "localhost:0 localhost:1 127.0.0.1:0 localhost:2 localhost:3", nil, nil)
	if err := Write(&b, "mpich", n, []int{0, 1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	hosts, _, _ := strings.Cut(b.String(), " -bind-to")
	args := append([]string{"-launcher", "fork"}, strings.Fields(hosts)...)
	out := tooltest.Run(t, 2*time.Minute, "", "mpiexec.mpich", append(args, "-n", "5", "sh", "-c", `echo "$PMI_RANK: $MPI_LOCALRANKID of $MPI_LOCALNRANKS"`)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	if got, want := strings.Join(lines, ", "), "0: 0 of 4, 1: 1 of 4, 2: 0 of 1, 3: 2 of 4, 4: 3 of 4"; got != want {
		t.Errorf("%s: ranks on their hosts %s, want %s", b.String(), got, want)
	}
}

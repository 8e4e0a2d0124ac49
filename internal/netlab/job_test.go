package netlab

import (
	"slices"
	"strings"
	"testing"
)

func TestJobsTellTheirLaunchersWhereToRun(t *testing.T) {
	hosts := []Machine{{Name: "h0"}, {Name: "h1"}}
	j := &Job{MPI: MPICH, Place: []int{1, 0, 1}, Program: []string{"prog", "-x"}, Options: []string{"-prepend-rank"}}
	list, err := j.hostList(hosts)
	if err != nil || list != "h1\nh0\nh1\n" {
		t.Errorf("hostList = %q, %v", list, err)
	}
	args, _, err := j.command("HOSTS", "AGENT", "LIBRARY")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(args, " ")
	for _, want := range []string{"mpirun.mpich -f HOSTS ", "-launcher-exec AGENT", "LD_PRELOAD LIBRARY", "UCX_TLS tcp,self", "-prepend-rank -n 3 prog -x"} {
		if !strings.Contains(line, want) {
			t.Errorf("command = %s, want it to contain %q", line, want)
		}
	}
	j.MPI, j.Launcher, j.Options = OpenMPI, "/opt/mpirun", nil
	args, env, err := j.command("HOSTS", "AGENT", "")
	if err != nil {
		t.Fatal(err)
	}
	line = strings.Join(args, " ")
	for _, want := range []string{"/opt/mpirun --hostfile HOSTS ", "rmaps seq", "plm_rsh_agent AGENT", "btl_tcp_if_include fab0", "-n 3 prog -x"} {
		if !strings.Contains(line, want) {
			t.Errorf("command = %s, want it to contain %q", line, want)
		}
	}
	if !slices.Contains(env, "OMPI_ALLOW_RUN_AS_ROOT=1") {
		t.Errorf("environment = %v, want leave to run as root", env)
	}

	j.Options = nil
	for _, yield := range []bool{false, true} {
		j.Yield = yield
		for _, library := range []string{OpenMPI, MPICH} {
			j.MPI = library
			args, _, err := j.command("HOSTS", "AGENT", "LIBRARY")
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Join(args, " ")
			if strings.Contains(line, "NETLAB_SLEEP") == yield {
				t.Errorf("%s, yield %v: command = %s, want ranks to sleep or yield", library, yield, line)
			}
			// Of a message in shared memory no socket tells a rank that sleeps.
			if want := map[string]string{OpenMPI: "btl self,tcp ", MPICH: "MPIR_CVAR_NOLOCAL 1 "}[library]; !strings.Contains(line, want) {
				t.Errorf("%s: command = %s, want it to contain %q", library, line, want)
			}
			if !yield && !strings.Contains(line, "LIBRARY") {
				t.Errorf("%s: command = %s, want it to load the library", library, line)
			}
		}
	}

	j.Place = []int{2}
	if _, err := j.hostList(hosts); err == nil {
		t.Error("a rank on a host that does not exist is accepted")
	}
	if _, _, err := (&Job{MPI: "lam", Program: []string{"x"}}).command("", "", ""); err == nil {
		t.Error("an unknown MPI is accepted")
	}
	if _, _, err := (&Job{MPI: OpenMPI}).command("", "", ""); err == nil {
		t.Error("a job without a program is accepted")
	}
}

//go:build linux

package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/slurmtest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
)

// requireVariable asks for the tests, which need Slurm, both MPI libraries and an emulated cluster.
const requireVariable = "TOPOCAST_REQUIRE_SLURM"

// The cluster: two racks of two hosts.
const cluster = `{"format": "topocast/netlab", "version": 1, "spec": "tree:2x2 latency=400us,100us rate=100Mbps,200Mbps"}`

// racks are the hosts on its lowest switches, as Slurm writes them.
var racks = []string{"h[0-1]", "h[2-3]"}

// A way to start ranks of a library. srun speaks with Open MPI by PMIx, and with MPICH by PMI 2; the
// libraries' own launchers start their daemons by srun.
type way struct{ library, launch, pmi string }

func ways() []way {
	return []way{
		{"openmpi", "srun", "pmix"},
		{"openmpi", "mpirun.openmpi", ""},
		{"mpich", "srun", "pmi2"},
		{"mpich", "mpirun.mpich", ""},
	}
}

// A site is a cluster under Slurm, and the programs of the examples.
type site struct {
	*slurmtest.Cluster
	lab      *netlab.Lab
	programs string
}

var programs tooltest.Programs

func TestMain(m *testing.M) { programs.Main(m) }

// newSite starts an emulated cluster, and Slurm on its hosts, until the end of the test.
func newSite(t *testing.T) *site {
	t.Helper()
	if os.Getenv(requireVariable) == "" {
		t.Skip("make slurm-test runs it, with " + requireVariable + "=1")
	}
	if err := netlab.Available(); err != nil {
		t.Fatal(err)
	}
	command := programs.Build(t, "netlab", "go", "build", "../../internal/netlab/cmd/netlab")
	for _, program := range []string{"topocast", "embed"} {
		programs.Build(t, program, "go", "build", "../"+program)
	}
	wiring, err := netlab.DecodeCluster(strings.NewReader(cluster), "", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	lab, err := netlab.Up(wiring, &netlab.Settings{Dir: t.TempDir(), Command: command, Leash: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // ends all that runs on the hosts, too
		if _, err := lab.Down(); err != nil {
			t.Error(err)
		}
	})
	s := &slurmtest.Settings{
		Controller: "control",
		Topology:   "SwitchName=all Nodes=h[0-3]\n", // of somebody who knows nothing of racks
		On: func(machine string, args ...string) *exec.Cmd {
			if machine == "" {
				machine = "control"
			}
			return lab.Command(machine, args...)
		},
	}
	for _, m := range lab.Machines() {
		s.Nodes += fmt.Sprintf("NodeName=%s NodeAddr=%s CPUs=2 State=UNKNOWN\n", m.Name, m.Control)
		s.Machines = append(s.Machines, m.Name)
	}
	return &site{slurmtest.Start(t, s), lab, programs.Folder}
}

// A job is one of the scripts of the example, submitted in a folder of its own.
type job struct {
	way
	site   *site
	folder string
}

func (s *site) newJob(t *testing.T, w way) *job { return &job{w, s, t.TempDir()} }

// submit submits a script with flags of sbatch, and arguments. It returns the number of the job.
func (j *job) submit(t *testing.T, script string, flags []string, args ...string) string {
	t.Helper()
	// What a site tells its users to set, or has in its configuration.
	env := []string{
		"env", "LAUNCH=" + j.launch, "TOPOCAST=" + filepath.Join(j.site.programs, "topocast"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_oob_tcp_if_include=ctl0", "OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=fab0", "OMPI_MCA_mpi_yield_when_idle=1",
		"HYDRA_IFACE=ctl0", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=fab0",
	}
	// Ranks of an emulated cluster share cores.
	preload, err := j.site.lab.Preload(t.Context(), j.library)
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "LD_PRELOAD="+preload, "NETLAB_BLOCK=1")
	if j.pmi != "" {
		env = append(env, "SLURM_MPI_TYPE="+j.pmi)
	}
	where, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	command := append(env, "sbatch", "--parsable", "--chdir", j.folder, "--output", "%j.log", "--open-mode=append")
	return strings.TrimSpace(j.site.Ask(t, slices.Concat(command, flags, []string{where}, args)...))
}

// jobBudget is how long a job may take, besides its time limit; here none takes half a minute.
const jobBudget = 5 * time.Minute

// end waits for the end of a job, and returns what became of it and what it has said.
func (j *job) end(t *testing.T, id string) (state, log string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if state = j.state(t, id); ended(state) {
			break
		}
		if time.Since(start) > jobBudget {
			t.Fatalf("job %s is %s after %v\n%s", id, state, jobBudget, j.log(id))
		}
	}
	return state, j.log(id)
}

// state is what Slurm says of a job.
func (j *job) state(t *testing.T, id string) string {
	t.Helper()
	for _, field := range strings.Fields(j.site.Ask(t, "scontrol", "show", "job", id)) {
		if state, ok := strings.CutPrefix(field, "JobState="); ok {
			return state
		}
	}
	t.Fatalf("scontrol tells no state of job %s", id)
	return ""
}

// ended tells whether a state is final, after squeue(1). Others pass, such as SIGNALING while the warning of a time limit is sent.
func ended(state string) bool {
	switch state {
	case "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT":
		return true
	}
	return false
}

func (j *job) log(id string) string {
	text, err := os.ReadFile(filepath.Join(j.folder, id+".log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// run submits a script and waits for its end, which has to be a good one.
func (j *job) run(t *testing.T, script string, flags []string, args ...string) string {
	t.Helper()
	id := j.submit(t, script, flags, args...)
	state, log := j.end(t, id)
	if state != "COMPLETED" {
		t.Fatalf("job %s of %s: %s\n%s", id, script, state, log)
	}
	return log
}

// measurements reads what a measurement has kept.
func (j *job) measurements(t *testing.T, name string) *measure.Result {
	t.Helper()
	r, err := measure.ReadFile(filepath.Join(j.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The operator measures the cluster and gives the result to Slurm; a user's application then runs on
// some of the nodes.
func TestMeasureOnceAndRunApplications(t *testing.T) {
	s := newSite(t)
	for _, w := range ways() {
		t.Run(w.library+" by "+w.launch, func(t *testing.T) {
			j := s.newJob(t, w)
			if _, err := s.lab.Reset(); err != nil {
				t.Fatal(err)
			}
			log := j.run(t, "measure.sh", []string{"--nodes=4"}, "--sizes", "8", "--repetitions", "2")
			counters, err := s.lab.Counters()
			if err != nil {
				t.Fatal(err)
			}
			network, err := model.Load(filepath.Join(j.folder, "network.json"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Sorted(slices.Values(network.Hosts())), " "); got != "h0 h1 h2 h3" {
				t.Errorf("network of %s, want h0 h1 h2 h3\n%s", got, log)
			}
			s.load(t, filepath.Join(j.folder, "topology.conf"), counters.Loop.OnTime())

			embed := filepath.Join(s.programs, "embed")
			log = j.run(t, "application.sh", []string{"--nodes=3", "--exclude=h1"}, embed)
			for rank := range 3 {
				if line := fmt.Sprintf("rank %d of 3 has the last value: 42\n", rank); !strings.Contains(log, line) {
					t.Errorf("the application has not said %q:\n%s", line, log)
				}
			}
			if strings.Contains(log, "warning") {
				t.Errorf("nodes that were measured are doubted:\n%s", log)
			}
		})
	}
}

// load gives Slurm a topology.conf, and compares the switches that it then shows with the file. If
// they were measured while the emulated cluster kept time, they have to be the racks, too.
func (s *site) load(t *testing.T, file string, onTime bool) {
	t.Helper()
	conf, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.LoadTopology(t, conf)
	shown := s.Ask(t, "scontrol", "show", "topology")
	got, want := leaves(shown), leaves(string(conf))
	if !slices.Equal(got, want) {
		t.Errorf("Slurm shows\n%s\nof\n%s", shown, conf)
	}
	var hosts []string
	for _, leaf := range got {
		_, nodes, _ := strings.Cut(leaf, " ")
		hosts = append(hosts, nodes)
	}
	slices.Sort(hosts)
	switch {
	case slices.Equal(hosts, racks):
	case onTime:
		t.Errorf("hosts on the lowest switches are %v, want the racks %v", hosts, racks)
	default:
		t.Logf("NOT JUDGED: hosts on the lowest switches are %v, not the racks %v, but the machine was too busy to measure them", hosts, racks)
	}
}

// leaves are the switches of a topology.conf, or of what Slurm shows, that have hosts and no switches:
// the name, and the list of hosts.
func leaves(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		values := map[string]string{}
		for _, field := range strings.Fields(line) {
			key, value, _ := strings.Cut(field, "=")
			values[key] = value
		}
		if values["SwitchName"] != "" && values["Switches"] == "" {
			found = append(found, values["SwitchName"]+" "+values["Nodes"])
		}
	}
	slices.Sort(found)
	return found
}

// A measurement that Slurm ends, at the time limit or by killing all of it at once, keeps what it has,
// and goes on from there when it is submitted again.
func TestMeasurementsGoOn(t *testing.T) {
	s := newSite(t)
	for _, end := range []string{"kill", "time limit"} {
		jobs := map[*job]string{} // to their numbers; both run at once, on nodes of their own
		for _, w := range ways() {
			if w.launch == "srun" {
				j, minutes := s.newJob(t, w), 10
				if end == "time limit" {
					minutes = 1 // Slurm's shortest; the script's warning before it would come at once
				}
				jobs[j] = j.submit(t, "measure.sh", []string{"--nodes=2", fmt.Sprintf("--time=%d", minutes), "--signal=CONT@1"}, long...)
			}
		}
		for j, id := range jobs {
			t.Run(end+", "+j.library, func(t *testing.T) { j.goesOn(t, id, end == "kill") })
		}
	}
}

// long is what would be measured for many minutes.
var long = []string{"--sizes", "8,256KiB", "--repetitions", "1000"}

// goesOn waits for the end of a measurement, or kills it, and submits it once more, for some seconds.
func (j *job) goesOn(t *testing.T, id string, kill bool) {
	if kill {
		j.await(t, id)
		j.site.Ask(t, "scancel", "--signal=KILL", id+".0") // the ranks, without SIGTERM before
	}
	state, log := j.end(t, id)
	if !kill && state != "TIMEOUT" || state == "COMPLETED" {
		t.Fatalf("the job is %s\n%s", state, log)
	}
	left := "readings.json" // where SIGTERM was heard
	if _, err := os.Stat(filepath.Join(j.folder, left)); err != nil {
		left += ".part"
	}
	before := j.measurements(t, left).Measurements()
	if len(before) == 0 {
		t.Fatalf("%s has no measurements\n%s", left, log)
	}
	log = j.run(t, "measure.sh", []string{"--nodes=2", "--nodelist=" + j.nodes(t, left)}, append(long, "--budget", "30s")...) // a round takes four, where all of it is on one busy machine
	after := j.measurements(t, "readings.json").Measurements()
	if len(after) <= len(before) {
		t.Errorf("%d measurements after the second job, %d after the first\n%s", len(after), len(before), log)
	}
	for i, r := range before {
		if i < len(after) && after[i] != r {
			t.Errorf("measurement %d was %+v after the first job and is %+v", i, r, after[i])
			break
		}
	}
	if _, err := os.Stat(filepath.Join(j.folder, "readings.json.part")); err == nil {
		t.Error("readings.json.part is still there, though all is in readings.json")
	}
	t.Logf("%s left %d measurements in %s; %d in the end", state, len(before), left, len(after))
}

// nodes are those on which a file was measured.
func (j *job) nodes(t *testing.T, name string) string {
	hosts := slices.Clone(j.measurements(t, name).Hosts)
	return strings.Join(hosts, ",")
}

// await waits until a job has kept measurements.
func (j *job) await(t *testing.T, id string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		r, err := measure.ReadFile(filepath.Join(j.folder, "readings.json.part"))
		if err == nil && len(r.Measurements()) > 0 {
			return
		}
		if state := j.state(t, id); ended(state) || time.Since(start) > jobBudget {
			t.Fatalf("job %s, %s, has kept no measurements after %v: %v\n%s", id, state, time.Since(start), err, j.log(id))
		}
	}
}

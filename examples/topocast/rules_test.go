package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// nativeReport is what rules reads of a report of ranks on as many hosts, with times in us of 8 B and 1 MiB.
func nativeReport(t *testing.T, ranks int, library, environment string, short, long float64) string {
	t.Helper()
	return nativeReportOn(t, ranks, ranks, library, environment, short, long)
}

// nativeReportOn is nativeReport on some hosts with equally many ranks.
func nativeReportOn(t *testing.T, ranks, hosts int, library, environment string, short, long float64) string {
	t.Helper()
	row := func(bytes int, us float64) string {
		return fmt.Sprintf(`{"bytes":%d,"variant":"native","median_s":%g,"median_low_s":%g,"median_high_s":%g,"min_s":%g,"max_s":%g,"verified":true}`,
			bytes, us*1e-6, us*0.95e-6, us*1.05e-6, us*0.9e-6, us*2e-6)
	}
	return write(t, "report.json", fmt.Sprintf(`{"format":"topocast/bcast-benchmark","version":2,"ranks":%d,"root":0,"library":%q,"places":"x","hosts":%d,"ranks_per_host":[%d],"environment":{%s},"rows":[%s,%s]}`,
		ranks, library, hosts, ranks/hosts, environment, row(8, short), row(1<<20, long)))
}

const (
	openMPIVersion = "Open MPI v4.1.4"
	mpichVersion   = "MPICH Version: 4.0.2"
	forcedPipeline = `"OMPI_MCA_coll_tuned_use_dynamic_rules":"1","OMPI_MCA_coll_tuned_bcast_algorithm":"3","OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize":"8192"`
	forcedBinomial = `"MPIR_CVAR_BCAST_INTRA_ALGORITHM":"binomial"`
)

func TestRules(t *testing.T) {
	t.Chdir(t.TempDir())
	own, forced := nativeReport(t, 12, openMPIVersion, "", 100, 9000), nativeReport(t, 12, openMPIVersion, forcedPipeline, 300, 3000)
	status, out, stderr := topocast("bcast", "rules", "--openmpi", "bcast.rules", own, forced)
	if status != 0 || stderr != "" || !strings.Contains(out, "pipeline, segments of 8192 B  3\n") || !strings.Contains(out, "\n  mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename /") {
		t.Errorf("status %d, %s\n%s", status, stderr, out)
	}
	if b, err := os.ReadFile("bcast.rules"); err != nil || !strings.Contains(string(b), "\n0 0 0 0 # the library's choice\n524289 3 4 8192 #") {
		t.Errorf("rules %s, %v", b, err)
	}
	library := write(t, "libmpich.so", "\x7fELF\x00"+`{"collective=bcast":{"comm_type=intra":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}},"collective=barrier":{"algorithm=MPIR_Barrier_intra_smp":{}}}`+"\x00")
	own, forced = nativeReport(t, 12, mpichVersion, "", 100, 9000), nativeReport(t, 12, mpichVersion, forcedBinomial, 50, 9100)
	status, out, stderr = topocast("bcast", "rules", "--mpich", "-", "--mpich-library", library, own, forced)
	const (
		ring     = `{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}`
		measured = `{"avg_msg_size<=4":` + ring + `,"avg_msg_size<=8":{"algorithm=MPIR_Bcast_intra_binomial":{}},"avg_msg_size=any":` + ring + `}`
		want     = `{"collective=bcast":{"comm_type=intra":{"comm_size<12":` + ring + `,"comm_size<=12":{` +
			`"comm_hierarchy=parent":` + measured + `,"comm_hierarchy=flat":` + measured + `,"comm_hierarchy=any":` + ring + `},` +
			`"comm_size=any":` + ring + `}},"collective=barrier":{"algorithm=MPIR_Barrier_intra_smp":{}}}` + "\n"
	)
	if status != 0 || out != want || !strings.Contains(stderr, "\n  mpirun -genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE FILE ...\n") {
		t.Errorf("status %d, %s\n%s\nwant\n%s", status, stderr, out, want)
	}
}

// TestRulesForSeveralHostsAgreeOnHAN: reports of Open MPI 5 in which HAN broadcast are refused, and the option of the
// others is in the command that is printed.
func TestRulesForSeveralHostsAgreeOnHAN(t *testing.T) {
	t.Chdir(t.TempDir())
	const version, tuned = "Open MPI v5.0.7", `"OMPI_MCA_coll_han_bcast_dynamic_global_communicator_module":"3"`
	own, forced := nativeReportOn(t, 12, 3, version, "", 100, 9000), nativeReportOn(t, 12, 3, version, forcedPipeline, 300, 3000)
	status, out, stderr := topocast("bcast", "rules", "--openmpi", "bcast.rules", own, forced)
	if status != cli.StatusInput || !strings.Contains(stderr, "HAN broadcast") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("with HAN: status %d, %s\n%s", status, stderr, out)
	}
	own, forced = nativeReportOn(t, 12, 3, version, tuned, 100, 9000), nativeReportOn(t, 12, 3, version, tuned+","+forcedPipeline, 300, 3000)
	status, out, stderr = topocast("bcast", "rules", "--openmpi", "bcast.rules", own, forced)
	if status != 0 || !strings.Contains(out, "\n  mpirun --mca coll_han_bcast_dynamic_global_communicator_module 3 --mca coll_tuned_use_dynamic_rules 1 ") {
		t.Errorf("without HAN: status %d, %s\n%s", status, stderr, out)
	}
}

func TestRulesRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	own, forced := nativeReport(t, 12, openMPIVersion, "", 100, 9000), nativeReport(t, 12, openMPIVersion, forcedPipeline, 300, 3000)
	mpich := nativeReport(t, 12, mpichVersion, "", 100, 9000)
	network := write(t, "network.json", `{"format":"topocast/network"}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "want REPORT"},
		{[]string{"missing.json"}, "missing.json"},
		{[]string{network}, network + `: format is "topocast/network"`},
		{[]string{forced}, "no report of the library's own choice"},
		{[]string{own, mpich}, "another job"},
		{[]string{own, own}, "reported before"},
		{[]string{"--openmpi", "missing/rules", own}, "--openmpi: "},
		{[]string{"--openmpi", "rules", mpich}, "--openmpi: times of \"MPICH Version: 4.0.2\": want those of Open MPI, with its version"},
		{[]string{"--mpich", "rules", own}, "want --mpich-library"},
		{[]string{"--mpich", "rules", "--mpich-library", network, own}, "--mpich: times of \"Open MPI v4.1.4\": want those of MPICH, with its version"},
		{[]string{"--mpich", "rules", "--mpich-library", "missing.so", mpich}, "missing.so"},
		{[]string{"--mpich", "rules", "--mpich-library", network, mpich}, "not found in the file of the library"},
		{[]string{"--mpich-library", network, own}, "only with --mpich"},
		{[]string{"--openmpi", "same", "--mpich", "same", "--mpich-library", network, own}, "both are same"},
	} {
		status, out, stderr := topocast(append([]string{"bcast", "rules"}, c.args...)...)
		if status != cli.StatusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("rules %q: status %d, %q, %q, want 2 and %q", c.args, status, out, stderr, c.want)
		}
		if _, err := os.Stat("rules"); err == nil {
			t.Fatalf("rules %q wrote a file", c.args)
		}
	}
	if status, _, stderr := topocast("bcast", "rules", "--openmpi", "/dev/full", own, forced); status != cli.StatusFailed || !strings.Contains(stderr, "kept in ") {
		t.Errorf("a full disk: status %d, %s", status, stderr)
	}
}

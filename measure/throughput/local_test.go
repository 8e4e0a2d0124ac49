package throughput

import (
	"context"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// bare hides all optional abilities of a communicator.
type bare struct{ mpi.Communicator }

// TestLocalRanks: where Send does not buffer and with no ability but Send
// and Recv, every direction of all links has a rate, and others than rank 0 no
// result.
func TestLocalRanks(t *testing.T) {
	c := parse(t, "tree:2x3")
	for _, tt := range []struct {
		what string
		mode local.Mode
		bare bool
	}{
		{"buffered", local.Buffered, false},
		{"rendezvous", local.Rendezvous, false},
		{"bare", local.Rendezvous, true},
	} {
		err := local.Run(6, &local.Settings{Mode: tt.mode}, func(comm mpi.Communicator) error {
			if tt.bare {
				comm = bare{comm}
			}
			r, err := Measure(context.Background(), comm, &Settings{
				Topology: resultOf(c), Load: Load{Size: 10_000, Messages: 4}, Switches: true,
			})
			if comm.Rank() != 0 {
				if r != nil {
					t.Errorf("%s: rank %d has a result", tt.what, comm.Rank())
				}
				return err
			}
			if err != nil {
				return err
			}
			for _, l := range r.Links {
				if !(l.Rate > 0) {
					t.Errorf("%s: %d->%d: %g B/s", tt.what, l.From, l.To, l.Rate)
				}
			}
			for _, o := range r.Observations() {
				if len(o.Transfers) != len(o.Seconds) || !(o.Seconds[0] > 0) {
					t.Errorf("%s: observation %v", tt.what, o)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
}

// TestWrongSettingsAreErrorsOfAllRanks: the settings of rank 0 count.
func TestWrongSettingsAreErrorsOfAllRanks(t *testing.T) {
	found := resultOf(parse(t, "star:4"))
	of := func(spec string) *model.Network {
		n, err := model.New(resultOf(parse(t, spec)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, tt := range []struct {
		s    Settings
		want string
	}{
		{Settings{}, "Settings.Topology: nil: want the machine"},
		{Settings{Topology: found, Load: Load{Size: -1}}, "Settings.Size: -1: want in [1, "},
		{Settings{Topology: found, Load: Load{Messages: 3}}, "Settings.Messages: 3: want in [4, "},
		{Settings{Topology: found, Direct: [][2]int{{0, 4}}}, "Settings.Direct: 0 and 4"},
		{Settings{Topology: resultOf(parse(t, "star:5"))}, "of 5 ranks, the job has 4"},
		{Settings{Network: of("star:5")}, "Settings.Network: of 5 ranks, the job has 4: take a view of it"},
		{Settings{Topology: found, Network: of("star:4")}, "Settings.Network: given with Topology"},
	} {
		said := make([]string, 4)
		err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
			s := &tt.s
			if comm.Rank() != 0 {
				s = nil
			}
			_, err := Measure(context.Background(), bare{comm}, s)
			if err != nil {
				said[comm.Rank()] = err.Error()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, text := range said {
			if !strings.Contains(text, tt.want) {
				t.Errorf("rank %d: error %q, want %q", rank, text, tt.want)
			}
		}
	}
}

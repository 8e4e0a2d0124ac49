package plogp_test

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// costly is a communicator whose calls take as long as no measurement, as it says.
type costly struct{ mpi.Communicator }

func (costly) CallCosts() (call, loop float64) { return 1e3, 1e3 }

func (costly) PingPong([]float64, int, int, int, int, bool) error { panic("nobody needs it") }

// Measurements that calls from Go are no small part of are told, and a file tells of them again.
func TestCallsFromGoAreTold(t *testing.T) {
	s := &plogp.Settings{Longest: 8, Samples: 3, Fast: true, ExtraSizes: -1}
	run := func(wrap func(mpi.Communicator) mpi.Communicator) *plogp.Result {
		return measured(t, func(body func(mpi.Communicator) error) error {
			return local.Run(2, nil, func(c mpi.Communicator) error { return body(wrap(c)) })
		}, s)
	}
	count := func(r *plogp.Result) (told int) {
		for _, w := range r.Warnings {
			// Of two sides and 5 sizes; each has two overheads.
			if strings.HasPrefix(w, "10 of 10 round trips are below 4e+04 s: calls from Go, which add about 4000 s") ||
				strings.HasPrefix(w, "20 of 20 overheads are below 1e+04 s: calls from Go, which add about 1000 s") {
				told++
			}
		}
		return told
	}
	r := run(func(c mpi.Communicator) mpi.Communicator { return costly{c} })
	if count(r) != 2 || r.CallCost != 1e3 {
		t.Errorf("calls of %g s: warnings %q", r.CallCost, r.Warnings)
	}
	again, err := plogp.FromSection(r.Section(), 2)
	if err != nil || count(again) != 2 {
		t.Errorf("of its section: %v, %v", again, err)
	}
	if r := run(func(c mpi.Communicator) mpi.Communicator { return c }); count(r) != 0 || r.CallCost != 0 {
		t.Errorf("calls of %g s: warnings %q", r.CallCost, r.Warnings)
	}
	bad := r.Section()
	bad.Settings = []byte(`{"call_cost_s":-1}`)
	if _, err := plogp.FromSection(bad, 2); err == nil {
		t.Error("calls of -1 s: no error")
	}
}

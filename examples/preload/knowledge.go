//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// The reasons for which all calls are native, besides errors of a network's file.
var (
	errNoNetwork = errors.New("TOPOCAST_NETWORK names no network")
	errThreads   = errors.New("the program's threads call MPI at once (MPI_THREAD_MULTIPLE)")
)

// knowledge is what a process knows of its network. It is read when a rank first needs it, as rank 0 of a communicator
// with messages that are not short.
type knowledge struct {
	getenv func(string) string

	once sync.Once // the line on standard error

	lock     sync.Mutex // of all below
	isRead   bool
	network  *model.Network
	model    bool    // TOPOCAST_CHOICE=model
	patience float64 // s, TOPOCAST_PATIENCE
	refusal  error   // the first reason

	keepsReductions bool // TOPOCAST_REDUCE=off: all reductions are native
}

// usualPatience is how long, in s, native calls of a class of sizes have to take before they are compared with
// ours. The comparison takes a quarter of a second or 50 to 100 calls (packages bcast and reduce). So a program loses
// at most a tenth of the time that it spends in such calls, and a second more, once, where the result stays in doubt.
const usualPatience = 2.5

func (k *knowledge) path() string { return k.getenv("TOPOCAST_NETWORK") }

// load returns the network, with what has been tuned since. The first call reads the file and the other settings.
func (k *knowledge) load() (*model.Network, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if !k.isRead {
		k.isRead = true
		var err error
		if k.network, err = k.read(); err != nil {
			k.network, k.refusal = nil, cmp.Or(k.refusal, err)
		}
	}
	if k.network == nil {
		return nil, k.refusal
	}
	return k.network, nil
}

func (k *knowledge) read() (*model.Network, error) {
	path, choice, patience, reductions := k.path(), k.getenv("TOPOCAST_CHOICE"), k.getenv("TOPOCAST_PATIENCE"), k.getenv("TOPOCAST_REDUCE")
	if path == "" {
		return nil, errNoNetwork
	}
	if choice != "" && choice != "timed" && choice != "model" {
		return nil, fmt.Errorf("TOPOCAST_CHOICE=%s: want timed or model", choice)
	}
	if reductions != "" && reductions != "on" && reductions != "off" {
		return nil, fmt.Errorf("TOPOCAST_REDUCE=%s: want on or off", reductions)
	}
	k.model, k.patience, k.keepsReductions = choice == "model", usualPatience, reductions == "off"
	if patience != "" {
		var err error
		if k.patience, err = strconv.ParseFloat(patience, 64); err != nil || !(k.patience >= 0) {
			return nil, fmt.Errorf("TOPOCAST_PATIENCE=%s: want seconds, at least 0", patience)
		}
	}
	network, err := model.Load(path)
	if err != nil {
		return nil, fmt.Errorf("TOPOCAST_NETWORK: %s", strings.TrimPrefix(err.Error(), "model: ")) // its user knows no packages
	}
	return network, nil
}

// refuse keeps the first reason for which calls are native.
func (k *knowledge) refuse(err error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.refusal = cmp.Or(k.refusal, err)
}

// reason is why all broadcasts, or all reductions, are native; "" if that is not known.
func (k *knowledge) reason(ofReductions bool) string {
	k.lock.Lock()
	defer k.lock.Unlock()
	switch {
	case ofReductions && k.keepsReductions:
		return "TOPOCAST_REDUCE=off"
	case k.refusal != nil:
		return k.refusal.Error()
	case k.path() == "":
		return errNoNetwork.Error()
	}
	return ""
}

// keep lets the next communicator of the same ranks start with what this one has tuned.
func (k *knowledge) keep(tuned *table.Tuning) {
	k.lock.Lock()
	defer k.lock.Unlock()
	stored, err := table.Of(k.network)
	if err == nil {
		stored, err = stored.With(*tuned)
	}
	if err != nil {
		return
	}
	if network, err := stored.Keep(k.network); err == nil {
		k.network = network
	}
}

// lastOf is the last tuning of a collective in a table; nil: there is none.
func lastOf(t *table.Table, collective string) *table.Tuning {
	for _, x := range slices.Backward(t.Tunings()) {
		if x.Collective == collective {
			return &x
		}
	}
	return nil
}

// isTunedFor tells whether the network's file has choices for a collective in jobs of that number of ranks.
func isTunedFor(network *model.Network, ranks int, collective string) bool {
	stored, err := table.Of(network)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(stored.Tunings(), func(t table.Tuning) bool { return t.Ranks == ranks && t.Collective == collective })
}

// known is collective. It returns an error on all ranks if rank 0 has one, or if the network of rank 0 does not
// know the host of a rank.
func known(comm mpi.Communicator, network *model.Network, err error) error {
	places, failed := mpi.GatherPlaces(comm)
	if failed != nil {
		return failed
	}
	if err == nil && comm.Rank() == 0 {
		err = unknownHosts(network, places)
	}
	refused, failed := share.Binomial(comm, 0, mpi.MaxTag).Agree(err)
	return cmp.Or(failed, refused)
}

// unknownHosts is an error if the network names the hosts on which it was measured, and one of these is not among them.
func unknownHosts(network *model.Network, places []mpi.Place) error {
	measured := make(map[string]bool)
	for _, host := range network.Hosts() {
		measured[host] = true
	}
	if len(measured) == 0 || len(measured) == 1 && measured[""] {
		return nil
	}
	var unknown []string
	for _, p := range places {
		if !measured[p.Host] {
			measured[p.Host] = true // named once
			unknown = append(unknown, p.Host)
		}
	}
	if unknown == nil {
		return nil
	}
	return fmt.Errorf("the network does not know %s: %s", words.Count(len(unknown), "host"), words.List(unknown))
}

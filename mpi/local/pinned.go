package local

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A pinnedWorld shares atomics only.
type pinnedWorld struct {
	n        int
	host     string
	start    time.Time
	cpus     []int // that the process may use
	cores    []int // rank -> core; nil when the ranks outnumber the cores
	rings    []atomic.Pointer[ring]
	engines  []*engine
	contexts atomic.Int64
	comms    []*pinnedComm // of the whole world

	left    []atomic.Bool // ranks that have returned
	aborted atomic.Bool
	mu      sync.Mutex
	ended   error
}

func newPinnedWorld(n int, host string, cores []int) (*pinnedWorld, error) {
	if !canPin {
		return nil, fmt.Errorf("not available on %s: threads cannot be bound to cores", runtime.GOOS)
	}
	allowed, err := allowedCores()
	if err != nil {
		return nil, err
	}
	for i, c := range cores {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("Settings.Cores: %d: want one of the allowed %d", c, allowed)
		}
		if slices.Contains(cores[:i], c) {
			return nil, fmt.Errorf("Settings.Cores: %d: given twice", c)
		}
	}
	if cores == nil {
		cores = allowed
	}
	w := &pinnedWorld{n: n, host: host, cpus: allowed, start: time.Now(), rings: make([]atomic.Pointer[ring], n*n), left: make([]atomic.Bool, n)}
	if n <= len(cores) && n <= runtime.GOMAXPROCS(0) {
		w.cores = slices.Clone(cores[:n])
	}
	group := make([]int, n)
	for rank := range group {
		group[rank] = rank
		w.engines = append(w.engines, newEngine(w, rank))
	}
	w.comms = w.newComms(group)
	return w, nil
}

func (w *pinnedWorld) enter(rank int) (mpi.Communicator, error) {
	if w.cores != nil {
		if err := pin(w.cores[rank]); err != nil {
			return nil, err
		}
	}
	return w.comms[rank], nil
}

func (w *pinnedWorld) leave(rank int) { w.left[rank].Store(true) }

func (w *pinnedWorld) abort(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		w.ended = cause
		w.aborted.Store(true)
	}
}

func (w *pinnedWorld) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// ring returns the ring from src to dst, which the first user makes.
func (w *pinnedWorld) ring(src, dst int) *ring {
	p := &w.rings[src*w.n+dst]
	r := p.Load()
	if r == nil {
		r = new(ring)
		r.limit = ringSlots
		if !p.CompareAndSwap(nil, r) {
			r = p.Load()
		}
	}
	return r
}

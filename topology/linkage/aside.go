package linkage

import "github.com/topocast/topocast/internal/measured"

// What a slow host adds can be subtracted from its measurements, their noise cannot. Of 20 us, measured
// to 2 %, 19 us leave 1 +- 0.4 us, and the host looks near to anybody. Hosts whose noise
// is larger than a step between levels are set aside, and the groups found without them.
// Afterwards each is placed in the group that it belongs to (place.go).
const (
	// The step, relative to the near measurements, that noise must not hide.
	asideStep = 0.2
	// Nobody is set aside if more than a quarter would be: who is left tells too little.
	asideMost = 0.25
)

// setAside returns the hosts that are not to take part, and all others, both ascending.
func setAside(n int, slow []slowHost) (aside []slowHost, kept []int) {
	out := make([]bool, n)
	for _, s := range slow {
		if s.noise > asideStep*s.factor*s.level {
			aside, out[s.host] = append(aside, s), true
		}
	}
	if float64(len(aside)) > asideMost*float64(n) {
		aside, out = nil, make([]bool, n)
	}
	for i := range n {
		if !out[i] {
			kept = append(kept, i)
		}
	}
	return aside, kept
}

// only is the measurements between some of the hosts, which keep their order.
func only(r *measured.Symmetric, hosts []int) *measured.Symmetric {
	if len(hosts) == r.N() {
		return r
	}
	return measured.NewSymmetric(len(hosts), func(i, j int) float32 { return r.At(hosts[i], hosts[j]) })
}

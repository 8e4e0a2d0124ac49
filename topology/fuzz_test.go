package topology_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/linkage"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// readingsOf makes one to six matrices of one to twelve hosts of any bytes: the first two
// say how many, the third which habits the measurements have, the others are measurements, used
// again from the start when they end. Small measurements are common, so ties are.
func measurementsOf(data []byte) []mat.Matrix {
	if len(data) < 4 {
		return nil
	}
	n, repetitions, habits := 1+int(data[0])%12, 1+int(data[1])%6, data[2]
	data = data[3:]
	at := 0
	next := func() byte {
		b := data[at%len(data)] + byte(at/len(data)) // not the same again
		at++
		return b
	}
	var all []mat.Matrix
	for range repetitions {
		m := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				b := next()
				v := float64(b) * 1e-6
				switch {
				case habits&1 != 0 && b%8 == 1:
					v = math.NaN()
				case habits&2 != 0 && b%8 == 2:
					v = 0
				case habits&4 != 0 && b%16 == 3: // any number at all
					var raw [8]byte
					for k := range raw {
						raw[k] = next()
					}
					v = math.Float64frombits(binary.LittleEndian.Uint64(raw[:]))
				case habits&8 != 0: // from 1e-38 to 1e38, or beyond what float32 holds
					v = math.Pow(10, 0.3*(float64(b)-128))
				case habits&16 != 0 && j < i: // one way only, or both alike
					if v = m.At(j, i); b%2 == 0 {
						v = math.NaN()
					}
				case habits&32 != 0 && j < i:
					v = m.At(j, i)
				case habits&64 != 0 && b%4 == 0:
					v = -v
				}
				m.Set(i, j, v)
			}
		}
		all = append(all, m)
	}
	return all
}

// seedReadings are machines and oddities as input of a fuzz target.
func seedMeasurements(f *testing.F) {
	for _, seed := range []string{
		"\x02\x00\x00abcdefghi", "\x02\x00\x10\x01\x02\x03", "\x03\x01\x01\x00\x01\x02\x03\x05\x07\x09\x11",
		"\x0b\x00\x20\x01\x01\x02\x01\x01\x05", "\x07\x05\x08\x01\x80\xff\x40", "\x07\x01\x06\x03\xff\xff\xff\xff\xff\xff\xef\x7f\x02",
		"\x00\x00\x00\x00", "\x01\x00\x01\x01", "\x0b\x00\x00\x00", "\x05\x04\x7f\x03\x00\x00\x00\x00\x00\x00\xf0\x7f", "\x0b\x00\x02\x02\x0a\x01",
	} {
		f.Add([]byte(seed))
	}
}

// checkResult holds what must be true of every reconstruction of n hosts.
func checkResult(t *testing.T, n int, r *topology.Result) {
	t.Helper()
	share := func(what string, v float64) {
		if !math.IsNaN(v) && !(v >= 0 && v <= 1) {
			t.Errorf("%s is %g, want in [0, 1] or NaN", what, v)
		}
	}
	finite := func(what string, v float64) {
		if math.IsInf(v, 0) {
			t.Errorf("%s is %g, want finite or NaN", what, v)
		}
	}
	h, g := r.Hierarchy, r.Graph
	if h.Hosts() != n || g.Hosts() != n {
		t.Fatalf("hierarchy of %d hosts, graph of %d, want %d", h.Hosts(), g.Hosts(), n)
	}
	for i, gr := range h.Groups() {
		share("support", gr.Confidence)
		finite("latency of a group", gr.Latency)
		if !slices.IsSorted(gr.Hosts) || i > 0 && (len(gr.Hosts) < 2 || len(gr.Hosts) >= n || gr.Parent < 0 || gr.Parent >= i) {
			t.Errorf("group %d: %+v", i, gr)
		}
		for _, c := range gr.Children {
			if h.Groups()[c].Parent != i || h.Groups()[c].Level >= gr.Level {
				t.Errorf("group %d: child %d: %+v", i, c, h.Groups()[c])
			}
		}
	}
	for _, l := range h.Levels() {
		share("confidence of a level", l.Confidence)
		finite("latency of a level", l.Latency)
		if l.Name == "" {
			t.Error("a level without a name")
		}
	}
	fit := r.Fit
	share("tree-likeness", fit.TreeLikeness)
	finite("R2", fit.R2)
	finite("residual", fit.Residual)
	finite("noise", fit.Noise)
	if fit.R2 > 1+1e-9 || fit.Residual < 0 || fit.Noise < 0 {
		t.Errorf("fit %+v", fit)
	}
	for _, l := range fit.Levels {
		finite("residual of a level", l)
	}
	if fit.Levels != nil && len(fit.Levels) != len(h.Levels())+1 {
		t.Errorf("%d levels in the fit, %d in the hierarchy", len(fit.Levels), len(h.Levels()))
	}
	if !slices.Contains([]topology.Family{topology.FamilyFlat, topology.FamilyTree, topology.FamilyQuotient, topology.FamilyMesh}, fit.Family) {
		t.Errorf("family %q", fit.Family)
	}

	// Written, read and written again, both are the same.
	var once, twice bytes.Buffer
	if err := encode.WriteGraph(&once, g); err != nil {
		t.Fatal(err)
	}
	again, err := encode.ReadGraph(bytes.NewReader(once.Bytes()))
	if err != nil {
		t.Fatalf("reading the graph: %v\n%s", err, once.Bytes())
	}
	if err := encode.WriteGraph(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("graph written %s, and again %s, %v", once.Bytes(), twice.Bytes(), err)
	}
	once.Reset()
	twice.Reset()
	if err := encode.WriteHierarchy(&once, r); err != nil {
		t.Fatal(err)
	}
	read, err := encode.ReadHierarchy(bytes.NewReader(once.Bytes()))
	if err != nil {
		t.Fatalf("reading the hierarchy: %v\n%s", err, once.Bytes())
	}
	if err := encode.WriteHierarchy(&twice, read); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("hierarchy written %s, and again %s, %v", once.Bytes(), twice.Bytes(), err)
	}
}

// fuzzMethods runs methods on any measurements: they return an error or a result that
// holds together, and the same one again.
func fuzzMethods(f *testing.F, methods ...topology.Reconstructor) {
	seedMeasurements(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		measurements := measurementsOf(data)
		if measurements == nil {
			return
		}
		n, _ := measurements[0].Dims()
		for _, method := range methods {
			r, err := method.Reconstruct(measurements...)
			if err != nil {
				continue
			}
			checkResult(t, n, r)
			again, err := method.Reconstruct(measurements...)
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			if err := encode.WriteHierarchy(&a, r); err != nil {
				t.Fatal(err)
			}
			if err := encode.WriteHierarchy(&b, again); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("two runs: %s and %s, %v", a.Bytes(), b.Bytes(), err)
			}
			if t.Failed() {
				t.Fatalf("by %T%+v of %v", method, method, measurements)
			}
		}
	})
}

func FuzzLinkage(f *testing.F) {
	fuzzMethods(f, &linkage.Robust{}, &linkage.Robust{MinConfidence: 1e-9})
}

func FuzzGreedyCycle(f *testing.F) {
	fuzzMethods(f, &spanner.GreedyCycle{},
		&spanner.Witness{}, &spanner.Witness{KeepOverhead: true, Tolerance: 0.3})
}

func FuzzSwitches(f *testing.F) {
	fuzzMethods(f, &clique.Switches{}, &clique.Switches{NoPairs: true, Floor: 1e-6},
		&clique.Switches{Epsilon: 0.3})
}

func FuzzCluster(f *testing.F) {
	fuzzMethods(f, cluster.Nested{}, cluster.Nested{Agglomerative: cluster.Agglomerative{Linkage: cluster.Single}, Ratio: 1},
		cluster.Nested{Agglomerative: cluster.Agglomerative{Linkage: cluster.Complete}},
		cluster.Flat{Clusterer: cluster.HDBSCAN{}}, cluster.Flat{Clusterer: cluster.HDBSCAN{MinClusterSize: 3, MinSamples: 2}},
		cluster.Flat{Clusterer: cluster.DBSCAN{}}, cluster.Flat{Clusterer: cluster.Agglomerative{}},
		cluster.Flat{Clusterer: cluster.KMedoids{K: 2}},
		cluster.Flat{Clusterer: cluster.DBSCAN{Eps: 50e-6, MinPoints: 1}})
}

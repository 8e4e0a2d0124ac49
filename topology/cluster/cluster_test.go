package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// line returns the distances between points on a line.
func line(t testing.TB, x ...float64) mat.Symmetric {
	t.Helper()
	m := &mat.Dense{} // NewDense refuses size 0
	if len(x) > 0 {
		m = mat.NewDense(len(x), len(x), nil)
	}
	for i := range x {
		for j := range x {
			m.Set(i, j, math.Abs(x[i]-x[j]))
		}
	}
	d, err := NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// reference is the point set that scipy 1.10.1 and scikit-learn 1.2.1 were run
// on: three blobs of 7, 8 and 5 points and two far ones, the coordinates from
// the congruence x <- 1103515245 x + 12345 mod 2^31, started at 12345.
func reference(t testing.TB) mat.Symmetric {
	t.Helper()
	state := uint64(12345)
	next := func() float64 {
		state = (1103515245*state + 12345) % (1 << 31)
		return float64(state) / (1 << 31)
	}
	var points [][2]float64
	for _, b := range []struct {
		x, y, width float64
		n           int
	}{{0, 0, 1, 7}, {5, 1, 1.5, 8}, {2, 6, 0.7, 5}} {
		for range b.n {
			x := b.x + b.width*next()
			points = append(points, [2]float64{x, b.y + b.width*next()})
		}
	}
	points = append(points, [2]float64{20, 20}, [2]float64{-9, 3})
	m := mat.NewDense(len(points), len(points), nil)
	for i, p := range points {
		for j, q := range points {
			m.Set(i, j, math.Hypot(p[0]-q[0], p[1]-q[1]))
		}
	}
	d, err := NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// referenceLabels puts the two far points into blobs 2 and 0.
var referenceLabels = Labels{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0}

func TestNewDistancesRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, m := range map[string]*mat.Dense{
		"no square":         mat.NewDense(2, 3, nil),
		"a negative cell":   mat.NewDense(2, 2, []float64{0, -1, 3, 0}),
		"an infinite cell":  mat.NewDense(2, 2, []float64{0, inf, 1, 0}),
		"a pair unmeasured": mat.NewDense(2, 2, []float64{0, nan, nan, 0}),
	} {
		if _, err := NewDistances(m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	d, err := NewDistances(mat.NewDense(3, 3, []float64{nan, 1, nan, 3, nan, 4, 5, nan, nan}))
	if err != nil || d.At(0, 1) != 2 || d.At(0, 2) != 5 || d.At(2, 1) != 4 {
		t.Errorf("mean of both directions, or the one measured: %v, %v", d, err)
	}
}

// TestAgglomerativeHeights: expected heights are printed by
// scipy.cluster.hierarchy.linkage (scipy 1.10.1) for the reference points.
func TestAgglomerativeHeights(t *testing.T) {
	d := reference(t)
	for _, c := range []struct {
		linkage Linkage
		want    []float64
	}{
		{Single, []float64{0.083777405415, 0.110757815678, 0.146786567867, 0.147340715654, 0.154224547802, 0.164430183128, 0.190832796568, 0.193097418218, 0.19903380463, 0.267453364428, 0.27247290616, 0.30662101058, 0.359628782255, 0.405366576815, 0.414887838531, 0.435959039979, 0.685910076172, 4.514485325569, 4.876248020262, 9.591780490548, 22.138962360808}},
		{Complete, []float64{0.083777405415, 0.110757815678, 0.146786567867, 0.154224547802, 0.164430183128, 0.231029379414, 0.27247290616, 0.287187398819, 0.30662101058, 0.405366576815, 0.442653978578, 0.460910326634, 0.482312900005, 0.707253300573, 0.785501960866, 1.038751166088, 1.726972807251, 6.155320299213, 6.637175562448, 15.256652406405, 33.615472627943}},
		{Average, []float64{0.083777405415, 0.110757815678, 0.146786567867, 0.154224547802, 0.164430183128, 0.189185047534, 0.240142408519, 0.27247290616, 0.30662101058, 0.30707656017, 0.340403555038, 0.405366576815, 0.448434683307, 0.466727187013, 0.595731624252, 0.766680487783, 1.240973358375, 5.505980521858, 5.767486177385, 12.376368436799, 24.887380629843}},
	} {
		tree, err := Agglomerative{Linkage: c.linkage}.dendrogram(rowsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		for k, m := range tree.merges {
			if math.Abs(m.Height-c.want[k]) > 1e-6*c.want[k] {
				t.Errorf("linkage %d: height of merge %d = %.12g, want %.12g", c.linkage, k, m.Height, c.want[k])
			}
		}
	}
	// scipy's fcluster(..., 4, 'maxclust') on average linkage: blobs 1 and 2 have joined.
	got, err := Agglomerative{K: 4}.Cluster(d)
	want := Labels{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("4 clusters = %v, %v, want %v", got, err, want)
	}
}

func TestDendrogramCutsAndNests(t *testing.T) {
	// Pairs at 1, pairs of pairs at about 10, all at about 100.
	d := line(t, 0, 1, 10, 11, 100, 101, 110, 111)
	tree, err := Agglomerative{Linkage: Single}.dendrogram(rowsOf(d))
	if err != nil {
		t.Fatal(err)
	}
	for merges, want := range map[int]Labels{
		0: {0, 1, 2, 3, 4, 5, 6, 7}, 4: {0, 0, 1, 1, 2, 2, 3, 3}, 6: {0, 0, 0, 0, 1, 1, 1, 1}, 7: make(Labels, 8),
	} {
		if got := tree.after(merges); !slices.Equal(got, want) {
			t.Errorf("after %d merges %v, want %v", merges, got, want)
		}
	}
	for below, height := range map[int]float64{4: 1, 6: 9, 7: 89} {
		if got := tree.merges[below-1].Height; got != height {
			t.Errorf("merge %d is at %g, want %g", below-1, got, height)
		}
	}
	if below := tree.belowWidestGap(); below != 6 { // 89 is 9.9 times 9, and 9 is 9 times 1
		t.Errorf("%d merges below the widest gap, want 6", below)
	}
	h, err := tree.hierarchy(1.5)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Levels()) != 2 || len(h.GroupsAt(0)) != 4 || len(h.GroupsAt(1)) != 2 {
		t.Errorf("Hierarchy(1.5) has levels %v", h.Levels())
	}
	if h.Latency(0, 1) != 1 || h.Latency(0, 3) != 9 || h.Latency(0, 7) != 89 {
		t.Errorf("latencies %g, %g, %g, want 1, 9, 89", h.Latency(0, 1), h.Latency(0, 3), h.Latency(0, 7))
	}
	// With a ratio that only the gap between 9 and 89 exceeds, the pairs vanish.
	if h, err = tree.hierarchy(9.5); err != nil || len(h.Levels()) != 1 || len(h.GroupsAt(0)) != 2 {
		t.Errorf("Hierarchy(9.5) has levels %v, %v", h.Levels(), err)
	}
	if _, err := tree.hierarchy(0.5); err == nil {
		t.Error("ratio 0.5: no error")
	}
}

// TestDBSCAN: expected labels are printed by sklearn.cluster.DBSCAN
// (scikit-learn 1.2.1, eps = 1, min_samples = 3).
func TestDBSCAN(t *testing.T) {
	want := Labels{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, Noise, Noise}
	for _, eps := range []float64{1, 0} { // 0: the knee finds the same
		got, err := DBSCAN{Eps: eps, MinPoints: 3}.Cluster(reference(t))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Eps = %g: %v, %v, want %v", eps, got, err, want)
		}
	}
}

// TestScores: silhouette_score and adjusted_rand_score of scikit-learn 1.2.1.
func TestScores(t *testing.T) {
	if got := Silhouette(reference(t), referenceLabels); math.Abs(got-0.5897335330984667) > 1e-12 {
		t.Errorf("Silhouette = %.16g, want 0.5897335330984667", got)
	}
	for _, c := range []struct {
		a, b Labels
		want float64
	}{
		{referenceLabels, Labels{0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 1, 1}, 0.4024727081415231},
		{Labels{0, 0, 1, 1}, Labels{0, 0, 1, 2}, 0.5714285714285714},
		{Labels{0, 0, 0, 1, 1, 1}, Labels{0, 0, 1, 1, 2, 2}, 0.24242424242424243},
		{Labels{0, 0, 0}, Labels{0, 0, 0}, 1},
	} {
		if got := AdjustedRand(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("AdjustedRand(%v, %v) = %.16g, want %.16g", c.a, c.b, got, c.want)
		}
	}
}

// TestKMedoidsIsSwapOptimal: no exchange of one medoid lowers the cost, and in
// easy cases the blobs come out.
func TestKMedoidsIsSwapOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		n := 2 + rng.IntN(25)
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.Float64()
		}
		d, k := line(t, x...), 1+rng.IntN(n)
		_, medoids, err := KMedoids{K: k}.medoids(rowsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		cost := func(medoids []int) float64 {
			var sum float64
			for o := range n {
				near := math.Inf(1)
				for _, m := range medoids {
					near = min(near, d.At(o, m))
				}
				sum += near
			}
			return sum
		}
		have := cost(medoids)
		for i := range medoids {
			for o := range n {
				other := slices.Clone(medoids)
				other[i] = o
				if c := cost(other); c < have*(1-1e-9) {
					t.Fatalf("n = %d, k = %d: medoid %d for %d lowers the cost from %g to %g", n, k, o, medoids[i], have, c)
				}
			}
		}
	}
	// Distances that differ by rounding only must not swap for ever.
	if _, err := (KMedoids{K: 2}).Cluster(line(t, 0.1+0.2, 0.3, 1, 1-1e-16)); err != nil {
		t.Error(err)
	}
	got, err := KMedoids{K: 3}.Cluster(line(t, 0, 10, 1, 11, 20, 21))
	if want := (Labels{0, 1, 0, 1, 2, 2}); err != nil || !slices.Equal(got, want) {
		t.Errorf("three pairs: %v, %v, want %v", got, err, want)
	}
}

// TestHDBSCANByHand: points 0, 1, 2 and 10, 11, 12 with one far at 100. With
// one neighbour all core distances but the last are 1, so the tree joins both
// triples at 1, the two at 8 and the last at 88. Condensed with clusters of at
// least 2: the root loses 100 at lambda 1/88, splits at 1/8 into the triples,
// whose objects leave at 1: stability 3 (1 - 1/8) each, against
// 1/88 + 6/8 for the root, which is not allowed anyway.
func TestHDBSCANByHand(t *testing.T) {
	d := line(t, 0, 1, 2, 10, 11, 12, 100)
	labels, err := HDBSCAN{}.Cluster(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Labels{0, 0, 0, 1, 1, 1, Noise}); !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
	c := HDBSCAN{MinClusterSize: 2}.condense(HDBSCAN{MinSamples: 1}.tree(rowsOf(d)))
	want := []float64{1.0/88 + 6.0/8, 3 * 7.0 / 8, 3 * 7.0 / 8}
	for k, s := range c.stability {
		if math.Abs(s-want[k]) > 1e-12 {
			t.Errorf("stability of cluster %d = %g, want %g", k, s, want[k])
		}
	}
	if !slices.Equal(c.parent, []int{-1, 0, 0}) {
		t.Errorf("parents %v", c.parent)
	}
}

// 0, 1, 2 and 4 stay one cluster, which 4 leaves before the others.
func TestHDBSCANKeepsWhoLeavesEarly(t *testing.T) {
	labels, err := HDBSCAN{MinClusterSize: 3}.Cluster(line(t, 0, 1, 2, 4, 50, 51, 52))
	if err != nil || !slices.Equal(labels, Labels{0, 0, 0, 0, 1, 1, 1}) {
		t.Fatalf("labels %v, %v", labels, err)
	}
}

// DBCV by hand, dimension 1, points 0, 1, 3 and 20, 21, 23. Core distances are
// harmonic means to the two others: of 0: 2/(1+1/3) = 1.5, of 1: 2/(1+1/2) =
// 4/3, of 3: 2/(1/3+1/2) = 2.4. The tree of mutual reachability is 0-1 (1.5),
// 1-3 (2.4); its only inner vertex is 1, without inner edges: sparseness 2.4.
// Separation between the inner vertices 1 and 21: 20. (20-2.4)/20 = 0.88.
func TestDBCVByHand(t *testing.T) {
	d := line(t, 0, 1, 3, 20, 21, 23)
	if got := DBCV(d, Labels{0, 0, 0, 1, 1, 1}, 1); math.Abs(got-0.88) > 1e-12 {
		t.Errorf("DBCV = %g, want 0.88", got)
	}
	// An object by itself is noise (Moulavi et al. 2014, section 3): it changes the share of the clusters and nothing else.
	d = line(t, 0, 1, 3, 20, 21, 23, 40, 60)
	if got, want := DBCV(d, Labels{0, 0, 0, 1, 1, 1, 2, 3}, 1), 0.88*6/8; math.Abs(got-want) > 1e-12 {
		t.Errorf("DBCV with two objects by themselves = %g, want %g", got, want)
	}
	if got, want := DBCV(d, Labels{0, 0, 0, 1, 1, 1, Noise, Noise}, 1), 0.88*6/8; math.Abs(got-want) > 1e-12 {
		t.Errorf("DBCV with noise = %g, want %g", got, want)
	}
	d = line(t, 0, 1, 3, 20, 21, 23)
	if good, bad := 0.88, DBCV(d, Labels{0, 1, 0, 1, 0, 1}, 1); bad >= good {
		t.Errorf("DBCV of mixed clusters = %g, not below %g", bad, good)
	}
}

func TestComponents(t *testing.T) {
	got, err := DBSCAN{Eps: 2, MinPoints: 1}.Cluster(line(t, 0, 5, 2, 4, 8))
	if want := (Labels{0, 0, 0, 0, 1}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestRelabelling: the methods that draw no random numbers follow a
// permutation of the objects.
func TestRelabelling(t *testing.T) {
	d := reference(t)
	perm := rand.New(rand.NewPCG(9, 9)).Perm(d.SymmetricDim())
	m := mat.NewDense(d.SymmetricDim(), d.SymmetricDim(), nil)
	for i := range d.SymmetricDim() {
		for j := range d.SymmetricDim() {
			m.Set(perm[i], perm[j], d.At(i, j))
		}
	}
	p, err := NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Clusterer{
		Agglomerative{K: 5},
		Agglomerative{Linkage: Complete, K: 5},
		Agglomerative{Linkage: Single, K: 5},
		Agglomerative{},
		DBSCAN{Eps: 1, MinPoints: 1},
		DBSCAN{},
		HDBSCAN{},
		HDBSCAN{MinSamples: 2, MinClusterSize: 3},
		KMedoids{K: 5},
	} {
		a, err := c.Cluster(d)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Cluster(p)
		if err != nil {
			t.Fatal(err)
		}
		back := make([]int, len(b))
		for i := range back {
			back[i] = b[perm[i]]
		}
		if !slices.Equal(a, Relabel(back)) {
			t.Errorf("%T%+v: %v became %v", c, c, a, Relabel(back))
		}
	}
}

func TestSmallInputs(t *testing.T) {
	for n := range 4 {
		d := line(t, []float64{0, 1, 5}[:n]...)
		for _, c := range []Clusterer{
			Agglomerative{}, Agglomerative{Linkage: Single}, DBSCAN{MinPoints: 1}, DBSCAN{}, HDBSCAN{}, KMedoids{K: min(n, 1)},
		} {
			if l, err := c.Cluster(d); err != nil || len(l) != n {
				t.Errorf("%T on %d objects: %v, %v", c, n, l, err)
			}
		}
		tree, err := Agglomerative{}.dendrogram(rowsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if h, err := tree.hierarchy(1); err != nil || h.Hosts() != n {
			t.Errorf("hierarchy of %d objects: %v", n, err)
		}
	}
	zeros := line(t, 4, 4, 4, 4, 4)
	for _, c := range []Clusterer{Agglomerative{}, Agglomerative{K: 3}, DBSCAN{}, HDBSCAN{}, KMedoids{K: 3}} {
		if _, err := c.Cluster(zeros); err != nil {
			t.Errorf("%T on equal objects: %v", c, err)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	d := line(t, 0, 1, 2)
	for _, c := range []Clusterer{
		Agglomerative{K: 4},
		Agglomerative{Linkage: 9},
		DBSCAN{Eps: -1},
		DBSCAN{MinPoints: -1},
		HDBSCAN{MinClusterSize: 1},
		HDBSCAN{MinSamples: -1},
		KMedoids{},
		KMedoids{K: 4},
	} {
		if _, err := c.Cluster(d); err == nil {
			t.Errorf("%T%+v: no error", c, c)
		}
	}
	if r, err := (Flat{}).Reconstruct(mat.NewDense(2, 2, []float64{0, 1, 1, 0})); err == nil {
		t.Errorf("Flat without a Clusterer: %+v, want an error", r)
	}
}

// tree4096 is a noisy two-level tree: 64 groups of 64.
func tree4096() *distances {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 1))
	d := &distances{n: n, d: make([]float64, n*n)}
	for i := range n {
		for j := range i {
			v := 20e-6
			if i/64 == j/64 {
				v = 10e-6
			}
			v *= 1 + 0.03*rng.NormFloat64()
			d.d[i*n+j], d.d[j*n+i] = v, v
		}
	}
	return d
}

func BenchmarkHDBSCAN4096(b *testing.B) {
	d := tree4096()
	b.ReportAllocs()
	for b.Loop() {
		if l, err := (HDBSCAN{}).Cluster(d); err != nil || l.Clusters() < 2 {
			b.Fatal(l.Clusters(), err)
		}
	}
}

func BenchmarkAgglomerative4096(b *testing.B) {
	d := tree4096()
	b.ReportAllocs()
	for b.Loop() {
		if l, err := (Agglomerative{K: 64}).Cluster(d); err != nil || l.Clusters() != 64 {
			b.Fatal(l.Clusters(), err)
		}
	}
}

func BenchmarkKMedoids4096(b *testing.B) {
	d := tree4096()
	for b.Loop() {
		l, err := KMedoids{K: 64}.Cluster(d)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(l.Clusters()), "clusters")
	}
}

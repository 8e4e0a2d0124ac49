package nnchain

// A Square is an n x n matrix of float32 with rows as Merges wants them. 4 n^2 bytes.
type Square struct {
	n, stride int
	d         []float32
}

// NewSquare returns a matrix of zeros.
func NewSquare(n int) *Square {
	return &Square{n: n, stride: strideOf(n), d: make([]float32, n*strideOf(n))}
}

// strideOf is the distance between the rows: n rounded up to an odd number of cache lines. So the
// cells of a column do not fall into one set of the cache, which is 7 times slower at n = 4096.
func strideOf(n int) int {
	const line = 64 / 4
	return line * ((n+line-1)/line | 1)
}

// N is the number of rows.
func (m *Square) N() int { return m.n }

// Row is row i, to be read and written.
func (m *Square) Row(i int) []float32 { return m.d[i*m.stride:][:m.n] }

// SetPair sets cells (i, j) and (j, i).
func (m *Square) SetPair(i, j int, v float32) { m.d[i*m.stride+j], m.d[j*m.stride+i] = v, v }

// Scratch is the memory of the matrix, for other use while its cells do not count: n*n at least.
func (m *Square) Scratch() []float32 { return m.d }

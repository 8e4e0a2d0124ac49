// Package conjugate solves symmetric systems of linear equations by conjugate gradients, without setting up their matrix.
package conjugate

import "gonum.org/v1/gonum/floats"

// Solve returns x with A x = b, for a symmetric A without negative eigenvalues. apply sets image to A times x.
// inverse holds what the residual of each unknown is scaled with, such as the inverse of the diagonal of A; an unknown with
// 0 stays 0. Of many solutions it is one without a part that nothing determines.
//
// It ends when the square of the scaled residual is the share settled of the first, or after the most steps. b is
// overwritten with the residual. The method is that of Hestenes and Stiefel 1952.
func Solve(b, inverse []float64, apply func(image, x []float64), settled float64, most int) []float64 {
	var (
		x         = make([]float64, len(b))
		scaled    = make([]float64, len(b))
		direction = make([]float64, len(b))
		image     = make([]float64, len(b))
	)
	floats.MulTo(direction, b, inverse)
	size := floats.Dot(b, direction)
	first := size
	for step := 0; step < most && size > settled*first; step++ {
		apply(image, direction)
		curve := floats.Dot(direction, image)
		if !(curve > 0) {
			break
		}
		floats.AddScaled(x, size/curve, direction)
		floats.AddScaled(b, -size/curve, image)
		floats.MulTo(scaled, b, inverse)
		before := size
		size = floats.Dot(b, scaled)
		floats.AddScaledTo(direction, scaled, size/before, direction)
	}
	return x
}

package reduce

import (
	"math"
	"math/bits"

	"github.com/topocast/topocast/mpi"
)

// The sum of a few numbers takes no longer with all its bits, and then needs one reduction: each number is added to a fixed-point
// number that is as long as any sum can be (U. Kulisch, W. Miranker, The arithmetic of the digital computer: a new approach, SIAM
// Review 28, 1986). Its digits are integers, which the ranks add.

// longDigits are the digits of 32 bits of a sum: for the bits of all numbers, and one for what a sum carries beyond. 2^31 ranks do not
// overflow a digit.
func (f format) longDigits() int { return (2*f.bias+f.precision)/32 + 2 }

// Behind the digits of a sum stand counts of the numbers that are not finite.
const (
	countNaN = iota
	countPositive
	countNegative
	countsOfLong
)

// longBytes are those of the long sums of so many elements; 0: they are too many for it. Up to a few KiB the time of a message is
// mostly its latency.
func (f format) longBytes(elements int) int {
	const most = 2 << 10
	bytes := 8 * (f.longDigits() + countsOfLong) * elements
	if bytes > most {
		return 0
	}
	return bytes
}

// addLong adds a number to the digits and counts of a sum.
func (f format) addLong(sum []int64, x float64) {
	counts := sum[f.longDigits():]
	switch {
	case x != x:
		counts[countNaN]++
		return
	case math.IsInf(x, 1):
		counts[countPositive]++
		return
	case math.IsInf(x, -1):
		counts[countNegative]++
		return
	}
	fraction, exponent := math.Frexp(math.Abs(x))
	const significant = 53
	integer := uint64(math.Ldexp(fraction, significant)) // the number is integer * 2^(exponent-significant)
	at := exponent - significant - f.leastExponent()
	if at < 0 {
		integer, at = integer>>-at, 0 // zeros, as a number is a multiple of the least one
	}
	high, low := bits.Mul64(integer, 1<<(at%32))
	for i, digit := range [...]uint64{low & math.MaxUint32, low >> 32, high} {
		switch {
		case digit == 0:
		case x < 0:
			sum[at/32+i] -= int64(digit)
		default:
			sum[at/32+i] += int64(digit)
		}
	}
}

// leastExponent is that of the least positive number, a power of 2.
func (f format) leastExponent() int { return 2 - f.bias - f.precision }

// roundLong is the number nearest to a sum, whose digits it changes.
func roundLong[F float](f format, sum []int64) F {
	digits, counts := sum[:f.longDigits()], sum[f.longDigits():]
	switch {
	case counts[countNaN] > 0 || counts[countPositive] > 0 && counts[countNegative] > 0:
		return F(math.NaN())
	case counts[countPositive] > 0:
		return F(math.Inf(1))
	case counts[countNegative] > 0:
		return F(math.Inf(-1))
	}
	carry(digits)
	sign := F(1)
	if digits[len(digits)-1] < 0 {
		sign = -1
		for i := range digits {
			digits[i] = -digits[i]
		}
		carry(digits)
	}
	first := len(digits) - 1
	for first > 0 && digits[first] == 0 {
		first--
	}
	// The first 64 bits from the first one that is set. If any bit behind them is set, so is the last of them: rounding then
	// knows that there is more.
	var window [3]uint64
	for i := range min(first+1, len(window)) {
		window[i] = uint64(digits[first-i])
	}
	high := window[0]<<32 | window[1]
	zeros := bits.LeadingZeros64(high)
	if high == 0 {
		return 0
	}
	high = high<<zeros | window[2]<<32>>(64-zeros)
	rest := window[2] << zeros & math.MaxUint32
	for _, digit := range digits[:max(0, first-2)] {
		rest |= uint64(digit)
	}
	if rest != 0 {
		high |= 1
	}
	return sign * F(math.Ldexp(float64(F(high)), 32*(first-1)-zeros+f.leastExponent()))
}

// carry makes all digits but the last lie in [0, 2^32).
func carry(digits []int64) {
	for i := range digits[1:] {
		digits[i+1] += digits[i] >> 32
		digits[i] &= math.MaxUint32
	}
}

// addExactly sums a few values. result is where to, or nil.
func addExactly[F float](r *Reducer, values, result []F, root int) error {
	f := formatOf[F]()
	sums := room[int64](&r.sums.words, f.longBytes(len(values))/8)
	clear(sums)
	each := len(sums) / len(values)
	for i, x := range values {
		f.addLong(sums[i*each:(i+1)*each], float64(x))
	}
	if err := reduceNumbers(r, sums, mpi.Sum, root, len(bytesOf(sums))); err != nil {
		return err
	}
	for i := range result {
		result[i] = roundLong[F](f, sums[i*each:(i+1)*each])
	}
	return nil
}

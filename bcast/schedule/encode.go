package schedule

import (
	"encoding/binary"
	"errors"
)

// errCosts refuses bytes that AppendBinary did not write.
var errCosts = errors.New("schedule: these bytes are no costs")

// AppendBinary appends the costs for UnmarshalBinary, in a few hundred bytes: one
// rank works them out and tells the others. The error is nil.
func (c *Costs) AppendBinary(to []byte) ([]byte, error) {
	to = binary.AppendVarint(to, c.Send)
	to = binary.AppendVarint(to, c.Recv)
	for _, l := range c.Levels {
		to = binary.AppendVarint(to, l.Empty)
		to = binary.AppendVarint(to, l.Ways)
		to = binary.AppendVarint(to, int64(len(l.Gap)))
		for _, g := range l.Gap {
			to = binary.AppendVarint(to, g.Bytes)
			to = binary.AppendVarint(to, g.Time)
		}
	}
	return to, nil
}

// UnmarshalBinary reads what AppendBinary has written.
func (c *Costs) UnmarshalBinary(from []byte) error {
	short := false
	next := func() int64 {
		x, n := binary.Varint(from)
		if n <= 0 {
			short, from = true, nil
			return 0
		}
		from = from[n:]
		return x
	}
	*c = Costs{Send: next(), Recv: next()}
	for len(from) > 0 {
		l := LevelCost{Empty: next(), Ways: next()}
		for n := next(); n > 0 && !short; n-- {
			l.Gap = append(l.Gap, SizedCost{Bytes: next(), Time: next()})
		}
		c.Levels = append(c.Levels, l)
	}
	if short {
		return errCosts
	}
	return nil
}

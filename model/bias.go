package model

// RTTBias is b where flows that share a channel get shares as 1/RTT^b; 0 where none was
// found or looked for.
func (n *Network) RTTBias() float64 { return n.rttBias }

package throughput

// nodeNode measures links between hosts, each by its two hosts, in rounds of disjoint
// ones (Bufe 2014, section 2.3.1).
func (c *campaign) nodeNode() error {
	first := len(c.r.readings)
	err := c.take(nodeNode, c.steps(c.edgeRounds()))
	for i := first; i < len(c.r.readings); i++ {
		x := &c.r.readings[i]
		c.tells(i, x.From, x.To)
	}
	return err
}

// edgeRounds are the links between hosts in rounds of disjoint ones.
func (c *campaign) edgeRounds() [][][2]int {
	var edges [][2]int
	for _, l := range c.r.Links {
		if l.what == nodeNode && (l.From < l.To || c.g.ArcIndex(l.To, l.From) < 0) {
			edges = append(edges, [2]int{l.From, l.To})
		}
	}
	return packPaths(c.g.Hosts(), edges)
}

// single is the load of one pair of hosts.
func (c *campaign) single(pair [2]int) *load {
	return &load{from: pair[0], to: pair[1], pairs: [][2]int{pair}, messages: c.messages(1)}
}

// steps has the loads of rounds of pairs, each pair by itself.
func (c *campaign) steps(rounds [][][2]int) [][]*load {
	steps := make([][]*load, len(rounds))
	for i, round := range rounds {
		for _, p := range round {
			steps[i] = append(steps[i], c.single(p))
		}
	}
	return steps
}

// tells takes a reading as the rate of an arc, if it is the highest.
func (c *campaign) tells(reading, from, to int) {
	if from < 0 || to < 0 {
		return // of a switch
	}
	arc := c.g.ArcIndex(from, to)
	if arc < 0 {
		return
	}
	l := &c.r.Links[arc]
	l.readings = append(l.readings, reading)
	if rate := c.r.readings[reading].Rate; !(rate <= l.Rate) {
		l.Rate = rate
	}
}

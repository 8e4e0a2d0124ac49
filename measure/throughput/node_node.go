package throughput

// nodeNode measures links between hosts, each by its two hosts, in rounds of disjoint
// ones (Bufe 2014, section 2.3.1).
func (c *campaign) nodeNode() (bool, error) {
	var steps [][]*load
	for _, round := range c.edgeRounds() {
		var step []*load
		for _, e := range round {
			step = append(step, &load{from: e[0], to: e[1], pairs: [][2]int{e}, messages: c.messages(1)})
		}
		steps = append(steps, step)
	}
	first := len(c.r.Readings)
	going, err := c.take(NodeNode, steps)
	for i := first; i < len(c.r.Readings); i++ {
		x := &c.r.Readings[i]
		c.tells(i, x.From, x.To)
	}
	return going, err
}

// edgeRounds are the links between hosts in rounds of disjoint ones.
func (c *campaign) edgeRounds() [][][2]int {
	var edges [][2]int
	for _, l := range c.r.Links {
		if l.What == NodeNode && (l.From < l.To || c.g.ArcIndex(l.To, l.From) < 0) {
			edges = append(edges, [2]int{l.From, l.To})
		}
	}
	if c.s.Edges == Paths {
		return packPaths(c.g.Hosts(), edges)
	}
	return colorEdges(c.g.Hosts(), edges)
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
	l.Readings = append(l.Readings, reading)
	if rate := c.r.Readings[reading].Rate; !(rate <= l.Rate) {
		l.Rate = rate
	}
}

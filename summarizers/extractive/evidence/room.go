package evidence

import "math"

// A Collector holds no more than its room. When that is full, it keeps what Rank would return now, up to a part of the
// room, and forgets the rest: how much a mention counts depends on its message alone, so what is worth too little now can
// only be worth more if it is said again, and then it is new.
const (
	// leastRoom is the room in bytes. No conversation that people had with an agent needs as much.
	leastRoom = 48 << 20
	// roomPerQuoted is how many bytes of room there are at least for each byte that is quoted.
	roomPerQuoted = 4
	// keptShare is the part of the room that is kept when it is full.
	keptShare = 0.25
)

// About how many bytes a name, its text, a line and a name in it take, until they are ranked.
const (
	nameBytes, perNameByte = 144, 4
	lineBytes, shownBytes  = 112, 8
)

// Expect says how many bytes Rank will have to return at most.
func (c *Collector) Expect(limit int) { c.room = max(c.room, roomPerQuoted*limit) }

func sizeOfName(n Name) int { return nameBytes + perNameByte*len(n.Text) }

func (l *line) size() int { return lineBytes + len(l.text) + shownBytes*int(l.to-l.from) }

// makeRoom forgets what is worth least if the room is full.
func (c *Collector) makeRoom() {
	if c.held < c.room {
		return
	}
	lines, names := c.best(int(keptShare * float64(c.room)))
	c.keep(lines, names)
}

// best says which lines and names Rank would return first, with the names that they show, up to a size.
func (c *Collector) best(size int) (lines, names []bool) {
	lines, names = make([]bool, len(c.lines)), make([]bool, len(c.names))
	r := c.newRanking(math.MaxInt)
	for size > 0 {
		pick, ok := r.Next()
		if !ok {
			break
		}
		if !pick.Alone {
			lines[pick.order] = true
			size -= c.lines[pick.order].size()
		}
		for _, id := range pick.shows {
			if !names[id] {
				names[id] = true
				size -= sizeOfName(c.names[id].Name)
			}
		}
	}
	return lines, names
}

// keep forgets all lines and names but some. The names of these lines are among these names.
func (c *Collector) keep(lines, names []bool) {
	before := *c
	c.lines, c.names, c.shows = nil, nil, nil
	c.held, c.weighed = 0, nil
	c.words.forget()
	// What is no longer true is not among what is kept.
	clear(c.dropped)
	c.ids.clear()
	for i, text := range c.seen {
		c.ids.add(c.ids.hash(text), ^int32(i))
	}
	ids := make([]int32, len(names))
	for i, n := range before.names {
		if names[i] {
			ids[i] = c.addName(n, c.ids.hash(n.Text))
		}
	}
	c.quoted.clear()
	for i, l := range before.lines {
		if !lines[i] {
			continue
		}
		from := len(c.shows)
		for _, s := range before.shows[l.from:l.to] {
			c.shows = append(c.shows, shown{ids[s.id], s.inContext})
		}
		l.from, l.to = int32(from), int32(len(c.shows))
		c.addLine(l, c.quoted.hash(l.text))
	}
}

// addName adds a name that is new, and returns its position.
func (c *Collector) addName(n named, hash uint32) int32 {
	at := int32(len(c.names))
	c.names = append(c.names, n)
	c.ids.add(hash, at)
	c.held += sizeOfName(n.Name)
	return at
}

// addLine adds a line that is new. Its names are the last in c.shows.
func (c *Collector) addLine(l line, hash uint32) {
	c.quoted.add(hash, int32(len(c.lines)))
	c.lines = append(c.lines, l)
	c.held += l.size()
}

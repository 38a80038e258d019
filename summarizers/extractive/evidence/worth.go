package evidence

import "math"

// weighed is what a Collector knows of its names and lines once nothing is added any more, whatever a summary shows.
type weighed struct {
	// worth is what each name is worth.
	worth []float64
	// holds are, of each name, other names that stand within it.
	holds lists
	// candidates are a heap of all lines and names, with their gains where nothing is shown.
	candidates []candidate
	// alike counts the lines that differ in one name.
	alike *alike
}

// candidate is a line or, where it is negative, the name ^line.
type candidate struct {
	gain float64
	line int32
}

// lists are lists of numbers, one behind the other.
type lists struct {
	numbers []int32
	// ends are where each of them ends.
	ends []int32
}

// add adds a number to the last list, and end ends it.
func (l *lists) add(n int32) { l.numbers = append(l.numbers, n) }
func (l *lists) end()        { l.ends = append(l.ends, int32(len(l.numbers))) }

// of returns a list.
func (l *lists) of(i int32) []int32 {
	if i == 0 {
		return l.numbers[:l.ends[0]]
	}
	return l.numbers[l.ends[i-1]:l.ends[i]]
}

// weighNames returns what the names are worth, and which hold others.
func (c *Collector) weighNames() *weighed {
	w := &weighed{worth: make([]float64, len(c.names))}
	words := c.wordsOfNames()
	says := c.sayings(&words)
	for i := range c.names {
		n, id := &c.names[i], int32(i)
		var all, like float64
		for _, word := range words.of(id) {
			all += says[word]
			if c.words.known[word] {
				like += says[word]
			}
		}
		near := 1.0
		if n.besideKnown {
			near += besideKnown
		}
		if all > 0 {
			near += likeKnown * like / all
		}
		w.worth[i] = n.said * near * n.usefulness()
		eachWithin(n.Name, func(part string) {
			if within, ok := c.lookUp(part); ok && within != known && within != id {
				w.holds.add(within)
			}
		})
		w.holds.end()
	}
	return w
}

// wordsOfNames returns the words of each name.
func (c *Collector) wordsOfNames() lists {
	var words lists
	for i := range c.names {
		eachWord(c.names[i].Text, func(word string) { words.add(c.words.id(word)) })
		words.end()
	}
	return words
}

// sayings returns how much each word says: the fewer names have it, the more.
func (c *Collector) sayings(words *lists) []float64 {
	says := make([]float64, len(c.words.known))
	latest := make([]int32, len(says))
	for i := range c.names {
		for _, word := range words.of(int32(i)) {
			// A name counts once.
			if latest[word] <= int32(i) {
				latest[word] = int32(i) + 1
				says[word]++
			}
		}
	}
	for word, names := range says {
		says[word] = math.Log(float64(len(c.names)+1) / names)
	}
	return says
}

// costs are what texts cost by their length in bytes, as far as lines are quoted.
var costs = func() (table [longestPart + lineCost + 1]float64) {
	for bytes := range table {
		table[bytes] = math.Pow(float64(bytes), lengthPower)
	}
	return table
}()

// cost is what a text of a length costs. Names and lines are no longer than the longest part of a line.
func cost(bytes int) float64 { return costs[bytes] }

package evidence

import (
	"math"
	"slices"
	"strings"
)

// Voice is whose words a text is.
type Voice uint8

// The voices.
const (
	// User is a user, or an instruction.
	User Voice = iota
	// Agent is what the agent says.
	Agent
	// Arguments are those of a tool call.
	Arguments
	// Result is what a tool returned.
	Result
	// Quoted is what an earlier summary quoted, and inRow the names that it lists without their lines.
	Quoted
	inRow
	// pasted is a long text in a message of the user: nobody typed it.
	pasted
	voices
)

// Piece is one text of a message.
type Piece struct {
	Message uint32
	Voice   Voice
	Text    string
	// ByTool says that the words are a tool's.
	ByTool bool
}

// returned says whether a tool wrote the text.
func (p Piece) returned() bool { return p.ByTool || p.Voice == Result || p.Voice == pasted }

// Pick is a line or a name that a summary should quote.
type Pick struct {
	// First and Last are the messages that the text may be of. They differ only for names of an earlier summary.
	First, Last uint32
	// Text is a line of the conversation or a part of one, or a name alone.
	Text string
	// Alone says that Text is a name without its line.
	Alone bool
	// ByTool says that a line is in the words of a tool.
	ByTool bool
	// Gain is what it adds for its length.
	Gain float64
	// order is where the text came in the conversation, among lines or among names.
	order int32
	place
	// shows are the names in Text: of a name alone, itself and then those within it.
	shows []int32
}

// Collector gathers the names of a conversation and the lines that show them.
type Collector struct {
	// next is the index of the first message after those that the agent no longer sees.
	next uint32
	// ids are the positions of names in names; negative ones are in seen, for those that the agent still sees.
	ids   index
	names []named
	seen  []string
	words vocabulary
	lines []line
	// shows are the names of all lines.
	shows []shown
	// quoted are the positions of lines in lines.
	quoted index
	// dropped are the texts of lines that are no longer true.
	dropped map[dropped]bool
	// found are the names of the line that is read.
	found []occurrence
	// nature is that of the line, and weight how much a mention in the piece counts that is read.
	nature nature
	weight float64
	// cuts counts long lines.
	cuts int32
	// weighed is nil unless all of the above was weighed.
	weighed *weighed
	// held is about how many bytes the names and lines take, and room how many they may.
	held, room int
}

// dropped is a line of a message that is no longer true.
type dropped struct {
	message uint32
	text    string
}

// known stands for the position of a name that the agent still sees.
const known = -1

// named is a name that the agent no longer sees.
type named struct {
	Name
	// said is how often it was said, as far as it still counts.
	said float64
	// first and last are the messages of its last mention. They differ if an earlier summary lists it.
	first, last uint32
	// counted says that last was counted.
	counted bool
	// alone says that it can be shown without its line, as other than names that only quoted lines have.
	alone bool
	// besideKnown says that it shares a line with a name that the agent still sees.
	besideKnown bool
	// byToolsOnly says that only results have it.
	byToolsOnly bool
	// lately is how much the mention in the last message counts.
	lately float64
}

// New returns a collector of texts before message next.
func New(next uint32) *Collector {
	c := &Collector{next: next, words: vocabulary{ids: map[string]int32{}}, dropped: map[dropped]bool{}, room: leastRoom}
	c.ids = newIndex(func(at int32) string {
		if at < 0 {
			return c.seen[^at]
		}
		return c.names[at].Text
	})
	c.quoted = newIndex(func(at int32) string { return c.lines[at].text })
	return c
}

// Know says that the agent still sees a text. All such texts come before the first Add.
func (c *Collector) Know(text string) {
	Names(text, func(n Name, _ int) {
		if c.see(n.Text) {
			eachWord(n.Text, c.words.know)
			eachWithin(n, func(part string) { c.see(part) })
		}
	})
}

// see makes a text a known name, and says whether it was none.
func (c *Collector) see(text string) bool {
	hash := c.ids.hash(text)
	_, ok := c.ids.findBy(hash, text)
	if !ok {
		c.seen = append(c.seen, text)
		c.ids.add(hash, int32(-len(c.seen)))
	}
	return !ok
}

// lookUp returns the position of a name, or known. It returns false for a new name.
func (c *Collector) lookUp(text string) (id int32, ok bool) {
	at, ok := c.ids.find(text)
	return max(at, known), ok
}

// longestTyped is how many bytes of a message a user types at most.
const longestTyped = 2000

// Add adds a text that the agent no longer sees.
func (c *Collector) Add(p Piece) {
	if p.Voice == User && len(p.Text) > longestTyped {
		p.Voice = pasted
	}
	c.begin(p)
	if p.Voice == Quoted {
		if c.read(p.Text, p); isPassed(p.Text) {
			return
		}
		c.part(p.Text, 0, len(p.Text), c.found, p)
		return
	}
	for text := range Lines(p.Text) {
		if isDiffIndex(text) {
			continue
		}
		if len(text) > longLine && (p.Voice == User || p.Voice == Agent) {
			for sentence := range sentences(text) {
				c.line(sentence, p)
			}
			continue
		}
		if p.Voice == Result {
			text = essence(text)
		}
		c.line(text, p)
	}
}

// line adds a line or a sentence, a very long one in stretches.
func (c *Collector) line(text string, p Piece) {
	for len(text) > longestLine {
		size := stretch(text)
		c.line(text[:size], p)
		text = text[size:]
	}
	c.makeRoom()
	if c.readAgain(text, p) {
		return
	}
	c.read(text, p)
	if len(c.found) == 0 || p.returned() && isPassed(text) {
		return
	}
	c.alone(p.Message)
	if p.Voice == Result && onlyNamesFile(text) {
		return
	}
	c.cut(text, p)
}

// readAgain counts the names of a line that was read before, as a quarter of a conversation was. It returns false for any
// other line, and for one of which only a part is quoted.
func (c *Collector) readAgain(text string, p Piece) bool {
	at, ok := c.quoted.find(text)
	if !ok || c.lines[at].place != (place{}) {
		return false
	}
	l := &c.lines[at]
	share := mentionShare[l.nature]
	if l.voice != p.Voice {
		share = mentionShare[natureOf(text, p.Voice)]
	}
	for _, s := range c.shows[l.from:l.to] {
		n := &c.names[s.id]
		n.mention(p, c.weight*share)
		n.alone, n.first = true, p.Message
	}
	return true
}

// Drop says that a text of a message is no longer true. It is not quoted, nor are names that only it has.
func (c *Collector) Drop(message uint32, text string) {
	c.weighed = nil
	for line := range Lines(text) {
		c.dropped[dropped{message, line}] = true
		Names(line, func(n Name, _ int) {
			if id, ok := c.lookUp(n.Text); ok && id != known && c.names[id].first == message && c.names[id].last == message {
				c.names[id].said = 0
			}
		})
	}
}

// AddNames adds names that an earlier summary lists without their lines. They are of messages from first to last.
func (c *Collector) AddNames(first, last uint32, text string) {
	p := Piece{Message: last, Voice: inRow}
	c.begin(p)
	c.read(text, p)
	c.alone(first)
}

// alone lets the names in c.found be shown without their line.
func (c *Collector) alone(first uint32) {
	for _, o := range c.found {
		if o.id != known {
			c.names[o.id].alone, c.names[o.id].first = true, first
		}
	}
}

// occurrence is a name in a line.
type occurrence struct {
	// id is the position of the name, or known.
	id         int32
	start, end int
}

// read counts the names of a line and leaves them in c.found.
func (c *Collector) read(text string, p Piece) {
	c.found = c.found[:0]
	Names(text, func(n Name, at int) {
		end := at + len(n.Text)
		if n.Kind == Number && (isFraction(text, at) || p.returned() && isLineNumber(text, at, end)) {
			return
		}
		c.found = append(c.found, occurrence{c.id(n), at, end})
	})
	if !slices.ContainsFunc(c.found, func(o occurrence) bool { return o.id != known }) {
		return
	}
	c.nature = natureOf(text, p.Voice)
	for _, o := range c.found {
		if o.id != known {
			c.names[o.id].mention(p, c.weight*mentionShare[c.nature])
		}
	}
	c.markBesideKnown()
}

// begin sets how much a mention in a piece counts.
func (c *Collector) begin(p Piece) {
	c.weighed = nil
	c.weight = voiceWeight[p.Voice] * math.Exp2(-float64(c.next-min(c.next, p.Message))/halfLife[p.Voice])
}

// mention counts a mention. Of those in one message, the one that counts most does.
func (n *named) mention(p Piece, weight float64) {
	n.byToolsOnly = p.Voice == Result && (n.byToolsOnly || !n.counted)
	if !n.counted || n.last != p.Message {
		n.lately = 0
		n.first, n.last, n.counted = p.Message, max(n.last, p.Message), true
	}
	if weight > n.lately {
		n.said += weight - n.lately
		n.lately = weight
	}
}

// markBesideKnown marks the names in c.found that have a known name in their surroundings.
func (c *Collector) markBesideKnown() {
	mark := func(before int, o occurrence) int {
		if o.id == known {
			return o.start
		}
		if max(o.start, before)-min(o.start, before) < surroundings {
			c.names[o.id].besideKnown = true
		}
		return before
	}
	const nowhere = -1 << 40
	before := nowhere
	for _, o := range c.found {
		before = mark(before, o)
	}
	after := nowhere
	for _, o := range slices.Backward(c.found) {
		after = mark(after, o)
	}
}

func (c *Collector) id(n Name) int32 {
	hash := c.ids.hash(n.Text)
	at, ok := c.ids.findBy(hash, n.Text)
	if !ok {
		// A piece of a large text would keep all of it in memory.
		n.Text = strings.Clone(n.Text)
		at = c.addName(named{Name: n}, hash)
	}
	return max(at, known)
}

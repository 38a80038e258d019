package evidence

// LimitTo makes the room of a collector this many bytes.
func (c *Collector) LimitTo(bytes int) { c.room = bytes }

// LongestLine is the length of the longest line that is looked at as a whole.
const LongestLine = longestLine

// Essence returns what is worth quoting of a line of a result.
func Essence(line string) string { return essence(line) }

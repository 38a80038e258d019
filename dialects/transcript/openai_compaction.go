package transcript

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// toolUntold stands where a file does not say which tool made a compaction.
const toolUntold = "unknown"

// compactionRole is the role of a line that tells of a compaction which the session's own tool made.
const compactionRole = "_compaction"

var (
	openAICleared    = leftOut("_compaction record that only cleared results", "_compaction records that only cleared results")
	openAIKeptHead   = leftOut("_compaction record that kept the beginning too", "_compaction records that kept the beginning too")
	openAIKeptUntold = leftOut("_compaction record that does not tell what it kept", "_compaction records that do not tell what they kept")
)

// lineCounts tells how many messages stood before each line or element of a file.
type lineCounts struct {
	messages uint32
	before   []uint32
}

// reach notes that a line or element has been reached.
func (c *lineCounts) reach(at int) {
	for len(c.before) <= at {
		c.before = append(c.before, c.messages)
	}
}

// openAICompaction reads a `_compaction` record, which tells what was kept by line or element; ok is false where it is
// left out.
func openAICompaction(o rawjson.Object, c *lineCounts, notes *remarks) (made entry, ok bool, err error) {
	switch {
	case o.Has("kind"):
		notes.add(openAICleared)
		return entry{}, false, nil
	case o.Has("kept_head_events"):
		notes.add(openAIKeptHead)
		return entry{}, false, nil
	case !o.Has("first_kept"):
		notes.add(openAIKeptUntold)
		return entry{}, false, nil
	}
	told := compaction{tool: toolUntold, firstKept: c.messages}
	if told.summary, err = o.Text("summary"); err != nil {
		return entry{}, false, err
	}
	if told.tokensBefore, err = o.Count("tokens_before"); err != nil {
		return entry{}, false, err
	}
	first, err := o.Count("first_kept")
	if err != nil {
		return entry{}, false, err
	}
	if int(first) < len(c.before) {
		told.firstKept = c.before[first]
	}
	made, ok = told.entry(notes)
	return made, ok, nil
}

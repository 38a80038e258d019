package transcript

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// unknownTool is the tool of a compaction where the file does not name one.
const unknownTool = "unknown"

// compactionRole is the role of a line about a compaction by the session's own tool.
const compactionRole = "_compaction"

var (
	openAICleared     = leftOut("_compaction record that only cleared results", "_compaction records that only cleared results")
	openAIKeptHead    = leftOut("_compaction record that kept the beginning too", "_compaction records that kept the beginning too")
	openAIKeptUnknown = leftOut("_compaction record that does not say what it kept", "_compaction records that do not say what they kept")
)

// lineCounts holds how many messages were before each line or element of a file.
type lineCounts struct {
	messages uint32
	before   []uint32
}

// reach records the count at a line or element.
func (c *lineCounts) reach(at int) {
	for len(c.before) <= at {
		c.before = append(c.before, c.messages)
	}
}

// openAICompaction reads a `_compaction` record, which names the first kept line or element. ok is false where the
// record is left out.
func openAICompaction(o rawjson.Object, c *lineCounts, notes *noteCounter) (made entry, ok bool, err error) {
	switch {
	case o.Has("kind"):
		notes.add(openAICleared)
		return entry{}, false, nil
	case o.Has("kept_head_events"):
		notes.add(openAIKeptHead)
		return entry{}, false, nil
	case !o.Has("first_kept"):
		notes.add(openAIKeptUnknown)
		return entry{}, false, nil
	}
	found := compaction{tool: unknownTool, firstKept: c.messages}
	if found.summary, err = o.Text("summary"); err != nil {
		return entry{}, false, err
	}
	if found.tokensBefore, err = o.Count("tokens_before"); err != nil {
		return entry{}, false, err
	}
	first, err := o.Count("first_kept")
	if err != nil {
		return entry{}, false, err
	}
	if int(first) < len(c.before) {
		found.firstKept = c.before[first]
	}
	made, ok = found.entry(notes)
	return made, ok, nil
}

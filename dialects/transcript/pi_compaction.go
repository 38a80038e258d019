package transcript

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// key returns what a compaction names an entry by: its id or, in files without ids, its position in the file, where the
// header counts.
func (e *piEntry) key() string {
	if id, err := e.Text("id"); err == nil && id != "" {
		return id
	}
	return strconv.Itoa(e.position + 1)
}

// compaction makes a record from a compaction entry. ok is false where it has no summary.
func (s *piSession) compaction(e *piEntry) (made entry, ok bool, err error) {
	c := compaction{tool: string(Pi)}
	if c.summary, err = e.Text("summary"); err != nil {
		return entry{}, false, err
	}
	if c.tokensBefore, err = e.Count("tokensBefore"); err != nil {
		return entry{}, false, err
	}
	if c.at, err = writtenAt(e.Object, time.Millisecond); err != nil {
		return entry{}, false, err
	}
	if c.firstKept, err = s.firstKept(e); err != nil {
		return entry{}, false, err
	}
	c.read, c.modified = piFiles(e.Object)
	made, ok = c.entry(s.notes)
	return made, ok, nil
}

// firstKept returns the index of the first kept message. Where that is not on the path, Pi shows only the messages
// after the compaction.
func (s *piSession) firstKept(e *piEntry) (uint32, error) {
	id, err := e.Text("firstKeptEntryId")
	if err != nil {
		return 0, err
	}
	if e.Has("firstKeptEntryIndex") {
		index, err := e.Count("firstKeptEntryIndex")
		if err != nil {
			return 0, err
		}
		id = strconv.FormatUint(uint64(index), 10)
	}
	kept, found := s.before[id]
	if !found || id == e.key() {
		s.notes.add(keptUnknown)
		return s.messages, nil
	}
	return kept, nil
}

// piFiles reads the file lists of a compaction. Extensions write their own details: values that are no list of texts
// are ignored.
func piFiles(o rawjson.Object) (read, modified []string) {
	details, err := o.Sub("details")
	if err != nil || details == nil {
		return nil, nil
	}
	return piPaths(details["readFiles"]), piPaths(details["modifiedFiles"])
}

func piPaths(raw json.RawMessage) []string {
	elements, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil
	}
	var paths []string
	for _, element := range elements {
		var path string
		if rawjson.KindOf(element) == rawjson.String && json.Unmarshal(element, &path) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// piBranch turns the summary of an abandoned branch into what Pi shows the model: a USER message that the user did not
// write.
func piBranch(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	summary, err := o.BoundedText("summary", maxText-len(branchPreface))
	if err != nil {
		return nil, err
	}
	if summary == "" {
		r.add(emptyBranch)
		return nil, nil
	}
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_CONTINUE,
		Parts:  []*compactordv1.Part{textPart(branchPreface + summary)},
	}, nil
}

const branchPreface = "[The conversation had gone another way from here, and came back. What happened there, in short:]\n"

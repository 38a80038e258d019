package transcript

import (
	"errors"
	"io"
	"slices"
)

var errCycle = errors.New("is its own ancestor")

// piTree is the path of a session file with ids. The path is known only after the last entry, and an input that cannot
// seek is read once. So entries that can be on the path are held until then, and released as they are read.
type piTree struct {
	path  []*piEntry
	whole bool
}

// readTree reads the whole file and finds the current path.
func (t *piTree) readTree(s *piSession) error {
	byID := make(map[string]*piEntry)
	var last *piEntry
	err := readToEnd(s.notes, s.read, func(e *piEntry) error {
		id, err := e.DemandText("id")
		if err != nil {
			return onLine(e.line, err)
		}
		e.dropUnused()
		byID[id] = e
		e.before, last = last, e
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.walk(last, byID, s.notes); err != nil {
		return err
	}
	s.notes.addMany(otherBranch, s.entries-len(t.path))
	t.whole = true
	return nil
}

// dropUnused drops fields that are not read again.
func (e *piEntry) dropUnused() {
	for key := range e.Object {
		switch key {
		case "id", "parentId", "timestamp":
		case "message":
			if e.kind != "message" {
				delete(e.Object, key)
			}
		case "content":
			if e.kind != "custom_message" {
				delete(e.Object, key)
			}
		case "summary", "firstKeptEntryId", "tokensBefore", "details":
			if e.kind != "compaction" && e.kind != "branch_summary" {
				delete(e.Object, key)
			}
		default:
			delete(e.Object, key)
		}
	}
}

// walk follows the parents from the last entry up to the root, or to an entry whose parent is missing.
func (t *piTree) walk(last *piEntry, byID map[string]*piEntry, r *noteCounter) error {
	for e := last; e != nil; {
		if len(t.path) == len(byID) {
			err := &LineError{Line: e.line, Field: "parentId", Err: errCycle, canContinue: true}
			if r.skip(err) {
				break
			}
			return err
		}
		t.path = append(t.path, e)
		parent, err := e.Text("parentId")
		if err != nil && r.strict {
			return onLine(e.line, err)
		}
		if err != nil {
			r.addAt(unreadField, e.line)
		}
		if !e.Has("parentId") {
			break
		}
		next, found := byID[parent]
		if !found && e.before != nil && r.gaps() {
			// Its parent was left out, or is missing. The entry before is used.
			next, found = e.before, true
		}
		if !found {
			r.add(lostParent)
			break
		}
		e = next
	}
	slices.Reverse(t.path)
	return nil
}

func (t *piTree) next() (*piEntry, error) {
	if len(t.path) == 0 {
		return nil, io.EOF
	}
	e := t.path[0]
	t.path[0] = nil
	t.path = t.path[1:]
	return e, nil
}

package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// readTree reads the whole file and finds the current path.
func (s *claudeSession) readTree() error {
	var all []*claudeLine
	byID := make(map[string]*claudeLine)
	var last *claudeLine
	err := readToEnd(s.notes, s.read, func(l *claudeLine) error {
		switch {
		case l == nil:
			return nil
		case l.uuid != "" && byID[l.uuid] != nil:
			s.notes.add(claudeRepeated)
			return nil
		case l.uuid != "":
			byID[l.uuid] = l
		}
		l.before = last
		if l.kind == "user" || l.kind == "assistant" || l.kind == "system" || l.kind == "attachment" {
			last = l
		}
		all = append(all, l)
		return nil
	})
	if err != nil {
		return err
	}
	if err := walkClaude(last, byID, s.notes); err != nil {
		return err
	}
	s.keepParallel(all)
	for _, l := range all {
		switch {
		case l.onPath || l.kind == "queue-operation":
			s.path = append(s.path, l)
		case l.kind == "user" || l.kind == "assistant":
			s.notes.add(otherBranch)
		}
	}
	s.queue.attached = attachesQueue(s.path)
	return nil
}

// read returns the next line. It returns nil where the line is no part of the tree.
func (s *claudeSession) read() (*claudeLine, error) {
	o, _, err := s.in.object()
	if err != nil {
		return nil, err
	}
	l, err := s.parseLine(o)
	return l, onLine(s.in.line, err)
}

func (s *claudeSession) parseLine(o rawjson.Object) (*claudeLine, error) {
	l := &claudeLine{Object: o, at: s.in.line}
	var err error
	if l.kind, err = o.DemandText("type"); err != nil {
		return nil, err
	}
	what, known := claudeKinds[l.kind]
	if !known {
		return nil, rawjson.In("type", errClaudeType)
	}
	if l.uuid, err = o.Text("uuid"); err != nil {
		return nil, err
	}
	if l.parent, err = claudeParent(o); err != nil && s.notes.strict {
		return nil, err
	}
	if err != nil {
		s.notes.addAt(unreadField, l.at)
		l.parent = unreadParent
	}
	side, err := o.Truth("isSidechain")
	if err != nil {
		return nil, err
	}
	if side {
		s.notes.add(sidechainLine)
		return nil, nil
	}
	if what != (noteText{}) {
		s.notes.add(what)
		// A line with a uuid can still connect lines of the path.
		if l.uuid == "" {
			return nil, nil
		}
	}
	l.dropUnused()
	return l, l.readCalls()
}

// unreadParent stands for the id of a parent that cannot be read. No line has it.
const unreadParent = "?"

// claudeParent returns the id of the line before. Where a compaction began a new root, another field has that id.
func claudeParent(o rawjson.Object) (string, error) {
	parent, err := o.Text("parentUuid")
	if err != nil || parent != "" {
		return parent, err
	}
	return o.Text("logicalParentUuid")
}

// readCalls records which message, calls and results a line holds a piece of.
func (l *claudeLine) readCalls() error {
	if l.kind != "user" && l.kind != "assistant" {
		return nil
	}
	message, err := l.Sub("message")
	if err != nil {
		return err
	}
	if message == nil {
		return rawjson.In("message", rawjson.ErrMissing)
	}
	if l.kind == "assistant" {
		if l.message, err = message.Text("id"); err != nil {
			return rawjson.In("message", err)
		}
	}
	if rawjson.KindOf(message["content"]) != rawjson.Array {
		return nil
	}
	// Errors in a block are reported when the message is parsed.
	blocks, _ := rawjson.ParseArray(message["content"])
	for _, raw := range blocks {
		block, err := rawjson.ParseObject(raw)
		if err != nil {
			continue
		}
		if id, err := block.Text("id"); err == nil && block.IsText("type", "tool_use") {
			l.calls = append(l.calls, id)
		}
		if id, err := block.Text("tool_use_id"); err == nil && block.IsText("type", "tool_result") {
			l.results = append(l.results, id)
		}
	}
	return nil
}

// dropUnused drops fields that are not read again: file contents and outputs, most of which are in messages, too.
func (l *claudeLine) dropUnused() {
	if l.kind == "progress" || l.kind == "file-history-snapshot" {
		l.Object = nil
		return
	}
	if files := claudeFiles(l.Object); files != nil {
		l.Object["files"] = files
	}
	for _, key := range []string{"toolUseResult", "snapshot", "todos", "planContent", "mcpMeta"} {
		delete(l.Object, key)
	}
}

// walkClaude marks the path from the last line up to the root. Where the parent of a compaction is not in the file, the
// line before it is used, since a compaction continues the conversation before it.
func walkClaude(last *claudeLine, byID map[string]*claudeLine, r *noteCounter) error {
	for l := last; l != nil; {
		if l.onPath {
			err := &LineError{Line: l.at, Field: "parentUuid", Err: errCycle, canContinue: true}
			if r.skip(err) {
				break
			}
			return err
		}
		l.onPath = true
		next, found := byID[l.parent]
		switch {
		case found:
		case l.IsText("subtype", "compact_boundary") || l.isSummary():
			next = l.before
		case l.parent != "" && l.before != nil && r.gaps():
			// Its parent was left out, or is missing. The line before is used.
			next = l.before
		case l.parent != "":
			r.add(lostParent)
		}
		l = next
	}
	return nil
}

// keepParallel adds side branches of the tree to the path where they belong to one message of the provider: calls made
// in parallel, and their results.
func (s *claudeSession) keepParallel(all []*claudeLine) {
	messages, calls := make(map[string]bool), make(map[string]bool)
	for _, l := range all {
		if l.onPath && l.message != "" {
			messages[l.message] = true
		}
	}
	s.pieces = make(map[string][]*claudeLine)
	for _, l := range all {
		if l.onPath = l.onPath || messages[l.message]; !l.onPath {
			continue
		}
		if l.message != "" {
			s.pieces[l.message] = append(s.pieces[l.message], l)
		}
		for _, id := range l.calls {
			calls[id] = true
		}
	}
	for _, l := range all {
		for _, id := range l.results {
			l.onPath = l.onPath || calls[id]
		}
	}
}

// isSummary reports whether a line holds a compaction's summary.
func (l *claudeLine) isSummary() bool {
	is, err := l.Truth("isCompactSummary")
	return err == nil && is
}

// claudeFiles returns which file a tool read or changed, where Claude Code logged that beside the result.
func claudeFiles(o rawjson.Object) json.RawMessage {
	if rawjson.KindOf(o["toolUseResult"]) != rawjson.ObjectKind {
		return nil
	}
	result, err := rawjson.ParseObject(o["toolUseResult"])
	if err != nil {
		return nil
	}
	if file, err := result.Sub("file"); err == nil && rawjson.KindOf(file["filePath"]) == rawjson.String {
		return rawjson.Object{"read": file["filePath"]}.Encode()
	}
	if rawjson.KindOf(result["filePath"]) == rawjson.String && result.Has("structuredPatch") {
		return rawjson.Object{"modified": result["filePath"]}.Encode()
	}
	return nil
}

package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// grow reads the whole file and finds the current path.
func (s *claudeSession) grow() error {
	var all []*claudeLine
	byID := make(map[string]*claudeLine)
	var last *claudeLine
	err := readToEnd(s.remarks, s.read, func(l *claudeLine) error {
		switch {
		case l == nil:
			return nil
		case l.uuid != "" && byID[l.uuid] != nil:
			s.remarks.add(claudeRepeated)
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
	if err := walkClaude(last, byID, s.remarks); err != nil {
		return err
	}
	s.keepParallel(all)
	for _, l := range all {
		switch {
		case l.onPath || l.kind == "queue-operation":
			s.path = append(s.path, l)
		case l.kind == "user" || l.kind == "assistant":
			s.remarks.add(otherBranch)
		}
	}
	s.queue.told = queueIsTold(s.path)
	return nil
}

// read returns the next line; nil where it is no part of the tree.
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
	if l.parent, err = claudeParent(o); err != nil && s.remarks.strict {
		return nil, err
	}
	if err != nil {
		s.remarks.addAt(unreadField, l.at)
		l.parent = unreadParent
	}
	side, err := o.Truth("isSidechain")
	if err != nil {
		return nil, err
	}
	if side {
		s.remarks.add(sidechainLine)
		return nil, nil
	}
	if what != (remark{}) {
		s.remarks.add(what)
		// It may be a link of the path all the same.
		if l.uuid == "" {
			return nil, nil
		}
	}
	l.shed()
	return l, l.readCalls()
}

// unreadParent stands for the id of a parent that cannot be read. No line has it.
const unreadParent = "?"

// claudeParent is the line before. Where a compaction began a new root, the line before that is told apart.
func claudeParent(o rawjson.Object) (string, error) {
	parent, err := o.Text("parentUuid")
	if err != nil || parent != "" {
		return parent, err
	}
	return o.Text("logicalParentUuid")
}

// readCalls notes which message, calls and results a line holds a piece of.
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
	// What is wrong with a block is told when the message is parsed.
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

// shed drops what is not read again: file contents and outputs that stand in the messages too, for the most part.
func (l *claudeLine) shed() {
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

// walkClaude marks the path from the last line up to the root. Where a compaction's parent is not in the file, the line
// before it is: a compaction goes on from what was there.
func walkClaude(last *claudeLine, byID map[string]*claudeLine, r *remarks) error {
	for l := last; l != nil; {
		if l.onPath {
			err := &LineError{Line: l.at, Field: "parentUuid", Err: errCycle, behind: true}
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
			// Its parent is what was passed over, or was before it.
			next = l.before
		case l.parent != "":
			r.add(lostParent)
		}
		l = next
	}
	return nil
}

// keepParallel puts on the path what the tree shows as side branches, though it belongs to one message of the provider:
// calls made in parallel, and their results.
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

// isSummary says whether a line holds a compaction's summary.
func (l *claudeLine) isSummary() bool {
	is, err := l.Truth("isCompactSummary")
	return err == nil && is
}

// claudeFiles reads which file a tool read or changed, where Claude Code noted that beside the result.
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

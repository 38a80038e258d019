package transcript

import (
	"regexp"
	"strings"
	"sync"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// syntheticModel is the model of messages that Claude Code itself wrote as the assistant.
const syntheticModel = "<synthetic>"

// assistant merges the pieces of one message of the provider. Each of its blocks has its own line.
func (s *claudeSession) assistant(l *claudeLine) error {
	pieces := []*claudeLine{l}
	if l.message != "" {
		if pieces = s.pieces[l.message]; len(pieces) == 0 {
			return nil
		}
		s.pieces[l.message] = nil
	}
	var whole *compactordv1.Message
	for _, piece := range pieces {
		m, err := s.piece(piece)
		if err != nil {
			return onLine(piece.at, err)
		}
		if whole == nil {
			whole = m
			continue
		}
		mergePieces(whole, m)
		if len(whole.GetParts()) > maxParts {
			return onLine(piece.at, errManyParts)
		}
	}
	return s.emit(whole, l)
}

// mergePieces adds a piece to a message. The usage of the last piece is the most complete one.
func mergePieces(whole, piece *compactordv1.Message) {
	whole.Parts = append(whole.Parts, piece.GetParts()...)
	if piece.GetUsage() != nil {
		whole.Usage = piece.GetUsage()
	}
	if piece.GetStopReason() != compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
		whole.StopReason = piece.GetStopReason()
	}
}

// piece parses one line of an assistant's message as a response of the provider.
func (s *claudeSession) piece(l *claudeLine) (*compactordv1.Message, error) {
	message, err := l.Sub("message")
	if err != nil {
		return nil, err
	}
	message["type"], message["role"] = rawjson.Quote("message"), rawjson.Quote("assistant")
	messages, err := parseOne(s.dialect, message.Encode(), s.notes)
	if err != nil {
		return nil, rawjson.In("message", err)
	}
	m := messages[0]
	failed, err := l.Truth("isApiErrorMessage")
	if err != nil {
		return nil, err
	}
	if m.GetModel() == syntheticModel || failed {
		m.Model, m.Usage, m.StopReason = "", nil, compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	}
	if failed {
		m.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
		m.ErrorText = cut(joinTexts(m.GetParts()), maxErrorText)
	}
	return m, nil
}

// joinTexts joins the texts of parts, in order.
func joinTexts(parts []*compactordv1.Part) string {
	var texts []string
	for _, p := range parts {
		if text := p.GetText().GetText(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func (s *claudeSession) user(l *claudeLine) error {
	message, err := l.Sub("message")
	if err != nil {
		return err
	}
	message["role"] = rawjson.Quote("user")
	messages, err := parseOne(s.dialect, message.Encode(), s.notes)
	if err != nil {
		return rawjson.In("message", err)
	}
	if l.isSummary() {
		return s.compaction(l, joinTexts(messages[0].GetParts()))
	}
	hidden, err := l.Truth("isVisibleInTranscriptOnly")
	if err != nil {
		return err
	}
	if hidden {
		s.notes.add(transcriptOnly)
		return nil
	}
	meta, err := l.Truth("isMeta")
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_USER && (meta || isClaudeNotice(joinTexts(m.GetParts()))) {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		}
		if result := m.GetParts(); len(l.results) == 1 && len(result) == 1 && result[0].GetToolResult() != nil {
			result[0].GetToolResult().Files = l.touched()
		}
		if err := s.emit(m, l); err != nil {
			return err
		}
	}
	return nil
}

// claudeNotice matches the start of USER messages that Claude Code itself wrote.
var claudeNotice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(<(local-command-(stdout|stderr|caveat)|bash-(stdout|stderr)|system-reminder|(task|agent)-notification)>|\[Request interrupted by user)`)
})

func isClaudeNotice(text string) bool { return claudeNotice().MatchString(text) }

// touched returns the file that a tool read or changed.
func (l *claudeLine) touched() []*compactordv1.FileTouch {
	files, err := l.Sub("files")
	if err != nil {
		return nil
	}
	for _, key := range []string{"read", "modified"} {
		if path, err := files.Text(key); err == nil && path != "" && len(path) <= maxPath {
			return []*compactordv1.FileTouch{{Path: path, Modified: key == "modified"}}
		}
	}
	return nil
}

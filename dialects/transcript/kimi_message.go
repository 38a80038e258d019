package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errKimiRole    = errors.New("unknown role; known are system, user, assistant and tool")
	errKimiContent = errors.New("unknown kind of content, or one that this role may not hold")

	kimiFileID = leftOut("id of a file beside its address", "ids of files beside their addresses")
)

// kimiMessage parses a message of kimi-cli. It has nearly OpenAI's shape, but with the reasoning in the content.
func kimiMessage(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	role, err := o.DemandText("role")
	if err != nil {
		return nil, err
	}
	m := &compactordv1.Message{Origin: compactordv1.Origin_ORIGIN_IMPORT}
	switch role {
	case "system":
		m.Role = compactordv1.Role_ROLE_SYSTEM
	case "user":
		m.Role = compactordv1.Role_ROLE_USER
	case "assistant":
		m.Role = compactordv1.Role_ROLE_ASSISTANT
	case "tool":
		m.Role = compactordv1.Role_ROLE_TOOL
	default:
		return nil, rawjson.In("role", errKimiRole)
	}
	if m.Parts, err = kimiContent(o, m.GetRole(), r); err != nil {
		return nil, err
	}
	if m.GetRole() == compactordv1.Role_ROLE_TOOL {
		m.Parts, err = toolResult(o, m.GetParts(), false)
		return m, err
	}
	if m.Name, err = o.BoundedText("name", maxName); err != nil {
		return nil, err
	}
	if m.GetRole() == compactordv1.Role_ROLE_USER && isKimiNotice(m) {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return m, nil
	}
	calls, err := kimiToolCalls(o)
	if err != nil {
		return nil, err
	}
	if m.Parts = append(m.Parts, calls...); len(m.GetParts()) > maxParts {
		return nil, errManyParts
	}
	return m, nil
}

// kimiContent parses `content`: a string, or a list of parts.
func kimiContent(o rawjson.Object, role compactordv1.Role, r *noteCounter) ([]*compactordv1.Part, error) {
	return contentParts(o, r, func(raw json.RawMessage) (*compactordv1.Part, error) { return kimiPart(raw, role, r) })
}

func kimiPart(raw json.RawMessage, role compactordv1.Role, r *noteCounter) (*compactordv1.Part, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.DemandText("type")
	if err != nil {
		return nil, err
	}
	media := role != compactordv1.Role_ROLE_SYSTEM
	switch {
	case kind == "text":
		text, err := o.BoundedText("text", maxText)
		return textPart(text), err
	case kind == "think" && role == compactordv1.Role_ROLE_ASSISTANT:
		text, err := o.BoundedText("think", maxText)
		r.addMany(signatureLost, boolCount(o.Has("encrypted")))
		return thinkingPart(text), err
	case kind == "image_url" && media:
		return kimiMedia(o, kind, "image/*", r)
	case kind == "audio_url" && media:
		return kimiMedia(o, kind, "audio/*", r)
	case kind == "video_url" && media:
		return kimiMedia(o, kind, "video/*", r)
	default:
		return nil, rawjson.In("type", errKimiContent)
	}
}

func kimiMedia(o rawjson.Object, kind, suggested string, r *noteCounter) (*compactordv1.Part, error) {
	content, err := o.Sub(kind)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, rawjson.In(kind, rawjson.ErrMissing)
	}
	url, err := content.DemandText("url")
	if err != nil {
		return nil, rawjson.In(kind, err)
	}
	media := &compactordv1.MediaPart{}
	if err := dialect.FillFromURL(media, url, suggested); err != nil {
		return nil, rawjson.In(kind, rawjson.In("url", err))
	}
	r.addMany(kimiFileID, boolCount(content.Has("id")))
	return mediaPart(media), nil
}

// isKimiNotice reports whether kimi-cli itself wrote a USER message: announcements of checkpoints, messages from a
// later point, summaries, reminders, news of background tasks.
func isKimiNotice(m *compactordv1.Message) bool {
	if len(m.GetParts()) == 0 {
		return false
	}
	text := m.GetParts()[0].GetText().GetText()
	return strings.HasPrefix(text, "<system>") || strings.HasPrefix(text, "<system-reminder>") ||
		strings.HasPrefix(text, "<notification")
}

// kimiSummaryMark matches the start of the message with a compaction's summary.
var kimiSummaryMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<system>[^<]*\bcompact(ed|ion)\b[^<]*</system>`)
})

func isKimiSummary(m *compactordv1.Message) bool {
	return m.GetRole() == compactordv1.Role_ROLE_USER && len(m.GetParts()) > 0 &&
		kimiSummaryMark().MatchString(m.GetParts()[0].GetText().GetText())
}

// kimiSummary returns the summary, which follows the mark.
func kimiSummary(m *compactordv1.Message) string {
	var texts []string
	for i, part := range m.GetParts() {
		text := part.GetText().GetText()
		if i == 0 {
			text = kimiSummaryMark().ReplaceAllString(text, "")
		}
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func kimiCheckpointTitle(id uint32) string { return fmt.Sprintf("checkpoint %d", id) }

func boolCount(b bool) int {
	if b {
		return 1
	}
	return 0
}

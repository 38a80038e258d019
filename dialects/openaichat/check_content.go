package openaichat

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

type reporter = func(message, part int, detail string)

func checkShape(messages []*decoded, report reporter) {
	for i, m := range messages {
		for _, f := range m.faults {
			report(i, f.part, f.detail)
		}
	}
}

func checkPresent(messages []*decoded, report reporter) {
	if len(messages) == 0 {
		report(-1, 0, "the list is empty")
	}
}

func checkContentRequired(messages []*decoded, report reporter) {
	for i, m := range messages {
		switch m.role {
		case "", "assistant":
			continue
		case "function":
			if rawjson.KindOf(m.content) == rawjson.Null {
				continue
			}
		}
		if !m.object.Has("content") {
			report(i, 0, "a message of role "+m.role+" has no content")
		}
	}
}

func checkAssistantContent(messages []*decoded, report reporter) {
	for i, m := range messages {
		if m.role != "assistant" || len(m.calls) > 0 || m.legacy != nil || m.object.Has("audio") {
			continue
		}
		if saysNothing(m.content) {
			report(i, 0, "a message of the assistant has neither content nor calls")
		}
	}
}

func checkContentNotEmpty(messages []*decoded, report reporter) {
	for i, m := range messages {
		speaks := m.role == "system" || m.role == "developer" || m.role == "user"
		switch k := rawjson.KindOf(m.content); {
		case k == rawjson.String && speaks && saysNothing(m.content):
			report(i, 0, "content is an empty text")
		// An assistant's message without calls is the business of another rule.
		case k == rawjson.Array && len(m.parts) == 0 && (m.role != "assistant" || len(m.calls) > 0 || m.legacy != nil):
			report(i, 0, "content is an empty array")
		}
		for j, p := range m.parts {
			if (p.partType == "text" || p.partType == "refusal") && saysNothing(p.object[p.partType]) {
				report(i, j, "a part of the content is an empty text")
			}
		}
	}
}

var (
	mediaTypes = []string{"image_url", "input_audio", "file"}
	textRoles  = []string{"system", "developer", "tool", "function"}
)

func checkPartsOfRole(messages []*decoded, report reporter) {
	for i, m := range messages {
		for j, p := range m.parts {
			wrong := false
			switch {
			case p.partType == "", p.partType == "text":
			case p.partType == "refusal":
				wrong = m.role != "assistant"
			case slices.Contains(mediaTypes, p.partType):
				wrong = m.role != "user"
			default:
				// Types that the reference does not have are left to the servers that know them.
				wrong = slices.Contains(textRoles, m.role)
			}
			if wrong {
				report(i, j, "a message of role "+m.role+" holds a part of a type that it may not hold")
			}
		}
	}
}

func checkRefusalAlone(messages []*decoded, report reporter) {
	for i, m := range messages {
		if m.role != "assistant" || len(m.parts) < 2 {
			continue
		}
		for j, p := range m.parts {
			if p.partType == "refusal" {
				report(i, j, "a refusal is not the only part of the content")
			}
		}
	}
}

// checkMedia runs a check of the user's parts of a type; it returns what is wrong, or nothing.
func checkMedia(messages []*decoded, partType string, report reporter, wrong func(rawjson.Object) string) {
	for i, m := range messages {
		for j, p := range m.parts {
			if m.role != "user" || p.partType != partType {
				continue
			}
			inner, err := objectIn(p.object, partType)
			if err != nil || inner == nil {
				report(i, j, partType+" must be an object")
				continue
			}
			if detail := wrong(inner); detail != "" {
				report(i, j, detail)
			}
		}
	}
}

func checkImages(messages []*decoded, report reporter) {
	checkMedia(messages, "image_url", report, func(image rawjson.Object) string {
		url := text(image, "url")
		if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
			return ""
		}
		if !isBase64URL(url, "image/jpg", "image/jpeg", "image/png", "image/gif", "image/webp") {
			return "image_url.url is neither a web address nor a data URL of an image that the provider takes"
		}
		return ""
	})
}

func checkAudio(messages []*decoded, report reporter) {
	checkMedia(messages, "input_audio", report, func(audio rawjson.Object) string {
		if format := text(audio, "format"); format != "wav" && format != "mp3" {
			return "input_audio.format is neither wav nor mp3"
		}
		if !isBase64(text(audio, "data")) {
			return "input_audio.data is no base64"
		}
		return ""
	})
}

func checkFiles(messages []*decoded, report reporter) {
	checkMedia(messages, "file", report, func(file rawjson.Object) string {
		switch {
		case file.Has("file_data"):
			if !isBase64URL(text(file, "file_data"), "application/pdf") {
				return "file.file_data is no data URL of a PDF"
			}
		case text(file, "file_id") == "":
			return "file holds neither file_data nor file_id"
		}
		return ""
	})
}

func isBase64URL(url string, types ...string) bool {
	head, body, found := strings.Cut(url, ";base64,")
	return found && slices.Contains(types, strings.TrimPrefix(head, "data:")) && strings.HasPrefix(head, "data:") && isBase64(body)
}

func isBase64(encoded string) bool {
	_, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && encoded != ""
}

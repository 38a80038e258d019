package session

import (
	"bytes"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The estimated tokens of media. Providers' figures differ several times over. These lie between them, and the error
// bound covers the difference.
const (
	// imageTokens is for an image of any size. Anthropic counts width x height / 750, at most about 1,600; OpenAI
	// counts 85 to about 1,100; Gemini counts 258 for each tile of 768 pixels.
	imageTokens = 1200
	// pageTokens is for a page of a document. Anthropic states 1,500 to 3,000 for its text and 1,600 for a page as an
	// image; measured pages of text take about 2,300. Gemini takes 258 to 560.
	pageTokens = 2300
	// audioTokensPerSecond is Gemini's figure.
	audioTokensPerSecond = 32
	// videoTokensPerSecond is Gemini's figure: 258 for one frame a second, and the sound.
	videoTokensPerSecond = 263
	// otherTokens is for a file of any other kind, and for a text whose content is not in the message.
	otherTokens = 1200
)

// The pages and the duration that a file's size suggests.
const (
	// bytesPerPage is for documents that are no PDF, or whose pages cannot be counted.
	bytesPerPage = 50_000
	// maxPages is the most pages that any provider takes.
	maxPages = 1000
	// audioBytesPerSecond is for speech and music at 128 kbit/s, pcmBytesPerSecond for 16 bits at 16 kHz.
	audioBytesPerSecond = 16_000
	pcmBytesPerSecond   = 32_000
	// videoBytesPerSecond is for 720p at 2 Mbit/s.
	videoBytesPerSecond = 250_000
	// unknownSeconds is the assumed duration of a recording whose content is not in the message.
	unknownSeconds = 60
)

// mediaTokens estimates one medium that is not text, by its kind, and by its size where the message holds its content.
func mediaTokens(m *compactordv1.MediaPart) uint32 {
	kind := mediaType(m)
	size := uint32(len(m.GetData()))
	switch {
	case strings.HasPrefix(kind, "image/"):
		return imageTokens
	case strings.HasPrefix(kind, "audio/"):
		perSecond := uint32(audioBytesPerSecond)
		if strings.Contains(kind, "wav") || strings.Contains(kind, "pcm") || kind == "audio/l16" {
			perSecond = pcmBytesPerSecond
		}
		return seconds(size, perSecond) * audioTokensPerSecond
	case strings.HasPrefix(kind, "video/"):
		return seconds(size, videoBytesPerSecond) * videoTokensPerSecond
	case kind == "application/pdf", strings.Contains(kind, "officedocument"), strings.Contains(kind, "opendocument"),
		kind == "application/msword", kind == "application/rtf":
		return pages(m.GetData()) * pageTokens
	default:
		return otherTokens
	}
}

// isText reports whether the model reads the medium's content as plain text.
func isText(m *compactordv1.MediaPart) bool {
	if len(m.GetData()) == 0 {
		return false
	}
	switch kind := mediaType(m); kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-sh", "application/sql":
		return true
	default:
		return strings.HasPrefix(kind, "text/")
	}
}

// mediaType returns the MIME type in lower case, without parameters.
func mediaType(m *compactordv1.MediaPart) string {
	kind, _, _ := strings.Cut(m.GetMimeType(), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// seconds estimates the duration of a recording, at least one second.
func seconds(size, perSecond uint32) uint32 {
	if size == 0 {
		return unknownSeconds
	}
	return max(1, size/perSecond)
}

// pages returns the number of pages of a document, at least one. It counts those of a PDF, and estimates others by
// their size.
func pages(data []byte) uint32 {
	count := 0
	for rest := data; ; count++ {
		at := bytes.Index(rest, []byte("/Page"))
		if at < 0 {
			break
		}
		before := bytes.TrimRight(rest[:at], " \r\n\t")
		rest = rest[at+len("/Page"):]
		// `/Pages` is a node of the page tree, not a page.
		longer := len(rest) > 0 && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
		if longer || !bytes.HasSuffix(before, []byte("/Type")) {
			count--
		}
	}
	if count == 0 {
		count = (len(data) + bytesPerPage - 1) / bytesPerPage
	}
	return uint32(min(max(1, count), maxPages))
}

// countMedia counts the media of a message.
func countMedia(m *compactordv1.Message) uint32 {
	var n uint32
	for _, p := range m.GetParts() {
		if p.GetMedia() != nil {
			n++
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if rp.GetMedia() != nil {
				n++
			}
		}
	}
	return n
}

// MediaBytes returns the bytes of a message's media whose content is sent along.
func MediaBytes(m *compactordv1.Message) uint32 {
	_, sent := MediaOf(chars4{}, m)
	return sent
}

// MediaOf returns the tokens of a message's media, and the bytes of those whose content is sent along. Media named by
// address or file id have no bytes.
func MediaOf(c Counter, m *compactordv1.Message) (tokens, sent uint32) {
	var size uint64
	take := func(media *compactordv1.MediaPart) {
		if media != nil {
			size += uint64(c.MediaSize(media))
			sent = plus(sent, uint32(len(media.GetData())))
		}
	}
	for _, p := range m.GetParts() {
		take(p.GetMedia())
		for _, rp := range p.GetToolResult().GetParts() {
			take(rp.GetMedia())
		}
	}
	return c.Tokens(size), sent
}

package session

import (
	"bytes"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What media count in tokens. Providers differ several times over, so these lie between; the error bound says so.
const (
	// imageTokens is for an image of any size. Anthropic counts an image as width x height / 750 and at most some 1,600,
	// OpenAI 85 to some 1,100, Gemini 258 for each tile of 768 pixels.
	imageTokens = 1200
	// pageTokens is for a page of a document. Anthropic says 1,500 to 3,000 for its text and 1,600 where it is an image;
	// measured pages of text take some 2,300. Gemini takes 258 to 560.
	pageTokens = 2300
	// audioTokensPerSecond is Gemini's.
	audioTokensPerSecond = 32
	// videoTokensPerSecond is Gemini's: 258 for a frame each second, and the sound.
	videoTokensPerSecond = 263
	// otherTokens is for a file of a kind that says nothing, and for a text that is elsewhere.
	otherTokens = 1200
)

// What a file's size says of its length.
const (
	// bytesPerPage is for documents whose pages cannot be counted.
	bytesPerPage = 50_000
	// maxPages: no provider takes a longer document.
	maxPages = 1000
	// audioBytesPerSecond is of speech and music at 128 kbit/s, pcmBytesPerSecond of 16 bits at 16 kHz.
	audioBytesPerSecond = 16_000
	pcmBytesPerSecond   = 32_000
	// videoBytesPerSecond is of 720p at 2 Mbit/s.
	videoBytesPerSecond = 250_000
	// unseenSeconds is how long a recording is taken to be that is named by its address alone.
	unseenSeconds = 60
)

// mediaTokens estimates one medium that is not text: by its kind, and by its size where its content is there.
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

// isText says whether the model reads the medium's content as the text that it is.
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

// mediaType is the MIME type without parameters.
func mediaType(m *compactordv1.MediaPart) string {
	kind, _, _ := strings.Cut(m.GetMimeType(), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// seconds is how long a recording is about, at least one second.
func seconds(size, perSecond uint32) uint32 {
	if size == 0 {
		return unseenSeconds
	}
	return max(1, size/perSecond)
}

// pages is how many pages a document has, at least one: those that a PDF names, else as many as its size lets expect.
func pages(data []byte) uint32 {
	count := 0
	for rest := data; ; count++ {
		at := bytes.Index(rest, []byte("/Page"))
		if at < 0 {
			break
		}
		before := bytes.TrimRight(rest[:at], " \r\n\t")
		rest = rest[at+len("/Page"):]
		// /Pages are the nodes that hold them.
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

// MediaOf returns what the media of a message count in tokens, and the bytes of those that are sent along: media named by
// address or file id have none.
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

package gemini

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mimeTypes are the types that Gemini reads, in its own spelling. An asterisk stands for all subtypes.
var mimeTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/webp": true, "image/heic": true, "image/heif": true,
	"audio/*": true, "video/*": true, "text/*": true,
	"application/pdf": true, "application/json": true, "application/xml": true, "application/rtf": true,
	"application/x-javascript": true, "application/x-typescript": true, "application/x-python-code": true,
}

// mimeType returns a type in Gemini's spelling. Gemini accepts no ranges, no parameters, and only one name of JPEG.
func mimeType(given string) (name string, known bool) {
	name, _, _ = strings.Cut(given, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "image/jpg" {
		name = "image/jpeg"
	}
	return name, isMimeType(name)
}

func isMimeType(name string) bool {
	family, sub, _ := strings.Cut(name, "/")
	for i := range len(sub) {
		if b := sub[i]; ('a' > b || b > 'z') && ('0' > b || b > '9') && strings.IndexByte(".+-_", b) < 0 {
			return false
		}
	}
	return sub != "" && (mimeTypes[name] || mimeTypes[family+"/*"])
}

// isAddress reports whether Gemini can fetch from an address.
func isAddress(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.Host != "" && (u.Scheme == "gs" || u.Scheme == "https" || u.Scheme == "http")
}

// acceptedMedia returns a medium in a form that Gemini accepts. It returns nil where there is none.
func acceptedMedia(m *compactordv1.MediaPart, attachments []*compactordv1.Attachment) *compactordv1.MediaPart {
	if m.GetOwner() != kind && m.GetOwner() != compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return nil
	}
	mime, known := mimeType(m.GetMimeType())
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_Data:
		if !known || len(source.Data) == 0 {
			return nil
		}
	case *compactordv1.MediaPart_Uri:
		// A file that was uploaded to Gemini needs no type, since Gemini knows it.
		untyped := m.GetMimeType() == dialect.UnknownMime && isLeftOut(attachments, fieldFile+".mimeType")
		if untyped {
			mime = m.GetMimeType()
		}
		if !known && !untyped || !isAddress(source.Uri) {
			return nil
		}
	default:
		return nil
	}
	return &compactordv1.MediaPart{MimeType: mime, Name: m.GetName(), Source: m.GetSource(), Owner: m.GetOwner()}
}

// renderMedia renders a medium. It returns nil where Gemini does not accept it.
func renderMedia(by *dialect.Writer, m *compactordv1.MediaPart, attachments []*compactordv1.Attachment) rawjson.Object {
	media := acceptedMedia(m, attachments)
	if media == nil {
		return nil
	}
	d := canonicalMedia(media)
	if d.field == fieldInline {
		says := d.innerGuards["data"]
		d.innerGuards["data"] = func(raw json.RawMessage) bool { return says(raw) && isSignature(raw) }
	} else {
		d.innerGuards["fileUri"] = dialect.Never
		d.innerGuards["mimeType"] = func(raw json.RawMessage) bool {
			return len(raw) == 0 && media.GetMimeType() == dialect.UnknownMime
		}
	}
	return d.restoreForRequest(by, attachments)
}

// isBase64 reports whether the API reads a text as bytes. It accepts both alphabets, with and without padding.
func isBase64(text string) bool {
	digits := strings.TrimRight(text, "=")
	for i := range len(digits) {
		b := digits[i]
		letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
		if !letter && !strings.ContainsRune("+/-_", rune(b)) {
			return false
		}
	}
	return len(digits)%4 != 1 && len(text)-len(digits) <= 2
}

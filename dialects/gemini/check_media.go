package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkMimeTypes(d *decoded, report report) {
	d.eachMedium(func(at, part int, field string, inner rawjson.Object) {
		mime := either(inner, "mimeType", "mime_type")
		if mime == nil && field == fieldFile {
			return
		}
		if name, err := (rawjson.Object{"": mime}).DemandText(""); err != nil || !isMimeType(name) {
			report(at, part, "the MIME type of the "+field+" is missing, or none that Gemini reads")
		}
	})
}

func checkMediaSource(d *decoded, report report) {
	d.eachMedium(func(at, part int, field string, inner rawjson.Object) {
		if field == fieldInline {
			if data, err := inner.DemandText("data"); err != nil || data == "" || !isBase64(data) {
				report(at, part, "the data of the inlineData is missing, or no base64")
			}
			return
		}
		uri, err := rawjson.Object{"": either(inner, "fileUri", "file_uri")}.DemandText("")
		if err != nil || !isAddress(uri) {
			report(at, part, "the address of the fileData is missing, or none that Gemini fetches")
		}
	})
}

// eachMedium visits media that are parts, and media in responses.
func (d *decoded) eachMedium(check func(at, part int, field string, inner rawjson.Object)) {
	d.eachPart(func(at int, p decodedPart) {
		if p.inner == nil {
			return
		}
		if p.field == fieldInline || p.field == fieldFile {
			check(at, p.at, p.field, p.inner)
		}
		if p.field != fieldResponse {
			return
		}
		elements, _ := d.partsOf(p.inner)
		for _, element := range elements {
			d.eachMediumIn(element, func(field string, inner rawjson.Object) { check(at, p.at, field, inner) })
		}
	})
}

func (d *decoded) eachMediumIn(raw json.RawMessage, check func(field string, inner rawjson.Object)) {
	o, err := d.by.SplitObject(raw)
	if err != nil {
		return
	}
	for _, field := range []string{fieldInline, fieldFile} {
		value := either(o, field, aliases[field])
		if rawjson.KindOf(value) != rawjson.ObjectKind {
			continue
		}
		if inner, err := d.by.SplitObject(value); err == nil {
			check(field, inner)
		}
	}
}

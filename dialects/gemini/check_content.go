package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkSystem(j *judged, report report) {
	for i, raw := range j.system {
		o, err := rawjson.ParseObject(raw)
		if err != nil || i > 0 {
			report(-1, 0, "the system instruction is not one content")
			continue
		}
		parts, err := elementsOf(o, "parts")
		if err != nil || len(parts) == 0 || len(o.Others("role", "parts")) > 0 {
			report(-1, 0, "the system instruction is no content with parts")
		}
		for _, part := range parts {
			fields, err := rawjson.SplitObject(part)
			if err != nil || rawjson.KindOf(fields[fieldText]) != rawjson.String || isEmptyText(fields, fieldText) ||
				len(kindsIn(fields)) != 1 {
				report(-1, 0, "a part of the system instruction is no text, or an empty one")
			}
		}
	}
}

// checkSigned follows the list: what stands before the first signature may come from a model that signs nothing.
func checkSigned(j *judged, report report) {
	signs := false
	for at, c := range j.contents {
		if c.role != roleModel {
			continue
		}
		called := false
		for _, p := range c.parts {
			signed := isSigned(p.fields)
			signs = signs || signed
			if p.field == fieldCall && !called {
				called = true
				if signs && !signed {
					report(at, p.at, "the first function call of the content has no thought signature")
				}
			}
		}
	}
}

func checkSignatures(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		signature := either(p.fields, "thoughtSignature", "thought_signature")
		if signature != nil && !isSignature(signature) {
			report(at, p.at, "the thought signature is no base64")
		}
	})
}

func checkThoughts(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		if isThought(p.fields) {
			report(at, p.at, "the part is a thought")
		}
	})
}

func checkEmpty(j *judged, report report) {
	for at, c := range j.contents {
		if len(c.parts) == 0 && !c.unread {
			report(at, 0, "the content has no parts")
		}
	}
	j.each(func(at int, p judgedPart) {
		says := p.fields.Others(append([]string{fieldText}, sideFields...)...)
		text := p.fields.Has(fieldText) && (!isEmptyText(p.fields, fieldText) || isSigned(p.fields))
		if len(says) == 0 && !text {
			report(at, p.at, "the part says nothing")
		}
	})
}

func checkKinds(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		if len(kindsIn(p.fields)) > 1 {
			report(at, p.at, "the part holds several kinds of data")
		}
	})
}

// kindsIn are the kinds of data in a part.
func kindsIn(o rawjson.Object) []string {
	var kinds []string
	for _, fields := range [][]string{modelledFields, snakeKinds, otherFields} {
		for _, field := range fields {
			if o.Has(field) {
				kinds = append(kinds, field)
			}
		}
	}
	return kinds
}

func checkNames(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		// That of a response is the name of its call: another rule.
		if p.field == fieldCall && p.inner != nil && !isFunctionName(p.name) {
			report(at, p.at, "the name of the function is missing, too long, or has characters that it may not have")
		}
	})
}

func checkArguments(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		if p.field == fieldCall && p.inner.Has("args") && rawjson.KindOf(p.inner["args"]) != rawjson.ObjectKind {
			report(at, p.at, "the args are no object")
		}
	})
}

func checkResponseObjects(j *judged, report report) {
	j.each(func(at int, p judgedPart) {
		if p.field == fieldResponse && p.inner != nil && rawjson.KindOf(p.inner["response"]) != rawjson.ObjectKind {
			report(at, p.at, "the response is no object")
		}
	})
}

func checkMimeTypes(j *judged, report report) {
	j.eachMedium(func(at, part int, field string, inner rawjson.Object) {
		mime := either(inner, "mimeType", "mime_type")
		if mime == nil && field == fieldFile {
			return
		}
		if name, err := (rawjson.Object{"": mime}).DemandText(""); err != nil || !isMimeType(name) {
			report(at, part, "the MIME type of the "+field+" is missing, or none that Gemini reads")
		}
	})
}

func checkMediaSources(j *judged, report report) {
	j.eachMedium(func(at, part int, field string, inner rawjson.Object) {
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

func (j *judged) each(check func(at int, p judgedPart)) {
	for at, c := range j.contents {
		for _, p := range c.parts {
			check(at, p)
		}
	}
}

// eachMedium finds media as parts and as parts of responses.
func (j *judged) eachMedium(check func(at, part int, field string, inner rawjson.Object)) {
	j.each(func(at int, p judgedPart) {
		if p.inner == nil {
			return
		}
		if p.field == fieldInline || p.field == fieldFile {
			check(at, p.at, p.field, p.inner)
		}
		if p.field != fieldResponse {
			return
		}
		elements, _ := elementsOf(p.inner, "parts")
		for _, element := range elements {
			checkMediaIn(element, func(field string, inner rawjson.Object) { check(at, p.at, field, inner) })
		}
	})
}

func checkMediaIn(raw json.RawMessage, check func(field string, inner rawjson.Object)) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return
	}
	for _, field := range []string{fieldInline, fieldFile} {
		if inner, err := rawjson.SplitObject(either(o, field, aliases[field])); err == nil {
			check(field, inner)
		}
	}
}

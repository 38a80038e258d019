package gemini

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkShape(d *decoded, report report) {
	for _, f := range d.shapeErrors {
		report(f.message, f.part, f.detail)
	}
}

func checkMessagesNotEmpty(d *decoded, report report) {
	if len(d.contents) == 0 {
		report(-1, 0, "there is no content")
	}
}

func checkMessageFields(d *decoded, report report) {
	for at, c := range d.contents {
		if len(c.fields.Others("role", "parts")) > 0 {
			report(at, 0, "the content has a field that is neither role nor parts")
		}
	}
}

func checkRoles(d *decoded, report report) {
	for at, c := range d.contents {
		if c.role != roleUser && c.role != roleModel {
			report(at, 0, "the role is neither user nor model")
		}
	}
}

func checkFirstMessageUser(d *decoded, report report) {
	if !d.rest && len(d.contents) > 0 && d.contents[0].role == roleModel && len(d.contents[0].of(fieldCall)) == 0 {
		report(0, 0, "the list begins with the model")
	}
}

func checkLastMessageUser(d *decoded, report report) {
	if n := len(d.contents); n > 0 && d.contents[n-1].role == roleModel {
		report(n-1, 0, "the list ends with the model")
	}
}

func checkAlternateRoles(d *decoded, report report) {
	for at := 1; at < len(d.contents); at++ {
		before, c := d.contents[at-1], d.contents[at]
		answered := len(before.of(fieldResponse)) > 0 && len(c.of(fieldResponse)) == 0
		calling := c.role == roleModel && len(c.of(fieldCall)) > 0
		if before.role == c.role && !answered && !calling {
			report(at, 0, "the content has the role of the one before")
		}
	}
}

func checkSystemText(d *decoded, report report) {
	for i, raw := range d.system {
		o, err := d.object(raw)
		if err != nil || i > 0 {
			report(-1, 0, "the system instruction is not one content")
			continue
		}
		parts, err := d.partsOf(o)
		if err != nil || len(parts) == 0 || len(o.Others("role", "parts")) > 0 {
			report(-1, 0, "the system instruction is no content with parts")
		}
		for _, part := range parts {
			fields, err := d.by.SplitObject(part)
			if err != nil || rawjson.KindOf(fields[fieldText]) != rawjson.String || isEmptyText(fields, fieldText) ||
				len(kindsIn(fields)) != 1 {
				report(-1, 0, "a part of the system instruction is no text, or an empty one")
			}
		}
	}
}

package gemini

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// besideKinds are the fields of a part that are no kind of data but text.
var besideKinds = append([]string{fieldText}, sideFields...)

func checkContentNotEmpty(d *decoded, report report) {
	for at, c := range d.contents {
		if len(c.parts) == 0 && !c.broken {
			report(at, 0, "the content has no parts")
		}
	}
	d.eachPart(func(at int, p decodedPart) {
		others := p.fields.Others(besideKinds...)
		text := p.fields.Has(fieldText) && (!isEmptyText(p.fields, fieldText) || isSigned(p.fields))
		if len(others) == 0 && !text {
			report(at, p.at, "the part is empty")
		}
	})
}

func checkOneKind(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		if len(kindsIn(p.fields)) > 1 {
			report(at, p.at, "the part holds several kinds of data")
		}
	})
}

// kindsIn returns the kinds of data in a part.
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

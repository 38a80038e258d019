package gemini

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkCallsFollowUser(d *decoded, report report) {
	for _, b := range d.batches {
		if d.contents[b.at].role != roleModel {
			continue
		}
		if b.at == 0 && !d.rest || b.at > 0 && d.contents[b.at-1].role == roleModel {
			report(b.at, 0, "the content calls functions and does not follow one of the user")
		}
	}
}

func checkCallsByModel(d *decoded, report report) {
	for _, b := range d.batches {
		if c := d.contents[b.at]; c.role != roleModel {
			report(b.at, c.of(fieldCall)[0].at, "a function call is in a content that is not the model's")
		}
	}
}

func checkCallsAnswered(d *decoded, report report) {
	for _, b := range d.batches {
		if b.none || b.last && len(d.contents[b.at+1].of(fieldResponse)) > 0 {
			continue
		}
		for _, part := range b.missing {
			report(b.at, part, "the function call has no response in the content after it")
		}
	}
}

func checkLastCallsAnswered(d *decoded, report report) {
	for _, b := range d.batches {
		if !b.last || b.none || len(d.contents[b.at+1].of(fieldResponse)) == 0 {
			continue
		}
		for _, part := range b.missing {
			report(b.at, part, "the function call has no response in the last content")
		}
	}
}

func checkToolNames(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		// Another rule checks the name in a response, which is that of its call.
		if p.field == fieldCall && p.inner != nil && !isName(p.name) {
			report(at, p.at, "the name of the function is missing, too long, or has characters that it may not have")
		}
	})
}

func checkArgumentsObject(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		if p.field == fieldCall && p.inner.Has("args") && rawjson.KindOf(p.inner["args"]) != rawjson.ObjectKind {
			report(at, p.at, "the args are no object")
		}
	})
}

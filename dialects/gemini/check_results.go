package gemini

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkResultsHaveCalls(d *decoded, report report) {
	batches := make(map[int]batch, len(d.batches))
	for _, b := range d.batches {
		batches[b.at+1] = b
	}
	for at, c := range d.contents {
		b, called := batches[at]
		for _, response := range c.of(fieldResponse) {
			if !called || b.needless[response.at] {
				report(at, response.at, "the function response answers no call of the content before")
			}
		}
	}
}

func checkResultNames(d *decoded, report report) {
	for _, b := range d.batches {
		for _, part := range b.misnamed {
			report(b.at+1, part, "the function response has another name than its call")
		}
	}
}

func checkResultsAlone(d *decoded, report report) {
	for at, c := range d.contents {
		if n := len(c.of(fieldResponse)); n > 0 && n < len(c.parts) {
			report(at, 0, "function responses are beside other parts")
		}
	}
}

func checkResultObject(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		if p.field == fieldResponse && p.inner != nil && rawjson.KindOf(p.inner["response"]) != rawjson.ObjectKind {
			report(at, p.at, "the response is no object")
		}
	})
}

package gemini

// report tells of a place where a rule is broken.
type report = func(message, part int, detail string)

func checkShape(j *judged, report report) {
	for _, f := range j.flaws {
		report(f.message, f.part, f.detail)
	}
}

func checkNotEmpty(j *judged, report report) {
	if len(j.contents) == 0 {
		report(-1, 0, "there is no content")
	}
}

func checkKnownFields(j *judged, report report) {
	for at, c := range j.contents {
		if len(c.fields.Others("role", "parts")) > 0 {
			report(at, 0, "the content has a field that is neither role nor parts")
		}
	}
}

func checkRoles(j *judged, report report) {
	for at, c := range j.contents {
		if c.role != roleUser && c.role != roleModel {
			report(at, 0, "the role is neither user nor model")
		}
	}
}

func checkBeginning(j *judged, report report) {
	if len(j.contents) > 0 && j.contents[0].role == roleModel && len(j.contents[0].of(fieldCall)) == 0 {
		report(0, 0, "the list begins with the model")
	}
}

func checkEnd(j *judged, report report) {
	if n := len(j.contents); n > 0 && j.contents[n-1].role == roleModel {
		report(n-1, 0, "the list ends with the model")
	}
}

func checkAlternation(j *judged, report report) {
	for at := 1; at < len(j.contents); at++ {
		before, c := j.contents[at-1], j.contents[at]
		answered := len(before.of(fieldResponse)) > 0 && len(c.of(fieldResponse)) == 0
		calling := c.role == roleModel && len(c.of(fieldCall)) > 0
		if before.role == c.role && !answered && !calling {
			report(at, 0, "the content has the role of the one before")
		}
	}
}

func checkCallTurns(j *judged, report report) {
	for _, b := range j.batches {
		if j.contents[b.at].role == roleModel && (b.at == 0 || j.contents[b.at-1].role == roleModel) {
			report(b.at, 0, "the content calls functions and does not follow one of the user")
		}
	}
}

func checkCallers(j *judged, report report) {
	for _, b := range j.batches {
		if c := j.contents[b.at]; c.role != roleModel {
			report(b.at, c.of(fieldCall)[0].at, "a function call stands in a content that is not the model's")
		}
	}
}

func checkAnswered(j *judged, report report) {
	for _, b := range j.batches {
		if b.none || b.last && len(j.contents[b.at+1].of(fieldResponse)) > 0 {
			continue
		}
		for _, part := range b.missing {
			report(b.at, part, "the function call has no response in the content behind it")
		}
	}
}

func checkLastAnswered(j *judged, report report) {
	for _, b := range j.batches {
		if !b.last || b.none || len(j.contents[b.at+1].of(fieldResponse)) == 0 {
			continue
		}
		for _, part := range b.missing {
			report(b.at, part, "the function call has no response in the last content")
		}
	}
}

func checkResponses(j *judged, report report) {
	batches := make(map[int]batch, len(j.batches))
	for _, b := range j.batches {
		batches[b.at+1] = b
	}
	for at, c := range j.contents {
		b, called := batches[at]
		for _, response := range c.of(fieldResponse) {
			if !called || b.needless[response.at] {
				report(at, response.at, "the function response answers no call of the content before")
			}
		}
	}
}

func checkResponseNames(j *judged, report report) {
	for _, b := range j.batches {
		for _, part := range b.misnamed {
			report(b.at+1, part, "the function response has another name than its call")
		}
	}
}

func checkAlone(j *judged, report report) {
	for at, c := range j.contents {
		if n := len(c.of(fieldResponse)); n > 0 && n < len(c.parts) {
			report(at, 0, "function responses stand beside other parts")
		}
	}
}

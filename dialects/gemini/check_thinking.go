package gemini

// checkCallsSigned reads the list in order. Calls before the first signature may come from a model that signs nothing.
func checkCallsSigned(d *decoded, report report) {
	signs := false
	for at, c := range d.contents {
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

func checkSignatures(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		signature := either(p.fields, "thoughtSignature", "thought_signature")
		if signature != nil && !isSignature(signature) {
			report(at, p.at, "the thought signature is no base64")
		}
	})
}

func checkNoThinking(d *decoded, report report) {
	d.eachPart(func(at int, p decodedPart) {
		if isThought(p.fields) {
			report(at, p.at, "the part is a thought")
		}
	})
}

package anthropic

func checkResultsHaveCalls(d *decoded, report report) {
	for i, m := range d.messages {
		if m.role != roleUser {
			continue
		}
		var called map[string]bool
		if i > 0 && d.messages[i-1].role == roleAssistant {
			called = d.messages[i-1].ids(typeToolUse, "id")
		}
		for _, b := range m.blocks {
			if b.typ == typeToolResult && !called[b.text("tool_use_id")] {
				report(i, b.part, "the result answers no call of the message before")
			}
		}
	}
}

func checkOneResultACall(d *decoded, report report) {
	for i, m := range d.messages {
		answered := make(map[string]bool)
		for _, b := range m.blocks {
			if m.role != roleUser || b.typ != typeToolResult {
				continue
			}
			if id := b.text("tool_use_id"); answered[id] {
				report(i, b.part, "the call has a result already")
			} else {
				answered[id] = true
			}
		}
	}
}

func checkResultsFirst(d *decoded, report report) {
	for i, m := range d.messages {
		other := false
		for _, b := range m.blocks {
			if m.role == roleUser && b.typ == typeToolResult && other {
				report(i, b.part, "the result comes after other content")
			}
			other = other || b.typ != typeToolResult
		}
	}
}

func checkFailedResults(d *decoded, report report) {
	d.eachOf(roleUser, typeToolResult, func(i int, b decodedBlock) {
		if failed, err := b.fields.Truth("is_error"); err != nil || !failed {
			return
		}
		if b.text("content") == "" && len(b.inner) == 0 {
			report(i, b.part, "the failed result has no content")
		}
		for _, inner := range b.inner {
			if inner.typ != typeText {
				report(i, b.part, "the failed result holds a block of type "+typeName(inner.typ))
			}
		}
	})
}

// isResultBlock reports whether a result can hold blocks of a type. Unknown types are not checked.
func isResultBlock(typ string) bool {
	switch typ {
	case typeToolResult, typeCompaction, typeContainerUpload:
		return false
	default:
		return !isOfAssistant(typ)
	}
}

func checkResultContent(d *decoded, report report) {
	d.eachOf(roleUser, typeToolResult, func(i int, b decodedBlock) {
		for _, inner := range b.inner {
			if !isResultBlock(inner.typ) {
				report(i, b.part, "the result holds a block of type "+typeName(inner.typ))
			}
		}
	})
}

package openaichat

func checkShape(d *decoded, report report) {
	for i, m := range d.messages {
		for _, f := range m.shapeErrors {
			report(i, f.part, f.detail)
		}
	}
}

func checkMessagesNotEmpty(d *decoded, report report) {
	if len(d.messages) == 0 {
		report(-1, 0, "the list is empty")
	}
}

func checkTranscriptFields(d *decoded, report report) {
	for i, m := range d.messages {
		for _, key := range []string{"usage", "model", "stop_reason", "finish_reason", "is_error", "timestamp", "parsed"} {
			if _, there := m.object[key]; there {
				report(i, 0, "the field "+key+" belongs into a record, not into a request")
			}
		}
		for j, c := range m.calls {
			if _, there := c.object["index"]; there {
				report(i, j, "the field index of a call belongs into a stream, not into a request")
			}
			if _, there := c.inner["parsed_arguments"]; there {
				report(i, j, "the field parsed_arguments of a call is an SDK's own, and does not belong into a request")
			}
		}
	}
}

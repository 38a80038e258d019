package anthropic

func checkThinkingSigned(d *decoded, report report) {
	d.eachOf(roleAssistant, typeThinking, func(i int, b decodedBlock) {
		if b.text("signature") == "" {
			report(i, b.part, "the thinking has no signature")
		}
	})
	d.eachOf(roleAssistant, typeRedactedThinking, func(i int, b decodedBlock) {
		if b.text("data") == "" {
			report(i, b.part, "the redacted thinking has no data")
		}
	})
}

func checkThinkingNotLast(d *decoded, report report) {
	for i, m := range d.messages {
		n := len(m.blocks)
		if m.role != roleAssistant || d.isLast(i) || n == 0 {
			continue
		}
		if last := m.blocks[n-1]; last.typ == typeThinking || last.typ == typeRedactedThinking {
			report(i, last.part, "the message ends with thinking")
		}
	}
}

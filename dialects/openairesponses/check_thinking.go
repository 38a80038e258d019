package openairesponses

func checkThinkingFollowed(d *decoded, report report) {
	followed := false
	for i := len(d.items) - 1; i >= 0; i-- {
		item := d.items[i]
		if item.typ != "reasoning" {
			followed = item.speaker == ofModel
		} else if !followed {
			report(item.at, 0, "nothing of the model follows the reasoning")
		}
	}
}

func checkThinkingResolvable(d *decoded, report report) {
	for _, item := range d.items {
		if item.typ == "reasoning" && item.fields.TextOrEmpty("id") == "" && item.fields.TextOrEmpty("encrypted_content") == "" {
			report(item.at, 0, "the reasoning has neither id nor encrypted_content")
		}
	}
}

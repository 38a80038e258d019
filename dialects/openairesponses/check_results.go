package openairesponses

func checkResultsHaveCalls(d *decoded, report report) {
	for _, item := range d.items {
		if item.speaker == ofTool && item.link != "" && d.calls[item] == nil && !d.repeats[item] {
			report(item.at, 0, "no call before the output has its id")
		}
	}
}

func checkOneResultACall(d *decoded, report report) {
	for _, item := range d.items {
		if item.speaker == ofTool && item.link != "" && d.calls[item] == nil && d.repeats[item] {
			report(item.at, 0, "an earlier output answers the same call")
		}
	}
}

func checkResultTypes(d *decoded, report report) {
	for _, item := range d.items {
		if call := d.calls[item]; call != nil && callTypes[call.typ].output != item.typ {
			report(item.at, 0, "the output must be of type "+callTypes[call.typ].output)
		}
	}
}

func checkResultsFollowCalls(d *decoded, report report) {
	for _, item := range d.items {
		if call := d.calls[item]; call != nil && call.batch != item.batch {
			report(item.at, 0, "something is between the output and the calls that it belongs to")
		}
	}
}

package strategies

// The defaults for figures that neither the request nor the policy sets.
const (
	defaultReserve      = 16_384
	defaultRecentTokens = 20_000
	// targetPercent is the default target, as a percentage of the window.
	targetPercent = 40
	// minSummaryTokens is the lowest budget of a summary that the contract allows.
	minSummaryTokens = 64
)

// recentTokens returns the default for the tokens to keep. A window of 0 is unknown.
func recentTokens(window uint32) uint32 {
	if window == 0 {
		return defaultRecentTokens
	}
	// With the largest summary it must fit the target. Otherwise compaction would soon be due again, and a ladder would
	// never stop.
	target, summary := percent(window, targetPercent), summaryTokens(reserveTokens(window))
	return min(defaultRecentTokens, target-min(target, summary))
}

// reserveTokens returns the default for the tokens of the window that stay free.
func reserveTokens(window uint32) uint32 {
	if window == 0 {
		return defaultReserve
	}
	return min(defaultReserve, window/4)
}

// summaryTokens returns the share of the reserve that a summary may have.
func summaryTokens(reserve uint32) uint32 {
	return max(minSummaryTokens, percent(reserve, 80))
}

// percent rounds down, and calculates in integers: a float would turn 0.35 of a round window into one token less.
func percent(n, percent uint32) uint32 {
	return uint32(uint64(n) * uint64(percent) / 100)
}

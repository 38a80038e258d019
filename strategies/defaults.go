package strategies

// Defaults where neither the request nor the policy gives a figure.
const (
	defaultReserve      = 16_384
	defaultRecentTokens = 20_000
	// targetPercent of the window is where a ladder stops.
	targetPercent = 40
	// minSummaryTokens is the least that the contract lets a summary be.
	minSummaryTokens = 64
)

// recentTokens is how much of the newest is kept where nobody says; a window of 0 is unknown.
func recentTokens(window uint32) uint32 {
	if window == 0 {
		return defaultRecentTokens
	}
	// With the largest summary it must fit the target: compaction would be due again soon, and a ladder never be at rest.
	target, summary := percent(window, targetPercent), summaryTokens(reserveTokens(window))
	return min(defaultRecentTokens, target-min(target, summary))
}

// reserveTokens is how much of the window is left free where nobody says.
func reserveTokens(window uint32) uint32 {
	if window == 0 {
		return defaultReserve
	}
	return min(defaultReserve, window/4)
}

// summaryTokens is the share of the reserve that a summary may fill.
func summaryTokens(reserve uint32) uint32 {
	return max(minSummaryTokens, percent(reserve, 80))
}

// percent rounds down, in whole numbers: a float would turn 0.35 of a round window into one token less.
func percent(n, percent uint32) uint32 {
	return uint32(uint64(n) * uint64(percent) / 100)
}

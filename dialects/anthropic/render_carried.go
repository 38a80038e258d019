package anthropic

// carried is what the rest of a list must know of the part before.
type carried struct {
	// loop is the tool loop that goes on.
	loop loopThinking
	// marks is how many cache breakpoints of the client there are, and shortMark reports that one has the shorter lifetime.
	marks     int
	shortMark bool
	// programWaits reports that a program waits for results. The list cannot be cut there.
	programWaits bool
}

// loopThinking says what has become of the thinking of a tool loop: it began with thinking that the provider takes, or it
// has lost its thinking.
type loopThinking struct{ began, lost bool }

package recall

import (
	"regexp"
	"sync"
)

// childReference is a reference to a message of a child's log: `CHILD_ID#12`, as the message with the child's result has
// it. It counts only as a whole text. No reference to the log itself looks like it: none has a letter or a digit before
// its `#`.
var childReference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\[?(?:recall )?(` + nameable + `)(#[0-9]+(?:\.[0-9]+){0,2})\]?\.?\s*$`)
})

// nameable is an id of a session that a reference can name.
const nameable = `[A-Za-z0-9](?:[!-"$-~]*[A-Za-z0-9])?`

var onlyNameable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + nameable + `$`)
})

// Names reports whether references such as `ID#12` can name a session with this id.
func Names(sessionID string) bool { return onlyNameable().MatchString(sessionID) }

// CutSession splits a reference such as `CHILD_ID#12.0` into the id of the session and the reference to a message of its
// log. Any other text is returned as it is, without a session.
func CutSession(text string) (sessionID, reference string) {
	if m := childReference().FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

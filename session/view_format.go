package session

// ViewFormat is the version of the wording and shape of views. Heads and view-changing records store it, so that
// existing logs can keep theirs. Once logs in a format exist, a change of wording or shape needs a new number, and the
// old format must still be supported: a changed prefix costs the provider's prompt cache, and makes the thinking after
// it invalid.
const ViewFormat = 1

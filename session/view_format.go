package session

// ViewFormat is the format that views are drawn in. Heads and view-changing records carry it, so that logs can go on in
// theirs: once a log is out there, a change of wording or shape needs a new number, with the old one drawn beside it,
// since a changed prefix costs the provider's prompt cache and breaks the thinking that is bound to it.
const ViewFormat = 1
